"""The outline of a file, and what a project has by name: symbols that an editor lists."""

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from rocky.diagnostics.diagnostic import Span
from rocky.ide.declaration import column_places, definition_of
from rocky.ide.hover import columns_of
from rocky.ide.symbols import Symbol
from rocky.ide.toml_keys import toml_part
from rocky.ide.view import OpenFile, Place, View
from rocky.project.toml.parser import locate_keys

OutlineKind = Literal["model", "source", "seed", "macro", "function", "cte", "column", "block"]
_MOST: Final = 200


class OutlineItem(NamedTuple):
    """A thing of a file; `span` is the place of its name."""

    name: str
    kind: OutlineKind
    span: Span
    detail: str = ""
    children: tuple["OutlineItem", ...] = ()


class ProjectItem(NamedTuple):
    """A thing of a project, at its definition; `owner` is the table of a column."""

    name: str
    kind: OutlineKind
    place: Place
    owner: str = ""


def outline(file: OpenFile) -> tuple[OutlineItem, ...]:
    """The things that a file defines, in its order."""
    found: list[OutlineItem] = []
    found += _blocks(file)
    found += _in_query(file)
    for macro in file.view.project.macros.values():
        if macro.path == file.path:
            said = macro.declaration
            found.append(OutlineItem(macro.name, "macro", said.head, said.signature))
    return tuple(sorted(dict.fromkeys(found), key=lambda each: each.span))


def _blocks(file: OpenFile) -> Iterator[OutlineItem]:
    part = toml_part(file)
    if part is None:
        return
    headers: dict[Span, str] = {}
    for keys, place in locate_keys(part.text).items():
        # The tables around one without headers of their own have its place, and shorter names.
        name = ".".join(str(each) for each in keys if isinstance(each, str))
        opens = part.text.startswith("[", place.value.start)
        is_header = opens and place.key.start > place.value.start
        if is_header and len(name) > len(headers.get(place.value, "")):
            headers[place.value] = name
    for span, name in headers.items():
        yield OutlineItem(name, "block", Span(span.start + part.start, span.end + part.start))


def _in_query(file: OpenFile) -> Iterator[OutlineItem]:
    for name in file.names:
        if name.use.role == "cte" and name.definition == name.span:
            members = tuple(
                OutlineItem(each.name, "column", name.span, str(each.type))
                for each in name.use.members
            )
            yield OutlineItem(name.use.name, "cte", name.span, children=members)
    query, notes = file.query, file.notes
    for column in notes[1].columns if notes is not None else ():
        meta = column.place.meta if column.place is not None else {}
        if query is not None and "start" in meta:
            span = query.place(Span(meta["start"], meta["end"] + 1))
            shown = f"{column.type}{'' if column.nullable else ' NOT NULL'}"
            yield OutlineItem(column.name or "", "column", span, shown)


def find_in_project(view: View, wanted: str) -> tuple[ProjectItem, ...]:
    """What of a project has a text in its name, tables before columns; the first few hundred."""
    word = wanted.lower()
    found: list[ProjectItem] = []
    for kind, name in _tables(view):
        if word in name.lower():
            found += _placed(view, kind, Symbol("table", name.lower()), name)
    for kind, names in (("macro", view.project.macros), ("function", view.project.functions)):
        for key, each in names.items():
            if word in key:
                found += _placed(view, kind, Symbol(kind, key), each.name)  # type: ignore[arg-type]  # both are kinds of symbols
    for _, table in _tables(view):
        if len(found) >= _MOST or not word:
            break
        found += _columns(view, table, word)
    return tuple(found[:_MOST])


def _tables(view: View) -> Iterator[tuple[OutlineKind, str]]:
    project = view.project
    yield from (("model", each.name) for each in project.models.values())
    yield from (("source", each.name) for each in project.sources.values())
    yield from (("seed", each.name) for each in project.seeds.values())


def _placed(view: View, kind: OutlineKind, symbol: Symbol, name: str) -> Iterator[ProjectItem]:
    for place in definition_of(view, symbol)[:1]:
        yield ProjectItem(name, kind, place)


def _columns(view: View, table: str, word: str) -> Iterator[ProjectItem]:
    for name, _, _ in columns_of(view, table.lower()):
        if word in name.lower():
            for place in column_places(view, table.lower(), name.lower())[:1]:
                yield ProjectItem(name, "column", place, table)
