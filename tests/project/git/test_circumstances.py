import json
from datetime import UTC, datetime

import pytest

from rocky.ledger.record import decode_record, encode_record
from rocky.ledger.run_records import RunRecord
from rocky.run.prepare.caller import observe_origin
from tests.project.git.repos import make_repo


def test_a_run_knows_its_commit_its_branch_and_whether_files_differ(tmp_path):
    repo = make_repo(tmp_path, {"shop/rocky.toml": ""})
    commit = repo.git("rev-parse", "HEAD")
    clean = observe_origin(repo.root / "shop", {})
    repo.write({"shop/rocky.toml": "x = 1"})
    repo.git("checkout", "-q", "--detach")
    dirty = observe_origin(repo.root / "shop", {})

    assert (commit, "main", False) == (clean.git_commit, clean.git_branch, clean.git_dirty)
    assert (commit, None, True) == (dirty.git_commit, dirty.git_branch, dirty.git_dirty)


def test_outside_a_repository_and_without_git_nothing_is_known(tmp_path, monkeypatch):
    outside = observe_origin(tmp_path, {})
    make_repo(tmp_path, {"rocky.toml": ""})
    monkeypatch.setenv("PATH", str(tmp_path))
    without = observe_origin(tmp_path, {})

    assert (None, None, None) == (outside.git_commit, outside.git_branch, outside.git_dirty)
    assert (None, None, None) == (without.git_commit, without.git_branch, without.git_dirty)


def test_a_model_that_git_does_not_know_makes_a_run_dirty_and_a_table_does_not(tmp_path):
    repo = make_repo(tmp_path, {"shop/rocky.toml": ""})
    repo.write({"shop/warehouse/part.parquet": "", "shop/.rocky-state.db": ""})
    beside = observe_origin(repo.root / "shop", {})
    repo.write({"shop/models/new.sql": "SELECT 1"})
    new = observe_origin(repo.root / "shop", {})

    assert (False, True) == (beside.git_dirty, new.git_dirty)


GITHUB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_REPOSITORY": "shop/tables",
    "GITHUB_WORKFLOW_REF": "shop/tables/.github/workflows/run.yml@refs/heads/main",
    "GITHUB_RUN_ID": "17",
    "GITHUB_ACTOR": "ann",
    "GITHUB_TRIGGERING_ACTOR": "bob",
    "GITHUB_TOKEN": "secret",
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "secret",
}
GITLAB = {
    "GITLAB_CI": "true",
    "CI_PROJECT_PATH": "shop/tables",
    "CI_PIPELINE_ID": "17",
    "CI_JOB_ID": "99",
    "GITLAB_USER_LOGIN": "ann",
    "CI_JOB_TOKEN": "secret",
}


@pytest.mark.parametrize(("env", "service"), [(GITHUB, "github"), (GITLAB, "gitlab")])
def test_a_run_in_ci_records_its_job_and_no_token(tmp_path, env, service):
    now = datetime(2026, 3, 1, tzinfo=UTC)
    record = observe_origin(tmp_path, env).open_record(now, "c", "w")
    written = encode_record(record)

    assert (service, "shop/tables", "17", "ann") == tuple(
        written["ci"][key] for key in ("service", "repository", "run", "actor")
    )
    assert "secret" not in json.dumps(written)
    assert record == decode_record(RunRecord, written)


def test_a_run_elsewhere_records_no_job(tmp_path):
    record = observe_origin(tmp_path, {"CI": "true"}).open_record(
        datetime(2026, 3, 1, tzinfo=UTC), "c", "w"
    )

    assert "ci" not in encode_record(record)


@pytest.mark.parametrize(
    ("env", "who"),
    [
        ({"CI": "true", "USER": "runner", "GITHUB_ACTOR": "ann"}, "ann"),
        ({"CI": "true", "USER": "runner", "GITLAB_USER_LOGIN": "bob"}, "bob"),
        ({"CI": "true", "USER": "runner", "GITHUB_ACTOR": "ann", "ROCKY_IDENTITY": "me"}, "me"),
        ({"CI": "true", "USER": "runner"}, "runner"),
        ({"USER": "carl", "GITHUB_ACTOR": "ann"}, "carl"),
    ],
)
def test_in_ci_a_run_is_by_whoever_started_the_job(tmp_path, env, who):
    assert who == observe_origin(tmp_path, env).triggering_identity
