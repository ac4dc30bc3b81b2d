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
