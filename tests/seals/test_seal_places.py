"""Where seals are looked for: who writes the working tree or a name cannot lead it elsewhere."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.seals.conftest import SealedShop
from tests.seals.test_attacks import both, changed, put_back, script_codes, sign
from tools.verify_run import main as script

pytestmark = pytest.mark.slow


@pytest.fixture
def rolled_back(shop) -> SealedShop:
    """A shop that was put back to what it was before its newest seal."""
    shop.git("tag", "before")
    with put_back(shop):
        shop.run(rows=6)
        shop.seal()
        shop.commit("a seal")
    assert ["seal_head_missing", "seal_table_behind"] == shop.codes("--sealed", "git:main")
    return shop


def refused(shop: SealedShop, capsys: pytest.CaptureFixture[str], sealed: str) -> tuple[str, str]:
    """What Rocky and the script say, which give no all-clear."""
    answer = shop.rocky("verify", "--sealed", sealed)
    capsys.readouterr()
    code = script([str(shop.state()), "--sealed", sealed])
    assert (True, 2) == (bool(answer.code), code)
    return answer.err, capsys.readouterr().err


@pytest.mark.parametrize("name", ["main", "main~0", "main^{commit}"])
def test_a_tag_does_not_stand_for_a_branch(rolled_back, capsys, name):
    rolled_back.git("tag", "main", "before")

    said, script_said = refused(rolled_back, capsys, f"git:{name}")

    assert "`refs/heads/main`" in said
    assert "`refs/tags/main`" in said
    assert "ambiguous" in script_said
    found = both(rolled_back, capsys, "git:refs/heads/main")
    assert ["seal_head_missing", "seal_table_behind"] == found
    assert [] == both(rolled_back, capsys, "git:refs/tags/main")


def test_settings_do_not_silence_git(rolled_back, capsys):
    rolled_back.git("tag", "main", "before")
    rolled_back.git("config", "core.warnAmbiguousRefs", "false")

    assert "ambiguous" in refused(rolled_back, capsys, "git:main")[1]


def test_a_hash_and_what_is_checked_out_are_what_they_are(shop, capsys):
    commit = shop.git("rev-parse", "HEAD").strip()
    shop.git("update-ref", f"refs/heads/{commit}", "HEAD~1")
    shop.git("update-ref", "refs/heads/HEAD", "HEAD~1")

    assert [] == both(shop, capsys, f"git:{commit}")
    assert [] == both(shop, capsys, "git:HEAD")


def test_the_repository_the_reference_and_the_commit_are_named(shop, capsys):
    commit = shop.git("rev-parse", "main").strip()
    top = str(shop.root.resolve())
    report = json.loads(shop.do("-o", "json", "verify", "--sealed", "git:main"))

    assert report["sealed_in"] == {"repository": top, "ref": "refs/heads/main", "commit": commit}
    line = f"note: the seals are of `refs/heads/main`, commit `{commit}`, in `{top}`"
    assert line in shop.do("verify", "--sealed", "git:main")
    capsys.readouterr()
    assert 0 == script([str(shop.state()), "--sealed", "git:main"])
    assert line in capsys.readouterr().out
    past = json.loads(shop.do("-o", "json", "verify", "--sealed", f"git:{commit}"))["sealed_in"]
    assert past == {"repository": top, "ref": None, "commit": commit}
    plain = json.loads(shop.do("-o", "json", "verify", "--sealed", "seals"))
    assert "sealed_in" not in plain


def git(folder: Path, *words: str) -> None:
    named = ("-c", "user.name=x", "-c", "user.email=x@x")
    subprocess.run(["git", "-C", folder, *named, *words], check=True, capture_output=True)


@pytest.fixture
def inner(shop, monkeypatch):
    """A shop in a folder of a repository, moved there and back."""
    top = shop.root.parent / "top"
    shutil.rmtree(top, ignore_errors=True)
    kept = shop.root.parent / "its.git"
    shutil.rmtree(kept, ignore_errors=True)
    (shop.root / ".git").rename(kept)
    git(shop.root.parent, "init", "-q", "-b", "main", "top")
    shop.root.rename(top / "shop")
    monkeypatch.chdir(top / "shop")
    git(top, "add", "shop/seals", "shop/allowed_signers", "shop/rocky.toml", "shop/models")
    git(top, "commit", "-qm", "all")
    found = SealedShop(top / "shop")
    found.keys = shop.keys
    yield found
    monkeypatch.chdir(top.parent)
    shutil.rmtree(top / "shop/.git", ignore_errors=True)
    (top / "shop").rename(shop.root)
    kept.rename(shop.root / ".git")


def moved(shop: SealedShop, capsys: pytest.CaptureFixture[str], sealed: str) -> list[str]:
    """As `both`, of a shop that is not where its runs were."""
    arguments = ("--sealed", sealed)
    found = shop.codes(*arguments)
    assert found == script_codes(shop, capsys, *arguments, "--warehouse", "warehouse")
    return found


def test_a_repository_that_was_made_in_the_working_tree_is_not_taken(inner, capsys):
    assert [] == moved(inner, capsys, "git:main")
    sign(inner, "eve", changed(inner.first, signer="eve@x"), "forged")
    (inner.root / "allowed_signers").write_text(f"eve@x {inner.keys.public('eve')}\n")
    git(inner.root, "init", "-q", "-b", "main")
    git(inner.root, "add", "seals", "allowed_signers")
    git(inner.root, "commit", "-qm", "forged")

    said, script_said = refused(inner, capsys, "git:main")

    assert "is in two repositories" in said
    assert "was made in its working tree" in script_said


def test_a_clone_in_a_folder_that_the_repository_around_it_does_not_have_is_its_own(inner, capsys):
    git(inner.root.parent, "rm", "-rq", "--cached", "shop")
    git(inner.root.parent, "commit", "-qm", "nothing", "--allow-empty")
    git(inner.root, "init", "-q", "-b", "main")
    git(inner.root, "add", "seals", "allowed_signers", "rocky.toml")
    git(inner.root, "commit", "-qm", "all")

    assert [] == moved(inner, capsys, "git:main")


@pytest.mark.parametrize("kind", ["pipe", "link", "device", "large"])
def test_what_is_no_file_is_no_seal_and_keeps_nobody_waiting(shop, capsys, kind):
    path = shop.root / "seals/odd.seal"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "large":
        with path.open("wb") as file:
            file.truncate(1 << 30)
    else:
        target = "/dev/zero" if kind == "device" else shop.root / "pipe"
        if kind == "link":
            os.mkfifo(shop.root / "pipe")
        path.symlink_to(target)

    assert ["seal_malformed"] == both(shop, capsys, "seals")
    assert ["seal_malformed"] == both(shop, capsys, str(path))


def test_a_list_of_signers_that_is_a_pipe_keeps_nobody_waiting(shop):
    (shop.root / "allowed_signers").unlink()
    os.mkfifo(shop.root / "allowed_signers")

    answer = shop.rocky("verify", "--sealed", "seals")

    assert answer.code
    assert "`allowed_signers` cannot be read" in answer.err.replace(f"{shop.root}/", "")


@pytest.mark.parametrize("worktree", ["..", "../elsewhere", "seals", "bare"])
def test_a_repository_that_claims_another_working_tree_is_not_taken(inner, capsys, worktree):
    """By its own settings it is the repository of a folder where nobody looks for another."""
    assert [] == moved(inner, capsys, "git:main")
    sign(inner, "eve", changed(inner.first, signer="eve@x"), "forged")
    (inner.root / "allowed_signers").write_text(f"eve@x {inner.keys.public('eve')}\n")
    elsewhere = inner.root.parent / "elsewhere"
    if worktree == "../elsewhere":
        elsewhere.mkdir()
        shutil.copytree(inner.root / "seals", elsewhere / "seals")
        shutil.copy2(inner.root / "allowed_signers", elsewhere)
    for each in (inner.root, *([elsewhere] if elsewhere.exists() else [])):
        git(each, "init", "-q", "-b", "main")
        git(each, "add", "seals", "allowed_signers")
        git(each, "commit", "-qm", "forged")
    planted = inner.root / ".git"
    if worktree == "bare":
        made = [each.name for each in planted.iterdir()]
        for name in made:
            (planted / name).rename(inner.root / name)
        planted.rmdir()
        git(
            inner.root.parent,
            "config",
            "-f",
            "shop/config",
            "core.worktree",
            str(inner.root.parent),
        )
    else:
        git(inner.root, "config", "core.worktree", str((inner.root / worktree).resolve()))

    said, script_said = refused(inner, capsys, "git:main")

    assert "by its settings alone" in said
    assert "by its settings alone" in script_said
    if worktree == "bare":
        for name in made:
            path = inner.root / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.mark.parametrize("command", ["approvals", "promote"])
def test_nor_does_such_a_repository_say_who_has_to_approve(inner, command):
    git(inner.root.parent, "switch", "-qc", "next")
    inner.do("branch", "create", "next")
    inner.write(stg_orders="SELECT id, upper(country) AS country FROM raw.orders")
    inner.do("run", "--branch", "next")
    git(inner.root, "init", "-q", "-b", "work")
    # It has the commit that the branch was made against.
    git(inner.root, "fetch", "-q", str(inner.root.parent), "main:main")

    answer = inner.rocky("branch", command, "next")

    assert 1 == answer.code
    assert "is in two repositories" in answer.err
