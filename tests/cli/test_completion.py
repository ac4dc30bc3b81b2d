"""Completion: a shell that asks gets names within a moment, and silence where anything is wrong."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rocky.ledger import open_history_reader
from rocky.ledger.branches import load_promotions
from rocky.project.name_cache import NAMES
from rocky.project.user_cache import cache_place
from tests.branches.shops import BranchShop, Template
from tests.processes import run_command, run_process
from tests.run.runs import write
from tools.generate_completions import FILE, format_table

ASK = """
eval "$(_ROCKY_COMPLETE=bash_source rocky)"
for line in "$@"; do
  read -ra COMP_WORDS <<<"$line"
  [[ $line == *' ' ]] && COMP_WORDS+=("")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
  _rocky_completion rocky
  echo "${COMPREPLY[*]}"
done
"""
HEAVY = ("pyspark", "sqlglot", "rich", "rocky.operations", "rocky.run", "rocky.cli.commands")
CPU_SECONDS = 0.6
"""Twice what it may take on a machine with nothing else to do."""


def prepare(shop: BranchShop) -> None:
    write(shop.root, {"rocky.toml": '[pipeline.shop]\nmodels = "models/**"\n[adapter.local]\n'})
    shop.commit("named")
    shop.do("run")
    shop.do("branch", "create", "b1")
    shop.write(alone="SELECT 2 AS one")
    shop.do("run", "--branch", "b1")
    shop.do("branch", "promote", "b1")
    shop.do("branch", "create", "gone")
    shop.do("branch", "delete", "gone")


@pytest.fixture(scope="module")
def promoted(tmp_path_factory) -> Template:
    return Template(tmp_path_factory.mktemp("completed"), prepare)


@pytest.fixture
def shop(promoted, monkeypatch) -> BranchShop:
    return promoted.put_back(monkeypatch)


def environment(folder: Path) -> dict[str, str]:
    """One in which `rocky` is this one."""
    program = folder / "bin" / "rocky"
    if not program.exists():
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m rocky.cli "$@"\n')
        program.chmod(0o755)
    return os.environ | {"PATH": f"{program.parent}:{os.environ['PATH']}"}


def in_bash(folder: Path, *lines: str) -> list[str]:
    """What Bash offers for the last word of each line, asked as the tab key asks."""
    done = subprocess.run(
        ["bash", "--norc", "-c", ASK, "bash", *lines],
        capture_output=True,
        text=True,
        check=True,
        env=environment(folder),
    )
    assert "" == done.stderr
    return done.stdout.splitlines()


def answer(line: str) -> tuple[int, str, str]:
    """The exit code of Rocky when a shell asks, and what it says on both its streams."""
    asked = {
        "_ROCKY_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(line.count(" ")),
    }
    return run_process(run_command, env=os.environ | asked)


def offered(line: str) -> list[str]:
    code, out, err = answer(line)
    assert (0, "") == (code, err)
    return [each.partition(",")[2] for each in out.splitlines()]


def test_the_table_is_what_the_commands_say(bless):
    if bless:
        FILE.write_text(format_table())

    assert format_table() == FILE.read_text()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_commands_options_and_names(shop, tmp_path):
    expected = {
        "rocky line": "lineage lineage-diff",
        "rocky run --full": "--full-refresh",
        "rocky run ": "alone by_country events large latest report stg_orders",
        "rocky run +stg": "+stg_orders",
        "rocky plan --model la": "large latest",
        "rocky lineage latest.": "latest.id latest.country",
        "rocky branch prom": "promote",
        "rocky branch promote ": "b1",
        "rocky run --branch ": "b1",
    }

    assert expected == dict(zip(expected, in_bash(tmp_path, *expected), strict=True))


@pytest.mark.slow
def test_runs_promotions_and_the_rest_are_offered(shop):
    with open_history_reader(shop.state()) as reader:
        newest = [each.run_id for each in reader.runs()]
    promotion = load_promotions(shop.state())[-1].run_id

    assert newest == offered("rocky history run-")
    assert ["latest"] == offered("rocky trace la")
    assert [promotion, "b1"] == offered("rocky branch revert ")
    assert ["countries"] == offered("rocky seed c")
    assert ["shop"] == offered("rocky run --pipeline ")
    assert ["local"] == offered("rocky run --target ")
    assert ["table", "json"] == offered("rocky -o ")
    assert ["json"] == offered("rocky list --output=js")
    assert ["E010"] == offered("rocky explain E010")
    assert [] == offered("rocky branch create ")


@pytest.mark.slow
def test_columns_are_offered_once_the_model_is_clear(shop):
    assert ["large", "latest"] == offered("rocky lineage la")
    assert ["latest", "latest.id", "latest.country"] == offered("rocky lineage lat")
    assert ["latest.country"] == offered("rocky lineage LATEST.c")


@pytest.mark.slow
def test_a_model_that_was_not_compiled_yet_is_offered(shop):
    shop.write(later="SELECT 1 AS one")

    assert ["large", "later", "latest"] == offered("rocky run la")


@pytest.mark.slow
def test_names_that_a_shell_would_read_otherwise_are_not_offered(shop):
    for name in ("la;rm -rf x", "la$(id)", "la`id`", "la*", "la\nplain,x"):
        (shop.root / "models" / f"{name}.sql").write_text("SELECT 1 AS one")

    assert ["large", "latest"] == offered("rocky run la")


@pytest.mark.slow
def test_a_cache_that_somebody_else_wrote_is_not_read(shop):
    folder = cache_place(shop.root).folder
    planted = folder / NAMES
    own = planted.read_bytes()
    planted.write_bytes(own.replace(b"latest", b"lapdog"))
    try:
        assert ["large", "latest"] == offered("rocky run la")
        assert ["latest"] == offered("rocky lineage lat")
    finally:
        planted.write_bytes(own)


@pytest.mark.slow
@pytest.mark.parametrize(
    "breaks",
    [
        lambda root: (root / "rocky.toml").write_text("[[["),
        lambda root: (root / ".rocky-state.db").write_bytes(b"no database" * 1000),
        lambda root: (root / "rocky.toml").unlink(),
        lambda root: shutil.rmtree(root / "models"),
    ],
    ids=["settings", "state", "no-project", "no-models"],
)
def test_whatever_is_wrong_nothing_is_said(shop, breaks):
    breaks(shop.root)

    for line in ("run --pipeline ", "branch show ", "lineage x."):
        code, _, err = answer(f"rocky {line}")
        assert (line, 0, "") == (line, code, err)


@pytest.mark.slow
def test_an_answer_loads_no_command_and_takes_a_moment(shop):
    code = (
        "import os, sys, time\n"
        "from rocky.cli.app import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"heavy = [each for each in sys.modules if each.startswith({HEAVY!r})]\n"
        "print(heavy, time.process_time(), file=sys.stderr)\n"
    )
    for line in ("rocky run +", "rocky lineage latest.", "rocky branch show ", "rocky history "):
        asked = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, **asked, "_ROCKY_COMPLETE": "bash_complete"},
        )
        heavy, _, seconds = done.stderr.strip().rpartition(" ")
        assert (line, "[]") == (line, heavy)
        assert float(seconds) < CPU_SECONDS
        assert done.stdout


@pytest.mark.parametrize(
    ("shell", "said"), [("zsh", "#compdef rocky"), ("fish", "complete --no-files --command rocky")]
)
def test_other_shells_get_a_script_of_their_own(shell, said):
    code, out, err = run_process(
        run_command, env=os.environ | {"_ROCKY_COMPLETE": f"{shell}_source"}
    )

    assert (0, "") == (code, err)
    assert said in out
    assert "_ROCKY_COMPLETE" in out
