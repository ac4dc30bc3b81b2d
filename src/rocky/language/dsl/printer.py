"""A printer of documents: text with places where a line may break, fitted to a width.

A group stands on one line where it fits and holds no comment, else each of its breaks is a new
line. Comments belong to tokens: those above one get lines of their own, the one behind it ends its
line.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from rocky.language.dsl.tokens import Comment, Token

WIDTH: Final = 100
_INDENT: Final = "    "


@dataclass(frozen=True, slots=True)
class Break:
    """Where a line may break; `flat` stands there when it does not. `hard`: it always breaks."""

    flat: str = " "
    hard: bool = False
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Parts that break together. `broken`: they do, whether they fit or not."""

    parts: "tuple[Document, ...]"
    broken: bool = False


@dataclass(frozen=True, slots=True)
class Indent:
    """Parts that stand one level deeper."""

    parts: "tuple[Document, ...]"


@dataclass(frozen=True, slots=True)
class WhenBroken:
    """Something that stands only where the group around it is broken."""

    part: "Token | str"


@dataclass(frozen=True, slots=True)
class Remark:
    """Comments whose token is not written."""

    comments: tuple[Comment, ...]


Document = str | Token | Break | Group | Indent | WhenBroken | Remark

LINE: Final = Break()
SOFT: Final = Break("")
HARD: Final = Break(hard=True)


def print_document(parts: Iterable[Document]) -> str:
    """The text of a document, every line without space at its end."""
    printer = _Printer()
    printer.print_parts(tuple(parts), "", broken=True)
    return printer.finish()


class _Printer:
    def __init__(self) -> None:
        self._lines: list[str] = []
        self._line = ""
        self._behind: str | None = None

    def print_parts(self, parts: tuple[Document, ...], indent: str, *, broken: bool) -> None:
        for index, part in enumerate(parts):
            if isinstance(part, Group):
                rest = _flat_width(parts[index + 1 :])
                room = WIDTH - max(len(self._line), len(indent)) - rest
                text = None if part.broken else _flat(part.parts)
                fits = text is not None and len(text) <= room
                self.print_parts(part.parts, indent, broken=not fits)
            elif isinstance(part, Indent):
                self.print_parts(part.parts, indent + _INDENT, broken=broken)
            elif isinstance(part, Break):
                self._break(part, indent, broken=broken)
            elif isinstance(part, WhenBroken):
                if broken:
                    self._write(part.part, indent)
            elif isinstance(part, Remark):
                self._above(part.comments, indent)
            else:
                self._write(part, indent)

    def finish(self) -> str:
        self._new_line()
        while self._lines and not self._lines[-1]:
            self._lines.pop()
        return "\n".join(self._lines) + "\n" if self._lines else ""

    def _break(self, part: Break, indent: str, *, broken: bool) -> None:
        if broken or part.hard:
            self._new_line()
            if part.apart and self._lines and self._lines[-1]:
                self._lines.append("")
        else:
            self._write(part.flat, indent)

    def _write(self, part: Token | str, indent: str) -> None:
        text = part if isinstance(part, str) else part.text
        if isinstance(part, Token):
            self._above(part.above, indent)
        bare = isinstance(part, str) or not (part.above or part.behind)
        if self._behind is not None and (text.strip() not in ("", ",") or not bare):
            # A comment ends its line, whatever else was to stand on it; a comma goes before it.
            self._new_line()
        if text:
            self._line = (self._line or indent) + (text if self._line else text.lstrip())
        if isinstance(part, Token) and part.behind is not None:
            self._behind = part.behind.text

    def _above(self, comments: tuple[Comment, ...], indent: str) -> None:
        for comment in comments:
            self._new_line()
            if comment.apart and self._lines and self._lines[-1]:
                self._lines.append("")
            self._lines.append(indent + comment.text)

    def _new_line(self) -> None:
        if self._behind is not None:
            self._line = f"{self._line.rstrip()} {self._behind}"
            self._behind = None
        if self._line.strip():
            self._lines.append(self._line.rstrip())
        self._line = ""


def _flat(parts: Iterable[Document]) -> str | None:
    """The parts on one line; None where they must break.

    A comment above the first token or behind the last one is no reason to.
    """
    pieces = list(_flat_pieces(parts))
    tokens = [piece for piece in pieces if isinstance(piece, Token)]
    if None in pieces or any(token.above for token in tokens[1:]):
        return None
    if any(token.behind is not None for token in tokens[:-1]):
        return None
    return "".join(each.text if isinstance(each, Token) else each or "" for each in pieces)


def _flat_pieces(parts: Iterable[Document]) -> Iterator[str | Token | None]:
    for part in parts:
        if isinstance(part, str | Token):
            yield part
        elif isinstance(part, Break):
            yield None if part.hard else part.flat
        elif isinstance(part, WhenBroken):
            held = part.part
            yield None if isinstance(held, Token) and (held.above or held.behind) else ""
        elif isinstance(part, Remark) or (isinstance(part, Group) and part.broken):
            yield None
        else:
            yield from _flat_pieces(part.parts)


def _flat_width(parts: Iterable[Document]) -> int:
    """How much of what follows stands on the same line: up to the first place that may break."""
    width = 0
    for part in parts:
        if isinstance(part, str):
            width += len(part)
        elif isinstance(part, Token):
            width += len(part.text)
        else:
            break
    return width
