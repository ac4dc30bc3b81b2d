"""Iceberg metadata over the same files: what its readers see is what the snapshot says."""

import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest

from rocky.errors import StoreUnwritable
from rocky.language.datatypes import types
from rocky.language.datatypes.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    VARIANT,
    StructField,
    array,
    map_of,
    struct,
)
from rocky.store.delta.schema import format_schema
from rocky.store.iceberg import publish_iceberg
from tests.store.iceberg_tables import read_iceberg
from tests.store.parquet_files import open_table, placed, snapshot_of

pytestmark = pytest.mark.slow


def column(name, datatype, nullable=True):
    return StructField(name, datatype, nullable)


FIELDS = (column("id", INT), column("name", STRING))


@pytest.fixture
def table(tmp_path, monkeypatch):
    # Without its plugin polars warns that it plans with pyiceberg.
    monkeypatch.setenv("POLARS_ICEBERG_PLANNER", "pyiceberg")
    return open_table(tmp_path / "ware house é#?%20")


def rows_of(ids, **more):
    return [{"id": number, "name": f"n{number}", **more} for number in ids]


def as_counter(rows):
    return Counter(json.dumps(row, sort_keys=True, default=str) for row in rows)


def assert_all_read(location, rows):
    """Every Iceberg reader at hand sees exactly these rows."""
    from pyiceberg.catalog.sql import SqlCatalog  # noqa: PLC0415 - as in `read_iceberg`

    expected = as_counter(rows)
    assert expected == as_counter(read_iceberg(location).scan().to_arrow().to_pylist())
    assert expected == as_counter(pl.scan_iceberg(location).collect().to_dicts())
    with SqlCatalog("c", uri="sqlite:///:memory:") as catalog:
        catalog.create_namespace("s")
        registered = catalog.register_table("s.t", location)
        assert expected == as_counter(registered.scan().to_arrow().to_pylist())


def publish(table, version, files, fields=FIELDS, partition_columns=()):
    return publish_iceberg(table, snapshot_of(version, fields, files, partition_columns))


def test_a_table_is_read_from_its_metadata(table):
    location = publish(table, 0, placed(table, FIELDS, rows_of([1, 2]), rows_of([3])))

    assert_all_read(location, rows_of([1, 2, 3]))


def test_a_table_is_found_by_its_folder_through_the_version_hint(table):
    publish(table, 0, placed(table, FIELDS, rows_of([1])))
    publish(table, 3, placed(table, FIELDS, rows_of([2])))
    folder = table.objects.place(table.prefix)

    assert rows_of([2]) == read_iceberg(folder).scan().to_arrow().to_pylist()


def test_a_table_without_rows_is_read_as_one(table):
    assert_all_read(publish(table, 0, ()), [])


def test_appends_changes_and_replacements_are_followed(table):
    first = placed(table, FIELDS, rows_of([1, 2]), rows_of([3, 4]))
    second = placed(table, FIELDS, rows_of([5]))
    merged = placed(table, FIELDS, rows_of([3, 40]))
    kept = [file for file in first if '"id":1' in file.stats]
    third = placed(table, FIELDS, rows_of([7]))

    assert_all_read(publish(table, 0, first), rows_of([1, 2, 3, 4]))
    assert_all_read(publish(table, 1, first + second), rows_of([1, 2, 3, 4, 5]))
    assert_all_read(publish(table, 2, (*kept, *second, *merged)), rows_of([1, 2, 5, 3, 40]))
    assert_all_read(publish(table, 3, third), rows_of([7]))
    assert_all_read(publish(table, 4, ()), [])
    assert_all_read(publish(table, 5, first), rows_of([1, 2, 3, 4]))


def test_manifests_of_files_that_stay_are_kept(table):
    first = placed(table, FIELDS, rows_of([1]))
    second = placed(table, FIELDS, rows_of([2]))
    old = read_iceberg(publish(table, 0, first))
    new = read_iceberg(publish(table, 1, first + second))
    before, after = (
        {manifest.manifest_path for manifest in found.current_snapshot().manifests(found.io)}
        for found in (old, new)
    )

    assert before < after
    assert old.metadata.table_uuid == new.metadata.table_uuid
    assert 2 == len(new.snapshots())


def test_many_appends_keep_few_manifests_and_a_bounded_history(table, monkeypatch):
    monkeypatch.setattr("rocky.store.iceberg.metadata.KEPT_SNAPSHOTS", 5)
    files = ()
    for version in range(12):
        files += placed(table, FIELDS, rows_of([version]))
        location = publish(table, version, files)
    read = read_iceberg(location)

    assert 5 == len(read.snapshots()) == len(read.metadata.snapshot_log)
    assert_all_read(location, rows_of(range(12)))


def test_publishing_a_version_again_changes_nothing(table):
    files = placed(table, FIELDS, rows_of([1]))
    folder = table.objects.local_path(table.prefix) / "metadata"
    location = publish(table, 4, files)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    assert location == publish(table, 4, files)
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}


def test_an_older_version_published_late_does_not_become_the_latest(table):
    old, new = placed(table, FIELDS, rows_of([1])), placed(table, FIELDS, rows_of([2]))
    publish(table, 2, new)
    late = publish(table, 1, old)

    assert_all_read(late, rows_of([1]))
    assert (
        "2" == (table.objects.local_path(table.prefix) / "metadata/version-hint.text").read_text()
    )


def test_metadata_that_somebody_removed_is_written_anew(table):
    files = placed(table, FIELDS, rows_of([1]))
    publish(table, 0, files)
    metadata = table.objects.local_path(table.prefix) / "metadata"
    (metadata / "v0.metadata.json").unlink()

    assert_all_read(publish(table, 1, files), rows_of([1]))


# ---------------------------------------------------------------------------- evolution


def test_an_added_and_a_widened_column_are_read_in_old_files_too(table):
    wider = (column("id", BIGINT), column("name", STRING), column("more", DOUBLE))
    old = placed(table, FIELDS, rows_of([1]))
    new = placed(table, wider, rows_of([2**40], more=1.5))
    publish(table, 0, old)
    location = publish(table, 1, old + new, wider)

    assert_all_read(location, rows_of([1], more=None) + rows_of([2**40], more=1.5))
    read = read_iceberg(location)
    assert [1, 2, 3] == [field.field_id for field in read.schema().fields]
    assert 1 == read.scan("id = 1").to_arrow().num_rows
    assert 1 == read.scan("id > 1099511627775").to_arrow().num_rows


@pytest.mark.parametrize(
    "fields",
    [
        (column("name", STRING),),
        (column("name", STRING), column("id", INT)),
        (column("id", STRING), column("name", STRING)),
        (column("id", TINYINT), column("name", struct((column("first", STRING),)))),
    ],
)
def test_a_replacement_with_other_columns_is_read_right(table, fields):
    publish(table, 0, placed(table, FIELDS, rows_of([1])))
    values = {"string": "text", "int": 5, "tinyint": 5, "struct": {"first": "f"}}
    row = {field.name: values[field.type.kind] for field in fields}
    location = publish(table, 1, placed(table, fields, [row]), fields)

    assert_all_read(location, [row])
    names = [field.name for field in read_iceberg(location).schema().fields]
    assert [field.name for field in fields] == names


# ---------------------------------------------------------------------------- types and partitions

TYPED = {
    "flag": (BOOLEAN, True),
    "tiny": (TINYINT, -5),
    "long": (BIGINT, -(2**63)),
    "f": (FLOAT, 0.5),
    "d": (DOUBLE, -1.25),
    "small": (types.decimal(9, 2), Decimal("-1.50")),
    "large": (types.decimal(38, 10), Decimal("-12345678901234567890.0123456789")),
    "b": (BINARY, b"\x00\xff"),
    "day": (DATE, date(1900, 2, 28)),
    "at": (TIMESTAMP, datetime(2024, 2, 29, 1, 2, 3, 456789, tzinfo=UTC)),
    "clock": (TIMESTAMP_NTZ, datetime.fromisoformat("1969-12-31T23:59:59.999999")),
    "text": (STRING, "é" * 40),
    "padded": (types.char(4), "ab  "),
    "short": (types.varchar(4), "ab"),
    "lasts": (types.interval("day", "second"), 86_400_000_000),
    "months": (types.interval("year", "month"), 14),
    "list": (array(INT), [1, None]),
    "map": (map_of(STRING, array(INT)), [("k", [1, None])]),
    "nested": (struct((column("a", struct((column("b.c", STRING),))),)), {"a": {"b.c": "z"}}),
}  # fmt: skip


def test_every_type_is_read_with_its_value_and_as_null(table):
    fields = [column(name, datatype) for name, (datatype, _) in TYPED.items()]
    full = {name: value for name, (_, value) in TYPED.items()}
    location = publish(table, 0, placed(table, fields, [full], [dict.fromkeys(full)]), fields)
    read = read_iceberg(location).scan().to_arrow().to_pylist()
    by_polars = pl.scan_iceberg(location).collect()

    assert [full, dict.fromkeys(full)] == sorted(read, key=lambda row: row["tiny"] is None)
    assert 2 == by_polars.height
    assert full["large"] == by_polars.filter(pl.col("tiny") == -5)["large"][0]


@pytest.mark.parametrize("name", [name for name, (datatype, _) in TYPED.items() if datatype.kind in {
    "boolean", "tinyint", "bigint", "decimal", "date", "timestamp", "timestamp_ntz", "string", "char"}])  # fmt: skip
def test_a_table_is_partitioned_by_any_such_type(table, name):
    datatype, value = TYPED[name]
    fields = (column("id", INT), column(name, datatype))
    rows = [{"id": 1, name: value}], [{"id": 2, name: None}]
    files = placed(table, fields, *rows, partition_columns=[name])
    location = publish(table, 0, files, fields, [name])
    changed = publish(table, 1, files[:1], fields, [name])

    assert_all_read(location, [*rows[0], *rows[1]])
    assert 1 == read_iceberg(location).scan(f"{name} is null").to_arrow().num_rows
    assert 1 == read_iceberg(changed).scan().to_arrow().num_rows


def test_a_partitioned_table_is_skipped_through_and_changed_by_partition(table):
    fields = (column("id", INT), column("land", STRING))
    parts = [[{"id": n, "land": land}] for n, land in enumerate(["EU", "US", None, "EU"])]
    files = placed(table, fields, *parts, partition_columns=["land"])
    location = publish(table, 0, files, fields, ["land"])
    static = read_iceberg(location)
    left = tuple(file for file in files if file.partition_values["land"] != "EU")
    again = publish(table, 1, left, fields, ["land"])

    assert_all_read(location, [row for part in parts for row in part])
    assert 2 == len(list(static.scan("land = 'EU'").plan_files()))
    assert [0, 3] == sorted(static.scan("land = 'EU'").to_arrow()["id"].to_pylist())
    assert_all_read(again, [*parts[1], *parts[2]])


def test_other_partition_columns_begin_the_metadata_anew(table):
    fields = (column("id", INT), column("land", STRING))
    rows = [{"id": 1, "land": "EU"}]
    publish(table, 0, placed(table, fields, rows, partition_columns=["land"]), fields, ["land"])
    by_id = placed(table, fields, rows, partition_columns=["id"])

    assert_all_read(publish(table, 1, by_id, fields, ["id"]), rows)


def test_files_are_skipped_by_their_bounds(table):
    files = placed(table, FIELDS, rows_of([1, 2]), rows_of([10, 20]))
    static = read_iceberg(publish(table, 0, files))

    assert 1 == len(list(static.scan("id >= 10").plan_files()))
    assert 0 == len(list(static.scan("name > 'z'").plan_files()))


def test_a_type_that_iceberg_does_not_have_is_named(table):
    with pytest.raises(
        StoreUnwritable, match="column `v` has type `variant`, which Iceberg does not have"
    ):
        publish(table, 0, (), [column("v", VARIANT)])


# ---------------------------------------------------------------------------- the extra


def test_without_pyiceberg_one_line_says_what_to_install():
    code = (
        "import sys; sys.modules['pyiceberg'] = None\n"
        "from rocky.errors import ExtraMissing\n"
        "from rocky.store.iceberg import publish_iceberg\n"
        "try: publish_iceberg(None, None)\n"
        "except ExtraMissing as error: print(error)"
    )
    source = Path(__file__).parents[2] / "src"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=source
    )

    assert "`pyiceberg` is not installed; run `pip install 'rocky-spark[iceberg]'`\n" == done.stdout


def described(version, files, table, **columns):
    """A snapshot whose log says something of the table and its columns."""
    found = snapshot_of(version, FIELDS, files)
    fields = json.loads(format_schema(FIELDS))
    for field in fields["fields"]:
        if field["name"] in columns:
            field["metadata"]["comment"] = columns[field["name"]]
    metadata = {"schemaString": json.dumps(fields)}
    return replace(
        found, metadata=metadata if table is None else {**metadata, "description": table}
    )


def test_owner_and_tags_are_properties_in_iceberg(table):
    files = placed(table, FIELDS, rows_of([1, 2]))
    publish(table, 0, files)
    fields = json.loads(format_schema(FIELDS))
    fields["fields"][0]["metadata"] = {"rocky.classification": "pii, gdpr"}
    fields["fields"][1]["metadata"] = {"rocky.classification.street": "pii"}
    tagged = snapshot_of(1, FIELDS, files)
    tagged = replace(
        tagged,
        metadata={"schemaString": json.dumps(fields)},
        configuration={"rocky.owner": "crm", "rocky.classification": "pii, gdpr"},
    )
    found = []
    for each in (tagged, described(2, files, None)):
        opened = read_iceberg(publish_iceberg(table, each))
        said = {key: text for key, text in opened.properties.items() if "rocky." in key}
        found.append(said)
        assert 2 == opened.scan().to_arrow().num_rows

    first, second = (each["name"].lower() for each in fields["fields"][:2])
    assert [
        {
            "rocky.owner": "crm",
            "rocky.classification": "pii, gdpr",
            f"rocky.classification.{first}": "pii, gdpr",
            f"rocky.classification.{second}.street": "pii",
        },
        {},
    ] == found


def test_what_is_said_of_a_table_and_its_columns_is_said_in_iceberg(table):
    files = placed(table, FIELDS, rows_of([1, 2]))
    publish(table, 0, files)
    steps = [
        described(1, files, "people", id="a number"),
        described(2, files, "all people", id="a number", name="what they are called"),
        described(3, files, None, name="what they are called"),
    ]
    found = []
    for each in steps:
        opened = read_iceberg(publish_iceberg(table, each))
        docs = {field.name: field.doc or None for field in opened.schema().fields}
        found.append((opened.properties.get("comment"), docs))
        assert 2 == opened.scan().to_arrow().num_rows

    assert [
        ("people", {"id": "a number", "name": None}),
        ("all people", {"id": "a number", "name": "what they are called"}),
        (None, {"id": None, "name": "what they are called"}),
    ] == found
