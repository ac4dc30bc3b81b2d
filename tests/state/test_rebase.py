"""Records written again on top of another copy: what stands where both have changed the same."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from rocky.errors import LedgerUnreadable
from rocky.evidence.chain import check_chain
from rocky.evidence.findings import Findings
from rocky.evidence.rewrites import check_rewrites
from rocky.ledger import open_evidence_reader, open_ledger
from rocky.ledger.branch_records import BranchRecord, BranchStatus
from rocky.ledger.branches import load_branches, record_branch, record_deletion
from rocky.ledger.chain import Head
from rocky.ledger.copies import common_head, describe_copy, knows, replace_file, write_snapshot
from rocky.ledger.pipeline_records import GracePeriod
from rocky.ledger.rebase import rebase_records
from rocky.ledger.run_records import (
    DIED,
    EngineRecord,
    PartitionRecord,
    PartitionStatus,
    RunRecord,
    RunStatus,
    WatermarkState,
)
from rocky.ledger.writer import ModelRecords, PipelineRecords
from rocky.project.configuration.blocks import State
from tests.state.machines import Machine, findings, rows, value

EARLY, LATE = timedelta(minutes=1), timedelta(minutes=2)


@pytest.fixture
def apart(tmp_path) -> tuple[Machine, Machine, Head]:
    """Two machines with one ledger, which goes on apart from here."""
    ours, theirs = (
        Machine(tmp_path / name, State(), number=at) for at, name in ((1, "a"), (2, "b"))
    )
    ours.root.mkdir()
    theirs.root.mkdir()
    ours.record("shared")
    write_snapshot(ours.ledger, theirs.ledger)
    return ours, theirs, describe_copy(ours.ledger).head


def merge(ours: Machine, theirs: Machine, since: Head) -> list[str]:
    """Put ours on theirs; what was dropped."""
    return list(rebase_records(theirs.ledger, ours.ledger, since, since).dropped)


def record(machine: Machine, table: str, **said: object) -> str:
    with open_ledger(machine.ledger) as ledger:
        run = ledger.begin_run(machine.begun())
        execution, *_ = machine.records(run, table)
        ledger.record_models(run, [ModelRecords(execution, **said)])
        ledger.finish_run(run, RunStatus.SUCCESS, machine.now())
    return run


def put(path: Path, table: str, key: str, document: object) -> None:
    with open_ledger(path) as ledger, ledger.transaction() as written:
        written.put(table, key, json.dumps(document))


def test_a_whole_run_is_written_as_it_was_recorded(apart):
    ours, theirs, since = apart
    with open_ledger(ours.ledger) as ledger:
        run = ledger.begin_run(ours.begun())
        ledger.amend_run(run, engine=EngineRecord("4.1", "w", {"a": "b"}).to_json())
        ledger.record_models(run, [ModelRecords(*ours.records(run, "x"))])
        ledger.finish_run(run, RunStatus.PARTIAL_FAILURE, ours.now())
    theirs.record("y")

    assert [] == merge(ours, theirs, since)
    assert value(ours.ledger, "run_history", run) == value(theirs.ledger, "run_history", run)
    assert ["shared", "x", "y"] == rows(theirs.ledger, "watermarks")
    assert [] == findings(theirs.ledger)


def test_doing_it_again_adds_nothing(apart):
    ours, theirs, since = apart
    ours.record("x", "y")
    merge(ours, theirs, since)
    once = describe_copy(theirs.ledger)
    again = rebase_records(theirs.ledger, ours.ledger, since, since)

    assert (0, once) == (again.written, describe_copy(theirs.ledger))


@pytest.mark.parametrize(("mine", "other", "stands"), [(EARLY, LATE, "b"), (LATE, EARLY, "a")])
def test_of_two_watermarks_and_intervals_the_newer_stands(apart, mine, other, stands):
    ours, theirs, since = apart
    for machine, after, said in ((ours, mine, "a"), (theirs, other, "b")):
        at = machine.now() + after
        record(
            machine,
            "t",
            watermark=WatermarkState("t", said, at),
            partitions=[PartitionRecord("t", "p", PartitionStatus.COMPUTED, at, 1, 1, said)],
        )
    merge(ours, theirs, since)

    mark = json.loads(value(theirs.ledger, "watermarks", "t"))
    interval = json.loads(value(theirs.ledger, "partitions", "t|p"))
    assert (stands, stands) == (mark["last_value"], interval["run_id"])
    assert [] == findings(theirs.ledger)


def test_counts_of_both_are_kept_each_moment_once(apart):
    ours, theirs, since = apart
    counts = {at: {"count": at, "timestamp": f"2026-03-0{at}T00:00:00.000000Z"} for at in (1, 2, 3)}
    put(ours.ledger, "check_history", "t", [counts[1], counts[3]])
    put(theirs.ledger, "check_history", "t", [counts[1], counts[2]])
    merge(ours, theirs, since)

    assert [1, 2, 3] == [
        each["count"] for each in json.loads(value(theirs.ledger, "check_history", "t"))
    ]


@pytest.mark.parametrize("renewed", [True, False])
def test_a_period_that_is_over_goes_unless_others_began_it_anew(tmp_path, renewed):
    ours, theirs = (
        Machine(tmp_path / name, State(), number=at) for at, name in ((1, "a"), (2, "b"))
    )
    ours.root.mkdir()
    theirs.root.mkdir()
    period = GracePeriod("t", "c", "dropped", ours.now(), ours.now() + LATE)
    record(ours, "t", pipeline=PipelineRecords(grace=[period]))
    write_snapshot(ours.ledger, theirs.ledger)
    since = describe_copy(ours.ledger).head
    record(ours, "t", pipeline=PipelineRecords(ended=[period]))
    if renewed:
        again = GracePeriod("t", "c", "dropped", ours.now() + EARLY, ours.now() + LATE)
        record(theirs, "t", pipeline=PipelineRecords(grace=[again]))
    merge(ours, theirs, since)

    assert renewed == (value(theirs.ledger, "grace_periods", "t|c") is not None)


def test_a_run_that_both_saw_dead_is_written_once(tmp_path):
    ours, theirs = (
        Machine(tmp_path / name, State(), number=at) for at, name in ((1, "a"), (2, "b"))
    )
    ours.root.mkdir()
    theirs.root.mkdir()
    with open_ledger(ours.ledger) as ledger:
        dead = ledger.begin_run(ours.begun())
    write_snapshot(ours.ledger, theirs.ledger)
    since = describe_copy(ours.ledger).head
    for machine in (ours, theirs):
        with open_ledger(machine.ledger) as ledger:
            ledger.finish_run(ledger.begin_run(machine.begun()), RunStatus.SUCCESS, machine.now())

    assert [] == merge(ours, theirs, since)
    assert DIED == json.loads(value(theirs.ledger, "run_history", dead))["reason"]
    assert [] == findings(theirs.ledger)


def test_two_runs_with_one_id_are_never_mixed(apart):
    ours, theirs, since = apart
    mine = ours.record("x")
    with open_ledger(theirs.ledger) as ledger:
        # On another machine, and in the same millisecond.
        begun = RunRecord(ours.now(), "Manual", "c0ffee", theirs.name, "1.0", warehouse="/wh")
        run = ledger.begin_run(begun)
        ledger.finish_run(run, RunStatus.SUCCESS, ours.now())

    assert mine == run
    assert [mine] == merge(ours, theirs, since)
    assert theirs.name == json.loads(value(theirs.ledger, "run_history", run))["hostname"]
    assert [] == findings(theirs.ledger)


def branch(name: str, machine: Machine, by: str) -> BranchRecord:
    machine.runs += 1
    return BranchRecord(name, "p_", by, machine.now(), "w", "w")


def rewrites(path: Path) -> list[str]:
    """Rows whose earlier entries are of something else."""
    reader = open_evidence_reader(path)
    assert reader is not None
    with reader:
        found = Findings()
        check_rewrites(reader, check_chain(reader, found).entries, found)
    return [each.where for each in found.found]


@pytest.mark.sampled
@pytest.mark.parametrize("theirs_first", [True, False])
@pytest.mark.parametrize("their_work", ["nothing", "deleted", "anew", "other"])
@pytest.mark.parametrize("our_work", ["deleted", "anew", "twice"])
def test_no_row_of_a_branch_is_lost(apart, our_work, their_work, theirs_first):
    """Whatever both did with a branch that both knew, every entry can be explained."""
    ours, theirs, _ = apart
    with open_ledger(ours.ledger) as ledger:
        record_branch(ledger, branch("b", ours, "both"))
    write_snapshot(ours.ledger, theirs.ledger)
    since = describe_copy(ours.ledger).head

    def work(machine: Machine, name: str) -> None:
        with open_ledger(machine.ledger) as ledger:
            for _ in range({"nothing": 0, "other": 0, "twice": 2}.get(name, 1)):
                (known,) = load_branches(machine.ledger)
                gone = replace(
                    known, status=BranchStatus.DELETED, deleted_at=machine.now(), deleted_by="x"
                )
                record_deletion(ledger, gone)
                if name != "deleted":
                    record_branch(ledger, branch("b", machine, machine.root.name))
            if name == "other":
                record_branch(ledger, branch("c", machine, "them"))

    todo = [(theirs, their_work), (ours, our_work)]
    for machine, name in todo if theirs_first else reversed(todo):
        work(machine, name)

    merge(ours, theirs, since)

    assert [] == rewrites(theirs.ledger)
    once = describe_copy(theirs.ledger)
    merge(ours, theirs, since)
    assert once == describe_copy(theirs.ledger)


def test_the_last_entry_that_two_chains_share_is_found(apart):
    ours, theirs, since = apart
    ours.record("x")

    assert since == common_head(ours.ledger, theirs.ledger)
    theirs.record("y", "z")
    assert since == common_head(ours.ledger, theirs.ledger)
    assert knows(theirs.ledger, since)
    assert not knows(ours.ledger, describe_copy(theirs.ledger).head)


def test_a_snapshot_of_a_ledger_in_use_is_whole(apart):
    ours, theirs, _ = apart
    with open_ledger(ours.ledger) as ledger:
        run = ledger.begin_run(ours.begun())
        theirs.ledger.unlink()
        write_snapshot(ours.ledger, theirs.ledger)
        head = ledger.head()

    assert head == describe_copy(theirs.ledger).head
    assert run in rows(theirs.ledger, "run_history")
    assert ["state.db"] == [each.name for each in theirs.root.iterdir() if each.is_file()]


def test_a_file_takes_anothers_place_with_all_that_lay_beside_it(apart):
    ours, theirs, _ = apart
    theirs.record("y")
    with open_ledger(ours.ledger):
        pass
    new = theirs.ledger.with_name("new.db")
    write_snapshot(theirs.ledger, new)
    replace_file(ours.ledger, new)

    assert describe_copy(theirs.ledger) == describe_copy(ours.ledger)
    assert [] == findings(ours.ledger)


@pytest.mark.parametrize(
    ("table", "key"), [("run_history", None), ("watermarks", "t"), ("model_executions", None)]
)
@pytest.mark.parametrize(
    "change", ["UPDATE {0} SET value = {1} WHERE key = ?", "DELETE FROM {0} WHERE key = ?"]
)
def test_a_record_that_somebody_else_changed_gets_no_entry_on_the_other_copy(
    apart, table, key, change
):
    ours, theirs, since = apart
    run = record(ours, "t", watermark=WatermarkState("t", "1", ours.now()))
    key = key or {"run_history": run}.get(table, f"{run}|t")
    with closing(sqlite3.connect(ours.ledger)) as connection:
        said = "json_set(value, '$.hostname', 'another', '$.last_value', '0')"
        assert 1 == connection.execute(change.format(table, said), (key,)).rowcount
        connection.commit()
    before = describe_copy(theirs.ledger).head

    with pytest.raises(LedgerUnreadable, match="is not as Rocky wrote it, so it is not sent"):
        merge(ours, theirs, since)

    assert before == describe_copy(theirs.ledger).head
    assert [] == findings(theirs.ledger)
