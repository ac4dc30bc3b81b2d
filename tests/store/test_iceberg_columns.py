"""Columns that the metadata of an Iceberg table tells: those of Iceberg's own reader, as Spark has them."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocky.language.datatypes import types as t
from rocky.language.datatypes.text import encode_type
from rocky.language.datatypes.types import StructField
from rocky.project.configuration.blocks import Adapter
from rocky.project.sources import SourceTable
from rocky.project.toml.documents import Document
from rocky.run.engine.file_columns import describe_files
from rocky.store.iceberg.table_columns import table_columns
from tests.store.iceberg_tables import field, metadata_of, put, read_iceberg

ATOMS = {
    "boolean": "boolean",
    "int": "int",
    "long": "bigint",
    "float": "float",
    "double": "double",
    "date": "date",
    "timestamp": "timestamp_ntz",
    "timestamptz": "timestamp",
    "string": "string",
    "uuid": "string",
    "binary": "binary",
    "fixed[16]": "binary",
    "decimal(12, 2)": "decimal(12,2)",
}
"""Iceberg's types, and what its connector makes of them in Spark."""


def plain(columns: tuple[StructField, ...] | None) -> list[tuple[str, str, bool]] | None:
    return columns and [(each.name, encode_type(each.type), each.nullable) for each in columns]


def names(folder: Path) -> list[str] | None:
    found = table_columns(folder)
    return found and [each.name for each in found]


def numbered(kind: Any, ids: list[int]) -> Any:
    """A generated type with the field numbers that Iceberg wants."""
    if isinstance(kind, str):
        return kind
    ids[0] += 1
    number = ids[0]
    if kind[0] == "list":
        return {"type": "list", "element-id": number, "element": numbered(kind[1], ids),
                "element-required": kind[2]}  # fmt: skip
    if kind[0] == "map":
        ids[0] += 1
        return {"type": "map", "key-id": number, "key": "string", "value-id": number + 1,
                "value": numbered(kind[1], ids), "value-required": kind[2]}  # fmt: skip
    return {"type": "struct", "fields": [field(number, "inner", numbered(kind[1], ids), kind[2])]}


KINDS = st.recursive(
    st.sampled_from(sorted(ATOMS)),
    lambda inner: st.tuples(st.sampled_from(["list", "map", "struct"]), inner, st.booleans()),
    max_leaves=4,
)


def spark_type(kind: Any) -> t.DataType:
    """A type of Iceberg's own reader as Spark has it."""
    if kind.is_struct:
        return t.struct(
            tuple(StructField(e.name, spark_type(e.field_type), e.optional) for e in kind.fields)
        )
    if hasattr(kind, "element_type"):
        return t.array(spark_type(kind.element_type), not kind.element_required)
    if hasattr(kind, "value_type"):
        value = spark_type(kind.value_type)
        return t.map_of(spark_type(kind.key_type), value, not kind.value_required)
    if hasattr(kind, "scale"):
        return t.decimal(kind.precision, kind.scale)
    return t.STRING if ATOMS[str(kind)] == "string" else t.atom(ATOMS[str(kind)])


@pytest.mark.slow
@given(columns=st.lists(st.tuples(KINDS, st.booleans()), min_size=1, max_size=5))
def test_columns_are_those_that_icebergs_reader_finds(tmp_path_factory, columns):
    folder, ids = tmp_path_factory.mktemp("t"), [100]
    fields = [
        field(number, f"c{number}", numbered(kind, ids), required)
        for number, (kind, required) in enumerate(columns, start=1)
    ]
    path = put(folder, 1, metadata_of(fields))

    expected = tuple(
        StructField(each.name, spark_type(each.field_type), each.optional)
        for each in read_iceberg(path.as_uri()).schema().fields
    )
    assert plain(expected) == plain(table_columns(folder))


def test_every_type_is_told_as_spark_has_it_and_what_is_required_is_not_null(tmp_path):
    fields = [
        field(number, kind, kind, number % 2 == 0) for number, kind in enumerate(ATOMS, start=1)
    ]
    put(tmp_path, 1, metadata_of(fields))

    expected = [(kind, ATOMS[kind], number % 2 == 1) for number, kind in enumerate(ATOMS, start=1)]
    assert expected == [(e.name, str(e.type), e.nullable) for e in table_columns(tmp_path) or ()]


def test_the_current_schema_of_the_latest_version_counts(tmp_path):
    first, second = [field(1, "a", "int")], [field(1, "b", "int")]
    put(tmp_path, 9, metadata_of(first, second, current=1))
    put(tmp_path, 10, metadata_of(first, second, current=0))
    assert ["a"] == names(tmp_path)

    put(tmp_path, 10, metadata_of(first), hint="9")
    assert ["a"] == names(tmp_path), "a writer had come further than the hint"
    put(tmp_path, 12, metadata_of(second), hint="9")
    assert ["a"] == names(tmp_path), "version 11 is missing, so 12 is nobody's"


def test_an_old_table_has_one_schema_without_a_number(tmp_path):
    document = metadata_of(**{"format-version": 1, "schema": {"fields": [field(1, "a", "int")]}})
    del document["schemas"]
    put(tmp_path, 1, document)

    assert ["a"] == names(tmp_path)


@pytest.mark.parametrize(
    "kind",
    ["time", "timestamp_ns", "variant", "unknown", "decimal(39, 1)", "decimal(2, 3)", "geometry",
     {"type": "odd"}, None, 7, []],
)  # fmt: skip
def test_types_that_depend_on_the_connector_are_left_to_spark(tmp_path, kind):
    put(tmp_path, 1, metadata_of([field(1, "a", "int"), field(2, "b", kind)]))

    assert table_columns(tmp_path) is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("v1.metadata.json", "{"),
        ("v1.metadata.json", "[" * 100_000),
        ("v1.metadata.json", "[]"),
        ("v1.metadata.json", '{"format-version": 9}'),
        ("v1.metadata.json", json.dumps(metadata_of([field(1, "a", "int")], current=4))),
        ("v1.metadata.json", json.dumps(metadata_of([]))),
        ("v1.metadata.json", json.dumps(metadata_of([field(1, "a", "int"), field(2, "A", "int")]))),
        ("v1.gz.metadata.json", "x"),
        ("00001-9c12d441.metadata.json", json.dumps(metadata_of([field(1, "a", "int")]))),
    ],
)
def test_what_cannot_be_read_or_only_a_catalogue_knows_is_left_to_spark(tmp_path, name, text):
    (tmp_path / "metadata").mkdir()
    (tmp_path / "metadata" / name).write_text(text)

    assert table_columns(tmp_path) is None


@pytest.mark.parametrize("hint", ["2", "x", "", "-1", "1" * 5000])
def test_a_hint_that_leads_nowhere_is_left_to_spark(tmp_path, hint):
    put(tmp_path, 1, metadata_of([field(1, "a", "int")]), hint=hint)

    assert table_columns(tmp_path) is None


def test_options_and_settings_that_decide_are_left_to_spark(tmp_path):
    put(tmp_path / "t", 1, metadata_of([field(1, "a", "int", True)]))

    def told(options=None, **conf):
        source = SourceTable("s", (), "iceberg", "t", options or {}, Document("s", "", {}), 0)
        return plain(describe_files(source, Adapter(conf=conf), tmp_path, {}))

    assert [("a", "int", False)] == told()
    assert told(options={"snapshot-id": "1"}) is None
    assert told(**{"spark.sql.iceberg.handle-timestamp-without-timezone": "true"}) is None
    assert told(**{"spark.sql.catalog.default_iceberg": "x"}) is None
    assert [("a", "int", False)] == told(**{"spark.sql.shuffle.partitions": "3"})
