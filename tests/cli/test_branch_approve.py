"""Approving on the command line: a branch that was really run, signed with real keys."""

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from click.testing import CliRunner

from rocky.cli.app import main
from rocky.project.models import Target
from rocky.run.engine import spark
from rocky.store.delta.change import Change
from rocky.store.warehouse import open_warehouse
from tests.cli.test_hostile_caches import write_crash, write_lie
from tests.cli.test_schemas import check
from tests.project.git.repos import Repo, make_repo
from tests.run.memory_engine import MemoryEngine
from tools.verify_run import Audit, load

pytestmark = pytest.mark.slow

FILES = {
    "rocky.toml": '[pipeline.shop]\nmodels = "models/**"\n[branch.approval]\nrequired = true\n',
    "models/numbers.sql": "SELECT 1 AS one",
    "models/numbers.contract.toml": '[[columns]]\nname = "one"\n',
    "models/doubled.sql": "SELECT one * 2 AS two FROM numbers",
    "seeds/countries.csv": "code,label\nDE,Germany\n",
    ".gitignore": "warehouse/\n.rocky-state*\n.rocky/cache/\n",
}


@contextmanager
def open_memory(adapter, root, spark=None, functions=None) -> Iterator[MemoryEngine]:
    yield MemoryEngine(root)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A project in git, run in production, on the branch `feature` and changed there by Ada."""
    folder = tmp_path_factory.mktemp("made")
    listed = ""
    for name in ("ada", "bob", "eve"):
        path = folder / name
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
        kind, key, *_ = path.with_name(f"{name}.pub").read_text().split()
        listed += f"{name}@example.com {kind} {key}\n" if name != "eve" else ""
    repo = make_repo(folder / "shop", {**FILES, "allowed_signers": listed})
    repo.git("config", "user.email", "ada@example.com")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spark, "open_project_engine", open_memory)
        patch.chdir(repo.root)
        for line in ("seed", "run", "branch create feature"):
            assert 0 == CliRunner().invoke(main, line.split()).exit_code
        repo.git("checkout", "-q", "-b", "feature")
        repo.write({"models/numbers.sql": "SELECT 1 AS one, 3 AS three"})
        repo.commit("another column")
        assert 0 == CliRunner().invoke(main, ["run", "--branch", "feature"]).exit_code
    return folder


@pytest.fixture
def shop(rocky, made, tmp_path, monkeypatch):
    """A copy of it, with Bob at the keyboard."""
    shutil.copytree(made, tmp_path / "copy")
    monkeypatch.setattr(spark, "open_project_engine", open_memory)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ROCKY_SIGNING_KEY", str(tmp_path / "copy/bob"))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    repo = Repo(tmp_path / "copy/shop")
    repo.git("config", "user.email", "bob@example.com")
    monkeypatch.chdir(repo.root)
    return repo


def verdicts(rocky):
    found = rocky("branch", "approvals", "feature", "-o", "json").json
    assert [] == check(found, "branch")
    return [
        *("counts" for _ in found["accepted"]),
        *(f"{each['reason']}: {each['detail']}" for each in found["rejected"]),
    ]


def test_an_approval_says_what_it_is_of_and_anybody_can_check_it(rocky, shop):
    answer = rocky("branch", "approve", "feature", "-m", "fine", "-o", "json")

    assert ("", 0) == (answer.err, answer.code)
    assert [] == check(answer.json, "branch")
    artifact = json.loads((shop.root / answer.json["artifact_path"]).read_text())
    assert answer.json["artifact"] == artifact
    assert ("bob@example.com", "fine") == (artifact["approver"], artifact["message"])
    assert ["spark_catalog.default.numbers"] == list(artifact["state"]["tables"])
    assert "info" == artifact["state"]["verdict"]["impact"]
    assert shop.git("rev-parse", "main") == artifact["base_commit"]
    assert (shop.git("rev-parse", "HEAD"), False) == (artifact["git_commit"], artifact["git_dirty"])
    line = answer.json["verify_command"]
    said = subprocess.run(line, shell=True, capture_output=True, text=True, check=True)
    assert said.stdout.startswith('Good "rocky-approval" signature for bob@example.com')


def test_an_approval_is_shown_as_it_is_made_and_in_the_list(rocky, shop):
    made = rocky("branch", "approve", "feature", "-o", "table")
    listed = rocky("branch", "approvals", "feature", "-o", "table")

    assert ["verdict", "table", "signed", "state", "file", "check"] == [
        line.split()[0] for line in made.out.splitlines()
    ]
    assert "info (1 info)" in made.out
    assert "spark_catalog.default.numbers  1 row, made of version 0, " in made.out
    head, row, proof, standing = listed.out.splitlines()
    assert ["APPROVAL", "BY", "VERDICT", "WHY"] == head.split()
    assert ["bob@example.com", "counts"] == row.split()[1:]
    assert "1 of 1 approval: enough" == standing
    assert "author unproven" in proof


def test_an_approval_dies_with_what_it_covers_and_the_list_says_what_moved(rocky, shop):
    assert 0 == rocky("branch", "approve", "feature").code
    assert ["counts"] == verdicts(rocky)

    shop.write({"models/numbers.contract.toml": '[[columns]]\nname = "three"\n'})
    (verdict,) = verdicts(rocky)
    assert verdict.startswith("state_hash_mismatch: changed since: contract of `numbers`")
    shop.git("checkout", "--", ".")
    assert ["counts"] == verdicts(rocky)

    shop.write({"models/doubled.sql": "SELECT one * 2 AS two -- the same\nFROM numbers"})
    refused = rocky("branch", "approve", "feature", "-o", "table")
    assert 1 == refused.code
    assert "`doubled` has changed since it was built on the branch" in refused.err
    assert "`rocky run --branch feature` builds them" in refused.err
    (verdict,) = verdicts(rocky)
    assert verdict.startswith("state_hash_mismatch: changed since: code of model `doubled`")


def test_tables_that_do_not_belong_together_are_not_approved(rocky, shop):
    shop.write({"models/numbers.sql": "SELECT 2 AS one, 3 AS three"})
    shop.write({"seeds/countries.csv": "code,label\nDE,Deutschland\n"})
    assert 0 == rocky("run", "--branch", "feature", "numbers").code

    refused = rocky("branch", "approve", "feature", "-o", "table")
    assert "`doubled` was built from an older version of `numbers`" in refused.err
    assert "`countries` has changed since it was loaded on the branch" in refused.err


def test_a_table_that_something_else_changed_is_not_approved(rocky, shop):
    assert 0 == rocky("branch", "approve", "feature").code
    table = open_warehouse("warehouse/branch__feature", base=shop.root).table(
        Target("spark_catalog", "default", "doubled")
    )
    now = table.snapshot()
    table.commit(Change("REPLACE", now, now.schema, (), ()))
    shop.write({"models/unbuilt.sql": "SELECT 1 AS one"})

    refused = rocky("branch", "approve", "feature", "-o", "table")
    assert "`doubled` has a table on the branch that was changed after its last run" in refused.err
    assert "`unbuilt` was never built on the branch" in refused.err
    (verdict,) = verdicts(rocky)
    assert "code of model `unbuilt`, table `spark_catalog.default.doubled`" in verdict


def test_who_made_the_change_may_not_approve_it(rocky, shop, monkeypatch):
    refused = rocky("branch", "approve", "feature", "--key", "../ada", "-o", "table")
    assert 1 == refused.code
    assert "own_change, `ada@example.com` made the change" in refused.err

    shop.write({"models/doubled.sql": "SELECT one * 2 AS two FROM numbers WHERE one > 0"})
    assert 0 == rocky("run", "--branch", "feature").code
    refused = rocky("branch", "approve", "feature", "-o", "table")
    assert "own_change, `bob@example.com` made the change" in refused.err


@pytest.mark.parametrize("field", ["created_by", "base_commit"])
def test_a_branch_whose_record_somebody_changed_is_not_approved_promoted_or_deleted(
    rocky, shop, field
):
    """Whoever can write the ledger makes somebody else the one who made the branch."""
    assert 0 == rocky("branch", "approve", "feature").code
    with closing(sqlite3.connect(".rocky-state.db")) as connection:
        changed = f"UPDATE branches SET value = json_set(value, '$.{field}', 'bob@example.com')"
        connection.execute(changed)
        connection.commit()

    for line in (
        "branch approve feature --key ../ada",
        "branch approvals feature",
        "branch promote feature",
        "branch delete feature",
        "run --branch feature",
    ):
        refused = rocky(*line.split(), "-o", "table")
        assert 0 != refused.code, line
        assert "the record `feature` in `branches` was changed" in refused.err
    # Nothing has written the row anew, so it stays to be found.
    for verdict in (rocky("verify", "-o", "table").out, script_findings()):
        assert "record_changed: branches feature" in verdict


def script_findings() -> str:
    """What the script says of the ledger in the current folder."""
    found = Audit(load(".rocky-state.db"))
    found.check()
    return "\n".join(found.findings)


def test_a_change_cannot_bring_its_own_signers_or_rules(rocky, shop):
    line = " ".join((shop.root / "../eve.pub").read_text().split()[:2])
    signers = (shop.root / "allowed_signers").read_text()
    shop.write({"allowed_signers": f"{signers}eve@example.com {line}\n"})
    shop.write({"rocky.toml": FILES["rocky.toml"].replace("required = true", "required = false")})
    shop.git("-c", "user.email=mallory@example.com", "commit", "-q", "-a", "-m", "mine")

    refused = rocky("branch", "approve", "feature", "--key", "../eve", "-o", "table")
    assert 1 == refused.code
    assert "is not in `allowed_signers` of commit" in refused.err
    listed = rocky("branch", "approvals", "feature", "-o", "json").json
    assert listed["policy"]["required"]
    assert not listed["satisfied"]


def commit_to_main(shop, files):
    shop.git("checkout", "-q", "main")
    shop.write(files)
    shop.git("add", *files)
    shop.git("commit", "-q", "-m", "meanwhile")
    shop.git("checkout", "-q", "feature")


def test_an_approval_outlives_a_main_line_that_moves_on_but_not_the_right_to_sign(rocky, shop):
    assert 0 == rocky("branch", "approve", "feature").code
    commit_to_main(shop, {"models/other.sql": "SELECT 1 AS one"})
    assert ["counts"] == verdicts(rocky)

    signers = (shop.root / "allowed_signers").read_text().splitlines(keepends=True)
    commit_to_main(shop, {"allowed_signers": signers[0]})
    (verdict,) = verdicts(rocky)
    assert verdict.startswith("unknown_key: the key SHA256:")
    assert f"`allowed_signers` of commit `{shop.git('rev-parse', 'main')[:12]}`" in verdict
    refused = rocky("branch", "promote", "feature", "-o", "table")
    assert "1 person must approve this state of the branch, and nobody did" in refused.err


def test_a_branch_that_is_not_there_is_not_approved(rocky, shop):
    answer = rocky("branch", "approve", "featrue", "-o", "table")

    assert 1 == answer.code
    assert "did you mean `feature`?" in answer.err


def test_a_copy_outside_git_has_no_rules_of_its_own(rocky, shop):
    (shop.root / ".git").rename(shop.root / ".gone")

    for command in ("approve", "approvals"):
        answer = rocky("branch", command, "feature", "-o", "table")
        assert 1 == answer.code
        assert "is not in a git repository" in answer.err


def hide_the_change(root):
    write_lie(root, "numbers", "SELECT 1 AS one")


@pytest.mark.parametrize("spoil", [hide_the_change, write_crash])
def test_a_committed_cache_has_no_say_in_a_gate(rocky, shop, tmp_path, monkeypatch, spoil):
    honest = rocky("branch", "approve", "feature", "-o", "json").json["artifact"]["state"]
    (shop.root / ".rocky/approvals").rename(tmp_path / "approvals")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    spoil(shop.root)
    answer = rocky("branch", "approve", "feature", "-o", "json")

    assert (0, honest) == (answer.code, answer.json["artifact"]["state"])
    assert "info" == honest["verdict"]["impact"]
    promoted = rocky("branch", "promote", "feature", "-o", "json")
    assert (0, "info") == (promoted.code, promoted.json["promotion"]["verdict"])
    assert answer.json["artifact"]["state_hash"] == promoted.json["promotion"]["state_hash"]
