"""Call places: the smallest part of an author's call that a finding is about.

Python knows the whole range of a call, of a chain of calls all of it. The finding belongs at the
name of the last method, or at the text among its arguments that is wrong.
"""

import ast
import re
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from rocky.diagnostics.diagnostic import SourceText, Span, position_in
from rocky.project.python_syntax import nodes_of, parse_python

_NAMED: Final = re.compile(r"`([^`]+)`")


class Site(NamedTuple):
    """A range of a Python file: lines from one, columns in bytes of UTF-8 from zero."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


class _File:
    """A Python file with its calls by their ranges."""

    def __init__(self, path: str, text: str) -> None:
        self.source = SourceText(path, text)

    @cached_property
    def _by_range(self) -> dict[tuple[int, int, int | None, int | None], ast.expr]:
        """The expressions by their ranges; of several with one range the innermost."""
        try:
            tree = parse_python(self.source.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return {}
        return {
            (each.lineno, each.col_offset, each.end_lineno, each.end_col_offset): each
            for each in nodes_of(tree)
            if isinstance(each, ast.expr)
        }

    @cached_property
    def _is_ascii(self) -> bool:
        return self.source.text.isascii()

    def call(self, site: "Site") -> ast.expr | None:
        """The expression that has exactly the range of a site."""
        return self._by_range.get((site.line, site.column, site.end_line, site.end_column))

    def offset(self, line: int, column: int) -> int:
        """The offset of a column in bytes of UTF-8."""
        if not 1 <= line <= len(self.source.line_starts):
            return 0
        if self._is_ascii:
            whole = self.source.line_span(line)
            return min(whole.start + column, whole.end)
        before = self.source.line_text(line).encode("utf-8", "surrogatepass")[:column]
        return self.source.line_starts[line - 1] + len(before.decode("utf-8", "replace"))

    def span_of(self, node: ast.expr) -> Span:
        return Span(
            self.offset(node.lineno, node.col_offset),
            self.offset(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset),
        )


class CallPlaces:
    """Sites as spans of files, each file read once."""

    def __init__(self, texts: dict[str, str] | None = None, root: Path = Path()) -> None:
        """`texts` are files that are not read from disk; `root` is where relative paths begin."""
        self._given = texts or {}
        self._root = root
        self._files: dict[str, _File | None] = {}

    def span(self, site: Site | None, about: str) -> tuple[str | None, Span | None]:
        """The path and place of a site, narrowed to what the message names in backticks."""
        file = self._file(site.path) if site is not None else None
        if site is None or file is None:
            return (site.path if site else None), None
        whole = Span(
            file.offset(site.line, site.column), file.offset(site.end_line, site.end_column)
        )
        node = file.call(site)
        return site.path, self._narrowed(file, node, about) or whole

    def position(self, path: str | None, span: Span | None) -> tuple[int, int] | None:
        """The line and column at which a span of a file starts."""
        file = self._file(path) if path is not None else None
        return position_in(file.source if file is not None else None, span)

    def _narrowed(self, file: _File, node: ast.expr | None, about: str) -> Span | None:
        if node is None:
            return None
        names = [each.lower() for each in _NAMED.findall(about)]
        arguments: list[ast.AST] = [node]
        if isinstance(node, ast.Call):
            arguments = [*node.args, *[each.value for each in node.keywords]]
        texts = [
            each
            for part in arguments
            for each in nodes_of(part)
            if isinstance(each, ast.Constant) and isinstance(each.value, str)
        ]
        for name in names:
            exact = [each for each in texts if str(each.value).lower() == name]
            if exact:
                return file.span_of(exact[0])
        for name in names:
            holding = [
                each
                for each in texts
                if re.search(rf"\b{re.escape(name)}\b", str(each.value).lower())
            ]
            if len(holding) == 1:
                return file.span_of(holding[0])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            whole = file.span_of(node)
            before = file.span_of(node.func.value)
            dot = file.source.text.find(node.func.attr, before.end)
            return Span(dot, whole.end) if dot >= 0 else whole
        return None

    def _file(self, path: str) -> _File | None:
        if path not in self._files:
            text = self._given.get(path)
            if text is None:
                try:
                    text = (self._root / path).read_text(encoding="utf-8")
                except (OSError, UnicodeDecodeError):
                    # A finding without a text still has its path: code may come from anywhere.
                    text = None
            self._files[path] = None if text is None else _File(path, text)
        return self._files[path]
