"""A process killed at any step of write, commit and record: the next run loses and doubles nothing,
and the evidence is whole."""

import signal
from pathlib import Path

import pytest

from rocky.ledger.run_records import RunStatus
from tests.processes import run_process
from tests.run import crash
from tests.run.runs import Shop, statuses, verify

pytestmark = pytest.mark.sampled

INCREMENTAL = '[strategy]\ntype = "incremental"\ntimestamp_column = "id"\n'
BEFORE = {"stg_orders": [(1, "DE"), (2, "DE"), (3, "FR")], "report": [(1,)]}
AFTER = {"stg_orders": [(1, "DE"), (2, "DE"), (3, "FR"), (4, "FR"), (5, "FR")], "report": [(3,)]}

STEPS = [
    ("after begin", 1),
    ("before anchor", 1),
    ("after anchor", 1),
    ("after engine", 1),
    ("after write", 1),
    ("before commit", 1),
    ("after commit", 1),
    ("before record", 1),
    ("after record", 1),
    ("after commit", 2),
    ("after record", 2),
    ("after commit", 3),
    ("before finish", 1),
    ("after finish", 1),
    ("after anchor", 2),
]


def kill_at(root: Path, point: str, times: int) -> None:
    code, _, said = run_process(crash.main, str(root), point, times)
    assert -signal.SIGKILL == code, said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("point", "times", "settings"),
    [
        *[(*step, "") for step in STEPS],
        # Where a row could come twice.
        ("after commit", 1, INCREMENTAL),
        ("after record", 1, INCREMENTAL),
    ],
)
def test_a_run_after_a_killed_one_is_whole(tmp_path, point, times, settings):
    shop = Shop(tmp_path, {"models/stg_orders.toml": settings})
    shop.run()
    (tmp_path / "data/orders.csv").write_text("id,country\n1,DE\n2,DE\n3,FR\n4,FR\n5,FR\n")

    kill_at(tmp_path, point, times)
    assert [] == verify(tmp_path)
    report = shop.run()

    assert RunStatus.SUCCESS == report.status, statuses(report)
    assert AFTER == {name: shop.rows(name) for name in AFTER}
    assert [] == verify(tmp_path)
    again = shop.run()
    assert "build" not in {each.execution.decision for each in again.outcomes}
    assert [] == verify(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("point", ["after begin", "after write", "after commit", "after record"])
def test_a_first_run_that_is_killed_leaves_nothing_in_the_way(tmp_path, point):
    shop = Shop(tmp_path)

    kill_at(tmp_path, point, 1)
    report = shop.run()

    assert RunStatus.SUCCESS == report.status
    assert BEFORE == {name: shop.rows(name) for name in BEFORE}
    assert [] == verify(tmp_path)
