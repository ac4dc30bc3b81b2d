import sqlite3
from contextlib import closing
from datetime import timedelta

import pytest

from rocky.errors import LedgerUnreadable
from rocky.ledger import ModelRecords, open_evidence_reader, open_ledger, open_lookup_reader
from rocky.ledger.claims import living_runs
from rocky.ledger.provenance import (
    CollectedFile,
    InputIndexEntry,
    LayoutRecord,
    ProvenanceRecord,
    ReadRecord,
    SourceFile,
)
from rocky.ledger.run_records import ArtifactRecord, CommitRecord, ModelStatus, RunStatus
from tests.ledger.chains import chain_of, faults, pointers_to
from tests.ledger.conftest import START, a_model, a_run, recorded_run


def provenance(run_id, model="Orders"):
    inner = ReadRecord("v1", "table", "customers", "m.s.customers", 4, "cd" * 32)
    return ProvenanceRecord(
        run_id,
        model,
        "m.s.orders",
        "re" * 32,
        "sk" * 32,
        '{"name":"Orders"}',
        "SELECT 1",
        START,
        START,
        input_hash="in" * 32,
        proof_class="strong",
        upstreams=({"kind": "content", "upstream_key": "m.s.c", "blake3_hash": "cd" * 32},),
        output_blake3=("ab" * 32,),
        output_path=("t/ab.parquet",),
        layout=LayoutRecord(True, 2, ("day",)),
        reads=(
            inner,
            ReadRecord("v2", "inline", "eph", sql="SELECT 2", reads=(inner,)),
            ReadRecord("v3", "source", "raw", files=(SourceFile("a.csv", 3, "ef" * 32),)),
        ),
    )


def indexed(run_id, input_hash="in" * 32):
    return InputIndexEntry(
        input_hash, "content", run_id, "Orders", "m.s.orders", 3, "strong", "en" * 32, START
    )


def artifact(run_id, name="ab", model="Orders"):
    return ArtifactRecord(name * 32, run_id, model, f"t/{name}.parquet", 3, 9, START)


@pytest.fixture
def built(ledger):
    """A run that built a model."""
    run_id = ledger.begin_run(a_run())
    ledger.record_models(
        run_id,
        [
            ModelRecords(
                a_model("Orders"),
                [artifact(run_id)],
                provenance=provenance(run_id),
                index=[indexed(run_id), indexed(run_id, "cu" * 32)],
            )
        ],
    )
    ledger.finish_run(run_id, RunStatus.SUCCESS, START)
    return run_id


@pytest.fixture
def lookups(ledger):
    with ledger.lookups() as opened:
        yield opened


def test_there_are_no_lookups_without_a_ledger(path):
    assert (None, None) == (open_lookup_reader(path), open_evidence_reader(path))


def test_provenance_comes_back_as_it_was_recorded(built, lookups):
    assert provenance(built) == lookups.provenance(built, "ORDERS")
    assert (provenance(built),) == lookups.provenances(built)
    assert (None, None) == (lookups.provenance(built, "x"), lookups.provenance("run-x", "Orders"))
    assert () == lookups.provenances("run-x")


def test_an_index_entry_is_found_by_each_of_its_hashes(built, lookups):
    assert indexed(built) == lookups.index_entries(["in" * 32]).get("in" * 32)
    assert {"in" * 32: indexed(built), "cu" * 32: indexed(built, "cu" * 32)} == (
        lookups.index_entries(["cu" * 32, "in" * 32, "no" * 32])
    )
    assert None is lookups.index_entries(["no" * 32]).get("no" * 32)
    assert {} == lookups.index_entries([])


def test_a_later_result_takes_the_place_of_an_earlier_one_in_the_index(ledger, built, lookups):
    later = ledger.begin_run(a_run(START + timedelta(hours=1)))
    ledger.record_models(later, [ModelRecords(a_model("Orders"), index=[indexed(later)])])

    assert later == lookups.index_entries(["in" * 32]).get("in" * 32).run_id


def test_the_last_execution_of_each_of_many_models_is_found_at_once(ledger, lookups):
    for hour, names in enumerate((["a", "b", "c"], ["a", "b"], ["A"])):
        run_id = ledger.begin_run(a_run(START + timedelta(hours=hour)))
        status = ModelStatus.FAILED if hour == 2 else ModelStatus.SUCCESS
        ledger.record_models(
            run_id, [ModelRecords(a_model(n, rows_affected=hour, status=status)) for n in names]
        )
    found = lookups.last_executions(["a", "B", "c", "never"])

    assert {"a": 2, "B": 1, "c": 0} == {
        name: each.execution.rows_affected for name, each in found.items()
    }
    assert ModelStatus.FAILED is found["a"].execution.status
    assert {} == lookups.last_executions([])


def test_names_that_end_alike_are_not_each_other(ledger, lookups):
    run_id = ledger.begin_run(a_run())
    ledger.record_models(run_id, [ModelRecords(a_model("x_a")), ModelRecords(a_model("a|b"))])

    assert {} == lookups.last_executions(["a", "b"])
    assert ["a|b"] == list(lookups.last_executions(["a|b"]))


def test_a_reused_file_is_recorded_once_for_each_run(ledger, built, path):
    later = ledger.begin_run(a_run(START + timedelta(hours=1)))
    ledger.record_models(
        later,
        [
            ModelRecords(
                a_model(
                    "Orders", status=ModelStatus.REUSED, reused_from=built, reuse_basis="content"
                ),
                [artifact(later)],
            )
        ],
    )

    with open_evidence_reader(path) as evidence:
        assert (2, 0) == (pointers_to(evidence, "ab" * 32), pointers_to(evidence, "no" * 32))


def test_files_of_a_dead_run_are_recorded_under_its_id_by_the_run_that_adopts_them(
    ledger, path, lookups
):
    dead = "run-20260530-110400-000"
    run_id = ledger.begin_run(a_run())
    adopted = (CommitRecord(3, "co" * 32, run_id=dead),)
    ledger.record_models(
        run_id, [ModelRecords(a_model("Orders", adopted=adopted), [artifact(dead)])]
    )
    ledger.finish_run(run_id, RunStatus.SUCCESS, START)

    with ledger.reader() as reader:
        assert (artifact(dead),) == reader.artifacts(dead)
    assert adopted == recorded_run(ledger, run_id).models_executed[0].adopted
    with ledger.reader() as reader:
        assert ((artifact(dead),), ()) == (reader.artifacts(dead), reader.artifacts(run_id))
    assert [] == faults(path)


def test_unfinished_runs_are_those_that_died_or_gave_up(path):
    with open_ledger(path) as first:
        dead = first.begin_run(a_run())
    with open_ledger(path) as second:
        gone = second.begin_run(a_run(START + timedelta(hours=1)))
    with open_ledger(path) as third, third.lookups() as lookups:
        living = third.begin_run(a_run(START + timedelta(hours=2)))
        failed = third.begin_run(a_run(START + timedelta(hours=3)))
        third.finish_run(failed, RunStatus.FAILURE, START)
        gave_up = third.begin_run(a_run(START + timedelta(hours=4)))
        third.finish_run(gave_up, RunStatus.FAILURE, START, reason="no space left")

        assert frozenset({dead, gone, gave_up}) == lookups.unfinished_runs()
        assert [living] == [each.run_id for each in living_runs(lookups.path)]


def test_a_row_that_somebody_has_changed_is_known_by_its_entry(ledger, built, path, lookups):
    rows = [
        ("input_index", "in" * 32),
        ("input_provenance", f"{built}|orders"),
        ("run_history", built),
    ]
    before = [lookups.is_untouched(*row) for row in rows]
    with closing(sqlite3.connect(path)) as connection:
        for table, _ in rows:
            connection.execute(f"UPDATE {table} SET value = json_set(value, '$.target', 'x')")
        connection.commit()

    assert [True] * 3 == before
    assert [False] * 3 == [lookups.is_untouched(*row) for row in rows]
    assert not lookups.is_untouched("input_index", "no such row")


def test_a_row_that_was_written_again_is_known_by_its_newest_entry(ledger, built, path, lookups):
    with closing(sqlite3.connect(path)) as connection:
        (old,) = connection.execute("SELECT value FROM input_index WHERE key LIKE 'in%'").fetchone()
    later = ledger.begin_run(a_run(START + timedelta(hours=1)))
    ledger.record_models(later, [ModelRecords(a_model("Orders"), index=[indexed(later)])])
    assert lookups.is_untouched("input_index", "in" * 32)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE input_index SET value = ? WHERE key LIKE 'in%'", (old,))
        connection.commit()

    assert not lookups.is_untouched("input_index", "in" * 32)


def test_a_damaged_row_is_named_and_not_taken_for_an_absent_one(built, path, lookups):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE input_index SET value = '{}' WHERE key LIKE 'in%'")
        connection.commit()

    with pytest.raises(LedgerUnreadable, match=r"`inin.*` in `input_index`"):
        lookups.index_entries(["in" * 32]).get("in" * 32)


class TestEvidence:
    """Everything, at one moment."""

    def test_all_records_come_oldest_first(self, ledger, built, path):
        later = ledger.begin_run(a_run(START + timedelta(hours=1)))
        ledger.record_models(
            later, [ModelRecords(a_model("a"), [artifact(later)], provenance=provenance(later))]
        )
        with open_evidence_reader(path) as evidence:
            assert [built, later] == [key for key, _ in evidence.rows("run_history")]
            assert [built, later] == [each.run_id for each in evidence.all_executions()]
            assert ledger.head() == chain_of(evidence)[-1].head

    def test_what_is_written_meanwhile_is_not_seen(self, ledger, built, path):
        with open_evidence_reader(path) as evidence:
            head = chain_of(evidence)[-1].head
            rows = evidence.rows("run_history")
            ledger.begin_run(a_run(START + timedelta(hours=1)))

            assert head == chain_of(evidence)[-1].head
            assert [built] == [key for key, _ in rows]
        assert ledger.head().seq == head.seq + 1

    def test_collected_files_come_back_in_order(self, ledger, path):
        files = [
            CollectedFile("ab", "t/b.parquet", "m.s.t", 9, START, "no run needs it"),
            CollectedFile("ab", "t/a.parquet", "m.s.t", 9, START + timedelta(hours=1), "x"),
        ]
        ledger.record_collected(list(reversed(files)))
        with open_evidence_reader(path) as evidence:
            assert tuple(files) == evidence.collected()
            assert {"2026-05-30T11:04:22.643494Z|t/b.parquet"} < {
                key for key, _ in evidence.rows("collected_files")
            }
        assert [] == faults(path)

    def test_a_malformed_record_is_named(self, ledger, path):
        file = CollectedFile("ab", "t/b.parquet", "m.s.t", 9, START, "no run needs it")
        ledger.record_collected([file])
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("UPDATE collected_files SET value = '[]'")
            connection.commit()
        with open_evidence_reader(path) as evidence:
            assert ["[]"] == [value for _, value in evidence.rows("collected_files")]
            with pytest.raises(LedgerUnreadable, match="in `collected_files`"):
                evidence.collected()

    def test_a_table_that_is_not_there_has_no_rows(self, ledger, path):
        with open_evidence_reader(path) as evidence:
            assert [] == list(evidence.rows("no_such_table"))
