import subprocess

import pytest

from rocky.errors import GitUnavailable, NotARepository, UnknownRevision
from rocky.project.git import (
    Repository,
    current_branch,
    default_base,
    find_repository,
    is_shallow,
    merge_base,
    resolve_ref,
)
from tests.project.git.repos import make_repo


@pytest.fixture(scope="module")
def repo(tmp_path_factory):
    made = make_repo(tmp_path_factory.mktemp("repo"), {"a.txt": "1", "shop/b.txt": "2"})
    made.git("tag", "v1")
    made.git("checkout", "-q", "-b", "feature")
    made.commit("second")
    return made


def test_a_folder_is_found_in_its_repository_with_the_way_to_it(repo):
    assert Repository(repo.root) == find_repository(repo.root)
    assert Repository(repo.root, "shop/") == find_repository(repo.root / "shop")
    assert repo.root / "shop" == find_repository(repo.root / "shop").folder
    assert "shop/x.sql" == find_repository(repo.root / "shop").path_of("x.sql")


def test_a_linked_working_tree_is_a_repository_of_its_own(repo, tmp_path):
    repo.git("worktree", "add", "-q", str(tmp_path / "tree"), "v1")
    found = find_repository(tmp_path / "tree" / "shop")

    assert (tmp_path / "tree", "shop/") == (found.top, found.prefix)
    assert resolve_ref(find_repository(repo.root), "v1") == resolve_ref(found, "HEAD")
    assert current_branch(found) is None


def test_a_folder_outside_is_not_in_a_repository(tmp_path):
    with pytest.raises(NotARepository, match="is not in a git repository: `git init`"):
        find_repository(tmp_path)
    with pytest.raises(NotARepository, match="is not a folder"):
        find_repository(tmp_path / "nowhere")


def test_a_repository_without_a_working_tree_holds_no_project(tmp_path):
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path)], check=True)

    with pytest.raises(NotARepository, match="working tree"):
        find_repository(tmp_path)


def test_without_git_that_is_what_is_said(repo, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(GitUnavailable, match="not installed"):
        find_repository(repo.root)


def test_a_damaged_repository_is_not_an_absent_one(tmp_path):
    made = make_repo(tmp_path, {"a.txt": "1"})
    (tmp_path / ".git/config").write_text("[core\n")

    with pytest.raises(GitUnavailable, match="bad config"):
        find_repository(made.root)


def test_variables_of_a_hook_do_not_redirect(repo, tmp_path, monkeypatch):
    other = make_repo(tmp_path / "other", {"x.txt": "1"})
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.root))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))

    assert Repository(repo.root) == find_repository(repo.root)


def test_branches_tags_and_hashes_name_commits(repo):
    found = find_repository(repo.root)
    first = repo.git("rev-parse", "v1")

    assert [first] * 3 == [resolve_ref(found, each) for each in ("main", "v1", first[:8])]


@pytest.mark.parametrize("ref", ["", " ", "-evil", "--output=x", "a\nb", "a\0b"])
def test_what_is_no_name_is_refused_before_git_sees_it(repo, ref):
    with pytest.raises(UnknownRevision, match="does not name a commit"):
        resolve_ref(find_repository(repo.root), ref)


@pytest.mark.parametrize("ref", ["nope", "main..feature", ":a.txt", "main:a.txt"])
def test_what_names_no_commit_is_refused_with_what_there_is(repo, ref):
    with pytest.raises(UnknownRevision, match="branches are `feature`, `main`"):
        resolve_ref(find_repository(repo.root), ref)


def test_a_repository_without_commits_says_so(tmp_path):
    made = make_repo(tmp_path)

    with pytest.raises(UnknownRevision, match="no commit yet"):
        resolve_ref(find_repository(made.root), "HEAD")


def test_two_branches_part_at_their_merge_base(repo):
    found = find_repository(repo.root)

    assert resolve_ref(found, "v1") == merge_base(found, "main", "feature")


def test_strangers_have_no_merge_base(tmp_path):
    made = make_repo(tmp_path, {"a.txt": "1"})
    made.git("checkout", "-q", "--orphan", "island")
    made.commit("alone")

    with pytest.raises(UnknownRevision, match=r"no commit in common; `--exact`"):
        merge_base(find_repository(made.root), "main", "island")


def test_the_default_base_is_the_first_that_exists(repo, tmp_path):
    other = make_repo(tmp_path, {"a.txt": "1"})
    other.git("branch", "-m", "main", "trunk")

    assert "main" == default_base(find_repository(repo.root))
    with pytest.raises(UnknownRevision, match="none of `main`, `master`"):
        default_base(find_repository(other.root))


def test_a_clone_of_one_branch_finds_its_base_at_the_remote(repo, tmp_path):
    clone = make_repo(tmp_path / "clone")
    clone.git("fetch", "-q", str(repo.root), "main:refs/remotes/origin/main")
    clone.git("checkout", "-q", "--detach", "origin/main")
    clone.commit("of its own")
    found = find_repository(clone.root)

    assert "origin/main" == default_base(found)
    with pytest.raises(UnknownRevision, match="did you mean `origin/main`"):
        resolve_ref(found, "main")


def test_a_shallow_clone_names_the_way_out(repo, tmp_path):
    line = ["git", "clone", "-q", "--depth=1", "-b", "feature", f"file://{repo.root}", "clone"]
    subprocess.run(line, cwd=tmp_path, check=True)
    found = find_repository(tmp_path / "clone")

    assert is_shallow(found)
    with pytest.raises(UnknownRevision, match=r"shallow: `git fetch --unshallow`, or `fetch-depth"):
        resolve_ref(found, "v1")


@pytest.mark.slow
def test_on_the_main_branch_itself_the_base_is_what_it_was_published_as(repo, tmp_path):
    clone = make_repo(tmp_path / "clone")
    clone.git("remote", "add", "origin", str(repo.root))
    clone.git("fetch", "-q", "origin")
    clone.git("checkout", "-q", "-B", "main", "origin/main")
    found = find_repository(clone.root)

    with pytest.raises(UnknownRevision, match="`main` is checked out, and every base there is"):
        default_base(found)
    clone.git("checkout", "-q", "-b", "feature")
    assert "main" == default_base(found)
    clone.git("checkout", "-q", "main")
    clone.commit("not published yet")
    assert "origin/main" == default_base(found)
    clone.git("checkout", "-q", "--detach", "origin/main")
    assert "main" == default_base(found)
