"""Digests: what a report says in a line, and as a table for a notebook.

A report may hold ten thousand models; a prompt shows its `repr` after every call. So that is a line
or two, and a notebook gets a table of the first rows. Whatever is shown is escaped: a description
or a value may hold markup.
"""

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from rocky.diagnostics.render import counted
from rocky.operations.findings import Finding

MOST: Final = 50
"""So many rows are shown, and so many findings."""
_LONGEST: Final = 200
"""A cell is cut after so many characters."""
_MARKS: Final = re.compile(r"([\\`*_\[\]|~$!#])")


@dataclass(frozen=True, slots=True)
class Digest:
    """A sentence, the `rows` of a table, of which there are `total`, and findings.

    Rows are looked at when they are shown, and no more of them.
    """

    title: str
    columns: tuple[str, ...] = ()
    rows: Iterable[Sequence[object]] = ()
    total: int = 0
    findings: Sequence[Finding] = ()

    @property
    def cells(self) -> list[list[str]]:
        """The rows that are shown, as text."""
        return [[_text(each) for each in row] for row in islice(self.rows, MOST)]

    @property
    def rest(self) -> str:
        """What is said of the rows that are not shown."""
        return f"... and {self.total - MOST:,} more" if self.total > MOST else ""


class Digested:
    """A report with a short `repr`, and a table in a notebook."""

    __slots__ = ()

    def digest(self) -> Digest:
        """The report in short."""
        raise NotImplementedError

    def __repr__(self) -> str:
        found = self.digest()
        first = next((f"\n  {_sentence(each)}" for each in found.findings), "")
        return f"<{type(self).__name__}: {_text(found.title)}>{first}"

    def _repr_markdown_(self) -> str:
        return render_markdown(self.digest())

    def _repr_html_(self) -> str:
        return render_html(self.digest())


def counts(**numbers: int) -> str:
    """As `11 models, 1 error`; what there is none of is left out, but for the first."""
    first = next(iter(numbers))
    return ", ".join(
        counted(number, noun) for noun, number in numbers.items() if number or noun == first
    )


def place_of(finding: Finding) -> str:
    """As `models/a.sql:3:8`, as far as it is known."""
    span = finding.span
    if span is None:
        return finding.model or ""
    return ":".join(str(each) for each in (span.file, span.line, span.col) if each is not None)


def render_html(digest: Digest) -> str:
    """The digest as HTML."""
    parts = [f"<p><b>{html.escape(_text(digest.title))}</b></p>"]
    rows = digest.cells
    if rows:
        parts.append(_html_table(digest.columns, rows))
    if digest.rest:
        parts.append(f"<p>{html.escape(digest.rest)}</p>")
    if digest.findings:
        parts.append(_html_table(_FOUND, _found(digest)))
    return "".join(parts)


def render_markdown(digest: Digest) -> str:
    """The digest as Markdown."""
    parts = [f"**{_mark(_text(digest.title))}**"]
    rows = digest.cells
    if rows:
        parts.append(_markdown_table(digest.columns, rows))
    if digest.rest:
        parts.append(_mark(digest.rest))
    if digest.findings:
        parts.append(_markdown_table(_FOUND, _found(digest)))
    return "\n\n".join(parts)


_FOUND: Final = ("finding", "place", "message")


def _found(digest: Digest) -> list[list[str]]:
    shown = islice(digest.findings, MOST)
    return [
        [
            f"{each.severity.value} {each.code.value}",
            place_of(each),
            _text(each.message if each.help is None else f"{each.message}; {each.help}"),
        ]
        for each in shown
    ]


def _sentence(finding: Finding) -> str:
    place = place_of(finding)
    said = f"{finding.severity.value}[{finding.code.value}] {_text(finding.message)}"
    return f"{place}: {said}" if place else said


def _text(value: object) -> str:
    if value is None:
        return ""
    text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _html_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{html.escape(_text(each))}</th>" for each in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(each)}</td>" for each in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = [[_mark(each) for each in row] for row in ([_text(each) for each in columns], *rows)]
    lines = [cells[0], ["---"] * len(columns), *cells[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _mark(text: str) -> str:
    """A text that Markdown, and the HTML in it, takes as it is."""
    return _MARKS.sub(r"\\\1", html.escape(text, quote=False))
