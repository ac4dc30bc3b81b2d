import os
from pathlib import Path

import pytest

from rocky.errors import UnknownRevision
from rocky.project.git import check_out, find_repository, show_file
from tests.project.git.repos import make_repo

FILES = {
    "shop/rocky.toml": "x = 1\n",
    "shop/models/a b.sql": "SELECT 1\n",
    "shop/models/größe.sql": "SELECT 2\n",
    "shop/secret.sql": "SELECT 3\n",
    "shop/.gitattributes": "secret.sql export-ignore\n",
    "shared/c.sql": "SELECT 4\n",
    "far/d.sql": "SELECT 5\n",
    "elsewhere/e.sql": "SELECT 6\n",
}


@pytest.fixture(scope="module")
def repo(tmp_path_factory):
    root = tmp_path_factory.mktemp("repo")
    made = make_repo(root, FILES)
    (root / "shop/models/linked").symlink_to("../../shared")
    (root / "shared/on").symlink_to("../far")
    (root / "shop/absolute").symlink_to(root / "far/d.sql")
    (root / "shop/out").symlink_to("../../nobody/x")
    made.commit("links")
    made.git("tag", "v1")
    made.git("rm", "-rq", "shop/models")
    made.write({"shop/rocky.toml": "x = 2\n", "far/d.sql": "changed\n"})
    made.commit("later")
    return made


def files_below(folder):
    return sorted(
        (Path(path) / name).relative_to(folder).as_posix()
        for path, _, names in os.walk(folder)
        for name in names
    )


@pytest.mark.slow
def test_a_snapshot_holds_the_projects_folder_and_what_its_links_lead_to(repo, tmp_path):
    snapshot = check_out(find_repository(repo.root / "shop"), repo.git("rev-parse", "v1"), tmp_path)

    assert tmp_path / "shop" == snapshot.folder
    assert [
        "far/d.sql",
        "shared/c.sql",
        "shop/.gitattributes",
        "shop/absolute",
        "shop/models/a b.sql",
        "shop/models/größe.sql",
        "shop/out",
        "shop/rocky.toml",
        "shop/secret.sql",
    ] == files_below(tmp_path)
    assert "x = 1\n" == (snapshot.folder / "rocky.toml").read_text()
    assert "SELECT 4\n" == (snapshot.folder / "models/linked/c.sql").read_text()


def test_an_absolute_link_into_the_repository_shows_the_snapshot(repo, tmp_path):
    snapshot = check_out(find_repository(repo.root / "shop"), "v1", tmp_path)

    assert "SELECT 5\n" == (snapshot.folder / "absolute").read_text()


def test_a_link_out_of_the_repository_leads_where_it_leads_from_the_working_tree(repo, tmp_path):
    snapshot = check_out(find_repository(repo.root / "shop"), "v1", tmp_path)

    assert repo.root.parent / "nobody/x" == (snapshot.folder / "out").readlink()


def test_further_paths_come_with_it(repo, tmp_path):
    check_out(find_repository(repo.root / "shop"), "v1", tmp_path, also=["elsewhere/e.sql", "no"])

    assert "SELECT 6\n" == (tmp_path / "elsewhere/e.sql").read_text()


def test_making_a_snapshot_leaves_index_and_working_tree_alone(repo, tmp_path):
    before = (repo.root / ".git/index").read_bytes()
    check_out(find_repository(repo.root), "v1", tmp_path)

    assert before == (repo.root / ".git/index").read_bytes()
    assert "" == repo.git("status", "--porcelain")


def test_a_folder_that_a_commit_has_not_is_not_made(repo, tmp_path):
    (repo.root / "new").mkdir(exist_ok=True)
    snapshot = check_out(find_repository(repo.root / "new"), "v1", tmp_path)

    assert not snapshot.folder.exists()


def test_line_endings_are_those_of_a_checkout(tmp_path):
    made = make_repo(tmp_path / "repo", {".gitattributes": "*.sql eol=crlf\n", "p/a.sql": "x\n"})
    snapshot = check_out(find_repository(made.root / "p"), "HEAD", tmp_path / "into")

    assert b"x\r\n" == (snapshot.folder / "a.sql").read_bytes()


@pytest.fixture
def nested(tmp_path):
    inner = make_repo(tmp_path / "inner", {"i.sql": "1\n"})
    made = make_repo(tmp_path / "outer", {"rocky.toml": ""})
    made.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.root), "sub")
    made.commit("with a submodule")
    return made


@pytest.mark.slow
def test_a_submodule_is_read_at_the_commit_that_was_recorded(nested, tmp_path):
    (nested.root / "sub/i.sql").write_text("2\n")
    snapshot = check_out(find_repository(nested.root), "HEAD", tmp_path / "into")

    assert "1\n" == (snapshot.folder / "sub/i.sql").read_text()
    assert () == snapshot.missing


@pytest.mark.slow
def test_a_submodule_that_is_not_checked_out_is_named(nested, tmp_path):
    nested.git("submodule", "deinit", "-q", "-f", "sub")

    assert ("sub",) == check_out(find_repository(nested.root), "HEAD", tmp_path / "i").missing


@pytest.mark.slow
def test_a_submodules_commit_that_is_not_here_is_refused(nested, tmp_path):
    nested.git("update-index", "--cacheinfo", f"160000,{'1' * 40},sub")
    nested.git("commit", "-q", "-m", "a commit nobody has")

    with pytest.raises(UnknownRevision, match="the submodule `sub` does not have the commit"):
        check_out(find_repository(nested.root), "HEAD", tmp_path / "into")


def test_a_file_is_shown_as_a_commit_has_it(repo):
    shop = find_repository(repo.root / "shop")

    assert b"x = 1\n" == show_file(shop, "v1", "rocky.toml")
    assert b"SELECT 2\n" == show_file(shop, "v1", "models/größe.sql")
    assert b"SELECT 4\n" == show_file(shop, "v1", "../shared/c.sql")
    assert [None, None] == [show_file(shop, "v1", each) for each in ("nope.sql", "models")]
