"""Packing: a bound query becomes the record that is kept of it.

The bytes are a function of the values alone, never of object identity: the face of a model must
be the same whichever process bound it.
"""

from typing import Any

from blake3 import blake3

from rocky.binder.binding import Binding
from rocky.binder.expression import Column
from rocky.binder.normal_form import normal_hash
from rocky.binder.query import BoundQuery
from rocky.compiler.records import Body, Record, Schema, pack
from rocky.datatypes.text import encode_type
from rocky.datatypes.types import UNKNOWN, DataType
from rocky.diagnostics import Diagnostic
from rocky.ir.model import INFLUENCE_ROLES, ModelIr, OutputColumn
from rocky.lints import lint_output
from rocky.lints.settings import names_columns
from rocky.project import ModelFile

_TYPE_TEXTS: dict[DataType, str] = {}
_ROLES = {role: index for index, role in enumerate(INFLUENCE_ROLES)}


def record_of(
    key: bytes,
    model: ModelFile,
    bound: BoundQuery,
    lookups: tuple[tuple[tuple[str, ...], bytes], ...],
) -> Record:
    """The record of a bound query, with what the lints of its output find."""
    columns, binding = bound.columns, bound.binding
    schema = Schema(
        [(each.name or "", _type_text(each.type), each.nullable) for each in columns], bound.known
    )
    packed_schema = pack(tuple(schema))
    diagnostics = [*bound.diagnostics, *_lint(bound)]
    return Record(
        key,
        lookups,
        tuple(binding.reads) if binding is not None else (),
        face_of(model, packed_schema),
        len(columns),
        sum(column.type is UNKNOWN for column in columns),
        _open_star(bound, binding) if binding is not None else None,
        names_columns(model),
        tuple(sorted(binding.volatile)) if binding is not None else (),
        pack([pack_diagnostic(each) for each in diagnostics]) if diagnostics else b"",
        packed_schema,
        pack(tuple(_body(bound, binding))),
    )


def face_of(model: ModelFile, schema: bytes) -> bytes:
    """The hash of the columns and of the names their table answers to."""
    names = f"{model.name}\0{model.target.catalog}\0{model.target.schema}\0"
    return blake3(names.encode("utf-8", "surrogatepass") + schema).digest(16)


def _body(bound: BoundQuery, binding: Binding | None) -> Body:
    """Everything that only unpacking the model needs."""
    if binding is None or bound.parsed is None:
        return Body([], [], [], [], b"")
    return Body(
        [_pack_column(column) for column in bound.columns],
        binding.origins,
        [(origin, _ROLES[role]) for origin, role in sorted(binding.influences)],
        sorted(binding.unknowns.items()),
        normal_hash(bound.parsed, binding),
    )


def _type_text(kind: DataType) -> str:
    found = _TYPE_TEXTS.get(kind)
    if found is None:
        found = _TYPE_TEXTS[kind] = encode_type(kind)
    return found


def _pack_column(column: Column) -> tuple[bool, int, int, tuple[int, ...]]:
    start, end = _place(column)
    return column.named, start, end, _strongest(column.sources)


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


def _lint(bound: BoundQuery) -> list[Diagnostic]:
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
