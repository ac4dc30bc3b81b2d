"""Commits of a run that could not reach the state it keeps elsewhere: a note, and no more."""

import json

import pytest

from rocky.ledger.chain import value_hash
from tests.evidence.mutations import compact, opened, put, rows_of
from tests.evidence.shops import Recorded, audit, codes, script_codes, verify
from tests.run.runs import Shop

VOUCHED = ("ledgerHead", "ledgerId")


@pytest.fixture
def project(tmp_path) -> Recorded:
    shop = Shop(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rocky.run.prepare.claims.is_remote_unreadable", lambda _: True)
        patch.setattr("rocky.run.execute.runner.is_remote_unreadable", lambda _: True)
        patch.setattr("rocky.run.prepare.claims.is_remote_unreadable", lambda _: True)
        shop.run()
    return Recorded(tmp_path)


@pytest.mark.slow
def test_they_name_no_state_of_the_ledger_and_that_is_noted(project):
    found = verify(project.root)
    said = [json.loads(path.read_text().splitlines()[0]) for path in project.commits()]

    assert [] == [each for each in said if each["commitInfo"].keys() & set(VOUCHED)]
    assert ([], []) == (codes(found.findings), script_codes(audit(project.root)))
    assert len(said) == len([note for note in found.notes if "no record proves the commit" in note])


@pytest.mark.slow
def test_a_run_that_did_reach_it_must_vouch(project):
    """The record says whether it could: changing that is found as any change is."""
    with opened(project) as connection:
        ((_, key, value),) = rows_of(connection, "run_history")
        document = json.loads(value)
        assert document.pop("unvouched")
        put(connection, "run_history", key, compact(document))
        assert value_hash(value) != value_hash(compact(document))

    assert {"head_unknown", "record_changed"} <= set(codes(verify(project.root).findings))
    assert {"head_unknown", "record_changed"} <= set(script_codes(audit(project.root)))
