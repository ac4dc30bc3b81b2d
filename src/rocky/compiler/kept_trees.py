"""Kept trees: the parsed texts of models that an edit may have bound again.

Parsing is nearly half of binding a model, and a reader's own text does not change while somebody
types into what it reads. Trees are large, some ninety bytes a character, so there are few: those
that were asked for last. Binding leaves a tree as it found it, or as it would find it again.
"""

from typing import Any, Final

from rocky.compiler.garbage import leave_alone
from rocky.language.syntax.parser import ParsedQuery, SyntaxProblem, parse_query

_MOST_CHARACTERS: Final = 1_000_000


class KeptTrees:
    """Trees by their texts, at most so many characters of text."""

    def __init__(self, most: int = _MOST_CHARACTERS) -> None:
        self._most = most
        self._size = 0
        self._kept: dict[str, ParsedQuery] = {}
        self._fresh = False

    def parse(self, text: str) -> ParsedQuery | SyntaxProblem:
        """As `parse_query`, of what is known at once."""
        known = self._kept.pop(text, None)
        found = known if known is not None else parse_query(text)
        if not isinstance(found, ParsedQuery) or len(text) > self._most:
            return found
        self._kept[text] = found
        if known is None:
            self._fresh = True
            self._size += len(text)
            while self._size > self._most:
                self._drop(next(iter(self._kept)))
        return found

    def rest(self) -> None:
        """Have the garbage collector leave alone what is kept; for when nobody waits."""
        if self._fresh:
            self._fresh = False
            leave_alone()

    def _drop(self, text: str) -> None:
        """Forget a tree. It is cut into pieces, because the collector looks no more at it."""
        self._size -= len(text)
        stack: list[Any] = [self._kept.pop(text).tree]
        while stack:
            node = stack.pop()
            node.parent = None
            for value in node.args.values():
                listed = value if isinstance(value, list) else (value,)
                stack += [each for each in listed if hasattr(each, "args")]
