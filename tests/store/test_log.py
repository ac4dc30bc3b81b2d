import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from blake3 import blake3
from deltalake import write_deltalake

from rocky.errors import StoreUnreadable
from rocky.language.datatypes import types as t
from rocky.language.datatypes.types import StructField
from rocky.store.delta.schema import format_schema, parse_schema
from rocky.store.delta.snapshot import ROWS_HASH
from rocky.store.warehouse import Table
from tests.store.tables import (
    append,
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


def built(tmp_path, commits: int = 3) -> Table:
    table = table_in(tmp_path)
    for number in range(commits):
        append(table, ids(table, number))
    return table


def version_file(version: int) -> str:
    return f"{version:020d}.json"


def test_the_hash_of_a_commit_is_of_the_bytes_of_its_file(tmp_path):
    table = built(tmp_path)
    data = log_file(table, version_file(1)).read_bytes()

    assert blake3(data).hexdigest() == table.log.commit_hash(1)
    log_file(table, version_file(1)).write_bytes(data.replace(b"\n", b" \n", 1))
    assert blake3(data).hexdigest() != table.log.commit_hash(1)


def test_a_commit_that_is_missing_has_no_hash(tmp_path):
    with pytest.raises(StoreUnreadable, match="the commit is missing from the log"):
        built(tmp_path).log.commit_hash(3)


def test_every_file_of_a_log_is_listed_whatever_it_is(tmp_path):
    table = built(tmp_path, commits=2)
    (log_file(table, "sub")).mkdir()
    for name in ("00000000000000000001.checkpoint.parquet", ".hidden", "sub/x", "x.json.tmp"):
        log_file(table, name).write_bytes(b"")

    assert [
        ".hidden",
        "00000000000000000000.json",
        "00000000000000000001.checkpoint.parquet",
        "00000000000000000001.json",
        "sub/x",
        "x.json.tmp",
    ] == table.log.files()


def test_a_table_without_a_log_is_absent(tmp_path):
    assert table_in(tmp_path).snapshot() is None


def test_every_version_stays_readable(tmp_path):
    table = built(tmp_path, 4)

    for version in range(4):
        found = reopened(table).snapshot(version)
        assert found is not None
        assert (version, version + 1) == (found.version, found.rows)


def test_a_version_that_was_never_made_is_told_with_the_latest(tmp_path):
    with pytest.raises(StoreUnreadable, match=r"orders` has no version 9; the latest is 2"):
        built(tmp_path).snapshot(9)


def test_a_commit_missing_in_the_middle_is_named(tmp_path):
    table = built(tmp_path)
    log_file(table, version_file(1)).unlink()

    with pytest.raises(StoreUnreadable, match=r"0001\.json`: the commit is missing"):
        reopened(table).snapshot()


@pytest.mark.parametrize("damage", [b"", b"{", b'{"add":', b"[1]", b"\xff\xfe"])
def test_a_damaged_commit_is_named(tmp_path, damage):
    table = built(tmp_path)
    log_file(table, version_file(1)).write_bytes(damage)

    with pytest.raises(StoreUnreadable, match=r"0001\.json`: it is damaged"):
        reopened(table).snapshot()


@pytest.mark.parametrize("line", [{"add": {}}, {"add": {"path": 1}}, {"protocol": {}}, {"txn": 3}])
def test_an_action_that_lacks_its_parts_is_not_passed_over(tmp_path, line):
    table = built(tmp_path)
    with log_file(table, version_file(2)).open("a") as opened:
        opened.write(json.dumps(line) + "\n")

    with pytest.raises(StoreUnreadable, match="orders"):
        reopened(table).snapshot()


def test_a_snapshot_keeps_what_its_commit_and_schema_say_to_the_letter(tmp_path):
    table = table_in(tmp_path)
    replace_with(table, ids(table, 1), info={"model": '日"', "n": [1.5, None]})

    actions = table.log.read_commit(0)
    said = {kind: what for each in actions for kind, what in each.items()}
    info, metadata = latest(table).info, latest(table).metadata
    assert (said["commitInfo"], said["metaData"]) == (dict(info), dict(metadata))
    assert ('日"', None) == (info["model"], info.get("nobody"))
    assert "nobody" not in info
    # The next version is made from what is kept of this one.
    append(table, ids(table, 2))
    assert metadata["id"] == latest(table).metadata["id"]
    assert metadata["schemaString"] == latest(table).metadata["schemaString"]


def test_a_table_that_was_deleted_and_made_anew_is_not_the_remembered_one(tmp_path):
    table = built(tmp_path)
    before = latest(table)
    shutil.rmtree(tmp_path / "warehouse")

    assert table.snapshot() is None
    for number in range(3):
        append(table, ids(table, 10 + number))
    assert before.table_id != latest(table).table_id
    assert [10, 11, 12] == read_ids(table)


def test_what_another_process_commits_is_seen(tmp_path):
    table = built(tmp_path)
    assert 2 == latest(table).version
    other = reopened(table)
    append(other, ids(other, 99))

    assert (3, 4) == (latest(table).version, latest(table).rows)


def test_commits_of_another_tool_are_read(tmp_path):
    table = built(tmp_path)
    write_deltalake(table.objects.place(table.prefix), pa.table({"id": [7, 8]}), mode="append")

    assert (3, 5) == (latest(table).version, latest(table).rows)
    append(table, ids(table, 9))
    assert [0, 1, 2, 7, 8, 9] == read_ids(table)


def test_a_rows_hash_is_not_believed_after_another_tool_changed_the_rows(tmp_path):
    table = table_in(tmp_path)
    replace_with(table, ids(table, 1), properties={ROWS_HASH: "f" * 32})
    assert "f" * 32 == latest(reopened(table)).configuration[ROWS_HASH]
    write_deltalake(table.objects.place(table.prefix), pa.table({"id": [7]}), mode="append")

    assert ROWS_HASH not in latest(table).configuration


def foreign(tmp_path, *lines: dict, configuration: dict | None = None) -> Table:
    """A table whose log is these lines, after a plain beginning."""
    table = table_in(tmp_path)
    folder = log_file(table, "")
    folder.mkdir(parents=True)
    metadata = {
        "id": "x",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": format_schema((StructField("id", t.BIGINT, True),)),
        "partitionColumns": [],
        "configuration": configuration or {},
    }
    start = [{"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}, {"metaData": metadata}]
    text = "".join(json.dumps(line) + "\n" for line in (*start, *lines))
    (folder / version_file(0)).write_text(text)
    return table


def add(**parts) -> dict:
    plain = {"path": "x.parquet", "partitionValues": {}, "size": 1, "modificationTime": 1}
    return {"add": plain | {"dataChange": True, "stats": '{"numRecords":1}'} | parts}


def features(*names: str) -> dict:
    return {
        "protocol": {
            "minReaderVersion": 3,
            "minWriterVersion": 7,
            "readerFeatures": list(names),
            "writerFeatures": list(names),
        }
    }


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (add(deletionVector={"storageType": "u"}), "`x.parquet` has a deletion vector"),
        (add(path="s3://other/x.parquet"), "a file outside the table"),
        (add(path="/elsewhere/x.parquet"), "a file outside the table"),
        (add(stats=None), "without a count of its rows"),
        (features("v2Checkpoint"), "it uses Delta feature `v2Checkpoint`, which Rocky does not"),
        (features("typeWidening"), "it uses Delta feature `typeWidening`"),
        ({"protocol": {"minReaderVersion": 4, "minWriterVersion": 7}}, "Delta reader version 4"),
    ],
)
def test_what_rocky_would_misread_is_refused(tmp_path, line, why):
    with pytest.raises(StoreUnreadable, match=f"table `shop.core.orders` at version 0: .*{why}"):
        foreign(tmp_path, line).snapshot()


def test_column_mapping_is_refused(tmp_path):
    table = foreign(tmp_path, configuration={"delta.columnMapping.mode": "name"})

    with pytest.raises(StoreUnreadable, match="column mapping"):
        table.snapshot()


def test_a_feature_that_is_allowed_and_not_used_is_no_reason_to_refuse(tmp_path):
    assert 1 == latest(foreign(tmp_path, features("deletionVectors"), add())).rows


def test_files_of_another_tool_in_a_partitioned_table_are_refused(tmp_path):
    table = table_in(tmp_path)
    columns = (StructField("id", t.BIGINT, True), StructField("day", t.STRING, True))
    file = place(table, {"id": [1], "day": ["mon"]}, day="mon")
    replace_with(table, file, schema=columns, partition_columns=("day",))
    write_deltalake(
        table.objects.place(table.prefix), pa.table({"id": [2], "day": ["tue"]}), mode="append"
    )

    with pytest.raises(StoreUnreadable, match="leaves the partition columns out of its files"):
        table.snapshot()


def test_history_is_newest_first_and_carries_what_the_commit_was_told(tmp_path):
    table = table_in(tmp_path)
    replace_with(table, ids(table, 1), info={"runId": "run-1", "model": "orders"})
    append(table, ids(table, 2), info={"runId": "run-2"})
    newest, oldest = table.history()

    assert [(1, "run-2"), (0, "run-1")] == [(c["version"], c["runId"]) for c in (newest, oldest)]
    assert newest["isBlindAppend"]
    assert not oldest["isBlindAppend"]
    assert "WRITE" == newest["operation"]
    assert newest["engineInfo"].startswith("rocky/")


TYPES = [
    t.BOOLEAN,
    t.TINYINT,
    t.SMALLINT,
    t.INT,
    t.BIGINT,
    t.FLOAT,
    t.DOUBLE,
    t.decimal(38, 10),
    t.STRING,
    t.string("UNICODE_CI"),
    t.char(3),
    t.varchar(7),
    t.BINARY,
    t.DATE,
    t.TIMESTAMP,
    t.TIMESTAMP_NTZ,
    t.VARIANT,
    t.interval("day", "second"),
    t.interval("year", "month"),
    t.array(t.varchar(4), False),
    t.map_of(t.STRING, t.array(t.INT), False),
    t.struct((StructField("a b", t.char(2), False), StructField("c", t.TIMESTAMP_NTZ, True))),
]


@pytest.mark.parametrize("found", TYPES, ids=str)
def test_every_storable_type_comes_back_from_delta_as_it_was(found):
    columns = (StructField("x", found, False), StructField("y", found, True))

    assert shape(columns) == shape(parse_schema(format_schema(columns)))
    assert [found, found] == [column.type for column in parse_schema(format_schema(columns))]


def test_a_type_that_another_tool_changed_is_believed_over_our_note():
    text = format_schema((StructField("x", t.interval("day", "second"), True),))

    assert [t.STRING] == [c.type for c in parse_schema(text.replace('"long"', '"string"'))]


def test_a_damaged_checkpoint_is_named(tmp_path):
    table = built(tmp_path, 12)
    checkpoint = log_file(table, "00000000000000000010.checkpoint.parquet")
    checkpoint.write_bytes(checkpoint.read_bytes()[:100])
    assert 12 == latest(reopened(table)).rows
    log_file(table, version_file(0)).unlink()

    with pytest.raises(StoreUnreadable, match=r"0010\.checkpoint\.parquet`: it is damaged"):
        reopened(table).snapshot()


def test_a_checkpoint_of_several_parts_is_read_whole_or_not_used(tmp_path):
    table = built(tmp_path, 12)
    before = latest(table)
    whole = log_file(table, "00000000000000000010.checkpoint.parquet")
    rows = pq.read_table(whole)
    for number, part in enumerate((rows.slice(0, 4), rows.slice(4)), start=1):
        name = f"00000000000000000010.checkpoint.{number:010d}.0000000002.parquet"
        pq.write_table(part, log_file(table, name))
    whole.unlink()
    for version in range(10):
        log_file(table, version_file(version)).unlink()

    assert before.files == latest(reopened(table)).files
    log_file(table, "00000000000000000010.checkpoint.0000000002.0000000002.parquet").unlink()
    with pytest.raises(StoreUnreadable, match="the commit is missing"):
        reopened(table).snapshot()
