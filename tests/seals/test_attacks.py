"""Attacks by somebody who may write ledger, tables and anchor, but holds no key that may seal."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.seals.conftest import SealedShop
from tools.verify_run import main as script

pytestmark = pytest.mark.slow


@contextmanager
def put_back(shop: SealedShop) -> Iterator[None]:
    """Ledger, tables and anchor are in the end what they were in the beginning."""
    kept = shop.root.parent / "aside"
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(shop.root / "warehouse", kept / "warehouse")
    shutil.copy2(shop.state(), kept)
    yield
    shutil.rmtree(shop.root / "warehouse")
    for each in shop.root.glob(".rocky-state.db*"):
        shutil.rmtree(each) if each.is_dir() else each.unlink()
    shutil.copytree(kept / "warehouse", shop.root / "warehouse")
    shutil.copy2(kept / shop.state().name, shop.root)


def script_codes(shop: SealedShop, capsys: pytest.CaptureFixture[str], *more: str) -> list[str]:
    """The findings of the script, each once."""
    capsys.readouterr()
    code = script([str(shop.state()), *more])
    lines = capsys.readouterr().out.splitlines()[:-1]
    found = sorted({line.split(":")[0] for line in lines} - {"note"})
    assert code == bool(found)
    return found


def both(shop: SealedShop, capsys: pytest.CaptureFixture[str], sealed: str) -> list[str]:
    """The findings of Rocky, which are those of the script."""
    found = shop.codes("--sealed", sealed)
    assert found == script_codes(shop, capsys, "--sealed", sealed)
    return found


def test_what_goes_on_from_a_seal_is_verified(shop, capsys):
    shop.run(rows=6)

    assert [] == both(shop, capsys, "seals")
    assert "1 seal, the newest of entry" in shop.do("verify", "--sealed", str(shop.first))


def test_ledger_tables_and_anchor_rolled_back_together_are_found_by_a_seal_alone(shop, capsys):
    with put_back(shop):
        shop.run(rows=6)
        shop.seal()

    assert [] == shop.codes()
    assert ["seal_head_missing", "seal_table_behind"] == both(shop, capsys, "seals")
    # The older seal is still of this past.
    assert [] == both(shop, capsys, str(shop.first))
    told = shop.rocky("verify", "--sealed", "seals").out
    assert "the ledger was rolled back to an older copy" in told
    assert "stg_orders/_delta_log/00000000000000000001.json" in told


def test_a_history_that_was_written_anew_from_some_point_on_is_found(shop, capsys):
    with put_back(shop):
        shop.run(rows=6)
        shop.seal()
    # The same run again, with other rows, and then some: all of it consistent.
    shop.run(rows=4)
    shop.run(rows=8)

    assert [] == shop.codes()
    assert ["seal_head_missing", "seal_table_changed"] == both(shop, capsys, "seals")
    told = shop.rocky("verify", "--sealed", "seals").out
    assert "has another hash than when `ada@x` sealed it: the ledger was rewritten" in told


def test_a_project_that_was_begun_anew_is_found(shop, capsys):
    shutil.rmtree(shop.root / "warehouse")
    shop.state().unlink()
    shop.run(rows=6)

    assert [] == shop.codes()
    assert ["seal_head_missing", "seal_table_changed"] == both(shop, capsys, "seals")
    assert "it is of the ledger `" in shop.rocky("verify", "--sealed", "seals").out


def test_a_table_behind_its_seal_is_named(shop, capsys):
    shop.run(rows=6)
    shop.seal()
    newest = shop.root / "warehouse/spark_catalog/default/stg_orders/_delta_log" / f"{1:020d}.json"
    newest.unlink()

    assert "seal_table_behind" in both(shop, capsys, "seals")


def test_a_table_whose_sealed_commit_was_rewritten_is_named(shop, capsys):
    log = shop.root / "warehouse/spark_catalog/default/stg_orders/_delta_log" / f"{0:020d}.json"
    log.write_bytes(log.read_bytes().replace(b'"WRITE"', b'"write"') + b"\n")

    assert "seal_table_changed" in both(shop, capsys, "seals")


def test_a_table_that_was_dropped_and_is_recorded_as_made_again_is_a_note(shop, capsys):
    shop.run(rows=6)
    shop.seal()
    shutil.rmtree(shop.root / "warehouse/spark_catalog/default/stg_orders")
    shop.do("run", "stg_orders", "--force-rebuild")

    assert [] == both(shop, capsys, "seals")
    assert "it was dropped since it was sealed, and made again by `run-" in shop.do(
        "verify", "--sealed", "seals"
    )


def sign(shop: SealedShop, key: str, line: str, name: str, namespace: str = "rocky-seal") -> Path:
    """A seal as somebody would make it who does not ask Rocky."""
    text = shop.root.parent / "statement"
    text.write_text(line)
    text.with_name("statement.sig").unlink(missing_ok=True)
    words = ["ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", shop.keys.path(key), text]
    subprocess.run(words, check=True, capture_output=True)
    path = shop.root / "seals" / f"{name}.seal"
    path.write_text(line + text.with_name("statement.sig").read_text())
    return path


def statement_of(seal: Path) -> str:
    return seal.read_text().partition("\n")[0] + "\n"


def changed(seal: Path, **values: object) -> str:
    """What a seal says, with something else in it, in the form of a seal."""
    said = {**json.loads(statement_of(seal)), **values}
    return json.dumps(said, sort_keys=True, separators=(",", ":")) + "\n"


def test_a_seal_of_a_key_that_nobody_lists_is_none(shop, capsys):
    path = sign(shop, "eve", statement_of(shop.first), "forged")

    assert ["seal_unlisted_signer"] == both(shop, capsys, str(path))
    assert ["seal_unlisted_signer"] == both(shop, capsys, "seals")


def test_a_listed_key_seals_in_no_other_name(shop, capsys):
    path = sign(shop, "bob", statement_of(shop.first), "forged")

    assert ["seal_unlisted_signer"] == both(shop, capsys, str(path))


@pytest.mark.parametrize("signer", ["", None, 0, []])
def test_a_seal_in_nobodys_name_is_none(shop, capsys, signer):
    path = sign(shop, "eve", changed(shop.first, signer=signer), "forged")

    assert ["seal_malformed"] == both(shop, capsys, str(path))


def test_an_edited_seal_is_none(shop, capsys):
    said = json.loads(statement_of(shop.first))
    line = changed(shop.first, head={**said["head"], "seq": 1})
    shop.first.write_text(shop.first.read_text().replace(statement_of(shop.first), line))

    assert ["seal_signature"] == both(shop, capsys, "seals")


def test_a_signature_for_something_else_seals_nothing(shop, capsys):
    path = sign(shop, "bob", changed(shop.first, signer="bob@x"), "other", "rocky-approval")

    assert ["seal_signature"] == both(shop, capsys, str(path))


@pytest.mark.parametrize(
    "text", ["", "\n", "{}\n", "[1]\n", '{"tables": 1}\n', "\0\n", "[" * 9999 + "\n", '"\\ud800"\n']
)
def test_what_is_no_seal_is_named_as_such(shop, capsys, text):
    path = shop.root / "seals/odd.seal"
    path.write_text(text)

    assert ["seal_malformed"] == both(shop, capsys, str(path))


def test_a_name_cannot_write_to_the_terminal(shop):
    (shop.root / "seals/\x1b[2J.seal").write_text("{}\n")

    assert "\x1b" not in shop.rocky("verify", "--sealed", "seals").out


def test_an_honest_seal_without_its_signature_is_none(shop, capsys):
    shop.first.write_text(statement_of(shop.first))

    assert ["seal_signature"] == both(shop, capsys, "seals")


def test_a_forged_seal_of_a_stolen_key_does_not_help_against_one_that_was_kept(shop, capsys):
    with put_back(shop):
        shop.run(rows=6)
        shop.seal()
    shop.run(rows=4)
    stolen = shop.seal("--quiet").strip()

    # The thief's own seal fits what the thief has made; the genuine one does not.
    assert [] == both(shop, capsys, stolen)
    assert ["seal_head_missing", "seal_table_changed"] == both(shop, capsys, "seals")


def test_seals_of_a_commit_are_judged_by_the_list_of_that_commit(shop, capsys, monkeypatch):
    """Who writes the working tree lists their own key there, and puts their own seals."""
    forged = sign(shop, "eve", changed(shop.first, signer="eve@x"), "forged")
    listed = shop.root / "allowed_signers"
    listed.write_text(listed.read_text() + f"eve@x {shop.keys.public('eve')}\n")

    assert [] == both(shop, capsys, "seals")
    assert [] == both(shop, capsys, "git:main")
    shop.git("add", str(forged))
    shop.git("commit", "-qm", "a seal")
    assert ["seal_unlisted_signer"] == both(shop, capsys, "git:main")
    assert ["seal_unlisted_signer"] == both(shop, capsys, "git:main:seals")
    assert ["seal_unlisted_signer"] == both(shop, capsys, "git:HEAD:seals/forged.seal")
    assert [] == both(shop, capsys, "git:main~1")
    # The auditor's own list goes before any other.
    own = shop.root.parent / "own"
    own.write_text(f"eve@x {shop.keys.public('eve')}\n")
    arguments = ("--sealed", "git:main", "--allowed-signers", str(own))
    assert ["seal_unlisted_signer"] == shop.codes(*arguments)
    assert ["seal_unlisted_signer"] == script_codes(shop, capsys, *arguments)
    assert "ada@x" in shop.rocky("verify", *arguments).out


def test_settings_of_the_working_tree_do_not_choose_among_the_seals_of_a_commit(shop, capsys):
    """Who puts everything back would like the auditor to look at an older folder of seals."""
    (shop.root / "old").mkdir()
    shutil.copy2(shop.first, shop.root / "old")
    with put_back(shop):
        shop.run(rows=6)
        shop.seal()
        shop.commit("seals, and a folder of old ones")
    config = shop.root / "rocky.toml"
    config.write_text(config.read_text() + '\n[evidence]\nseal_dir = "old"\n')

    assert [] == shop.codes("--sealed", "git:main:old")
    assert ["seal_head_missing", "seal_table_behind"] == both(shop, capsys, "git:main")


def test_a_project_that_was_moved_goes_on_from_its_seals(shop, monkeypatch):
    moved = shop.root.parent / "moved"
    shutil.rmtree(moved, ignore_errors=True)
    shop.root.rename(moved)
    monkeypatch.chdir(moved)
    there = SealedShop(moved)

    found = there.codes("--sealed", "seals"), there.codes("--sealed", "git:main")

    monkeypatch.chdir(moved.parent)
    moved.rename(shop.root)
    assert ([], []) == found


def test_a_key_that_was_given_up_has_sealed_before_and_does_not_after(shop, capsys):
    text = (shop.root / "allowed_signers").read_text()
    for until, expected in (("20991231Z", []), ("20200101Z", ["seal_unlisted_signer"])):
        limited = text.replace("rocky-seal", f'rocky-seal",valid-before="{until}')
        (shop.root / "allowed_signers").write_text(limited)
        assert expected == both(shop, capsys, "seals")


def test_a_head_that_was_noted_must_be_in_the_chain(shop, capsys):
    head = json.loads(statement_of(shop.first))["head"]["entry_hash"]
    shop.run(rows=6)

    assert [] == shop.codes("--head", head) == script_codes(shop, capsys, "--head", head)
    other = "0" * 64
    assert ["head_unknown"] == shop.codes("--head", other)
    assert ["head_unknown"] == script_codes(shop, capsys, "--head", other)
    assert "is not the hash of an entry" in shop.rocky("verify", "--head", head[:12]).err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--sealed", "nowhere"), "there is no seal `nowhere`"),
        (("--sealed", "models"), "there is no seal in `models`"),
        (("--sealed", "git:main:models"), "there is no seal in `models` of `main`"),
        (("--sealed", "git:nope"), "nope"),
        (("--sealed", "git:"), "is not written `git:REF`"),
        (("--sealed", "seals", "--allowed-signers", "nobody"), "there is no `nobody`"),
        (("--allowed-signers", "x"), "`--allowed-signers` needs `--sealed`"),
    ],
)
def test_what_cannot_be_checked_is_no_all_clear(shop, arguments, said):
    answer = shop.rocky("verify", *arguments)

    assert answer.code
    assert said in answer.err


@pytest.mark.parametrize("place", ["nowhere", "models", "git:main:models", "git:nope"])
def test_the_script_gives_no_all_clear_either(shop, place, capsys):
    assert 2 == script([str(shop.state()), "--sealed", place])


def test_an_auditor_needs_no_project(shop, tmp_path, monkeypatch):
    """A copy of the state file and of the tables, the seals, and a list of their own."""
    for name in ("seals", "warehouse"):
        shutil.copytree(shop.root / name, tmp_path / name)
    shutil.copy2(shop.state(), tmp_path / "state.db")
    (tmp_path / "own").write_text(f"ada@x {shop.keys.public('ada')}\n")
    monkeypatch.chdir(tmp_path)
    sealed = ("--sealed", "seals", "--allowed-signers", "own")

    assert [] == shop.codes("--state-path", "state.db", *sealed)
    assert 0 == script(["state.db", "--warehouse", "warehouse", *sealed])
