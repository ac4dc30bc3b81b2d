"""Which commits a change is held to: the main line's, whatever its author says or does."""

import shutil
from dataclasses import replace

import pytest

from rocky.branches.approvals.commits import find_authors, find_change_base
from rocky.errors import ApprovalRefused, GitUnavailable, UnknownRevision
from rocky.operations.branch.lookup import find_people, find_who
from rocky.operations.workspace import Workspace
from rocky.project.git import find_repository
from rocky.project.git.repository import find_main_line
from tests.branches.statements import RECORD
from tests.project.git.repos import Repo, make_repo


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    repo = make_repo(tmp_path_factory.mktemp("made") / "r", {"rocky.toml": "one"})
    repo.git("tag", "first")
    repo.git("checkout", "-q", "-b", "feature")
    repo.write({"rocky.toml": "own"})
    repo.git("add", "-A")
    repo.git("-c", "user.email=eve@example.com", "commit", "-q", "-m", "own")
    repo.git("checkout", "-q", "main")
    repo.write({"rocky.toml": "two"})
    repo.commit("second")
    repo.git("checkout", "-q", "feature")
    return repo


@pytest.fixture
def repo(made, tmp_path):
    """Two commits on `main`; the branch `feature`, which is checked out, left after the first."""
    shutil.copytree(made.root, tmp_path / "r")
    return Repo(tmp_path / "r")


def made_against(repo, ref):
    return replace(RECORD, base_commit=None if ref is None else repo.git("rev-parse", ref))


def past_of(repo, ref="first"):
    return find_change_base(find_repository(repo.root), made_against(repo, ref))


def names(repo, past):
    """The texts of `rocky.toml` at the commit compared with and at those whose rules count."""
    read = [each.read("rocky.toml").decode() for each in (past.base, *past.rules)]
    return read[0], read[1:]


@pytest.mark.parametrize("recorded", ["first", "feature", "main"])
def test_a_change_is_held_to_where_it_left_the_main_line_and_to_its_tip(repo, recorded):
    past = past_of(repo, recorded)

    assert ("one", ["one", "two"]) == names(repo, past)


def test_the_authors_are_those_since_the_change_left_the_main_line(repo):
    record = made_against(repo, "feature")
    base = past_of(repo, "feature").base

    assert {"eve@example.com", "author@example.com"} == find_authors(
        find_repository(repo.root), base, record, dirty=False
    )


def test_a_merged_change_is_compared_with_what_the_branch_was_made_against(repo):
    repo.git("checkout", "-q", "main")

    assert ("one", ["one", "two"]) == names(repo, past_of(repo, "first"))
    assert ("two", ["two"]) == names(repo, past_of(repo, "main"))


def test_a_merged_change_cannot_be_compared_with_a_commit_of_another_past(repo):
    repo.git("checkout", "-q", "main")

    with pytest.raises(ApprovalRefused, match=r"which `HEAD` does not have; `rocky branch rebase"):
        past_of(repo, "feature")
    repo.git("checkout", "-q", "first")
    with pytest.raises(ApprovalRefused, match="which `HEAD` does not have"):
        past_of(repo, "main")


def test_a_branch_made_without_a_commit_is_refused_inside_git(repo):
    with pytest.raises(ApprovalRefused, match="`rocky branch rebase feature` bases it on"):
        past_of(repo, None)


def remember_origin(repo):
    """What `git fetch` would have left: `origin/main` at the first commit."""
    repo.git("update-ref", "refs/remotes/origin/main", "first")


def test_commits_that_were_not_pushed_are_not_on_the_main_line(repo):
    remember_origin(repo)
    repo.git("checkout", "-q", "main")

    assert ("one", ["one"]) == names(repo, past_of(repo, "main"))


def test_a_tag_or_a_local_branch_is_not_mistaken_for_the_remote(repo):
    remember_origin(repo)
    repo.git("tag", "origin/main", "feature")
    repo.git("update-ref", "refs/heads/origin/main", "feature")

    assert ("one", ["one"]) == names(repo, past_of(repo))


def test_the_remote_says_which_branch_is_the_main_line(repo):
    found = find_repository(repo.root)
    remember_origin(repo)
    repo.git("update-ref", "refs/remotes/origin/trunk", "main")
    assert "origin/main" == find_main_line(found).name

    repo.git("update-ref", "refs/remotes/origin/HEAD", "feature")
    assert "origin/main" == find_main_line(found).name

    repo.git("update-ref", "-d", "refs/remotes/origin/HEAD")
    repo.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    assert ("origin/trunk", repo.git("rev-parse", "main")) == find_main_line(found)


def test_without_a_main_line_nothing_is_judged(repo):
    repo.git("branch", "-m", "main", "trunk")

    with pytest.raises(UnknownRevision, match="there is no main line: none of `origin/HEAD`"):
        past_of(repo)
    repo.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/trunk")
    assert ("one", ["one", "two"]) == names(repo, past_of(repo))


def test_a_branch_is_made_against_where_the_code_left_the_main_line(repo):
    first = repo.git("rev-parse", "first")

    assert first == find_people(Workspace(), repo.root).base_commit
    assert first == find_people(Workspace(), repo.root, "first").base_commit
    remember_origin(repo)
    repo.git("checkout", "-q", "main")
    assert first == find_people(Workspace(), repo.root).base_commit


@pytest.mark.parametrize(("base", "stranger"), [("main", "HEAD"), ("HEAD", "main")])
def test_a_base_that_is_not_common_to_both_is_refused(repo, base, stranger):
    with pytest.raises(UnknownRevision, match=f"`{base}` is not an ancestor of `{stranger}`"):
        find_people(Workspace(), repo.root, base)


def test_no_branch_is_made_where_git_cannot_answer(repo, monkeypatch):
    monkeypatch.setenv("PATH", str(repo.root))

    with pytest.raises(GitUnavailable, match="not on the PATH"):
        find_people(Workspace(), repo.root)
    assert find_who(Workspace(), repo.root)
