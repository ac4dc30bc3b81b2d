"""Copies of older schemas: brought forward under a name of their own, and left as they are."""

import pytest

from rocky.ledger import SCHEMA_VERSION
from rocky.project.configuration.blocks import State
from rocky.state.local import LocalSession
from rocky.state.session import open_session
from rocky.store.objects import Objects
from tests.state.machines import Machine, findings, rows, s3_state

pytestmark = pytest.mark.server

NOW, OLD = f"v{SCHEMA_VERSION}/state.db", f"v{SCHEMA_VERSION - 1}/state.db"


def test_a_newer_rocky_begins_from_the_copy_of_the_older_one(tmp_path, prefix, s3, bucket: Objects):
    first, second = (
        Machine(tmp_path / f"m{each}", s3_state(prefix), s3.url, each) for each in (1, 2)
    )
    run = first.run("a")
    older = bucket.read(NOW)
    bucket.put(OLD, older)
    bucket.delete([NOW])
    last = second.run("b")

    assert [run, last] == rows(second.ledger, "run_history")
    assert older == bucket.read(OLD)
    assert ["state.download ok", "state.upload ok"] == second.outcomes
    assert [] == findings(second.ledger)


def test_what_a_newer_rocky_keeps_is_not_looked_at(tmp_path, prefix, s3, bucket: Objects):
    machine = Machine(tmp_path / "m", s3_state(prefix), s3.url)
    newer = f"v{SCHEMA_VERSION + 1}/state.db"
    bucket.put(newer, b"of a newer Rocky")
    machine.run("a")

    assert b"of a newer Rocky" == bucket.read(newer)
    assert "state.download absent" == machine.outcomes[0]


def test_a_state_that_is_kept_here_has_a_session_that_does_nothing(tmp_path):
    path = tmp_path / "state.db"
    with open_session(State(), path, {}) as session:
        session.acquire()
        with session.claim(["a"]) as claim:
            claim.name("run-1")
        head = session.publish("run-1")
        session.finalize()

    assert isinstance(session, LocalSession)
    assert (False, None, False, ()) == (
        session.is_remote,
        head,
        session.is_unvouched,
        session.warnings,
    )
    assert not path.exists()
