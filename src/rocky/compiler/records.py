"""Records: what is kept of a bound model, as plain values that marshal reads fast.

A record is small where every compile looks (what was looked up, the schema's hash) and packed
where few do (columns, lineage, findings): ten thousand records load in milliseconds and only those
somebody asks for are unpacked into a `ModelIr`.
"""

import marshal
from typing import Any, NamedTuple

from blake3 import blake3

from rocky.binder.binding import Binding
from rocky.binder.expression import Column
from rocky.binder.normal_form import normal_hash
from rocky.binder.query import BoundQuery
from rocky.datatypes.text import decode_type, encode_type
from rocky.datatypes.types import UNKNOWN, DataType, StructField
from rocky.diagnostics import Code, Diagnostic, Label, Severity
from rocky.ir.model import INFLUENCE_ROLES, LINEAGE_KINDS, Edge, Influence, ModelIr, OutputColumn
from rocky.lints import lint_output
from rocky.source import Span

NO_SCHEMA = b""
"""The schema hash of a table that does not exist."""


class Record(NamedTuple):
    """One bound model.

    `key` says what text and settings were bound; `lookups` pairs every name the query looked up
    with the schema hash it found, so that a record is good as long as both still hold.
    """

    key: bytes
    lookups: tuple[tuple[tuple[str, ...], bytes], ...]
    reads: tuple[str, ...]
    schema_hash: bytes
    columns: int
    unknown: int
    star: tuple[int, int] | None
    findings: bytes
    body: bytes


_TYPE_TEXTS: dict[DataType, str] = {}


def _type_text(kind: DataType) -> str:
    found = _TYPE_TEXTS.get(kind)
    if found is None:
        found = _TYPE_TEXTS[kind] = encode_type(kind)
    return found


def record_of(
    key: bytes,
    bound: BoundQuery,
    lookups: tuple[tuple[tuple[str, ...], bytes], ...],
) -> Record:
    """The record of a bound query, with what the lints of its output find."""
    binding = bound.binding
    columns = [_pack_column(column) for column in bound.columns]
    unknown = sum(column.type is UNKNOWN for column in bound.columns)
    diagnostics = [*bound.diagnostics, *_lint(bound)]
    findings = (
        marshal.dumps([_pack_diagnostic(each) for each in diagnostics]) if diagnostics else b""
    )
    if binding is None or bound.parsed is None:
        body = marshal.dumps((columns, bound.known, [], [], [], [], b""))
        return Record(key, lookups, (), _hash(columns, known=False), 0, 0, None, findings, body)
    body = marshal.dumps(
        (
            columns,
            bound.known,
            binding.origins,
            [(origin, INFLUENCE_ROLES.index(role)) for origin, role in sorted(binding.influences)],
            sorted(binding.volatile),
            sorted(binding.unknowns.items()),
            normal_hash(bound.parsed.tokens, binding),
        )
    )
    return Record(
        key,
        lookups,
        tuple(binding.reads),
        _hash(columns, known=bound.known),
        len(columns),
        unknown,
        _open_star(bound, binding),
        findings,
        body,
    )


def _lint(bound: BoundQuery) -> list[Diagnostic]:
    """The lints of the output; they want an IR, which is only made when something looks odd."""
    names = {column.key for column in bound.columns}
    if len(names) == len(bound.columns) and all(column.named for column in bound.columns):
        return []
    columns = tuple(
        OutputColumn(
            column.name or "",
            column.type,
            column.nullable,
            named=column.named,
            span=bound.binding.span(column.place)
            if bound.binding is not None and column.place is not None
            else None,
        )
        for column in bound.columns
    )
    return lint_output(ModelIr("", columns, bound.known, ()))


def _hash(columns: list[Any], *, known: bool) -> bytes:
    """The hash of names, types and nullability: all that a reader can depend on."""
    return blake3(marshal.dumps(([column[:3] for column in columns], known))).digest(16)


def _pack_column(column: Column) -> tuple[Any, ...]:
    start, end = _place(column)
    return (
        column.name,
        _type_text(column.type),
        column.nullable,
        column.named,
        start,
        end,
        _strongest(column.sources),
    )


def _strongest(sources: frozenset[int]) -> tuple[int, ...]:
    """Each source once, by the strongest way it reaches the column."""
    ordered = sorted(sources)
    if len(ordered) < 2:
        return tuple(ordered)
    # Sources are packed origin first, so the last of each origin is the strongest.
    return tuple(dict((source >> 3, source) for source in ordered).values())  # noqa: C402 - the last wins


def _place(column: Column) -> tuple[int, int]:
    """Where the column got its name, or (-1, -1)."""
    meta = column.place.meta if column.place is not None else {}
    if "start" in meta:
        return meta["start"], meta["end"] + 1
    return -1, -1


def _open_star(bound: BoundQuery, binding: Binding) -> tuple[int, int] | None:
    """The place of a star through which the output follows an input's columns."""
    if not any(column.open for column in bound.columns) or not binding.stars:
        return None
    span = binding.span(binding.stars[-1])
    return (span.start, span.end) if span is not None else (0, 0)


def fields_of(record: Record) -> tuple[tuple[StructField, ...], bool]:
    """The schema a reader of the model sees, and whether it is complete."""
    body = marshal.loads(record.body)
    return tuple(StructField(c[0], decode_type(c[1]), c[2]) for c in body[0]), body[1]


def unpack_model(name: str, record: Record) -> ModelIr:
    """The IR of a model from its record."""
    columns, known, origins, influences, determinism, unknowns, normal = marshal.loads(record.body)
    return ModelIr(
        name,
        tuple(_unpack_column(column, origins) for column in columns),
        known,
        record.reads,
        tuple(
            Influence(origins[at][0], origins[at][1], INFLUENCE_ROLES[role])
            for at, role in influences
        ),
        tuple(determinism),
        tuple((reason, count) for reason, count in unknowns),
        (Span(*record.star),) if record.star is not None else (),
        record.schema_hash.hex(),
        normal.hex(),
    )


def _unpack_column(packed: tuple[Any, ...], origins: list[tuple[str, str]]) -> OutputColumn:
    name, kind, nullable, named, start, end, sources = packed
    edges = tuple(
        Edge(origins[source >> 3][0], origins[source >> 3][1], LINEAGE_KINDS[source & 7])
        for source in sources
    )
    span = Span(start, end) if start >= 0 else None
    return OutputColumn(name, decode_type(kind), nullable, edges, named, span)


def _pack_diagnostic(each: Diagnostic) -> tuple[Any, ...]:
    return (
        each.code.value,
        each.message,
        each.path,
        tuple(each.span) if each.span is not None else None,
        each.severity.value,
        each.condition,
        [
            (tuple(label.span) if label.span else None, label.message, label.path)
            for label in each.labels
        ],
        each.help,
    )


def unpack_findings(record: Record, path: str, model: str, offset: int) -> list[Diagnostic]:
    """The findings of a record as diagnostics in the model's file."""
    if not record.findings:
        return []
    return [
        _unpack_diagnostic(packed, path, model, offset) for packed in marshal.loads(record.findings)
    ]


def _unpack_diagnostic(packed: tuple[Any, ...], path: str, model: str, offset: int) -> Diagnostic:
    code, message, own_path, span, severity, condition, labels, help_text = packed
    return Diagnostic(
        Code(code),
        message,
        _moved(span, 0 if own_path else offset),
        own_path or path,
        Severity(severity),
        condition,
        tuple(
            Label(_moved(at, 0 if where else offset), text, where or path if own_path else where)
            for at, text, where in labels
        ),
        help_text,
        model=model,
    )


def _moved(span: tuple[int, int] | None, by: int) -> Span | None:
    return Span(span[0] + by, span[1] + by) if span is not None else None
