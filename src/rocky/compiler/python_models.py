"""Binding a Python model: its declared columns, and the tables its parameters name.

Nothing is run. Any column it reads may be in any column it gives: the lineage is `opaque`, complete
rather than precise, so that a change upstream always reaches it.
"""

from typing import Protocol

from rocky.catalog.tables import Tables
from rocky.compiler.history import history_fields
from rocky.compiler.packing import face_of, pack_diagnostic
from rocky.compiler.records import Body, Record, Schema, pack
from rocky.datatypes.text import encode_type
from rocky.datatypes.types import UNKNOWN
from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.suggest import NameIndex
from rocky.ir.model import LINEAGE_KINDS
from rocky.lints.settings import names_columns
from rocky.project import ModelFile
from rocky.project.python_models import VOLATILE, Input, content_hash, inputs_of, output_of

_OPAQUE = LINEAGE_KINDS.index("opaque")


class NotedTables(Tables, Protocol):
    """Tables that remember every look-up."""

    lookups: dict[tuple[str, ...], bytes]


def bind_python(model: ModelFile, key: bytes, tables: NotedTables) -> Record:
    """The record of a Python model. Raises NotReady when it reads one that is not bound yet."""
    reads: dict[str, None] = {}
    origins: dict[tuple[str, str], None] = {}
    findings: list[Diagnostic] = []
    for each in inputs_of(model):
        table = tables.find(each.parts)
        if table is None:
            findings.append(_unknown(each, tables))
            continue
        reads[table.name] = None
        origins.update(dict.fromkeys((table.name, field.name) for field in table.fields))
    columns = (*output_of(model), *history_fields(model.strategy))
    sources = tuple(index << 3 | _OPAQUE for index in range(len(origins)))
    schema = Schema(
        [(field.name, encode_type(field.type), field.nullable) for field in columns], known=True
    )
    packed = pack(tuple(schema))
    body = Body(
        [(True, -1, -1, sources)] * len(columns), list(origins), [], [], content_hash(model)
    )
    skip = model.settings.skip
    return Record(
        key,
        tuple(tables.lookups.items()),
        tuple(reads),
        face_of(model, packed),
        len(columns),
        sum(field.type is UNKNOWN for field in columns),
        None,
        names_columns(model),
        () if skip is not None and skip.deterministic else (VOLATILE,),
        pack([pack_diagnostic(each) for each in findings]) if findings else b"",
        packed,
        pack(tuple(body)),
    )


def _unknown(wanted: Input, tables: Tables) -> Diagnostic:
    near = NameIndex(tables.names()).closest(wanted.table)
    return Diagnostic(
        Code.UNKNOWN_TABLE,
        f"no table `{wanted.table}`",
        wanted.span,
        help=f"there is `{near}`"
        if near
        else f'say which table it is: `inputs = {{ {wanted.parameter} = "raw.orders" }}`',
    )
