import pytest

from rocky.project.git import (
    ChangedFile,
    Identity,
    authors_between,
    changed_files,
    find_identity,
    find_repository,
    is_dirty,
)
from tests.project.git.repos import make_repo

LONG = "".join(f"line {each}\n" for each in range(20))


@pytest.fixture
def repo(tmp_path):
    files = {"p/kept.sql": "1", "p/gone.sql": "2", "p/old name.sql": LONG, "p/staged.sql": "3"}
    return make_repo(tmp_path, {**files, "q/other.sql": "4", ".gitignore": "*.log\n"})


def test_everything_that_differs_is_listed_also_what_git_was_not_told(repo):
    repo.write({"p/staged.sql": "5", "p/added é.sql": "6", "p/x.log": "7", "q/other.sql": "8"})
    repo.git("add", "p/staged.sql")
    (repo.root / "p/gone.sql").unlink()
    (repo.root / "p/old name.sql").rename(repo.root / "p/new name.sql")
    before = (repo.root / ".git/index").read_bytes()

    assert (
        ChangedFile("added é.sql", "added"),
        ChangedFile("gone.sql", "removed"),
        ChangedFile("new name.sql", "renamed", "old name.sql"),
        ChangedFile("staged.sql", "modified"),
    ) == changed_files(find_repository(repo.root / "p"), "HEAD")
    assert before == (repo.root / ".git/index").read_bytes()


def test_a_folder_is_dirty_only_by_what_is_in_it(repo):
    here = find_repository(repo.root / "p")
    repo.write({"q/other.sql": "8", "q/new.sql": "9", "p/x.log": "7"})

    assert not is_dirty(here)

    repo.write({"p/new.sql": "10"})

    assert is_dirty(here)
    assert is_dirty(here, (".sql",))
    assert not is_dirty(here, (".toml",))


def test_all_who_made_a_change_are_its_authors(repo):
    base = repo.git("rev-parse", "HEAD")
    repo.write({"p/kept.sql": "2"})
    repo.commit(
        "with others\n\nCo-Authored-By: Grace <Grace@Example.com>\n", "--author=B <b@example.com>"
    )
    repo.write({"q/other.sql": "5"})
    repo.commit("elsewhere", "--author=C <c@example.com>")
    here = find_repository(repo.root / "p")

    assert ("ada@example.com", "b@example.com", "grace@example.com") == authors_between(
        here, base, "HEAD"
    )
    assert "c@example.com" in authors_between(here, base, "HEAD", "")
    assert () == authors_between(here, "HEAD", "HEAD")


def test_a_mail_map_cannot_hide_an_author(repo):
    base = repo.git("rev-parse", "HEAD")
    repo.write({".mailmap": "Eve <eve@example.com> <ada@example.com>\n", "p/kept.sql": "2"})
    repo.commit()

    assert ("ada@example.com", "eve@example.com") == authors_between(
        find_repository(repo.root / "p"), base, "HEAD"
    )


def test_identity_is_what_the_settings_say(repo, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    here = find_repository(repo.root)

    assert Identity(None, None) == find_identity(here)

    repo.git("config", "user.name", "Ada L")
    repo.git("config", "user.email", "ada@example.com")

    assert Identity("Ada L", "ada@example.com") == find_identity(here)


@pytest.mark.slow
def test_what_compiling_keeps_is_no_change_of_the_project(repo):
    here = find_repository(repo.root / "p")
    repo.write({"p/.rocky/cache/records": "1"})

    assert ((), False) == (changed_files(here, "HEAD"), is_dirty(here))

    repo.write({"p/.rocky/plans/x.json": "{}", "p/.rocky-state.db": ""})

    assert not is_dirty(here)

    repo.commit("keep the plan")
    repo.write({"p/.rocky/plans/x.json": "{ }"})

    assert (ChangedFile(".rocky/plans/x.json", "modified"),) == changed_files(here, "HEAD")
    assert is_dirty(here)
