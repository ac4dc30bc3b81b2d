"""Records: what is kept of a bound model, made from what the binder found.

The bytes of a record are a function of the values alone, never of object identity: the face of a
model must be the same whichever process bound it. A snapshot's table has columns besides those of
its query; readers see them, so they are part of its schema.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from blake3 import blake3

from rocky.analysis.compilation import Body, EndedIn, Record, Schema, Share
from rocky.analysis.lints.rules import lint_output
from rocky.analysis.lints.settings import names_columns
from rocky.compiler.setting_binder import SettingFinding, Subject, bind_tests
from rocky.compiler.validity import face_of
from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.codes import severity_of
from rocky.language.binder.expr import (
    EXPRESSION,
    NO_SOURCES,
    WHOLE,
    Column,
    merge_sources,
)
from rocky.language.binder.logic.normal_form import normal_hash
from rocky.language.binder.query import BoundQuery
from rocky.language.binder.scopes import Binding
from rocky.language.binder.usage import find_usage
from rocky.language.datatypes import types as t
from rocky.language.datatypes.text import encode_type
from rocky.language.datatypes.types import DataType, StructField
from rocky.language.ir import INFLUENCE_ROLES, ModelIr, OutputColumn
from rocky.language.syntax.parser import ParsedQuery
from rocky.language.syntax.substitutions import find_substitutions
from rocky.language.tables import Tables
from rocky.project import ModelFile
from rocky.project.cache import pack
from rocky.project.configuration.strategies import (
    HISTORY_FIELDS,
    NOTES_THE_TIME,
    Snapshot,
    Strategy,
)


def with_history(bound: BoundQuery, strategy: Strategy) -> BoundQuery:
    """The bound query of a snapshot with the columns its table has in the end."""
    binding = bound.binding
    if not isinstance(strategy, Snapshot) or binding is None:
        return bound
    keys = [name.lower() for name in strategy.unique_key]
    dated = [strategy.updated_at.lower()] if strategy.updated_at else []
    if not dated:
        binding.mark_volatile(NOTES_THE_TIME)
    at = merge_sources([each for each in bound.columns if each.key in dated], EXPRESSION)
    row = merge_sources([each for each in bound.columns if each.key in keys], EXPRESSION) | at
    sources = (at, at, NO_SOURCES, row)
    added = (
        Column(each.name, each.type, each.nullable, made_from, binding.fresh())
        for each, made_from in zip(HISTORY_FIELDS, sources, strict=True)
    )
    return replace(bound, columns=(*bound.columns, *added))


def history_fields(strategy: Strategy) -> tuple[StructField, ...]:
    """The columns that a snapshot adds; none for any other strategy."""
    return HISTORY_FIELDS if isinstance(strategy, Snapshot) else ()


class NotedTables(Tables, Protocol):
    """Tables that remember every look-up."""

    lookups: dict[tuple[str, ...], bytes]


_TYPE_TEXTS: dict[DataType, str] = {}
_ROLES = {role: index for index, role in enumerate(INFLUENCE_ROLES)}


def record_of(
    key: bytes,
    model: ModelFile,
    bound: BoundQuery,
    tables: NotedTables,
) -> Record:
    """The record of a bound query, with what the lints of its output and its tests find."""
    columns, binding = bound.columns, bound.binding
    schema = Schema(
        [(each.name or "", _type_text(each.type), each.nullable) for each in columns], bound.known
    )
    packed_schema = pack(tuple(schema))
    diagnostics = [*bound.diagnostics, *_unreplaced(bound), *lint_columns(bound)]
    # Before the look-ups are taken: tests note theirs as well.
    in_tests = _bind_tests(model, bound, tables)
    return Record(
        key,
        tuple(tables.lookups.items()),
        tuple(binding.reads) if binding is not None else (),
        face_of(model, packed_schema),
        len(columns),
        sum(column.type is t.UNKNOWN for column in columns),
        _open_star(bound, binding) if binding is not None else None,
        names_columns(model),
        tuple(sorted(binding.volatile)) if binding is not None else (),
        pack_findings(diagnostics, in_tests),
        packed_schema,
        pack(tuple(body_of(bound))),
        pack([tuple(use) for use in find_usage(bound)]),
    )


def _bind_tests(model: ModelFile, bound: BoundQuery, tables: NotedTables) -> list[SettingFinding]:
    if not model.settings.tests:
        return []
    fields = [StructField(each.name or "", each.type, each.nullable) for each in bound.columns]
    return bind_tests(model, Subject(model.name, fields, bound.known), tables)


def body_of(bound: BoundQuery) -> Body:
    """Everything of a query that only unpacking the model needs."""
    binding = bound.binding
    if binding is None or bound.parsed is None:
        return Body([], [], [], [], b"")
    return Body(
        [_pack_column(column) for column in bound.columns],
        binding.origins,
        [(origin, _ROLES[role]) for origin, role in sorted(binding.influences)],
        sorted(binding.unknowns.items()),
        with_functions(logic_hash(bound.parsed, binding), binding.functions),
        sorted(binding.functions.items()),
        _shares(bound.columns, binding),
        [EndedIn(*each.placed(binding.span)) for each in binding.groups.found],
    )


def with_functions(normal: bytes, functions: Mapping[str, bytes]) -> bytes:
    """The hash of a query together with the functions it calls: a changed body is another query."""
    if not functions:
        return normal
    said = b"".join(name.encode() + b"\0" + functions[name] for name in sorted(functions))
    return blake3(normal + b"\0functions\0" + said).digest()


def logic_hash(parsed: ParsedQuery, binding: Binding) -> bytes:
    """The normal form's hash; what was built while `${...}` was replaced must not equal it."""
    normal = normal_hash(parsed, binding)
    if next(find_substitutions(parsed), None) is None:
        return normal
    return blake3(normal + b"\0as written").digest()


def _shares(columns: Sequence[Column], binding: Binding) -> list[Share]:
    """Of which origins columns have parts only, or weakened tags; nothing for most queries."""
    return [
        Share(index, origin, ways)
        for index, column in enumerate(columns if binding.shares else ())
        if column.sources and max(column.sources) > WHOLE
        for origin, ways in binding.shares.partial(column.sources)
    ]


def _type_text(kind: DataType) -> str:
    found = _TYPE_TEXTS.get(kind)
    if found is None:
        found = _TYPE_TEXTS[kind] = encode_type(kind)
    return found


def _pack_column(column: Column) -> tuple[bool, int, int, tuple[int, ...]]:
    start, end = _place(column)
    return column.named, start, end, strongest_sources(column.sources)


def strongest_sources(sources: frozenset[int]) -> tuple[int, ...]:
    """Each source once, by the strongest way it reaches the column."""
    ordered = sorted(sources)
    if ordered and ordered[-1] > WHOLE:
        ordered = sorted({each & WHOLE for each in ordered})
    if len(ordered) < 2:
        return tuple(ordered)
    # Sources are packed origin first, so the last of each origin is the strongest.
    return tuple({source >> 3: source for source in ordered}.values())


def _place(column: Column) -> tuple[int, int]:
    """Where the column got its name, or (-1, -1)."""
    meta = column.place.meta if column.place is not None else {}
    if "start" in meta:
        return meta["start"], meta["end"] + 1
    return -1, -1


def _unreplaced(bound: BoundQuery) -> Iterator[Diagnostic]:
    """One finding each text in quotes that Spark's own substitution would have replaced."""
    if bound.parsed is None:
        return
    for span in find_substitutions(bound.parsed):
        written = bound.parsed.text[span.start : span.end]
        yield Diagnostic(
            Code.UNREPLACED_VARIABLE,
            f"`{written}` is not replaced: the query has it as it is written",
            span,
            severity=severity_of(Code.UNREPLACED_VARIABLE),
            help="use `@var(name)` and pass `--var name=...`; `${NAME}` is for values in TOML",
        )


def lint_columns(bound: BoundQuery) -> list[Diagnostic]:
    """The lints of the output; they want an IR, which is only made when something looks odd."""
    names = {column.key for column in bound.columns}
    if len(names) == len(bound.columns) and all(column.named for column in bound.columns):
        return []
    binding = bound.binding
    columns = tuple(
        OutputColumn(
            column.name or "",
            column.type,
            column.nullable,
            named=column.named,
            span=binding.span(column.place) if binding and column.place is not None else None,
        )
        for column in bound.columns
    )
    return lint_output(ModelIr("", columns, bound.known, ()))


def _open_star(bound: BoundQuery, binding: Binding) -> tuple[int, int] | None:
    """The place of a star through which the output follows an input's columns."""
    if not any(column.open for column in bound.columns) or not binding.stars:
        return None
    span = binding.span(binding.stars[-1])
    return (span.start, span.end) if span is not None else (0, 0)


def pack_findings(found: Sequence[Diagnostic], in_tests: Sequence[SettingFinding]) -> bytes:
    """Findings, those of tests by their keys: where these stand, only the file says."""
    packed = [pack_diagnostic(each) for each in found]
    packed += [(*pack_diagnostic(each.found), each.keys, each.sql) for each in in_tests]
    return pack(packed) if packed else b""


def pack_diagnostic(each: Diagnostic) -> tuple[Any, ...]:
    return (
        each.code.value,
        each.message,
        each.path,
        tuple(each.span) if each.span is not None else None,
        each.severity.value,
        each.condition,
        [
            (tuple(label.span) if label.span else None, label.message, label.path, label.column)
            for label in each.labels
        ],
        each.help,
    )
