"""Seals that are made by themselves: at the end of every run, loudly or not at all."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace

import pytest

import rocky
from rocky.errors import SealRefused
from rocky.operations.proof import seal as sealing
from rocky.operations.proof.seal import seal_run
from rocky.operations.workspace import load_workspace
from tests.run.runs import write
from tests.seals.conftest import SealedShop
from tools.verify_run import main as script

pytestmark = pytest.mark.slow
RULES = '\n[evidence]\nseal = "every_run"\nseal_key = "{key}"\nseal_dir = "{folder}"\n'


def set_up(shop: SealedShop, key: str = "ada", folder: str = "seals") -> None:
    rules = RULES.format(key=shop.keys.path(key), folder=folder)
    write(shop.root, {"rocky.toml": (shop.root / "rocky.toml").read_text() + rules})


def test_every_run_leaves_a_seal_that_covers_it(shop):
    set_up(shop)
    shop.run(rows=6)
    report = json.loads(shop.do("run", "-o", "json"))

    assert 3 == len(shop.seals)
    assert report["seal"] == str(shop.seals[-1].relative_to(shop.root))
    assert [] == shop.codes("--sealed", "seals")
    said = json.loads(shop.seals[-1].read_text().partition("\n")[0])
    found = json.loads(shop.do("verify", "-o", "json"))
    assert found["head"] == said["head"]


def test_a_state_that_is_restored_from_its_tables_is_sealed(shop):
    set_up(shop)
    (shop.root / ".rocky-state.db").unlink()
    for each in shop.root.glob(".rocky-state.db-*"):
        each.unlink()
    before = len(shop.seals)
    shop.do("state", "restore", "--from-tables", "-m", "the disk died")

    assert before + 1 == len(shop.seals)
    # Older seals hold a chain that is gone: that it was begun anew is no secret.
    assert {"seal_head_missing"} == set(shop.codes("--sealed", "seals"))


def test_a_seed_is_a_run_too(shop):
    set_up(shop)
    write(shop.root, {"seeds/countries.csv": "code,name\nDE,Germany\n"})
    report = json.loads(shop.do("seed", "-o", "json"))

    assert report["seal"] == str(shop.seals[-1].relative_to(shop.root))


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("eve", "is not in `allowed_signers`"),
        ("nobody", "there is no key"),
        ("ada", "may not seal for `ada@x`"),
    ],
)
def test_a_run_that_could_not_be_sealed_is_refused_before_it_begins_anything(shop, key, said):
    set_up(shop, key)
    if key == "ada":
        # Only for approvals: the key is in the list, and may not seal.
        listed = (shop.root / "allowed_signers").read_text()
        write(shop.root, {"allowed_signers": listed.replace("rocky-seal", "rocky-approval")})
    write(shop.root, {"data/orders.csv": "id,country\n1,DE\n"})
    write(shop.root, {"seeds/countries.csv": "code,name\nDE,Germany\n"})
    before = (shop.contents(), shop.do("history"))
    for command in ("run", "seed", "build"):
        answer = shop.rocky(command)

        assert 1 == answer.code
        assert 'nothing was begun: `rocky.toml` says `[evidence] seal = "every_run"`' in answer.err
        assert said in answer.err
    assert before == (shop.contents(), shop.do("history"))
    assert 1 == len(shop.seals)


def test_a_key_that_only_a_passphrase_opens_is_found_before_the_run_too(shop, tmp_path):
    line = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", str(tmp_path / "locked")]
    subprocess.run(line, check=True)
    set_up(shop, str(tmp_path / "locked"))
    public = (tmp_path / "locked.pub").read_text()
    write(shop.root, {"allowed_signers": f"ada@x {public}"})
    before = shop.do("history")

    answer = shop.rocky("run")

    assert (1, before) == (answer.code, shop.do("history"))
    assert "nothing was begun: " in answer.err
    assert "locked" in answer.err


def test_python_hears_of_it_before_the_run(shop):
    set_up(shop, "eve")

    with pytest.raises(SealRefused, match="is not in `allowed_signers`"):
        rocky.open(shop.root).run()


def test_a_run_whose_key_goes_while_it_runs_stands_and_fails_loudly(shop, monkeypatch):
    set_up(shop)
    write(shop.root, {"data/orders.csv": "id,country\n1,DE\n"})
    listed = (shop.root / "allowed_signers").read_text()

    def give_up(*given):
        write(shop.root, {"allowed_signers": listed.replace("rocky-seal", "rocky-approval")})
        return seal_run(*given)

    monkeypatch.setattr(sealing, "seal_run", give_up)
    answer = shop.rocky("run")

    assert 1 == answer.code
    assert "was made and is recorded, but it is not sealed: " in answer.out
    assert "may not seal for `ada@x`" in answer.out
    assert 1 == len(shop.seals)
    assert [] == shop.findings()
    assert [(1, "DE")] == shop.rows("stg_orders")
    # What it could not do is made up for by hand, with a key that may.
    write(shop.root, {"allowed_signers": listed})
    shop.seal()
    assert [] == shop.codes("--sealed", "seals")


def test_a_folder_of_seals_that_leads_elsewhere_is_not_written(shop):
    set_up(shop, folder="elsewhere")
    target = shop.root.parent / "target"
    target.mkdir(exist_ok=True)
    (shop.root / "elsewhere").symlink_to(target)
    answer = shop.rocky("run")

    assert 1 == answer.code
    assert "nothing was begun: " in answer.err
    assert [] == list(target.iterdir())
    assert [] == shop.findings()


def test_a_folder_outside_the_project_is_refused_at_its_line(shop):
    set_up(shop, folder="../elsewhere")

    answer = shop.rocky("validate")
    assert 1 == answer.code
    assert "leads out of the project" in answer.out + answer.err
    assert "has errors, so who may seal is not known" in shop.rocky("seal").err


def test_a_branch_is_sealed_on_demand_only(shop, capsys):
    set_up(shop)
    shop.do("branch", "create", "next")
    shop.write(stg_orders="SELECT id, upper(country) AS country FROM raw.orders")
    before = shop.seals
    shop.do("run", "--branch", "next")
    assert before == shop.seals

    path = shop.seal("--branch", "next", "--quiet").strip()
    assert [] == shop.codes("--branch", "next", "--sealed", path)
    assert f"{path.rpartition('/')[2]}: it seals branch `next`, which is not looked at" in shop.do(
        "verify", "--sealed", "seals"
    )
    answer = shop.rocky("verify", "--sealed", path)
    assert (1, True) == (answer.code, "has no seal of what is looked at" in answer.err)
    capsys.readouterr()
    assert 2 == script([str(shop.state()), "--sealed", path])
    assert "there is no seal of this ledger" in capsys.readouterr().err


def test_what_changes_tables_without_building_them_is_sealed_and_goes_on(shop):
    set_up(shop)
    shop.commit("sealed runs")
    shop.do("branch", "create", "next")
    shop.write(stg_orders="SELECT id, upper(country) AS country FROM raw.orders WHERE id > 1")
    shop.commit("a change")
    shop.do("run", "--branch", "next")
    numbers = [len(shop.seals)]
    shop.do("branch", "promote", "next")
    numbers.append(len(shop.seals))
    shop.do("branch", "revert", "next")
    numbers.append(len(shop.seals))
    log = shop.root / "warehouse/spark_catalog/default/latest/_delta_log"
    foreign = log / f"{len(list(log.glob('*.json'))):020d}.json"
    foreign.write_text('{"commitInfo":{"operation":"WRITE"}}\n')
    shop.do("state", "restore", "spark_catalog.default.latest", "-m", "nobody did this")
    numbers.append(len(shop.seals))
    shop.do("gc")

    assert [1, 2, 3, 4] == numbers
    assert [] == shop.codes("--sealed", "seals")


def test_runs_that_are_forgotten_do_not_break_a_seal(shop):
    rules = "\n[state.retention]\nmax_age_days = 0\nmin_runs_kept = 0\n"
    set_up(shop)
    write(shop.root, {"rocky.toml": (shop.root / "rocky.toml").read_text() + rules})
    shop.do("run")
    shop.do("run")
    report = json.loads(shop.do("state", "retention", "sweep", "-o", "json"))

    assert report["runs"]
    assert [] == shop.codes("--sealed", "seals")


@pytest.fixture
def agent(keys, tmp_path, monkeypatch):
    """An agent that has the key of who may seal."""
    if shutil.which("ssh-agent") is None:
        pytest.skip("no ssh-agent")
    socket = tmp_path / "agent"
    server = subprocess.Popen(
        ["ssh-agent", "-D", "-a", socket], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    server.stdout.readline()
    environment = {**os.environ, "SSH_AUTH_SOCK": str(socket)}
    subprocess.run(["ssh-add", "-q", keys.path("ada")], env=environment, check=True)
    yield str(socket)
    server.terminate()
    server.communicate()


def test_an_agent_seals_for_a_public_key_from_a_variable(shop, agent, monkeypatch):
    monkeypatch.setenv("SSH_AUTH_SOCK", agent)
    monkeypatch.setenv("SEALING", shop.keys.public("ada"))
    rules = RULES.format(key="${SEALING}", folder="seals")
    write(shop.root, {"rocky.toml": (shop.root / "rocky.toml").read_text() + rules})
    shop.run(rows=6)

    assert 2 == len(shop.seals)
    assert [] == shop.codes("--sealed", "seals")


def test_a_promotion_that_cannot_be_sealed_stands(shop):
    shop.do("branch", "create", "next")
    shop.write(stg_orders="SELECT id, upper(country) AS country FROM raw.orders WHERE id > 1")
    shop.commit("a change")
    shop.do("run", "--branch", "next")
    set_up(shop, "eve")

    answer = shop.rocky("branch", "promote", "next")

    assert 1 == answer.code
    assert "promotion `run-" in answer.err
    assert "was made and is recorded, but it is not sealed: " in answer.err
    assert 4 > len(shop.rows("stg_orders"))
    assert [] == shop.findings()


def test_a_run_that_another_has_sealed_already_is_sealed(shop):
    """Of two runs that end at once, the first to look sees the records of both."""
    set_up(shop)
    workspace = rocky.open(shop.root)
    result = workspace.run().run.result
    (_, second) = shop.seals
    project = load_workspace(workspace)

    again = seal_run(workspace, project, replace(result, seal=None))
    assert (result.seal, None) == (again.seal, again.seal_error)
    second.write_text("something else\n")
    again = seal_run(workspace, project, replace(result, seal=None))
    assert (None, True) == (again.seal, "a seal replaces none" in again.seal_error)


def test_the_check_that_is_printed_needs_no_rocky(shop):
    told = shop.seal("--out", "other.seal")
    (line,) = [each for each in told.splitlines() if each.startswith("check    ")]
    done = subprocess.run(["bash", "-c", line[9:]], capture_output=True, text=True, check=False)

    assert (0, "") == (done.returncode, done.stderr)
    assert done.stdout.startswith('Good "rocky-seal" signature for ada@x with ED25519 key SHA256:')


def test_a_seal_replaces_none(shop):
    answer = shop.rocky("seal", "--key", str(shop.keys.path("ada")))

    assert (1, True) == (answer.code, "is there already, and a seal replaces none" in answer.err)
    shop.seal("--out", str(shop.root.parent / "mailed.seal"))
    assert [] == shop.codes("--sealed", str(shop.root.parent / "mailed.seal"))


def test_nobody_seals_a_chain_that_is_broken(shop):
    subprocess.run(
        [
            sys.executable,
            "-c",
            "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]);"
            " c.execute(\"UPDATE run_history SET value = replace(value, 'Success', 'Failure')\");"
            " c.commit()",
            shop.state(),
        ],
        check=True,
    )
    with pytest.raises(rocky.RockyError, match="are not whole, so they are not sealed"):
        rocky.open(shop.root).seal(key=str(shop.keys.path("ada")), out=shop.root / "x.seal")


def test_a_table_that_is_not_as_recorded_is_left_out_with_a_warning(shop):
    log = shop.root / "warehouse/spark_catalog/default/stg_orders/_delta_log" / f"{0:020d}.json"
    log.write_bytes(log.read_bytes() + b"\n")
    out = shop.root / "x.seal"

    report = rocky.open(shop.root).seal(key=str(shop.keys.path("ada")), out=out)

    assert ["`spark_catalog.default.stg_orders` is not sealed"] == [
        each.partition(",")[0] for each in report.warnings
    ]
    assert "stg_orders" not in out.read_text()


def test_who_is_on_no_list_cannot_seal(shop):
    with pytest.raises(SealRefused, match="is not in `allowed_signers`"):
        rocky.open(shop.root).seal(key=str(shop.keys.path("eve")))


def test_a_run_that_the_ledger_does_not_have_is_not_called_sealed(shop):
    """An older copy took the file's place between the end of the run and its seal."""
    set_up(shop)
    older = shop.state().read_bytes()
    workspace = rocky.open(shop.root)
    result = workspace.run().run.result
    before = shop.seals
    for each in shop.root.glob(".rocky-state.db-*"):
        each.unlink()
    shop.state().write_bytes(older)

    again = seal_run(workspace, load_workspace(workspace), replace(result, seal=None))

    assert before == shop.seals
    assert again.seal is None
    assert f"does not have run `{result.run_id}` as it ended" in str(again.seal_error)


def test_a_run_whose_record_was_changed_is_not_called_sealed(shop):
    """Somebody has changed it between the end of the run and its seal."""
    set_up(shop)
    workspace = rocky.open(shop.root)
    result = workspace.run().run.result
    before = shop.seals
    with closing(sqlite3.connect(shop.state(), isolation_level=None)) as connection:
        connection.execute(
            "UPDATE run_history SET value = json_set(value, '$.hostname', 'x') WHERE key = ?",
            (result.run_id,),
        )

    again = seal_run(workspace, load_workspace(workspace), replace(result, seal=None))

    assert (before, None) == (shop.seals, again.seal)
    assert f"does not have run `{result.run_id}` as it ended" in str(again.seal_error)
