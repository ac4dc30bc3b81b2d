"""A state file made smaller: no row is another, a kill leaves it whole, and nobody is kept waiting."""

import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rocky.evidence.retention.sweep import compact_ledger, sweep_ledger
from rocky.ledger import open_evidence_reader, open_ledger
from rocky.ledger.run_records import RunRecord
from rocky.ledger.schema import TABLES
from rocky.project.configuration.blocks import StateRetention
from tests.evidence.shops import audit, verify
from tests.run.long_histories import LongHistory

pytestmark = pytest.mark.slow

LATER = datetime(2028, 1, 1, tzinfo=UTC)
RULES = StateRetention(max_age_days=30, min_runs_kept=3)
CRASHED = 9


@pytest.fixture
def past(tmp_path) -> LongHistory:
    """A history whose idle runs were forgotten."""
    past = LongHistory(tmp_path, builds=1)
    past.grow(120)
    with open_ledger(past.state) as ledger:
        assert sweep_ledger(ledger, [], RULES, LATER).runs
    past.idle()
    return past


def rows_of(state: Path) -> dict[str, list[tuple[str, str]]]:
    """All that is in a file, in the order in which it was written."""
    with closing(sqlite3.connect(state)) as file:
        found = {}
        for name in TABLES:
            found[name] = file.execute(f"SELECT key, value FROM {name} ORDER BY rowid").fetchall()
            assert (
                sorted(found[name])
                == file.execute(f"SELECT key, value FROM {name} ORDER BY key").fetchall()
            )
        assert [("ok",)] == file.execute("PRAGMA integrity_check").fetchall()
        return found


def compact(state: Path) -> object:
    with open_ledger(state) as ledger:
        return compact_ledger(ledger)


def test_a_sweep_alone_makes_no_file_smaller_and_this_changes_no_row_of_it(past):
    before, size = rows_of(past.state), past.state.stat().st_size
    freed, why_not = compact(past.state)

    assert before == rows_of(past.state)
    assert (size - freed, None) == (past.state.stat().st_size, why_not)
    assert freed > size // 5
    assert () == verify(past.state.parent).findings
    assert {} == audit(past.state.parent).findings
    past.idle()
    assert () == verify(past.state.parent).findings


def test_a_file_with_little_to_give_back_is_left_as_it_is(past):
    compact(past.state)
    before = past.state.read_bytes()

    assert (0, None) == compact(past.state)
    assert before == past.state.read_bytes()


@pytest.mark.parametrize("part", [0.02, 0.3, 0.6, 0.9, 0.999])
def test_a_kill_on_the_way_leaves_every_row(past, part):
    before = rows_of(past.state)
    copy = past.state.with_name("copy.db")
    copy.write_bytes(past.state.read_bytes())
    steps = _steps_of_compaction(copy)
    child = os.fork()
    if not child:
        _compact_and_die(past.state, int(steps * part))
    _, status = os.waitpid(child, 0)

    assert CRASHED == os.waitstatus_to_exitcode(status)
    assert before == rows_of(past.state)
    assert () == verify(past.state.parent).findings
    # And nothing keeps the next one from it.
    compact(past.state)
    assert before == rows_of(past.state)
    with closing(sqlite3.connect(past.state)) as file:
        assert (0,) == file.execute("PRAGMA freelist_count").fetchone()


def _steps_of_compaction(state: Path) -> int:
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1

    with open_ledger(state) as ledger:
        ledger._connection.set_progress_handler(count, 1)
        assert ledger.compact() > 0
    return steps


def _compact_and_die(state: Path, left: int) -> None:
    def die() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os._exit(CRASHED)

    with open_ledger(state) as ledger:
        ledger._connection.set_progress_handler(die, 1)
        ledger.compact()
    os._exit(0)


def test_not_while_a_run_is_running(past):
    size = past.state.stat().st_size
    with open_ledger(past.state) as ledger, open_ledger(past.state) as other:
        run_id = other.begin_run(RunRecord(LATER, "Manual", "c", "h", "1", warehouse="w"))
        found = compact_ledger(ledger)

    assert (0, f"run `{run_id}` is running") == found
    assert size <= past.state.stat().st_size


def test_not_beside_another_sweep_which_it_says_and_ends_nothing(past):
    with open_ledger(past.state) as ledger, open_ledger(past.state) as other:
        with other.claim(["old runs"], "rocky state retention sweep"):
            found = compact_ledger(ledger)

        assert (0, True) == (found.freed, "rocky state retention sweep" in (found.why_not or ""))
        assert compact_ledger(ledger).freed > 0


def test_whoever_reads_meanwhile_goes_on_reading_what_was_there(past):
    with open_evidence_reader(past.state) as reader, open_ledger(past.state, 0.1) as ledger:
        before = list(reader.rows("evidence_chain"))
        found = compact_ledger(ledger)

        assert found.freed > 0
        assert before == list(reader.rows("evidence_chain"))
    assert () == verify(past.state.parent).findings
