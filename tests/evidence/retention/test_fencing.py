"""Removals by a process that was stopped past its claim: what others need by then is left."""

import os
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

from rocky.errors import ClaimLost
from rocky.ledger import open_ledger
from rocky.ledger.claims import claims_folder
from rocky.store.delta.change import Change
from rocky.store.file_usage import sweep_table
from rocky.store.objects import Objects
from tests.evidence.retention.histories import Past
from tests.processes import Running, is_stopped
from tests.store.tables import COLUMNS, ids

pytestmark = pytest.mark.slow

FILES = 60
UNDER_WAY = 16
"""Files are removed by so many threads: what each of them has begun it ends."""


def stop_at_removal(number: int) -> None:
    """Stop this process when so many files were removed."""
    delete, done = Objects.delete, []

    def stop(objects: Objects, paths: list[str]) -> None:
        done.append(paths)
        if len(done) == number:
            os.kill(os.getpid(), signal.SIGSTOP)
        delete(objects, paths)

    Objects.delete = stop  # type: ignore[method-assign,assignment]


def collect(root: Path) -> None:
    stop_at_removal(5)
    (table,) = Past(root).collect().tables
    sys.stdout.write(f"{len(table.removals)} {table.claim_lost}")


def sweep_leftovers(root: Path) -> None:
    stop_at_removal(5)
    with open_ledger(Past(root).state) as ledger, ledger.claim(["shop.core.orders"]) as claim:
        try:
            sweep_table(Past(root).table("orders"), 2**60, claim.check)
        except ClaimLost as lost:
            sys.stdout.write(f"0 {lost}")


def bring_back(past: Past, version: int) -> set[str]:
    """A writer that asks no ledger makes an older version the newest; the files that it needs."""
    table = past.table("orders")
    older = table.snapshot(version)
    assert older is not None
    needed = tuple(each for each in older.files if each.path in past.stored("orders"))
    table.commit(Change("REPLACE", table.snapshot(), COLUMNS, (), needed))
    return {each.path for each in needed}


def take_claims(past: Past) -> None:
    shutil.rmtree(claims_folder(past.state))


def wait_stopped(process: Running) -> None:
    while not is_stopped(process.pid):
        assert process.poll() is None
        time.sleep(0.02)


def test_a_collector_that_was_stopped_removes_nothing_that_came_back_meanwhile(tmp_path):
    past = Past(tmp_path)
    past.build("orders", 30, *range(FILES))
    past.build("orders", 20, FILES)
    with Running(collect, tmp_path) as collector:
        wait_stopped(collector)
        needed = bring_back(past, 0)
        time.sleep(1.1)
        collector.send_signal(signal.SIGCONT)
        said, _ = collector.communicate()

    removed, _, why = said.partition(" ")
    assert UNDER_WAY < len(needed)
    assert len(needed - past.stored("orders")) <= UNDER_WAY
    assert int(removed) < 5 + UNDER_WAY
    assert why.startswith("another writer changed table `shop.core.orders`")


@pytest.mark.parametrize("work", [collect, sweep_leftovers])
def test_whoever_has_lost_its_claim_removes_nothing_more(tmp_path, work):
    past = Past(tmp_path)
    past.build("orders", 30, *range(FILES))
    if work is collect:
        past.build("orders", 20, FILES)
    for number in range(FILES):
        ids(past.table("orders"), 1000 + number)
    before = len(past.stored("orders"))
    with Running(work, tmp_path) as stopped:
        wait_stopped(stopped)
        take_claims(past)
        stopped.send_signal(signal.SIGCONT)
        said, _ = stopped.communicate()

    assert "was removed while its process was at work" in said
    assert before - len(past.stored("orders")) < 5 + UNDER_WAY


def test_a_sweep_of_leftovers_spares_one_that_another_run_has_taken_up(tmp_path):
    past = Past(tmp_path)
    past.build("orders", 30, 1)
    table = past.table("orders")
    left = [ids(table, 1000 + number) for number in range(FILES)]
    with Running(sweep_leftovers, tmp_path) as stopped:
        wait_stopped(stopped)
        needed = [each for each in left if each.path in past.stored("orders")]
        table.commit(Change("APPEND", table.snapshot(), COLUMNS, (), tuple(needed)))
        time.sleep(1.1)
        stopped.send_signal(signal.SIGCONT)
        said, _ = stopped.communicate()

    assert "another writer changed table" in said
    assert len({each.path for each in needed} - past.stored("orders")) <= UNDER_WAY
