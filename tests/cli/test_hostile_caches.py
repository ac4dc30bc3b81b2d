"""Cache files that somebody committed: they decide nothing, and end nothing."""

import json
import marshal
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from blake3 import blake3

from rocky.compiler.passes import compile_project
from rocky.project import load_project
from rocky.project.cache import cache_stamp
from tests.cli.conftest import CONFIG, ORDERS
from tests.project.git.repos import Repo, make_repo

pytestmark = pytest.mark.slow

GOOD = "SELECT order_id FROM raw.orders\n"
BAD = "SELECT nope FROM raw.orders\n"
FILES = {"rocky.toml": CONFIG, "sources/raw.toml": ORDERS, "models/one.sql": GOOD}
CACHE = ".rocky/cache"
# A dictionary whose key is a tuple that holds itself: to hash it ends the interpreter.
CRASH = b"{" + b"\xa8\x01\0\0\0r\0\0\0\0" + b"N0"


def write_crash(root: Path) -> None:
    """Files that are whole by their own digest, and end whoever unmarshals them."""
    folder = root / CACHE
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("compile.bin", "fingerprints.bin"):
        payload = cache_stamp() + CRASH
        digest = blake3(payload).digest()
        (folder / name).write_bytes(b"rocky-cache-1\n" + digest + payload)
    (folder / "models.bin").write_bytes(b"rocky-models-2\n" + blake3(CRASH).digest() + CRASH)


def write_lie(root: Path, model: str, harmless: str) -> None:
    """Records in which a model has the findings and columns of a harmless text."""
    path = root / f"models/{model}.sql"
    shown = path.read_text()
    own = load_project(root, env={}).models[model]
    key = own.text_hash + own.settings_hash + own.name.encode()
    path.write_text(harmless)
    compilation = compile_project(load_project(root, env={}), cache=False)
    path.write_text(shown)
    records = {each: tuple(compilation.models.record(each)) for each in compilation.models}
    records[model] = (key, *records[model][1:])
    payload = cache_stamp() + marshal.dumps(records, 2)
    (root / CACHE).mkdir(parents=True, exist_ok=True)
    digest = blake3(payload).digest()
    (root / CACHE / "compile.bin").write_bytes(b"rocky-cache-1\n" + digest + payload)


@pytest.fixture
def repo(tmp_path, rocky, monkeypatch) -> Repo:
    """A branch on which somebody breaks a model."""
    repo = make_repo(tmp_path / "repo", FILES)
    repo.git("checkout", "-q", "-b", "feature")
    repo.write({"models/one.sql": BAD})
    monkeypatch.delenv("GITHUB_BASE_REF", raising=False)
    monkeypatch.chdir(repo.root)
    return repo


@pytest.mark.parametrize("line", ["compile", "ci", "validate", "ci-diff main"])
def test_a_committed_cache_hides_no_error(rocky, repo, line):
    repo.commit("break it")
    before = rocky(*line.split())
    write_lie(repo.root, "one", GOOD)
    repo.commit("and say that all is well")
    after = rocky(*line.split())

    assert before.code == after.code
    assert codes(before) == {each for each in codes(after) if each != "W028"}
    if line != "validate":
        assert "E003" in codes(after)


def codes(answer) -> set[str]:
    text = answer.out + answer.err
    return {each for each in ("E002", "E003", "W028") if each in text}


@pytest.mark.sampled
@pytest.mark.slow
@pytest.mark.parametrize("line", ["list models", "validate", "compile", "ci", "ci-diff main"])
def test_a_committed_cache_ends_no_command(repo, line):
    repo.write({"models/one.sql": GOOD})
    write_crash(repo.root)
    repo.commit("a cache")
    done = subprocess.run(
        [sys.executable, "-m", "rocky.cli", *line.split()], capture_output=True, check=False
    )

    # `ci` warns of the tracked files.
    assert (4 if line == "ci" else 0) == done.returncode


def test_a_cache_that_was_written_here_is_of_no_use_elsewhere(rocky, repo, tmp_path, monkeypatch):
    """A whole cache folder of another user, with the key, is not what git could bring."""
    write = Path(repo.root / "models/one.sql").write_text
    write(GOOD)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "mallory"))
    assert 0 == rocky("compile").code
    shutil.copytree(tmp_path / "mallory", repo.root / ".cache")
    write(BAD)
    repo.commit("a whole cache folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(repo.root / ".cache"))

    assert 1 == rocky("ci").code


# ------------------------------------------------------------------ what git tracks


def test_a_tracked_cache_is_a_warning_of_ci(rocky, repo):
    repo.write({"models/one.sql": GOOD})
    assert 0 == rocky("ci").code
    write_crash(repo.root)
    assert 0 == rocky("ci").code
    repo.git("add", CACHE)
    answer = rocky("ci", "-o", "json")
    (found,) = answer.json["diagnostics"]

    assert (4, "W028", "warning") == (answer.code, found["code"], found["severity"])
    assert "git tracks 3 files in `.rocky/cache`: `.rocky/cache/compile.bin`" in found["message"]
    assert "git rm -r --cached .rocky/cache" in rocky("ci", "--format", "full").out
    assert [] == rocky("compile").json["diagnostics"]


def test_without_git_there_is_no_such_warning(rocky, tmp_path, monkeypatch):
    root = tmp_path / "alone"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    write_crash(root)
    monkeypatch.chdir(root)

    assert 0 == rocky("ci").code


def test_tracked_files_of_a_cache_are_among_those_that_changed(rocky, repo):
    repo.write({"models/one.sql": GOOD, ".rocky/cache/untracked": "1"})
    write_crash(repo.root)
    repo.git("add", f"{CACHE}/models.bin")
    said = json.dumps(rocky("ci-diff", "main", "-o", "json").json)

    assert f"{CACHE}/models.bin" in said
    assert f"{CACHE}/compile.bin" not in said
    assert "untracked" not in said
