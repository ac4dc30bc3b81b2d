import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from blake3 import blake3

from rocky.language.datatypes import types as t
from rocky.language.datatypes.types import StructField
from rocky.store.delta.checkpoint import CheckpointUnreadable, read_checkpoint
from rocky.store.delta.snapshot import ROWS_HASH, WATERMARK
from tests.store.tables import (
    append,
    delta,
    ids,
    latest,
    log_file,
    place,
    read_ids,
    reopened,
    replace_with,
    shape,
    table_in,
)

COLUMNS = (
    StructField("id", t.BIGINT, False),
    StructField("code", t.char(3), True),
    StructField("day", t.STRING, True),
    StructField("took", t.interval("day", "second"), True),
)
CHECKPOINT = "00000000000000000010.checkpoint.parquet"


@pytest.fixture
def table(tmp_path):
    made = table_in(tmp_path / "a b ä")
    settings = {"schema": COLUMNS, "partition_columns": ("day",)}
    for number in range(13):
        day = None if number == 5 else f"d {number % 3}/é"
        rows = {"id": [number], "code": ["abc"], "day": [day], "took": [number]}
        append(
            made,
            place(made, rows, day=day),
            transaction=("run", number),
            properties={WATERMARK: f'"{number}"', ROWS_HASH: f"{number:032x}"},
            **settings,
        )
    return made


def forget_commits(table, upto: int) -> None:
    for version in range(upto):
        log_file(table, f"{version:020d}.json").unlink()


def test_the_tenth_version_has_a_checkpoint(table):
    assert log_file(table, CHECKPOINT).is_file()
    assert not log_file(table, CHECKPOINT.replace("10.c", "11.c")).exists()


def test_a_table_read_from_its_checkpoint_is_the_same_table(table):
    before = latest(table)
    forget_commits(table, 10)
    after = latest(reopened(table))

    assert shape(before.schema) == shape(after.schema)
    assert [column.type for column in before.schema] == [column.type for column in after.schema]
    assert before.files == after.files
    assert before.configuration == after.configuration
    assert before.transactions == after.transactions
    assert (before.table_id, before.protocol, before.partition_columns, before.timestamp_ms) == (
        after.table_id,
        after.protocol,
        after.partition_columns,
        after.timestamp_ms,
    )
    assert {"run": 12} == after.transactions
    assert f"{12:032x}" == after.configuration[ROWS_HASH]


def test_others_read_the_same_rows_after_a_checkpoint(table):
    forget_commits(table, 10)
    rows = delta(table).to_pyarrow_table().to_pylist()

    assert list(range(13)) == sorted(row["id"] for row in rows)
    assert [None] == [row["day"] for row in rows if row["id"] == 5]
    assert not delta(table).schema().fields[0].nullable


def test_commits_go_on_after_a_checkpoint(table):
    forget_commits(table, 10)
    again = reopened(table)
    rows = {"id": [99], "code": ["xyz"], "day": ["d"], "took": [1]}
    settings = {"schema": COLUMNS, "partition_columns": ("day",)}

    assert append(again, transaction=("run", 12), **settings).repeated
    append(again, place(again, rows, day="d"), **settings)
    assert [*range(13), 99] == read_ids(again)
    replace_with(again, place(again, rows, day="d"), **settings)
    assert [99] == read_ids(again)


def test_versions_before_a_checkpoint_stay_readable(table):
    found = reopened(table).snapshot(9)

    assert found is not None
    assert 10 == found.rows


def test_a_checkpoint_comes_with_the_hash_of_its_file(tmp_path):
    table = table_in(tmp_path)
    made = [append(table, ids(table, number)) for number in range(12)]
    digest = blake3(log_file(table, CHECKPOINT).read_bytes()).hexdigest()

    assert [None] * 10 + [digest, None] == [each.checkpoint_hash for each in made]
    assert (digest, None) == (table.log.checkpoint_hash(10), table.log.checkpoint_hash(9))


def test_a_checkpoint_removes_no_commit_however_old(tmp_path):
    table = table_in(tmp_path)
    for number in range(20):
        append(table, ids(table, number))
    for name in table.log.files():
        os.utime(log_file(table, name), (0, 0))
    append(reopened(table), ids(table, 20))

    assert [f"{version:020d}.json" for version in range(21)] == [
        name for name in table.log.files() if name.endswith(".json")
    ]


def test_a_damaged_hint_is_only_a_hint(table):
    log_file(table, "_last_checkpoint").write_bytes(b"{")

    assert 13 == latest(reopened(table)).rows


@pytest.mark.parametrize(
    "add",
    [
        pa.array([{"path": b"\xff"}]).cast(pa.struct({"path": pa.binary()})),
        pa.array([{"partitionValues": "a=b"}]),
    ],
    ids=["bytes that are no text", "a text where a map should be"],
)
def test_a_checkpoint_that_is_parquet_and_nothing_else_is_damaged(add):
    made = pa.BufferOutputStream()
    if pa.types.is_binary(add.type.field(0).type):
        text = pa.Array.from_buffers(pa.string(), 1, add.field("path").buffers())
        add = pa.StructArray.from_arrays([text], ["path"])
    pq.write_table(pa.table({"add": add}), made)

    with pytest.raises(CheckpointUnreadable, match="it is damaged"):
        read_checkpoint(made.getvalue().to_pybytes())


def test_a_checkpoint_that_fails_is_a_warning_and_the_commit_stands(tmp_path):
    table = table_in(tmp_path)
    for number in range(10):
        append(table, ids(table, number))
    # The folder in the way is what the checkpoint cannot replace.
    (log_file(table, CHECKPOINT) / "in the way").mkdir(parents=True)
    committed = append(table, ids(table, 10))

    assert 10 == committed.snapshot.version
    assert 1 == len(committed.warnings)
    assert "no checkpoint of table `shop.core.orders` at version 10" in committed.warnings[0]
    assert list(range(11)) == read_ids(table)


def test_a_checkpoint_of_somebody_else_is_not_copied_into_ours(tmp_path):
    table = table_in(tmp_path)
    for value in range(10):
        append(table, ids(table, value))
    # One of the newer kind, which Rocky does not look at and `deltalake` takes, without a file.
    delta(table, 9).create_checkpoint()
    made = log_file(table, "00000000000000000009.checkpoint.parquet")
    rows = pq.read_table(made)
    added = [None if each is None else each["path"] for each in rows["add"].to_pylist()]
    victim = next(path for path in added if path is not None)
    kept = rows.filter(pa.array([path != victim for path in added]))
    uuid = "80a083e8-7026-4e79-81be-64bd76c43a11"
    pq.write_table(kept, made.with_name(f"00000000000000000009.checkpoint.{uuid}.parquet"))
    made.unlink()
    log_file(table, "_last_checkpoint").unlink()

    committed = append(reopened(table), ids(table, 10))

    assert "a checkpoint in its log says otherwise than its commits do" in committed.warnings[0]
    assert committed.checkpoint_hash is None
    assert not log_file(table, CHECKPOINT).exists()
    assert 11 == len(latest(reopened(table)).files)
