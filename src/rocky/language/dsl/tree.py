"""The tree of a `.rocky` text: every token is in it, in the order it was written.

So the same tree is lowered to SQL and laid out anew. A node's parts are tokens and nodes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rocky.diagnostics.diagnostic import Span
from rocky.language.dsl.tokens import Token

Form = Literal[
    "file", "let", "pipeline", "source", "step", "block", "entry", "item", "key", "names",
    "binary", "negation", "minus", "test", "list", "group", "column", "literal", "duration", "call",
    "cast", "lambda", "index", "match", "arm", "filter", "over", "frame", "kind", "star",
    "subquery",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Node:
    """A part of the grammar."""

    form: Form
    parts: "tuple[Node | Token, ...]"

    @property
    def nodes(self) -> "list[Node]":
        return [part for part in self.parts if isinstance(part, Node)]

    @property
    def words(self) -> list[str]:
        """The texts of its own tokens."""
        return [part.text for part in self.parts if isinstance(part, Token)]

    def tokens(self) -> Iterator[Token]:
        """Every token below it, in order."""
        for part in self.parts:
            if isinstance(part, Node):
                yield from part.tokens()
            else:
                yield part

    @property
    def span(self) -> Span:
        tokens = list(self.tokens())
        return Span(tokens[0].start, tokens[-1].end)

    def find(self, form: Form) -> "Node | None":
        """The first node of a form among its own parts."""
        return next((each for each in self.nodes if each.form == form), None)
