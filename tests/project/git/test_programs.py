"""Programs that a repository names are not started by any question that is asked of git."""

import subprocess
from pathlib import Path

import pytest

from rocky.project.git import (
    authors_between,
    changed_files,
    check_out,
    current_branch,
    find_identity,
    find_repository,
    is_dirty,
    show_file,
)
from rocky.project.git.blame import find_line_commit
from rocky.project.git.program import ask_git
from tests.branches.shops import BranchShop, enter_shop
from tests.project.git.repos import make_repo

pytestmark = pytest.mark.slow

HOOKS = ("post-index-change", "post-checkout", "reference-transaction", "fsmonitor-watchman")


def plant(root: Path, git, marks: Path, driver: str = "evil") -> None:
    """Name a program that leaves a mark everywhere that git would start one."""
    marks.mkdir()
    script = root.parent / "program.sh"
    script.write_text(f'#!/bin/sh\necho "$0 $@" >> {marks}/ran\ncat\n')
    script.chmod(0o755)
    for hook in HOOKS:
        path = root / ".git/hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(script.read_text())
        path.chmod(0o755)
    for key in (
        *(f"filter.{driver}.{each}" for each in ("clean", "smudge", "process")),
        f"diff.{driver}.textconv",
        f"diff.{driver}.command",
        "diff.external",
        "core.fsmonitor",
        "core.pager",
        "pager.log",
        "pager.diff",
        "pager.status",
        "core.editor",
        "core.askPass",
    ):
        git("config", key, str(script))
    git("config", f"filter.{driver}.required", "true")
    git("config", "core.hooksPath", str(root / ".git/hooks"))
    (root / ".git/info").mkdir(exist_ok=True)
    (root / ".git/info/attributes").write_text(f"* filter={driver} diff={driver}\n")


@pytest.fixture
def repo(tmp_path):
    (tmp_path / "repo").mkdir()
    made = make_repo(
        tmp_path / "repo",
        {"models/a.sql": "SELECT 1\n", ".gitattributes": "*.sql filter=evil diff=evil\n"},
    )
    made.git("branch", "base")
    made.write({"models/a.sql": "SELECT 2\n"})
    made.git("commit", "-qam", "two")
    made.write({"models/a.sql": "SELECT 3\n", "models/b.sql": "SELECT 4\n"})
    return made


@pytest.mark.parametrize(
    "ask",
    [
        is_dirty,
        lambda found: is_dirty(found, (".sql",)),
        lambda found: changed_files(found, "base"),
        lambda found: changed_files(found, "HEAD"),
        lambda found: check_out(found, "base", found.top.parent / "snapshot"),
        lambda found: show_file(found, "base", "models/a.sql"),
        lambda found: authors_between(found, "base", "HEAD"),
        lambda found: find_line_commit(found, "models/a.sql", 1, 1),
        find_identity,
        current_branch,
        lambda found: ask_git(found.top, "log", "-p", "base..HEAD"),
        lambda found: ask_git(found.top, "diff", "base"),
    ],
)
@pytest.mark.parametrize("driver", ["evil", "e.v=il"])
def test_no_question_starts_a_program_that_the_repository_names(repo, tmp_path, ask, driver):
    plant(repo.root, repo.git, tmp_path / "marks", driver)
    found = find_repository(repo.root)

    ask(found)

    assert [] == list((tmp_path / "marks").iterdir())


def test_what_is_read_is_what_the_objects_hold(repo, tmp_path):
    plant(repo.root, repo.git, tmp_path / "marks")
    found = find_repository(repo.root)
    snapshot = check_out(found, "base", tmp_path / "snapshot")

    assert "SELECT 1\n" == (snapshot.folder / "models/a.sql").read_text()
    assert [("models/a.sql", "modified"), ("models/b.sql", "added")] == [
        (each.path, each.status) for each in changed_files(found, "base")
    ]


def test_the_planted_programs_would_run(repo, tmp_path):
    plant(repo.root, repo.git, tmp_path / "marks")
    subprocess.run(["git", "status"], cwd=repo.root, capture_output=True, check=False)
    assert [] != list((tmp_path / "marks").iterdir())


def test_settings_given_by_variables_stay(repo, tmp_path, monkeypatch):
    plant(repo.root, repo.git, tmp_path / "marks")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.email")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "given@example.com")
    found = find_repository(repo.root)

    assert "given@example.com" == find_identity(found).email
    assert is_dirty(found)
    assert [] == list((tmp_path / "marks").iterdir())


@pytest.mark.slow
def test_no_command_starts_a_program_that_the_repository_names(tmp_path, monkeypatch):
    shop = BranchShop(tmp_path / "shop")
    shop.root.mkdir()
    shop.create()
    (shop.root / ".gitattributes").write_text("* filter=evil diff=evil\n")
    shop.commit("attributes")
    shop.git("checkout", "-qb", "feature")
    shop.write(stg_orders="SELECT id, country, id * 2 AS twice FROM raw.orders")
    plant(shop.root, shop.git, tmp_path / "marks")
    enter_shop(shop.root, monkeypatch)
    for line in (
        "compile",
        "list",
        "validate",
        "ci",
        "ci-diff main",
        "plan",
        "run",
        "history --audit",
        "branch create b1",
        "run --branch b1",
        "branch show b1",
        "branch diff b1",
        "branch approvals b1",
        "branch promote b1",
        "branch delete b1",
        "verify",
        "gc --dry-run",
        "doctor",
    ):
        answer = shop.rocky(*line.split())
        assert (line, True) == (line, answer.code in (0, 1)), answer
        assert (line, []) == (line, list((tmp_path / "marks").iterdir()))
