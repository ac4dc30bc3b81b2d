"""What is told of a query without binding it is what binding it says."""

from collections.abc import Iterable

import pytest

from rocky.analysis.compilation import Schema
from rocky.compiler.carried_columns import Changes, carried_schema, used_names
from rocky.compiler.model_records import body_of
from rocky.language.binder.query import BoundQuery, bind_text
from rocky.language.binder.usage import find_usage
from rocky.language.datatypes.text import encode_type, parse_schema, parse_type
from rocky.language.datatypes.types import StructField
from rocky.language.tables import tables_by_name
from tests.corpus.questions import Question, questions, shop_tables

TABLES = {name: parse_schema(ddl) for name, ddl in shop_tables().items()}
PLAIN = frozenset("string int bigint double date timestamp boolean smallint float".split())
Fields = dict[str, tuple[StructField, ...]]


def schema_of(bound: BoundQuery) -> Schema:
    return Schema(
        [(each.name or "", encode_type(each.type), each.nullable) for each in bound.columns],
        bound.known,
    )


def is_plain(field: StructField) -> bool:
    name = field.name.replace("_", "a")
    return field.type.text in PLAIN and name.isascii() and name.isalnum()


def retyped(sql: str, kind: str) -> tuple[Fields, Changes]:
    """The shop's tables with another type for every column that a query only hands on."""
    used = used_names(sql)
    tables: Fields = {}
    changes = {}
    for table, fields in TABLES.items() if used is not None else ():
        others = [
            StructField(each.name, parse_type(kind), each.nullable)
            if used is not None and each.name.lower() not in used and is_plain(each)
            else each
            for each in fields
        ]
        for old, new in zip(fields, others, strict=True):
            if old.type is not new.type:
                changes[table, old.name] = _plain(old), _plain(new)
        tables[table] = tuple(others)
    return tables, changes


def _plain(field: StructField) -> tuple[str, str, bool]:
    return field.name, encode_type(field.type), field.nullable


def told_wrong(asked: Iterable[Question], kind: str) -> tuple[dict[str, str], int]:
    """The queries of which binding says something else, and of how many anything was told."""
    wrong, told = {}, 0
    for each in asked:
        tables, changes = retyped(each.sql, kind)
        if not changes:
            continue
        before = bind_text(each.sql, tables_by_name(TABLES))
        found = carried_schema(each.sql, schema_of(before), body_of(before), changes)
        if found is None:
            continue
        told += 1
        after = bind_text(each.sql, tables_by_name(tables))
        if (found, *_rest(before)) != (schema_of(after), *_rest(after)):
            wrong[each.id] = each.sql
    return wrong, told


def test_a_query_that_hands_columns_on_is_told_as_binding_would_tell_it() -> None:
    wrong, told = told_wrong(list(questions())[::8], "string")

    assert {} == wrong
    assert told > 100


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", ["string", "decimal(7,3)", "date"])
def test_every_query_that_hands_columns_on_is_told_as_binding_would_tell_it(kind: str) -> None:
    assert {} == told_wrong(questions(), kind)[0]


def _rest(bound: BoundQuery) -> tuple[object, ...]:
    """All that a record has of a query besides its schema."""
    known = bound.binding
    volatile = sorted(known.volatile) if known is not None else []
    return body_of(bound), bound.diagnostics, find_usage(bound), volatile
