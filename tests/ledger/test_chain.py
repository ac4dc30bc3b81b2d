"""The chain: what is written is in it, and what is done to rows or entries shows."""

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from rocky.errors import LedgerUnreadable
from rocky.ledger import ModelRecords, open_evidence_reader, open_ledger
from rocky.ledger.chain import (
    BEFORE_FIRST,
    CHAIN_TABLE,
    CHAINED,
    GENESIS,
    Head,
    MalformedEntry,
    _parse_any,
    check_entry,
    entry_key,
    format_entry,
    make_entry,
    parse_entry,
)
from rocky.ledger.run_records import (
    ArtifactRecord,
    EngineRecord,
    ProgressStatus,
    RunStatus,
    TableProgress,
    WatermarkState,
)
from rocky.ledger.schema import TABLES
from rocky.ledger.writer import PipelineRecords
from tests.ledger.chains import chain_of, faults
from tests.ledger.conftest import START, a_model, a_run

PROGRESS = TableProgress(0, "m.s.t", ("t",), ProgressStatus.SUCCESS, 5, START)


def execute(path, sql, *values):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(sql, values)
        connection.commit()


@pytest.fixture
def recorded(path):
    """A ledger with a finished run, whose watermark was written twice."""
    with open_ledger(path) as ledger:
        run_id = ledger.begin_run(a_run())
        artifact = ArtifactRecord("ab", run_id, "a", "x.parquet", 1, 9, START)
        for value in ("1", "2"):
            ledger.record_models(
                run_id,
                [
                    ModelRecords(
                        a_model("a"), [artifact], watermark=WatermarkState("t", value, START)
                    )
                ],
            )
        ledger.finish_run(run_id, RunStatus.SUCCESS, START)
    return path


def test_an_entry_is_what_the_format_says():
    entry = make_entry(BEFORE_FIRST, "run_history", "run-1", '{"a":"ä"}')
    said = {
        "key": "run-1",
        "previous": GENESIS,
        "seq": 1,
        "table": "run_history",
        "value_hash": blake3('{"a":"ä"}'.encode()).hexdigest(),
    }
    text = json.dumps(said, sort_keys=True, separators=(",", ":"))

    assert blake3(text.encode()).hexdigest() == entry.entry_hash
    assert {**said, "entry_hash": entry.entry_hash} == json.loads(format_entry(entry))
    assert entry == parse_entry(format_entry(entry))
    assert "000000000001" == entry_key(entry.seq)


def test_the_entry_of_a_removal_has_no_value():
    entry = make_entry(Head(4, "ab" * 32), "branches", "b", None)

    assert {"entry_hash", "key", "previous", "removed", "seq", "table"} == set(
        json.loads(format_entry(entry))
    )
    assert (5, True, None) == (entry.seq, entry.removed, entry.value_hash)
    assert entry == parse_entry(format_entry(entry))
    assert check_entry(entry, Head(4, "ab" * 32), format_entry(entry)) is None


@pytest.mark.slow
@given(st.text(max_size=12), st.booleans(), st.integers(0, 10**20))
def test_an_entry_is_read_the_same_whichever_way_its_key_is_spelled(key, removed, seq):
    value = None if removed else "{}"
    entry = make_entry(Head(seq, "ab" * 32), "branches", key, value)

    assert entry == parse_entry(format_entry(entry)) == _parse_any(format_entry(entry))
    assert check_entry(entry, Head(seq, "ab" * 32), format_entry(entry)) is None


def test_every_change_of_an_entry_shows():
    first = make_entry(BEFORE_FIRST, "branches", "a", "{}")
    text = format_entry(make_entry(first.head, "branches", "b", '{"x":1}'))
    unseen = []
    for place in range(len(text)):
        changed = text[:place] + ("0" if text[place] != "0" else "1") + text[place + 1 :]
        try:
            if check_entry(parse_entry(changed), first.head, changed) is None:
                unseen.append(changed)
        except MalformedEntry:
            continue

    assert [] == unseen


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        ("{}", "`seq` is not a number"),
        ('{"seq":true}', "`seq` is not a number"),
        ('{"seq":1,"table":3}', "`table` is not a text"),
    ],
)
def test_what_is_no_entry_is_told_why(text, why):
    with pytest.raises(MalformedEntry, match=why):
        parse_entry(text)


def test_an_entry_spelt_otherwise_is_none():
    text = format_entry(make_entry(BEFORE_FIRST, "branches", "a", "{}"))
    with pytest.raises(MalformedEntry, match="not in the form of an entry"):
        parse_entry(text.replace(",", ", "))
    with pytest.raises(MalformedEntry, match="not in the form of an entry"):
        parse_entry(text.replace('"key"', '"also":1,"key"'))


def test_a_new_ledger_begins_with_its_own_name(ledger, path):
    with open_evidence_reader(path) as evidence:
        (entry,) = chain_of(evidence)

    assert (1, "metadata", "ledger_id", GENESIS) == (
        entry.seq,
        entry.table,
        entry.key,
        entry.previous,
    )
    assert blake3(f'"{ledger.ledger_id}"'.encode()).hexdigest() == entry.value_hash
    assert entry.head == ledger.head()


def test_every_table_is_chained_or_known_not_to_be():
    assert {"metadata", "run_progress", "idempotency_keys", "evidence_chain"} == set(TABLES) - set(
        CHAINED
    )
    assert set(CHAINED) < set(TABLES)


def test_the_chain_grows_with_every_write_of_evidence(ledger, path):
    grown = []

    def after(_):
        grown.append(ledger.head().seq)
        return _

    run_id = after(ledger.begin_run(a_run()))
    after(ledger.amend_run(run_id, engine=EngineRecord("4.1.4", "parquet-mr").to_json()))
    artifacts = [ArtifactRecord("ab", run_id, "a", f"{i}.parquet", 1, 9, START) for i in range(2)]
    after(ledger.record_models(run_id, [ModelRecords(a_model("a"), artifacts)]))
    after(ledger.record_models(run_id, [ModelRecords(a_model("b")), ModelRecords(a_model("c"))]))
    pipeline = PipelineRecords(progress=PROGRESS)
    after(ledger.record_models(run_id, [ModelRecords(a_model("d"), pipeline=pipeline)]))
    after(ledger.finish_run(run_id, RunStatus.SUCCESS, START))

    assert [2, 3, 6, 8, 9, 10] == grown
    assert [] == faults(path)


def test_an_untouched_ledger_verifies(recorded):
    assert [] == faults(recorded)


def test_a_row_written_again_matches_its_newest_entry_and_the_older_stays(recorded):
    with open_evidence_reader(recorded) as evidence:
        of_watermark = [each for each in chain_of(evidence) if each.table == "watermarks"]
        ((_, value),) = evidence.rows("watermarks")

    assert 2 == len({each.value_hash for each in of_watermark})
    assert blake3(value.encode()).hexdigest() == of_watermark[-1].value_hash


def test_a_removed_row_has_an_entry_that_says_so(recorded):
    with open_ledger(recorded) as ledger:
        with ledger.transaction() as rows:
            rows.remove("watermarks", "t")
            rows.remove("watermarks", "never there")
        head = ledger.head()
    with open_evidence_reader(recorded) as evidence:
        *_, last = chain_of(evidence)

    assert ("watermarks", "t", True, head) == (last.table, last.key, last.removed, last.head)
    assert [] == faults(recorded)


def test_a_removed_row_may_come_back(recorded):
    with open_ledger(recorded) as ledger, ledger.transaction() as rows:
        rows.remove("watermarks", "t")
        rows.put("watermarks", "t", "{}")

    assert [] == faults(recorded)


def test_a_transaction_that_is_rolled_back_leaves_no_entry(ledger, path):
    run_id = ledger.begin_run(a_run())
    before = ledger.head()
    broken = ArtifactRecord("ab", run_id, "b", "x.parquet", 1, float("nan"), START)
    with pytest.raises(ValueError, match="not JSON compliant"):
        ledger.record_models(
            run_id, [ModelRecords(a_model("a")), ModelRecords(a_model("b"), [broken])]
        )

    assert before == ledger.head()
    ledger.record_models(run_id, [ModelRecords(a_model("a"))])
    assert before.seq + 1 == ledger.head().seq
    assert [] == faults(path)


def test_a_ledger_knows_the_heads_it_had_and_no_others(recorded):
    with open_ledger(recorded) as ledger:
        before = ledger.head()
        ledger.begin_run(a_run(START + timedelta(hours=1)))

        assert ledger.knows(before)
        assert ledger.knows(ledger.head())
        assert not ledger.knows(Head(before.seq, "0" * 64))
        assert not ledger.knows(Head(before.seq + 100, before.entry_hash))
        assert not ledger.knows(BEFORE_FIRST)


def test_a_ledger_keeps_its_name(recorded):
    with open_ledger(recorded) as first, open_ledger(recorded) as second:
        assert first.ledger_id == second.ledger_id
    with open_evidence_reader(recorded) as evidence:
        assert first.ledger_id == evidence.ledger_id


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE run_history SET value = json_set(value, '$.hostname', 'other')",
        "UPDATE output_artifacts SET value = json_set(value, '$.size_bytes', 10)",
        "UPDATE watermarks SET value = replace(value, '2', '1')",
        "UPDATE model_executions SET value = value || ' '",
        "UPDATE model_executions SET key = key || 'x'",
        "DELETE FROM output_artifacts",
        "INSERT INTO branches VALUES ('b', '{}')",
        "UPDATE metadata SET value = '\"other\"' WHERE key = 'ledger_id'",
        "DELETE FROM evidence_chain WHERE key = '000000000003'",
        "DELETE FROM evidence_chain WHERE key = (SELECT max(key) FROM evidence_chain)",
        "UPDATE evidence_chain SET key = '000000009999' WHERE key = '000000000003'",
        "UPDATE evidence_chain SET value = json_set(value, '$.key', 'x') WHERE key = '000000000004'",
    ],
)
def test_what_is_done_behind_rockys_back_shows(recorded, sql):
    execute(recorded, sql)

    assert [] != faults(recorded)


def test_a_text_that_is_not_utf8_is_read_and_shows(recorded):
    execute(recorded, "UPDATE watermarks SET value = CAST(X'7B2261223A22FF227D' AS TEXT)")

    assert [] != faults(recorded)


def test_bytes_in_place_of_the_same_text_show(recorded):
    with closing(sqlite3.connect(recorded)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("UPDATE watermarks SET value = CAST(value AS BLOB)")
        connection.commit()

    assert [] != faults(recorded)


def test_the_record_of_a_living_run_is_not_written_on_once_somebody_changed_it(ledger, path):
    run_id = ledger.begin_run(a_run())
    execute(path, "UPDATE run_history SET value = json_set(value, '$.hostname', 'other')")

    with pytest.raises(LedgerUnreadable, match=f"run `{run_id}` .* was changed by something other"):
        ledger.finish_run(run_id, RunStatus.SUCCESS, START)
    assert [f"run_history {run_id} differs"] == faults(path)


def test_the_record_of_a_dead_run_is_left_to_be_found_once_somebody_changed_it(path):
    with open_ledger(path) as ledger:
        run_id = ledger.begin_run(a_run())
    execute(path, "UPDATE run_history SET value = json_set(value, '$.hostname', 'other')")
    with open_ledger(path) as ledger, ledger.reader() as reader:
        ledger.begin_run(a_run(START + timedelta(hours=1)))

        assert reader.run(run_id).died
    assert [f"run_history {run_id} differs"] == faults(path)


def test_a_chain_that_lost_all_its_entries_is_not_begun_again(recorded):
    execute(recorded, "DELETE FROM evidence_chain")
    with open_ledger(recorded) as ledger:
        with pytest.raises(LedgerUnreadable, match="has lost its table `evidence_chain`"):
            ledger.begin_run(a_run())

        assert BEFORE_FIRST == ledger.head()


def test_a_last_entry_that_makes_no_sense_is_named(recorded):
    execute(recorded, "INSERT INTO evidence_chain VALUES ('000000000099', '{}')")
    with open_ledger(recorded) as ledger:
        with pytest.raises(LedgerUnreadable, match="`000000000099` in `evidence_chain`"):
            ledger.begin_run(a_run())
        with pytest.raises(LedgerUnreadable, match="`000000000099` in `evidence_chain`"):
            ledger.head()


def test_a_ledger_that_lost_its_name_is_refused(recorded):
    execute(recorded, "DELETE FROM metadata WHERE key = 'ledger_id'")

    with pytest.raises(LedgerUnreadable, match="has lost its `ledger_id`"):
        open_ledger(recorded)


def test_saying_that_the_file_is_old_does_not_make_the_chain_anew(recorded):
    execute(recorded, "UPDATE run_history SET value = json_set(value, '$.hostname', 'other')")
    execute(recorded, "UPDATE metadata SET value = '1' WHERE key = 'schema_version'")
    with open_ledger(recorded) as ledger:
        ledger.begin_run(a_run())

    assert ["run_history run-20260530-110422-643 differs"] == faults(recorded)


def test_a_row_whose_entry_cannot_be_written_is_not_written_either(ledger, path):
    run_id = ledger.begin_run(a_run())
    before = ledger.head()
    # Of this connection alone: one in the file would be refused.
    ledger._connection.execute(
        "CREATE TEMP TRIGGER full BEFORE INSERT ON main.evidence_chain"
        " BEGIN SELECT RAISE(ABORT, 'no more'); END"
    )
    with pytest.raises(LedgerUnreadable, match="no more"):
        ledger.record_models(run_id, [ModelRecords(a_model("a"))])
    with pytest.raises(LedgerUnreadable, match="no more"):
        ledger.finish_run(run_id, RunStatus.SUCCESS, START)
    ledger._connection.execute("DROP TRIGGER full")

    assert before == ledger.head()
    with ledger.reader() as reader:
        assert (RunStatus.RUNNING, ()) == (
            reader.run(run_id).status,
            reader.run(run_id).models_executed,
        )
    assert [] == faults(path)


def test_threads_that_record_at_once_give_one_unbroken_chain(ledger, path):
    run_id = ledger.begin_run(a_run())
    with ThreadPoolExecutor(4) as pool:
        list(
            pool.map(
                lambda n: ledger.record_models(run_id, [ModelRecords(a_model(f"m{n}"))]), range(40)
            )
        )
        heads = list(pool.map(lambda _: ledger.head(), range(8)))

    assert {42} == {head.seq for head in heads}
    assert [] == faults(path)


@pytest.mark.slow
def test_no_change_of_one_row_or_entry_goes_unseen(recorded):
    changes = [
        "DELETE FROM {} WHERE key = ?",
        "UPDATE {} SET value = json_set(value, '$.more', 1) WHERE key = ?",
        "UPDATE {} SET key = key || '0' WHERE key = ?",
    ]
    untouched = recorded.read_bytes()
    with open_evidence_reader(recorded) as evidence:
        every = [
            (table, key) for table in (*CHAINED, CHAIN_TABLE) for key, _ in evidence.rows(table)
        ]
    unseen = []
    for table, key in every:
        for sql in changes:
            execute(recorded, sql.format(table), key)
            if faults(recorded) == []:
                unseen.append((sql, table, key))
            recorded.write_bytes(untouched)

    assert (13, []) == (len(every), unseen)
