"""Digests: what a report says in a line, and as a table for a notebook.

A report may hold ten thousand models; a prompt shows its `repr` after every call. So that is a line
or two, and a notebook gets a table of the first rows. Whatever is shown is escaped: a description
or a value may hold markup.
"""

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from rocky.diagnostics.render import counted
from rocky.operations.report import is_report, take_apart

# What prints an address must not pay for the compiler.
if TYPE_CHECKING:
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
    findings: "Sequence[Finding]" = ()

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
        """The report in short: unless it says otherwise, its own fields."""
        return outline(self)

    def __repr__(self) -> str:
        found = self.digest()
        first = next((f"\n  {_sentence(each)}" for each in found.findings), "")
        return f"<{type(self).__name__}: {_text(found.title)}>{first}"

    def _repr_markdown_(self) -> str:
        return render_markdown(self.digest())

    def _repr_html_(self) -> str | None:
        """None where Markdown shows it better: a notebook prefers HTML."""
        return render_html(self.digest())


_WIDEST: Final = 8
"""An outline has so many columns."""
_HASH: Final = re.compile("[0-9a-f]{40,}")
_HASH_SHOWN: Final = 12
_TOLD: Final = 6
"""The title of an outline names so many facts."""


def outline(report: Any) -> Digest:
    """A report by its fields: facts and counts in the title, the first of its lists as the table.

    Columns are those that say something; what they hold in turn is left to the fields.
    """
    facts: list[str] = []
    items: Sequence[Any] = ()
    from rocky.operations.findings import Finding  # noqa: PLC0415 - for whom a report has any

    findings: Sequence[Finding] = ()
    for name, value in _facts(take_apart(report)):
        label = name.replace("_", " ")
        if isinstance(value, str | int | float | Enum | datetime):
            facts.append(f"{label} {_fact(value)}")
        elif isinstance(value, Sequence) and value:
            if all(isinstance(each, Finding) for each in value[:1]):
                findings = findings or value
            elif is_report(value[0]) or not items:
                # Records say more than names.
                items = items if items and is_report(items[0]) else value
            facts.append(f"{len(value):,} {label}")
    rows = [dict(_facts(_parts(each))) for each in islice(items, MOST)]
    columns = [
        name
        for name in dict.fromkeys(name for row in rows for name in row)
        if any(_fact(row.get(name)) for row in rows)
    ][:_WIDEST]
    shown = [[_fact(row.get(name)) for name in columns] for row in rows]
    head = tuple(name.replace("_", " ") for name in columns)
    return Digest(", ".join(facts[:_TOLD]), head, shown, len(items), findings)


def _parts(item: Any) -> Mapping[str, Any]:
    return take_apart(item) if is_report(item) else {"what": item}


def _facts(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The fields of a document, those of what stands in it alone among them."""
    for name, value in document.items():
        if is_report(value):
            yield from take_apart(value).items()
        elif isinstance(value, Mapping):
            yield from ((str(key), each) for key, each in value.items())
        else:
            yield name, value


def _fact(value: Any) -> str:
    """A value in a few words; nothing for what is a list, or is not there."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    if isinstance(value, tuple) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    if isinstance(value, str) and _HASH.fullmatch(value):
        return f"{value[:_HASH_SHOWN]}..."
    return _text(value) if isinstance(value, str | int | float) else ""


def counts(**numbers: int) -> str:
    """As `11 models, 1 error`; what there is none of is left out, but for the first."""
    first = next(iter(numbers))
    return ", ".join(
        counted(number, noun) for noun, number in numbers.items() if number or noun == first
    )


def place_of(finding: "Finding") -> str:
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


def _sentence(finding: "Finding") -> str:
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
