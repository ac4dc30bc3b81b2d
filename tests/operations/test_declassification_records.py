"""Who declassified a column and since when: git knows the lines, the log of the table the run."""

import subprocess
from pathlib import Path

import pytest

from rocky.errors import InvalidRequest
from rocky.operations.governance.compliance import ComplianceRequest, compliance
from rocky.operations.workspace import Workspace
from tests.run.runs import PROJECT, Shop

SOURCE = PROJECT["sources/raw.toml"].replace(
    'type = "string" }', 'type = "string", classification = "pii" }'
)
TAKEN_OFF = """
[[declassify]]
column = "country"
tag = "pii"
reason = "no person"
approved_by = "dpo"
"""


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path, {"sources/raw.toml": SOURCE})


def told(root: Path):
    report = compliance(Workspace(root), ComplianceRequest(declassified=True))
    assert () == report.per_column
    return report.declassified


def git(root: Path, *words: str) -> str:
    who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
    line = ["git", *who, "-C", str(root), *words]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.slow
def test_a_declassification_is_known_since_the_run_that_carried_it_out(shop):
    first = shop.run()
    shop.write("models/stg_orders.toml", TAKEN_OFF)
    (before,) = told(shop.root)
    report = shop.run()
    shop.write("data/orders.csv", "id,country\n1,DE\n")
    shop.run()
    (found,) = told(shop.root)

    assert before.carried_out is None
    assert found.carried_out is not None
    assert (1, report.run_id, True, "somebody") == (
        found.carried_out.table_version,
        found.carried_out.run_id,
        found.carried_out.whole,
        found.carried_out.by,
    )
    assert first.run_id != report.run_id


@pytest.mark.slow
def test_one_that_was_taken_back_and_said_again_is_known_since_the_last_time(shop):
    shop.write("models/stg_orders.toml", TAKEN_OFF)
    shop.run()
    shop.write("models/stg_orders.toml", "")
    shop.run()
    shop.write("models/stg_orders.toml", TAKEN_OFF)
    (waiting,) = told(shop.root)
    again = shop.run()
    (found,) = told(shop.root)

    assert waiting.carried_out is None
    assert again.run_id == found.carried_out.run_id


@pytest.mark.slow
def test_another_approver_is_another_record(shop):
    shop.write("models/stg_orders.toml", TAKEN_OFF)
    shop.run()
    shop.write("models/stg_orders.toml", TAKEN_OFF.replace("dpo", "cio"))

    (found,) = told(shop.root)
    assert ("cio", None) == (found.approved_by, found.carried_out)


def test_git_knows_who_wrote_it_down(shop):
    git(shop.root, "init", "-q")
    shop.write("models/stg_orders.toml", TAKEN_OFF)
    (unknown,) = told(shop.root)
    git(shop.root, "add", "models", "sources", "rocky.toml")
    git(shop.root, "commit", "-qm", "take it off")
    commit = git(shop.root, "rev-parse", "HEAD")
    shop.write("models/stg_orders.toml", f'intent = "orders"\n{TAKEN_OFF}')
    git(shop.root, "commit", "-qam", "say what it is")
    (found,) = told(shop.root)
    shop.write("models/stg_orders.toml", TAKEN_OFF.replace("no person", "why not"))
    (changed,) = told(shop.root)

    assert (None, None) == (unknown.written, changed.written)
    assert (commit, "Ann") == (found.written.commit, found.written.author)


def test_records_and_exceptions_are_two_questions(tmp_path):
    with pytest.raises(InvalidRequest, match="leave it or `--fail-on` out"):
        compliance(Workspace(tmp_path), ComplianceRequest(declassified=True, fail_on="exception"))
