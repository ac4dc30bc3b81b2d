"""Whoever finds the ledger locked is told by whom."""

import sqlite3
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest

from rocky.errors import LedgerLocked
from rocky.ledger import open_ledger
from rocky.ledger.claims import Claim, find_holders, hold_claim
from rocky.ledger.record import RunId
from tests.ledger.conftest import START

RUN = Claim(RunId("run-20260530-110422-643"), 4711, "runner-07", START, ("a.b.c",))


@contextmanager
def locked(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("ROLLBACK")


@pytest.fixture
def recorded(path):
    with open_ledger(path):
        pass
    return path


def test_a_locked_ledger_names_the_run_that_is_at_work(recorded):
    held = hold_claim(recorded, RUN)
    with locked(recorded), pytest.raises(LedgerLocked) as said:
        open_ledger(recorded, patience=0.05)
    held.release()

    assert (
        f"the state file `{recorded}` is locked by run `run-20260530-110422-643` (process 4711 on"
        " `runner-07`, since 2026-05-30 11:04:22 UTC); wait until that has ended, or name another"
        " file with `--state-path`"
    ) == str(said.value)


def test_of_several_at_work_all_are_named_each_process_once(recorded):
    gc = replace(RUN, run_id=RunId("gc-1"), process=12, command="rocky gc")
    key = replace(RUN, run_id=RunId("key-1"), command="rocky run")
    held = [hold_claim(recorded, each) for each in (key, RUN, gc)]
    found = find_holders(recorded)
    for each in held:
        each.release()

    assert ["`rocky gc` (process 12", "run `run-20260530-110422-643` (process 4711"] == sorted(
        each.partition(" on ")[0] for each in found
    )


def test_without_a_claim_it_is_another_process(recorded):
    with locked(recorded), pytest.raises(LedgerLocked, match="is locked by another process; wait"):
        open_ledger(recorded, patience=0.05)


def test_one_does_not_name_oneself(ledger):
    with ledger.claim(["a.b.c"]):
        assert () == find_holders(ledger.path)
