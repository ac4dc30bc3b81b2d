"""Layout: a `.rocky` text written anew, with the same tokens and comments.

A step stands on a line of its own, and `|` between steps goes. A block stands on one line if it
fits and its first entry was not begun on a new one. Nothing is reordered; names, strings and
numbers stay as they were written.
"""

from collections.abc import Callable, Iterator, Sequence

from rocky.language.dsl.lowering import lower_text
from rocky.language.dsl.mapped_text import MappedText
from rocky.language.dsl.pipelines import parse_text
from rocky.language.dsl.printer import (
    HARD,
    LINE,
    SOFT,
    Break,
    Document,
    Group,
    Indent,
    Remark,
    WhenBroken,
    print_document,
)
from rocky.language.dsl.tokens import Comment, Problem, Token, read_tokens
from rocky.language.dsl.tree import Form, Node


def lay_out(text: str) -> str | Problem:
    """A text in its one layout, or why it has none."""
    tree = parse_text(text)
    if isinstance(tree, Problem):
        return tree
    return print_document(_Layout().file(tree))


def means_the_same(before: str, after: str) -> bool:
    """Whether two texts become the same SQL and have the same comments in the same order."""
    first, second = lower_text(before), lower_text(after)
    if not isinstance(first, MappedText) or not isinstance(second, MappedText):
        return False
    return first.text == second.text and _comments(before) == _comments(after)


def _comments(text: str) -> list[str]:
    return [
        comment.text
        for token in read_tokens(text)
        for comment in (*token.above, *([token.behind] if token.behind else ()))
    ]


class _Layout:
    """The document of a tree."""

    def __init__(self) -> None:
        self._forms: dict[Form, Callable[[Node], list[Document]]] = {
            "binary": self._binary,
            "negation": self._spaced,
            "minus": self._minus,
            "test": self._spaced,
            "duration": self._spaced,
            "item": self._spaced,
            "key": self._key,
            "entry": self._entry,
            "source": self._spaced,
            "arm": self._spaced,
            "lambda": self._lambda,
            "names": self._names,
            "frame": self._frame,
            "call": self._call,
            "list": self._call,
            "cast": self._cast,
            "kind": self._joined,
            "filter": self._filter,
            "over": self._over,
            "match": self._match,
            "subquery": self._subquery,
            "pipeline": self._pipeline,
            "star": self._star,
            "block": self._block,
        }

    def file(self, tree: Node) -> list[Document]:
        """A file: its bindings, its pipeline, and the comments at its end."""
        made: list[Document] = []
        *bindings, pipeline = tree.nodes
        for binding in bindings:
            first = next(binding.tokens())
            made += [Break(hard=True, apart=first.apart), *self._let(binding)]
        if bindings:
            first = next(pipeline.tokens())
            made.append(Break(hard=True, apart=not first.above or first.apart))
        made += self._pipeline(pipeline, top=True)
        end = tree.parts[-1]
        assert isinstance(end, Token)
        return [*made, HARD, end]

    def _let(self, binding: Node) -> list[Document]:
        word, name, mark, pipeline = binding.parts
        assert isinstance(pipeline, Node)
        body = Indent((LINE, *self._pipeline(pipeline)))
        return [Group((*self._parts((word, " ", name, " ", mark)), body))]

    def _pipeline(self, pipeline: Node, *, top: bool = False) -> list[Document]:
        made: list[Document] = []
        lost: list[Comment] = []
        for index, part in enumerate(pipeline.parts):
            if isinstance(part, Token):
                # The mark between two steps goes, what was said beside it stays.
                lost += (*part.above, *([part.behind] if part.behind else ()))
                continue
            first = next(part.tokens())
            if index:
                made.append(Break(hard=top, apart=first.apart and not first.above))
            if lost:
                made.append(Remark(tuple(lost)))
                lost = []
            made += self._step(part)
        return made

    def _step(self, step: Node) -> list[Document]:
        word = step.words[0]
        if word == "where":
            return [Group((*self._part(step.parts[0]), " ", *self._continued(step.nodes[0])))]
        made: list[Document] = []
        for index, part in enumerate(step.parts):
            if index and not (isinstance(part, Token) and part.is_mark(",")):
                made.append(" ")
            made += self._part(part)
        return made

    def _block(self, block: Node) -> list[Document]:
        opening, *inner, closing = block.parts
        items: list[Document] = []
        for index, part in enumerate(inner):
            last = index == len(inner) - 1
            if isinstance(part, Token) and part.is_mark(","):
                items.append(WhenBroken(part) if last else part)
                if not last:
                    following = next(_first_tokens(inner[index + 1 :]))
                    items.append(Break(apart=following.apart and not following.above))
            else:
                items += self._part(part)
                if isinstance(part, Token):
                    items.append(" ")
                elif last:
                    items.append(WhenBroken(","))
        parts = (*self._part(opening), Indent((LINE, *items)), LINE, *self._part(closing))
        return [Group(parts, broken=next(_first_tokens(inner)).begins)]

    def _part(self, part: Node | Token) -> list[Document]:
        if isinstance(part, Token):
            return [part]
        return self._forms.get(part.form, self._joined)(part)

    def _parts(self, parts: Sequence[Node | Token | str]) -> list[Document]:
        made: list[Document] = []
        for part in parts:
            made += [part] if isinstance(part, str) else self._part(part)
        return made

    def _joined(self, node: Node) -> list[Document]:
        """Its parts side by side, a space after each comma and between two words."""
        made: list[Document] = []
        after_word = False
        for part in node.parts:
            is_word = isinstance(part, Token) and part.kind != "mark"
            if after_word and is_word:
                made.append(" ")
            made += self._part(part)
            if isinstance(part, Token) and part.is_mark(","):
                made.append(" ")
            after_word = is_word
        return made

    def _spaced(self, node: Node) -> list[Document]:
        made: list[Document] = []
        for index, part in enumerate(node.parts):
            if index:
                made.append(" ")
            made += self._part(part)
        return made

    def _binary(self, node: Node) -> list[Document]:
        """Operands with operators between them; a line may break before some of these."""
        first, *rest = node.parts
        made = self._part(first)
        for part in rest:
            if isinstance(part, Token):
                breaks = part.is_word("and", "or") or part.is_mark("+", "-", "||")
                made.append(LINE if breaks else " ")
                made += [part, " "]
            else:
                made += self._part(part)
        if isinstance(first, Token):
            # An arm of `match`: the operator stands first.
            return [first, " ", *made[1:]]
        return [Group(tuple(made))]

    def _minus(self, node: Node) -> list[Document]:
        """A minus and what it is before; two in a row would begin a comment."""
        sign, value = node.parts
        assert isinstance(value, Node)
        apart = [" "] if next(value.tokens()).is_mark("-") else []
        return [*self._part(sign), *apart, *self._part(value)]

    def _key(self, node: Node) -> list[Document]:
        first, *rest = node.parts
        if isinstance(first, Token):
            value, *rest = rest
            made = self._minus(Node("minus", (first, value)))
        else:
            made = self._part(first)
        for part in rest:
            made += [" ", *self._part(part)]
        return made

    def _entry(self, node: Node) -> list[Document]:
        name, mark, value = node.parts
        assert isinstance(value, Node)
        return [*self._parts((name, mark, " ")), *self._continued(value)]

    def _continued(self, node: Node) -> list[Document]:
        """An expression whose further lines stand deeper, unless it has brackets to hold them."""
        made = self._part(node)
        return [Indent(tuple(made))] if node.form in ("binary", "test", "negation") else made

    def _lambda(self, node: Node) -> list[Document]:
        *parameters, arrow, body = node.parts
        made: list[Document] = []
        for part in parameters:
            made += self._part(part)
            if isinstance(part, Token) and part.is_mark(","):
                made.append(" ")
        return [*made, " ", *self._part(arrow), " ", *self._part(body)]

    def _names(self, node: Node) -> list[Document]:
        """`partition` or `sort` of a window, or the names of columns, with commas between them."""
        made: list[Document] = []
        for index, part in enumerate(node.parts):
            if index and not (isinstance(part, Token) and part.is_mark(",")):
                made.append(" ")
            made += self._part(part)
        return made

    def _frame(self, node: Node) -> list[Document]:
        word, *bounds = node.parts
        return [*self._part(word), " ", *self._parts(bounds)]

    def _call(self, node: Node) -> list[Document]:
        """Arguments in parentheses; those that do not fit stand on lines of their own."""
        at = next(
            i for i, part in enumerate(node.parts) if isinstance(part, Token) and part.is_mark("(")
        )
        head, inner, closing = node.parts[: at + 1], node.parts[at + 1 : -1], node.parts[-1]
        items: list[Document] = []
        for part in inner:
            items += self._part(part)
            if isinstance(part, Token):
                items.append(LINE if part.is_mark(",") else "" if part.is_mark("*") else " ")
        if not inner:
            return self._parts(node.parts)
        parts = (*self._parts(head), Indent((SOFT, *items)), SOFT, *self._part(closing))
        return [Group(parts)]

    def _cast(self, node: Node) -> list[Document]:
        name, opening, value, word, kind, closing = node.parts
        return self._parts((name, opening, value, " ", word, " ", kind, closing))

    def _filter(self, node: Node) -> list[Document]:
        call, word, opening, condition, closing = node.parts
        return self._parts((call, " ", word, " ", opening, condition, closing))

    def _over(self, node: Node) -> list[Document]:
        call, word, opening, *clauses, closing = node.parts
        items: list[Document] = []
        for part in clauses:
            items += self._part(part)
            if isinstance(part, Token):
                items.append(LINE)
        if not clauses:
            return self._parts((call, " ", word, " ", opening, closing))
        inner = (*self._part(opening), Indent((SOFT, *items)), SOFT, *self._part(closing))
        return [*self._parts((call, " ", word, " ")), Group(inner)]

    def _match(self, node: Node) -> list[Document]:
        at = next(
            i for i, part in enumerate(node.parts) if isinstance(part, Token) and part.is_mark("{")
        )
        head: list[Document] = []
        for part in node.parts[:at]:
            head += [*self._part(part), " "]
        return [*head, *self._block(Node("block", node.parts[at:]))]

    def _subquery(self, node: Node) -> list[Document]:
        opening, inner, closing = node.parts
        parts = (*self._part(opening), Indent((SOFT, *self._part(inner))), SOFT)
        return [Group((*parts, *self._part(closing)))]

    def _star(self, node: Node) -> list[Document]:
        made: list[Document] = []
        for token in node.tokens():
            if token.is_word("except"):
                made += [" ", token, " "]
            else:
                made += [token, *([" "] if token.is_mark(",") else [])]
        return made


def _first_tokens(parts: Sequence[Node | Token]) -> Iterator[Token]:
    for part in parts:
        yield from part.tokens() if isinstance(part, Node) else (part,)
