import json
import shutil

import pyarrow as pa
import pytest
from blake3 import blake3

from rocky.errors import ChangeRefused, ConcurrentChange
from rocky.language.datatypes import types as t
from rocky.language.datatypes.types import StructField
from rocky.store.data_file import DataFile
from rocky.store.delta.change import FilesRead
from rocky.store.delta.schema import evolves
from rocky.store.delta.signature import CommitAuthority
from rocky.store.delta.snapshot import FILES_HASH, ROWS_HASH, WATERMARK
from rocky.store.warehouse import Table
from tests.store.tables import (
    COLUMNS,
    append,
    commit,
    delta,
    ids,
    latest,
    log_file,
    place,
    read_ids,
    reopened,
    replace_with,
    run_script,
    shape,
    table_in,
)


def lines(table: Table, version: int) -> list[dict]:
    text = log_file(table, f"{version:020d}.json").read_text()
    return [json.loads(line) for line in text.splitlines()]


def paths(table: Table, version: int, kind: str) -> list[str]:
    return [line[kind]["path"] for line in lines(table, version) if kind in line]


def test_a_replaced_table_has_exactly_the_new_rows(tmp_path):
    table = table_in(tmp_path)
    replace_with(table, ids(table, 1), ids(table, 2))
    committed = replace_with(table, ids(table, 3))

    assert [3] == read_ids(table)
    assert [1, 2] == read_ids(table, 0)
    assert 2 == len(committed.removed)


def test_a_file_that_stays_is_neither_added_nor_removed(tmp_path):
    table = table_in(tmp_path)
    kept, gone, new = ids(table, 1), ids(table, 2), ids(table, 3)
    replace_with(table, kept, gone)
    committed = replace_with(table, kept, new)

    assert ([new.path], [gone.path]) == (paths(table, 1, "add"), paths(table, 1, "remove"))
    assert ((new,), (gone.path,)) == (committed.added, committed.removed)
    assert [1, 3] == read_ids(table)


def test_a_merge_that_gives_back_the_file_it_removed_leaves_it_alone(tmp_path):
    table = table_in(tmp_path)
    file = ids(table, 1)
    replace_with(table, file)
    committed = commit(table, "MERGE", file, removes=frozenset({file.path}))

    assert ((), ()) == (committed.added, committed.removed)
    assert [1] == read_ids(table)


def test_equal_bytes_appended_again_are_other_files_and_no_row_is_lost(tmp_path):
    table = table_in(tmp_path)
    file = ids(table, 1, 2)
    for _ in range(3):
        append(table, file)

    assert [1, 1, 1, 2, 2, 2] == read_ids(table)
    files = latest(table).files
    assert 3 == len({found.path for found in files})
    for found in files:
        data = table.objects.read(f"{table.prefix}/{found.path}")
        assert data is not None
        assert (found.path, found.size) == (f"{blake3(data).hexdigest()}.parquet", len(data))


@pytest.mark.parametrize("operation", ["REPLACE", "APPEND", "OVERWRITE"])
def test_equal_files_in_one_change_both_count(tmp_path, operation):
    table = table_in(tmp_path)
    file = ids(table, 1)
    commit(table, operation, file, file)

    assert [1, 1] == read_ids(table)


def test_salted_copies_have_the_same_names_wherever_they_are_made(tmp_path):
    here, there = table_in(tmp_path / "here"), table_in(tmp_path / "there")
    for table in (here, there):
        append(table, ids(table, 1))
        append(table, ids(table, 1))

    assert [f.path for f in latest(here).files] == [f.path for f in latest(there).files]


def test_a_file_that_does_not_exist_is_refused(tmp_path):
    table = table_in(tmp_path)
    ghost = DataFile("0" * 64 + ".parquet", 1, 1, '{"numRecords":1}', {}, 1)

    with pytest.raises(ChangeRefused, match=r"000\.parquet`: it is missing"):
        append(table, ghost)
    assert table.snapshot() is None


def test_a_file_of_another_size_is_refused(tmp_path):
    table = table_in(tmp_path)
    file = ids(table, 1)
    path = table.objects.local_path(f"{table.prefix}/{file.path}")
    assert path is not None
    path.write_bytes(b"cut short")

    with pytest.raises(ChangeRefused, match="it has 9 bytes, not"):
        append(table, file)


def test_an_empty_result_is_a_table_with_columns_and_no_rows(tmp_path):
    table = table_in(tmp_path)
    replace_with(table)

    assert (0, 0) == (latest(table).rows, latest(table).version)
    assert ["id"] == delta(table).to_pyarrow_table().column_names


def test_a_transaction_is_committed_once(tmp_path):
    table = table_in(tmp_path)
    file = ids(table, 1)
    first = append(table, file, transaction=("run-1", 0))
    again = append(table, file, transaction=("run-1", 0))

    assert (False, True) == (first.repeated, again.repeated)
    assert (0, 0) == (first.snapshot.version, again.snapshot.version)
    assert [1] == read_ids(table)


def test_a_transaction_is_recognised_by_a_writer_that_knew_nothing_of_it(tmp_path):
    table = table_in(tmp_path)
    file = ids(table, 1)
    base = replace_with(table).snapshot
    append(reopened(table), file, base=base, transaction=("run-1", 7))

    assert append(table, file, base=base, transaction=("run-1", 7)).repeated
    assert [1] == read_ids(table)


def test_a_commit_comes_with_the_hash_of_its_file(tmp_path):
    table = table_in(tmp_path)
    made = [append(table, ids(table, number)) for number in range(2)]
    files = [log_file(table, f"{version:020d}.json").read_bytes() for version in range(2)]

    assert [blake3(data).hexdigest() for data in files] == [each.commit_hash for each in made]
    assert [None, None] == [each.checkpoint_hash for each in made]


def test_a_repeated_commit_has_its_hash_while_it_is_the_latest(tmp_path):
    table = table_in(tmp_path)
    file = ids(table, 1)
    first = append(table, file, transaction=("run-1", 3))
    again = append(reopened(table), file, transaction=("run-1", 3))
    older = append(reopened(table), file, transaction=("run-1", 2))
    append(table, ids(table, 2))
    late = append(table, file, transaction=("run-1", 3))

    assert first.commit_hash == again.commit_hash
    assert (True, None) == (older.repeated, older.commit_hash)
    assert (True, None) == (late.repeated, late.commit_hash)


# ------------------------------------------------------------------ conflicts


@pytest.fixture
def table(tmp_path):
    made = table_in(tmp_path)
    replace_with(made, ids(made, 1))
    return made


def test_an_append_goes_on_top_of_another(table):
    base = latest(table)
    append(table, ids(table, 2), base=base)
    append(table, ids(table, 3), base=base)

    assert [1, 2, 3] == read_ids(table)


def test_a_replacement_replaces_what_others_appended(table):
    base = latest(table)
    append(table, ids(table, 2), base=base)
    replace_with(table, ids(table, 3), base=base)

    assert [3] == read_ids(table)


@pytest.mark.parametrize("operation", ["MERGE", "OVERWRITE"])
def test_a_merge_computed_from_rows_that_changed_is_refused(table, operation):
    base = latest(table)
    append(table, ids(table, 2), base=base)

    with pytest.raises(ConcurrentChange, match="changed the rows of table"):
        commit(table, operation, ids(table, 3), base=base, removes=frozenset({base.files[0].path}))
    assert [1, 2] == read_ids(table)


def test_a_merge_holds_when_the_other_commit_changed_no_rows(table):
    base = latest(table)
    append(table, base=base, properties={"note": "only a note"})
    commit(table, "MERGE", ids(table, 3), base=base, removes=frozenset({base.files[0].path}))

    assert [3] == read_ids(table)
    assert "only a note" == latest(table).configuration["note"]


def reading(*files, passing=()):
    """A change that has read some files, and of those that come would have read all but some."""
    passed = {file.path for file in passing}
    return FilesRead(frozenset(file.path for file in files), lambda file: file.path in passed)


@pytest.mark.parametrize("operation", ["MERGE", "OVERWRITE"])
def test_a_merge_holds_beside_rows_that_it_did_not_read(tmp_path, operation):
    table = table_in(tmp_path)
    one, two = ids(table, 1), ids(table, 2)
    replace_with(table, one, two, properties={ROWS_HASH: f"{3:032x}"})
    base = latest(table)
    # Another merge turns 2 into 4 and a third writer appends 8: of the rows hash, the numbers.
    four, eight = ids(table, 4), ids(table, 8)
    commit(table, "MERGE", four, removes=frozenset({two.path}), properties={ROWS_HASH: f"{5:032x}"})
    append(table, eight, properties={ROWS_HASH: f"{13:032x}"})
    commit(
        table,
        operation,
        ids(table, 16),
        base=base,
        removes=frozenset({one.path}),
        properties={ROWS_HASH: f"{18:032x}"},
        reads=reading(one, passing=(four, eight)),
    )

    assert [4, 8, 16] == read_ids(table)
    assert f"{28:032x}" == latest(table).configuration[ROWS_HASH]


def test_a_merge_is_refused_where_rows_that_it_read_have_changed(tmp_path):
    table = table_in(tmp_path)
    one, two = ids(table, 1), ids(table, 2)
    replace_with(table, one, two)
    base = latest(table)
    four = ids(table, 4)
    commit(table, "MERGE", four, removes=frozenset({two.path}))

    for reads in (reading(one, two, passing=(four,)), reading(one)):
        with pytest.raises(ConcurrentChange, match="changed the rows"):
            commit(
                table,
                "MERGE",
                ids(table, 16),
                base=base,
                removes=frozenset({one.path}),
                reads=reads,
            )
    assert [1, 4] == read_ids(table)


def test_a_merge_under_a_claim_is_held_to_every_file(tmp_path):
    table = table_in(tmp_path)
    one = ids(table, 1)
    replace_with(table, one)
    base, four = latest(table), ids(table, 4)
    append(table, four)

    with pytest.raises(ConcurrentChange, match="changed the rows"):
        commit(
            table,
            "MERGE",
            ids(table, 16),
            base=base,
            removes=frozenset({one.path}),
            reads=reading(one, passing=(four,)),
            authority=CommitAuthority(fence=1),
        )
    assert [1, 4] == read_ids(table)


def test_a_merge_into_a_table_somebody_made_meanwhile_is_refused(table):
    with pytest.raises(ConcurrentChange, match="was made or dropped by another writer"):
        commit(table, "MERGE", ids(table, 3), base=None)


def test_two_first_builds_both_succeed(table):
    replace_with(table, ids(table, 2), base=None)

    assert [2] == read_ids(table)
    assert 1 == latest(table).version


def test_an_append_whose_watermark_another_writer_moved_is_refused(table):
    base = latest(table)
    append(table, ids(table, 2), base=base, properties={WATERMARK: "2"})

    with pytest.raises(ConcurrentChange, match=r"changed property `rocky\.watermark`"):
        append(table, ids(table, 3), base=base, properties={WATERMARK: "3"})
    assert [1, 2] == read_ids(table)


def test_the_rows_hash_of_a_rebased_append_counts_both_appends(tmp_path):
    table = table_in(tmp_path)
    base = replace_with(table, ids(table, 1), properties={ROWS_HASH: f"{10:032x}"}).snapshot
    append(table, ids(table, 2), base=base, properties={ROWS_HASH: f"{10 + 7:032x}"})
    append(table, ids(table, 3), base=base, properties={ROWS_HASH: f"{10 + 2**128 - 30:032x}"})

    assert (10 + 7 - 30) % 2**128 == int(latest(reopened(table)).configuration[ROWS_HASH], 16)


def test_a_change_that_does_not_say_its_rows_hash_leaves_none(tmp_path):
    table = table_in(tmp_path)
    replace_with(table, ids(table, 1), properties={ROWS_HASH: "a" * 32})
    append(table, ids(table, 2))

    assert ROWS_HASH not in latest(table).configuration


def test_a_change_of_no_rows_keeps_the_rows_hash(tmp_path):
    table = table_in(tmp_path)
    replace_with(table, ids(table, 1), properties={ROWS_HASH: "a" * 32})
    append(table, properties={"note": "x"})

    assert "a" * 32 == latest(reopened(table)).configuration[ROWS_HASH]


def test_a_replacement_drops_the_watermark_of_rows_that_are_gone(tmp_path):
    table = table_in(tmp_path)
    replace_with(table, ids(table, 1), properties={WATERMARK: "1", "owner": "finance"})
    replace_with(table, ids(table, 2))

    kept = dict(latest(table).configuration)
    kept.pop(FILES_HASH)
    assert {"owner": "finance"} == kept


def test_removing_a_file_that_is_not_there_is_refused(table):
    with pytest.raises(ChangeRefused, match=r"has no file `gone\.parquet` to remove"):
        commit(table, "OVERWRITE", removes=frozenset({"gone.parquet"}))


# ------------------------------------------------------------------ columns

ID = StructField("id", t.BIGINT, True)
NAME = StructField("name", t.STRING, True)


def test_a_column_can_be_added_by_an_append(table):
    append(table, place(table, {"id": [2], "name": ["b"]}), schema=(ID, NAME))

    assert [{"id": 1, "name": None}, {"id": 2, "name": "b"}] == sorted(
        delta(table).to_pyarrow_table().to_pylist(), key=lambda row: row["id"]
    )
    assert shape((ID, NAME)) == shape(latest(reopened(table)).schema)


def test_an_append_of_the_old_columns_keeps_a_column_another_writer_added(table):
    base = latest(table)
    append(table, place(table, {"id": [2], "name": ["b"]}), base=base, schema=(ID, NAME))
    append(table, ids(table, 3), base=base)

    assert shape((ID, NAME)) == shape(latest(table).schema)
    assert [1, 2, 3] == read_ids(table)


def test_appends_that_both_change_the_columns_conflict(table):
    base = latest(table)
    append(table, place(table, {"id": [2], "name": ["b"]}), base=base, schema=(ID, NAME))
    other = StructField("other", t.BIGINT, True)

    with pytest.raises(ConcurrentChange, match="changed the columns"):
        append(table, place(table, {"id": [3], "other": [3]}), base=base, schema=(ID, other))


def evolved(old: t.DataType, new: t.DataType) -> bool:
    return evolves((StructField("x", old, True),), (StructField("x", new, True),)) is None


def test_which_changes_of_type_keep_the_files():
    inner, more = StructField("a", t.INT, True), StructField("b", t.INT, True)

    assert evolved(t.varchar(3), t.varchar(5))
    assert evolved(t.varchar(3), t.STRING)
    assert evolved(t.array(t.INT, False), t.array(t.INT, True))
    assert evolved(t.struct((inner,)), t.struct((inner, more)))
    assert not evolved(t.INT, t.BIGINT)
    assert not evolved(t.FLOAT, t.DOUBLE)
    assert not evolved(t.decimal(5, 2), t.decimal(9, 2))
    assert not evolved(t.array(t.INT, True), t.array(t.INT, False))
    assert not evolved(t.struct((inner, more)), t.struct((inner,)))


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ((StructField("id", t.INT, True),), "column `id` changes from bigint to int"),
        ((StructField("id", t.decimal(20), True),), "column `id` widens from bigint to decimal"),
        ((StructField("id", t.BIGINT, False),), "column `id` becomes NOT NULL"),
        ((NAME,), "column `id` is gone"),
        ((StructField("ID", t.BIGINT, True),), "column `id` is gone"),
        ((ID, StructField("n", t.INT, False)), "the new column `n` is NOT NULL"),
    ],
)
def test_columns_that_old_files_do_not_fit_are_refused_while_they_stay(table, schema, why):
    with pytest.raises(ChangeRefused, match=f"{why}.*; build the whole table again"):
        append(table, ids(table, 2), schema=schema)
    assert shape(COLUMNS) == shape(latest(table).schema)


def test_a_column_is_widened_by_writing_every_file_anew(tmp_path):
    table = table_in(tmp_path)
    narrow = place(table, {"id": pa.array([1], pa.int32())})
    replace_with(table, narrow, schema=(StructField("id", t.INT, False),))
    commit(table, "OVERWRITE", ids(table, 1, 2**40), removes=frozenset({narrow.path}))

    assert [1, 2**40] == read_ids(table)
    assert shape(COLUMNS) == shape(latest(table).schema)


def test_not_null_is_kept_and_can_be_dropped(tmp_path):
    table = table_in(tmp_path)
    replace_with(table, ids(table, 1), schema=(StructField("id", t.BIGINT, False),))
    assert not delta(table).schema().fields[0].nullable
    append(table, ids(table, 2))

    assert delta(table).schema().fields[0].nullable


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ((), "there are no columns"),
        ((ID, StructField("ID", t.INT, True)), "columns `id` and `ID` have the same name"),
        ((StructField("n", t.NULL, True),), r"column `n` \(void\): every value is NULL"),
        ((StructField("a", t.array(t.NULL), True),), r"column `a.element` \(void\)"),
        ((StructField("i", t.CALENDAR_INTERVAL, True),), ".*calendar intervals cannot be stored"),
        ((StructField("t", t.time(6), True),), ".*times of day cannot be stored"),
        ((StructField("s", t.struct(()), True),), ".*a struct without fields"),
    ],
)
def test_columns_that_delta_has_not_are_refused_by_name(tmp_path, schema, why):
    with pytest.raises(ChangeRefused, match=f"`shop.core.orders` cannot be stored: {why}"):
        replace_with(table_in(tmp_path), schema=schema)


def test_the_protocol_is_raised_only_for_the_columns_that_need_it(table):
    assert (1, 2) == (latest(table).protocol.reader, latest(table).protocol.writer)
    at = StructField("at", t.array(t.TIMESTAMP_NTZ), True)
    append(table, schema=(ID, at))

    protocol = delta(table).protocol()
    assert (3, 7) == (protocol.min_reader_version, protocol.min_writer_version)
    assert ["timestampNtz"] == protocol.reader_features
    assert {"appendOnly", "invariants", "timestampNtz"} == set(protocol.writer_features)
    assert [1] == read_ids(table)
    append(table, ids(table, 2), schema=(ID, at))
    assert [] == [line for line in lines(table, 2) if "protocol" in line]


def test_partition_columns_stay_while_files_do(tmp_path):
    table = table_in(tmp_path)
    day = StructField("day", t.STRING, True)
    rows = {"id": [1], "day": ["mon"]}
    settings = {"schema": (ID, day), "partition_columns": ("day",)}
    replace_with(table, place(table, rows, day="mon"), **settings)
    assert [{"id": 1, "day": "mon"}] == delta(table).to_pyarrow_table().to_pylist()

    with pytest.raises(ChangeRefused, match=r"is partitioned by \(day\), the change by \(\)"):
        append(table, place(table, {"id": [2], "day": ["tue"]}), schema=(ID, day))
    with pytest.raises(ChangeRefused, match="no column `nope` to be partitioned by"):
        replace_with(table, schema=(ID,), partition_columns=("nope",))


@pytest.mark.parametrize(
    ("configuration", "why"),
    [
        ({"delta.constraints.positive": "id > 0"}, "Delta check constraints"),
        ({"delta.enableChangeDataFeed": "true"}, "Delta change data feed"),
    ],
)
def test_rules_of_another_tool_are_not_broken(table, configuration, why):
    append(table, properties=configuration)

    with pytest.raises(ChangeRefused, match=f"uses {why}, which Rocky does not write"):
        append(table, ids(table, 2))


def test_an_append_only_table_takes_appends_and_nothing_else(table):
    append(table, properties={"delta.appendOnly": "true"})
    append(table, ids(table, 2))

    with pytest.raises(ChangeRefused, match="is append-only"):
        replace_with(table, ids(table, 3))
    assert [1, 2] == read_ids(table)


def test_a_change_of_a_table_that_was_dropped_meanwhile_makes_no_gap(table):
    append(table, ids(table, 2))
    base = latest(table)
    folder = log_file(table, "").parent
    shutil.rmtree(folder)
    with pytest.raises(ConcurrentChange, match="was made or dropped by another writer"):
        append(table, ids(table, 3), base=base)
    replace_with(table, ids(table, 4), base=base)

    assert ([4], 0) == (read_ids(table), latest(table).version)


UNWRITABLE = """
import os, tempfile
from pathlib import Path
from rocky.errors import StoreUnwritable
from tests.store.tables import append, ids, latest, log_file, reopened, table_in

if os.getuid() == 0:
    os.setuid(65534)  # Root may write everywhere.
with tempfile.TemporaryDirectory() as folder:
    table = table_in(Path(folder))
    append(table, ids(table, 1))
    log_file(table, "").chmod(0o500)
    try:
        append(table, ids(table, 2))
    except StoreUnwritable as error:
        print(str(error).replace(folder, ""), latest(reopened(table)).rows)
    log_file(table, "").chmod(0o700)
"""


@pytest.mark.slow
def test_a_log_that_cannot_be_written_leaves_the_table_as_it_was():
    place = "/warehouse/shop/core/orders/_delta_log/00000000000000000001.json"

    assert f"could not write `{place}`: permission denied 1\n" == run_script(UNWRITABLE)
