"""The tree of a Python text: its nodes at spans, and texts near a half-written one that parse.

Nothing is run. Spans are offsets in the text; Python itself counts lines, and bytes in them.
"""

import ast
import warnings
from collections.abc import Iterator
from functools import cached_property
from typing import Final, NamedTuple

from rocky.diagnostics.diagnostic import SourceText, Span
from rocky.ide.repair import CURSOR
from rocky.project.call_places import Site

_CLOSERS: Final = {"(": ")", "[": "]", "{": "}"}


class PythonTree:
    """A Python text that parses, or nothing where it does not."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._source = SourceText("", text)

    @cached_property
    def module(self) -> ast.Module | None:
        with warnings.catch_warnings():
            # An odd escape in a string is the author's to see when Python runs the file.
            warnings.simplefilter("ignore")
            try:
                return ast.parse(self.text)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return None

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """What each node stands in."""
        found: dict[ast.AST, ast.AST] = {}
        for node in ast.walk(self.module) if self.module is not None else ():
            for each in ast.iter_child_nodes(node):
                found[each] = node
        return found

    @cached_property
    def by_span(self) -> dict[Span, ast.expr]:
        """Expressions by where they stand, of several the outermost."""
        found: dict[Span, ast.expr] = {}
        for node in self.parents:
            if isinstance(node, ast.expr):
                found.setdefault(self.span(node), node)
        return found

    @cached_property
    def _by_name(self) -> dict[Span, ast.expr]:
        """Texts and attributes by where their names stand."""
        found: dict[Span, ast.expr] = {}
        for node in self.by_span.values():
            if isinstance(node, ast.Attribute):
                found[self.attribute(node)] = node
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                inside = self.inside(node)
                if inside is not None:
                    found[inside] = node
        return found

    @cached_property
    def assignments(self) -> list[ast.Assign]:
        """The assignments to one target, in the order of the text."""
        found = (node for node in self.parents if isinstance(node, ast.Assign))
        plain = [node for node in found if len(node.targets) == 1]
        return sorted(plain, key=lambda node: node.lineno)

    def offset(self, line: int, column: int) -> int:
        """The offset of a column in bytes of UTF-8."""
        starts = self._source.line_starts
        if not 1 <= line <= len(starts):
            return 0
        row = self._source.line_text(line)
        if row.isascii():
            return starts[line - 1] + column
        before = row.encode("utf-8", "surrogatepass")[:column]
        return starts[line - 1] + len(before.decode("utf-8", "replace"))

    def span(self, node: ast.expr | ast.keyword) -> Span:
        return Span(
            self.offset(node.lineno, node.col_offset),
            self.offset(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset),
        )

    def site_span(self, site: Site) -> Span:
        return Span(
            self.offset(site.line, site.column), self.offset(site.end_line, site.end_column)
        )

    def node_at(self, span: Span) -> ast.expr | None:
        """The smallest expression that a span is in, the text or the attribute that it is."""
        named = self._by_name.get(span)
        if named is not None:
            return named
        found = [at for at in self.by_span if at.start <= span.start and span.end <= at.end]
        best = min(found, key=lambda at: at.end - at.start, default=None)
        return self.by_span[best] if best is not None else None

    def enclosing(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node stands in, from the inside out."""
        at = self.parents.get(node)
        while at is not None:
            yield at
            at = self.parents.get(at)

    def inside(self, literal: ast.Constant) -> Span | None:
        """The place of a literal's text without its quotes; None where it is written otherwise."""
        span = self.span(literal)
        written, value = self.text[span.start : span.end], str(literal.value)
        for quote in ('"""', "'''", '"', "'"):
            if written == f"{quote}{value}{quote}":
                return Span(span.start + len(quote), span.end - len(quote))
        return None

    def attribute(self, node: ast.Attribute) -> Span:
        """The place of the name behind the dot."""
        end = self.span(node).end
        return Span(end - len(node.attr), end)


def texts_of(node: ast.AST) -> Iterator[ast.Constant]:
    """The texts in a node that belong to no call further in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node
    elif not isinstance(node, ast.Call | ast.Subscript | ast.JoinedStr | ast.Lambda):
        for each in ast.iter_child_nodes(node):
            yield from texts_of(each)


def arguments_of(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(each.value for each in call.keywords)]


def entries_of(call: ast.Call) -> Iterator[ast.expr]:
    """The arguments of a call, those in lists one by one."""
    for each in call.args:
        inner = each.value if isinstance(each, ast.Starred) else each
        yield from inner.elts if isinstance(inner, ast.List | ast.Tuple) else (inner,)


class CursorTree(NamedTuple):
    """A text that parses with the cursor's name in it, and the node that holds it."""

    tree: PythonTree
    node: ast.Constant | ast.Attribute


def cursor_tree(text: str, word: Span) -> CursorTree | None:
    """The tree of a text, or of the nearest that parses, with the cursor's name at a word."""
    for candidate in _repairs(text, word):
        tree = PythonTree(candidate)
        for node in tree.parents:
            if isinstance(node, ast.Attribute) and CURSOR in node.attr:
                return CursorTree(tree, node)
            if isinstance(node, ast.Constant) and CURSOR in str(node.value):
                return CursorTree(tree, node)
    return None


def _repairs(text: str, word: Span) -> Iterator[str]:
    """Texts with the cursor's name: as it is, then with what is open closed, then cut off."""
    head, tail = text[: word.start] + CURSOR, text[word.end :]
    yield head + tail
    quote, marks = _open_at(head)
    closers = "".join(_CLOSERS[each] for each in reversed(marks))
    line, _, rest = tail.partition("\n")
    yield f"{head}{quote}{line}\n{rest}"
    yield f"{head}{quote}{closers}\n{rest}"
    yield f"{head}{quote}{closers}\n"


def _open_at(text: str) -> tuple[str, list[str]]:
    """The quote that is open at the end of a text, and the brackets."""
    marks: list[str] = []
    at = 0
    while at < len(text):
        mark = text[at]
        if mark == "#":
            at = _line_end(text, at)
        elif mark in "'\"":
            quote = text[at : at + 3] if text[at : at + 3] == mark * 3 else mark
            end = _string_end(text, at + len(quote), quote)
            if end is None:
                return quote, marks
            at = end
            continue
        elif mark in _CLOSERS:
            marks.append(mark)
        elif marks and mark == _CLOSERS[marks[-1]]:
            marks.pop()
        at += 1
    return "", marks


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    return found if found >= 0 else len(text)


def _string_end(text: str, at: int, quote: str) -> int | None:
    """Where a string ends; one that is not closed ends with its line."""
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text.startswith(quote, at):
            return at + len(quote)
        elif text[at] == "\n" and len(quote) == 1:
            return at
        else:
            at += 1
    return None
