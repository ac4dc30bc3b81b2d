"""What 0.1.0 left on disk is read by this version: ledgers, tables, a branch, an approval, a plan.

`release-0.1.0.tar.gz` holds a project after a run, a branch with a run of its own, a signed
approval and a kept plan, all made by 0.1.0, and the JSON documents that it printed of them.
"""

import json
import subprocess
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocky.cli.app import main

pytestmark = pytest.mark.slow

ARCHIVE = Path(__file__).with_name("release-0.1.0.tar.gz")
RECORDED = (
    "compile",
    "validate",
    "list",
    "explain E003",
    "lineage fct_revenue",
    "lineage fct_revenue.amount",
    "emit-sql stg_orders",
    "ci",
    "ci-diff main",
    "lineage-diff main",
    "history",
    "history --audit",
    "history --model fct_revenue",
    "history --branch feature",
    "trace latest",
    "trace latest --branch feature",
    "cost latest",
    "verify",
    "replay latest",
    "state",
    "show fct_revenue",
    "branch list",
    "branch show feature",
    "branch approvals feature",
)


@pytest.fixture
def before(tmp_path, monkeypatch) -> Path:
    """The project as 0.1.0 left it; commands run inside it."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    monkeypatch.chdir(tmp_path / "shop")
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    return tmp_path


def rocky(*words: str):
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    return done.exit_code, done.stdout


def _forget_later(line, found):
    """What documents have since 0.2.0."""
    if line.startswith("emit-sql"):
        assert "spark" == found.pop("dialect")
        for model in found["models"]:
            assert [] == model.pop("inexact")
            assert [] == model.pop("functions")
    if line.startswith("lineage "):
        assert [] == found.pop("unknown")
    for run in found.get("runs", ()) if line.startswith("history") else ():
        run.pop("outcomes", None)
        for model in run.get("models", ()):
            model.pop("outcome", None)
    if line.startswith("history --model"):
        assert ["built"] == [each.pop("outcome") for each in found["executions"]]
        assert 0 == found.pop("unchanged_runs")
    for model in found["models"] if line.startswith("trace") else ():
        for key in ("skip_hash", "input_hash", "env_hash"):
            model.pop(key, None)
    if line in ("ci-diff main", "lineage-diff main"):
        assert [] == found.pop("uncompared")
        assert 0 == found["summary"].pop("uncompared", 0)
    if line == "replay latest":
        assert found.pop("verification")["verified"]
    if line == "state":
        assert "local" == found.pop("backend")


@pytest.mark.parametrize("line", RECORDED)
def test_a_document_is_what_0_1_0_printed(before, line):
    file = line.replace(" ", "_").replace("/", "_") + ".json"
    expected = json.loads((before / "documents" / file).read_text())

    code, out = rocky("-o", "json", *line.split())
    found = json.loads(out)
    for source in found.get("sources", ()) if line == "list" else ():
        assert source.pop("description")  # since 0.2.0
    for model in found.get("models", ()) if line == "list" else ():
        for key in ("description", "column_descriptions", "pipeline"):  # since 0.2.0
            model.pop(key, None)
    if line.startswith("show "):
        assert "files" == found.pop("read_by")  # since 0.2.0
    _forget_later(line, found)
    if line == "verify":
        assert found.pop("head")  # since 0.2.0
        assert ([], 0) == (found.pop("seals"), found["checked"].pop("seals"))
        assert 0 == found["checked"].pop("unread")
    if line == "state":
        # Since 0.2.0 a ledger has a table and an index more, and so another number.
        key = "schema_version_supported"
        assert (4, 6) == (expected.pop(key), found.pop(key))
    if line == "branch approvals feature":
        assert "none" == found["policy"].pop("author_proof")  # since 0.2.0
        # Since 0.2.0 an approval covers the statistics of files too: those of before are void.
        (approval,) = expected.pop("accepted")
        (void,) = found.pop("rejected")
        assert ([], []) == (expected.pop("rejected"), found.pop("accepted"))
        assert approval["approval_id"] == void["approval_id"]
        assert (
            "changed since: what an approval covers, with another release of Rocky"
            == void["detail"]
        )
        for each in ("state_hash", "satisfied"):
            expected.pop(each, None)
            found.pop(each, None)

    assert 0 == code
    assert list(expected) == list(found)
    assert expected | {"version": None} == found | {"version": None}


def test_a_branch_that_somebody_approved_with_0_1_0_must_be_approved_again(before):
    code, out = rocky("-o", "json", "branch", "promote", "feature")

    assert 1 == code
    assert "what an approval covers, with another release of Rocky" in out
    assert 0 == rocky("verify")[0]
    assert 0 == rocky("verify", "--branch", "feature")[0]


def test_what_0_1_0_built_is_not_built_again(before):
    _check_out_main(before)

    code, out = rocky("-o", "json", "run")

    assert 0 == code, out
    assert ["reuse"] * 11 == [each["decision"] for each in json.loads(out)["model_decisions"]]


def test_a_plan_that_0_1_0_kept_says_what_a_plan_says_now(before):
    plans = before / "shop" / ".rocky" / "plans"
    (old,) = plans.glob("*.json")
    kept = json.loads(old.read_text())["payload"]
    _check_out_main(before)  # takes the plan away: it is committed on the branch

    assert 0 == rocky("plan", "stg_orders+", "--full-refresh")[0]

    (new,) = plans.glob("*.json")
    made = json.loads(new.read_text())["payload"]
    assert list(kept) == list(made)
    assert ["rocky_version"] == [key for key in kept if kept[key] != made[key]]


def _check_out_main(before: Path) -> None:
    """The working tree in the archive is the branch's, which changed one model."""
    subprocess.run(["git", "checkout", "-q", "main"], cwd=before / "shop", check=True)
