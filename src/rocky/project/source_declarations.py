"""Declarations of sources, written: columns put into `sources/*.toml` as a person would.

Only what differs is touched: comments, the order of keys and whatever else is said of a column stay
as they are.
"""

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rocky.language.datatypes.text import format_type
from rocky.language.datatypes.types import StructField
from rocky.project.sources import SourceTable
from rocky.project.toml.parser import Place, locate_keys
from rocky.project.toml.variables import Substituted, spelled, unescaped


class _Edit(NamedTuple):
    """Text that takes the place of what stands from `start` to `end`."""

    start: int
    end: int
    text: str


def declare_columns(
    text: str, declared: Sequence[tuple[SourceTable, Sequence[StructField]]]
) -> str:
    """The text of a file in which sources that it declares have these columns."""
    places = locate_keys(text)
    edits: list[_Edit] = []
    for source, columns in declared:
        if source.columns:
            edits += _changed(text, places, source, columns)
        else:
            edits.append(_listed(text, places, source, columns))
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def order_columns(text: str, source: SourceTable, names: Sequence[str]) -> str:
    """The text of a file in which a source that it declares lists its columns in this order.

    `names` are all its columns. Comments stay where they are.
    """
    places = locate_keys(text)
    at = ("source", source.index, "columns")
    found = tomllib.loads(text)["source"][source.index]["columns"]
    spans = {
        unescaped(str(each["name"])).lower(): places[(*at, number)].value
        for number, each in enumerate(found)
    }
    wanted = [text[slice(*spans[unescaped(spelled(name)).lower()])] for name in names]
    edits = [_Edit(*span, item) for span, item in zip(spans.values(), wanted, strict=True)]
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def is_declarable(source: SourceTable) -> bool:
    """Whether all that says how a source is reached can be written into a file."""
    reached = (source.path or "", *source.options.values())
    hidden = (each.written for each in reached if isinstance(each, Substituted))
    return all("${" in each for each in hidden)


def declare_tables(text: str, tables: Iterable[tuple[SourceTable, Sequence[StructField]]]) -> str:
    """The text of a file with tables that no file declares at its end."""
    blocks = [f"[[source]]\n{_reached(source)}{_list(columns)}\n" for source, columns in tables]
    before = text if not text or text.endswith("\n") else f"{text}\n"
    return "\n".join([before, *blocks] if before else blocks)


def _reached(source: SourceTable) -> str:
    """The keys that say which table it is, a line each."""
    lines = [f"name = {_text(source.name)}", f"format = {_text(source.format)}"]
    if source.path is not None:
        lines.append(f"path = {_text(source.path)}")
    if source.options:
        options = (f"{_quoted(key)} = {_text(value)}" for key, value in source.options.items())
        lines.append(f"options = {{ {', '.join(options)} }}")
    return "".join(f"{line}\n" for line in lines)


def _listed(
    text: str,
    places: Mapping[tuple[str | int, ...], Place],
    source: SourceTable,
    columns: Sequence[StructField],
) -> _Edit:
    """All columns, below the keys that say which table it is, or in the place of an empty list."""
    empty = places.get(("source", source.index, "columns"))
    if empty is not None:
        return _Edit(*empty.value, _list(columns).removeprefix("columns = "))
    keys = ("name", "format", "path", "table")
    found = (places.get(("source", source.index, key)) for key in keys)
    last = max(each.value.end for each in found if each is not None)
    end = text.find("\n", last)
    at = len(text) if end < 0 else end
    return _Edit(at, at, f"\n{_list(columns)}")


def _changed(
    text: str,
    places: Mapping[tuple[str | int, ...], Place],
    source: SourceTable,
    columns: Sequence[StructField],
) -> Iterable[_Edit]:
    """What differs: another type, a column that is new, one that is gone."""
    at = ("source", source.index, "columns")
    live = {field.name.lower(): field for field in columns}
    spans = [places[(*at, number)].value for number in range(len(source.columns))]
    for number, field in enumerate(source.columns):
        there = live.pop(field.name.lower(), None)
        if there is None:
            yield _removal(number, spans)
            continue
        kind = places[(*at, number, "type")].value
        if there.type != field.type:
            yield _Edit(*kind, _text(format_type(there.type)))
        if there.nullable != field.nullable:
            said = places.get((*at, number, "nullable"))
            value = "true" if there.nullable else "false"
            yield (
                _Edit(*said.value, value)
                if said
                else _Edit(kind.end, kind.end, f", nullable = {value}")
            )
    if live:
        start = places[at].value.start
        between = "\n  " if "\n" in text[start : spans[-1].start] else " "
        added = "".join(f",{between}{_column(each)}" for each in live.values())
        yield _Edit(spans[-1].end, spans[-1].end, added)


def _removal(number: int, spans: Sequence[tuple[int, int]]) -> _Edit:
    """A column taken out, with the comma before it, or after it when it is the first."""
    if number:
        return _Edit(spans[number - 1][1], spans[number][1], "")
    following = spans[1][0] if len(spans) > 1 else spans[0][1]
    return _Edit(spans[0][0], following, "")


def _list(columns: Sequence[StructField]) -> str:
    lines = "".join(f"  {_column(each)},\n" for each in columns)
    return f"columns = [\n{lines}]"


def _column(field: StructField) -> str:
    nullable = "" if field.nullable else ", nullable = false"
    return f"{{ name = {_text(field.name)}, type = {_text(format_type(field.type))}{nullable} }}"


def _text(value: str) -> str:
    """A value: what comes from outside is no reference to a variable, whatever it is called."""
    return _quoted(spelled(value))


def _quoted(text: str) -> str:
    """A basic string of TOML, which has the escapes of JSON."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
