"""The earlier entries of a run's record are of what it was: runs that end in every way."""

from datetime import UTC, datetime

import pytest

from rocky.evidence.chain import check_chain
from rocky.evidence.findings import Findings
from rocky.evidence.rewrites import check_rewrites
from rocky.ledger import open_evidence_reader, open_ledger
from rocky.ledger.run_records import DIED, EngineRecord, RunRecord, RunStatus

NOW = datetime(2026, 1, 2, tzinfo=UTC)
ENGINE = EngineRecord("4.1", "writer").to_json()


@pytest.mark.parametrize("reason", [None, "nobody knows who did this"])
@pytest.mark.parametrize("unchanged", [None, 3])
@pytest.mark.parametrize("facts", [(), ("engine",), ("commit_key", "engine")])
@pytest.mark.parametrize("end", ["running", "success", "failure", "died"])
def test_a_run_that_nobody_touched_is_as_its_entries_say(tmp_path, reason, unchanged, facts, end):
    path = tmp_path / "state.db"
    with open_ledger(path) as ledger:
        record = RunRecord(NOW, "Manual", "c", "h", "0.2.0", reason=reason, unchanged=unchanged)
        run_id = ledger.begin_run(record)
        for each in facts:
            ledger.amend_run(run_id, **{each: ENGINE if each == "engine" else "ssh-ed25519 A"})
        if end == "success":
            ledger.finish_run(run_id, RunStatus.SUCCESS, NOW, reason=reason, anchored=True)
        elif end == "failure":
            ledger.finish_run(run_id, RunStatus.FAILURE, NOW, reason="no space")
            with ledger.reader() as reader:
                ended = reader.run(run_id)
            assert (reason, "no space") == (ended.purpose, ended.reason)
        elif end == "died":
            ledger._claims.pop(run_id).release()
    if end == "died":
        with open_ledger(path) as ledger:
            other = ledger.begin_run(RunRecord(NOW, "Manual", "c", "h", "0.2.0"))
            ledger.finish_run(other, RunStatus.SUCCESS, NOW)

    reader = open_evidence_reader(path)
    assert reader is not None
    with reader:
        findings = Findings()
        check_rewrites(reader, check_chain(reader, findings).entries, findings)
        text = dict(reader.rows("run_history"))[run_id]
    assert [] == list(findings.found)
    assert (end == "died") == (f'"reason":"{DIED}"' in text)
    assert (end in ("died", "failure") and reason is not None) == ('"purpose":' in text)
