import logging
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rocky.project.user_cache import (
    KEY_FILE,
    PROJECTS,
    cache_place,
    is_writable,
    read_cache,
    write_cache,
)

NAME = "x.bin"


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "rocky"


@pytest.fixture
def root(tmp_path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def kept(root: Path) -> bytes | None:
    found = read_cache(root, NAME)
    return None if found is None else bytes(found.payload)


def file_of(root: Path) -> Path:
    folder = cache_place(root).folder
    assert folder is not None
    return folder / NAME


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# ------------------------------------------------------------------ what is kept


def test_what_was_written_is_read(home, root):
    assert write_cache(root, NAME, b"payload")
    assert b"payload" == kept(root)
    assert home / PROJECTS == file_of(root).parent.parent
    assert [] == list(root.iterdir())


def test_only_the_user_can_read_key_and_files(home, root):
    before = os.umask(0)
    try:
        write_cache(root, NAME, b"payload")
    finally:
        os.umask(before)

    assert [0o700, 0o600, 0o600] == [mode(home), mode(home / KEY_FILE), mode(file_of(root))]


def test_a_project_is_one_by_whatever_path(home, root, tmp_path):
    (tmp_path / "link").symlink_to(root)
    write_cache(tmp_path / "link", NAME, b"payload")

    assert b"payload" == kept(root)


# ------------------------------------------------------------------ who wrote it


def forge_content(home, root):
    data = bytearray(file_of(root).read_bytes())
    data[-1] ^= 1
    file_of(root).write_bytes(data)


def forge_with_another_key(home, root):
    (home / KEY_FILE).rename(home / "own")
    write_cache(root, NAME, b"no errors")
    (home / "own").replace(home / KEY_FILE)


def take_from_another_project(home, root):
    other = root.parent / "other"
    other.mkdir()
    write_cache(other, NAME, b"no errors")
    file_of(other).replace(file_of(root))


def take_from_another_file(home, root):
    write_cache(root, "y.bin", b"no errors")
    file_of(root).with_name("y.bin").replace(file_of(root))


@pytest.mark.parametrize(
    "forge",
    [forge_content, forge_with_another_key, take_from_another_project, take_from_another_file],
)
def test_what_this_user_did_not_write_there_is_not_there(home, root, forge, caplog):
    write_cache(root, NAME, b"payload")
    forge(home, root)
    with caplog.at_level(logging.DEBUG, "rocky"):
        assert kept(root) is None

    assert "is not what this user wrote: it is made anew" in caplog.text
    write_cache(root, NAME, b"anew")
    assert b"anew" == kept(root)


@pytest.mark.parametrize("bits", [0o640, 0o604, 0o660])
def test_a_key_that_others_can_read_is_replaced(home, root, bits):
    write_cache(root, NAME, b"payload")
    (home / KEY_FILE).chmod(bits)
    before = (home / KEY_FILE).read_bytes()

    assert kept(root) is None
    write_cache(root, NAME, b"anew")
    assert b"anew" == kept(root)
    assert before != (home / KEY_FILE).read_bytes()
    assert 0o600 == mode(home / KEY_FILE)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_key_of_another_user_is_not_believed(home, root):
    write_cache(root, NAME, b"payload")
    os.chown(home / KEY_FILE, 12345, -1)

    assert kept(root) is None


def test_a_key_behind_a_link_is_not_believed(home, root):
    write_cache(root, NAME, b"payload")
    (home / KEY_FILE).rename(home / "elsewhere")
    (home / KEY_FILE).symlink_to(home / "elsewhere")

    assert kept(root) is None


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 4096])
def test_what_is_no_key_is_replaced(home, root, content):
    write_cache(root, NAME, b"payload")
    (home / KEY_FILE).write_bytes(content)

    assert kept(root) is None
    write_cache(root, NAME, b"anew")
    assert b"anew" == kept(root)


@pytest.mark.slow
def test_processes_that_make_the_first_key_use_the_same(home, tmp_path):
    code = (
        "import sys, pathlib; from rocky.project.user_cache import write_cache\n"
        "sys.exit(not write_cache(pathlib.Path(sys.argv[1]), 'x.bin', b'payload'))"
    )
    roots = [tmp_path / f"p{number}" for number in range(4)]
    for each in roots:
        each.mkdir()
    running = [subprocess.Popen([sys.executable, "-c", code, str(each)]) for each in roots]

    assert [0] * 4 == [process.wait() for process in running]
    assert [b"payload"] * 4 == [kept(each) for each in roots]
    assert {KEY_FILE, PROJECTS} == {each.name for each in home.iterdir()}


# ------------------------------------------------------------------ where


def test_a_folder_that_git_can_carry_is_no_place(root, monkeypatch):
    (root / ".git").mkdir()
    inner = root / "projects" / "shop"
    inner.mkdir(parents=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(root / ".cache"))

    assert cache_place(inner).folder is None
    assert "lies in the repository of the project" in cache_place(inner).reason
    assert not write_cache(inner, NAME, b"payload")
    assert not (root / ".cache").exists()


def test_nor_is_one_in_the_repository_around_a_submodule(root, monkeypatch):
    (root / ".git").mkdir()
    inner = root / "module"
    inner.mkdir()
    (inner / ".git").write_text("gitdir: ../.git/modules/module\n")
    monkeypatch.setenv("XDG_CACHE_HOME", str(root / ".cache"))

    assert cache_place(inner).folder is None


def test_nor_is_one_behind_a_link_into_the_project(root, tmp_path, monkeypatch):
    (tmp_path / "cache").symlink_to(root)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    assert cache_place(root).folder is None


def test_a_home_that_is_a_repository_does_not_carry_other_repositories(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    root = tmp_path / "src" / "shop"
    (root / ".git").mkdir(parents=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))

    assert cache_place(root).folder is not None


def test_a_linked_working_tree_is_a_repository_of_its_own(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    root = tmp_path / "src" / "shop"
    root.mkdir(parents=True)
    (root / ".git").write_text(f"gitdir: {tmp_path}/src/main/.git/worktrees/shop\n")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))

    assert cache_place(root).folder is not None


def test_a_relative_cache_folder_is_none(root, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", ".cache")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(root)

    assert tmp_path / "home/.cache/rocky" == file_of(root).parent.parent.parent


@pytest.mark.parametrize("home", ["/dev/null", "/proc/nowhere"])
def test_without_a_place_nothing_fails(root, monkeypatch, home, caplog):
    monkeypatch.setenv("XDG_CACHE_HOME", home)

    with caplog.at_level(logging.DEBUG, "rocky"):
        assert not write_cache(root, NAME, b"payload")
    assert kept(root) is None
    assert home != "/dev/null" or not is_writable(cache_place(root))
    assert "no cache in" in caplog.text


# ------------------------------------------------------------------ what is removed


def test_caches_of_projects_that_nobody_compiles_are_removed(home, root, tmp_path):
    old = time.time() - 90 * 24 * 3600
    for name in ("gone", "used"):
        (tmp_path / name).mkdir()
        write_cache(tmp_path / name, NAME, b"payload")
    gone = file_of(tmp_path / "gone")
    precious = tmp_path / "precious"
    precious.write_text("kept")
    (gone.parent / "link").symlink_to(precious)
    os.utime(gone.parent / "link", (old, old), follow_symlinks=False)
    for each in (gone, gone.parent):
        os.utime(each, (old, old))
    (home / PROJECTS / "stranger").symlink_to(tmp_path / "used")
    write_cache(root, NAME, b"payload")

    assert not gone.parent.exists()
    assert b"payload" == kept(tmp_path / "used")
    assert "kept" == precious.read_text()
    assert (home / PROJECTS / "stranger").is_symlink()
