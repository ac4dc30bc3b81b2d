"""What the extension runs, to its end: a branch that is promoted, tests that have verdicts."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.branches.shops import BranchShop, enter_shop
from tests.cli.conftest import CONFIG
from tests.editors.code import ROCKY, TOLD, Editor
from tests.run.runs import PROJECT, write

pytestmark = [pytest.mark.slow, pytest.mark.server, pytest.mark.exhaustive]

BRANCH = '.sidebar .monaco-list-row[aria-label^="branch b1"]'
IN_TEXT = {"terminal__integrated__gpuAcceleration": "off"}
"""A terminal whose words are in the document, and not only painted."""


@pytest.fixture
def branched(tmp_path) -> BranchShop:
    """A shop whose branch `b1` is built and needs Bob's approval, as its `allowed_signers` says."""
    shop = BranchShop(tmp_path / "shop")
    shop.root.mkdir()
    key = tmp_path / "bob"
    line = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "bob", "-f", str(key)]
    subprocess.run(line, check=True)
    with pytest.MonkeyPatch.context() as patch:
        enter_shop(shop.root, patch)
        shop.create()
        rules = f"{PROJECT['rocky.toml']}[branch.approval]\nrequired = true\n"
        listed = f"bob@example.com {key.with_suffix('.pub').read_text()}"
        write(shop.root, {"rocky.toml": rules, "allowed_signers": listed})
        shop.commit("approvals are required")
        shop.do("run")
        shop.do("branch", "create", "b1")
        shop.write(stg_orders="SELECT id, country, id * 2 AS twice FROM raw.orders")
        shop.commit("twice as much")
        shop.do("run", "--branch", "b1")
    return shop


def test_a_branch_is_refused_approved_and_promoted_from_its_view(opened, branched, tmp_path):
    editor = opened(
        branched.root,
        branched.root / "models/stg_orders.sql",
        terminal__integrated__env__linux={"ROCKY_SIGNING_KEY": str(tmp_path / "bob")},
        **IN_TEXT,
    )
    editor.wait_served()
    editor.click(".activitybar .action-item a", "Rocky")
    editor.choose(BRANCH, "b1", "Promote")
    editor.terminal("1 person must approve this state of the branch, and nobody did")
    assert [(1, "DE"), (2, "DE"), (3, "FR")] == branched.rows("stg_orders")

    editor.click(BRANCH)
    editor.click(f'{BRANCH} .action-label[aria-label="Approve"]')
    editor.terminal("signed by bob@example.com")
    editor.choose(BRANCH, "b1", "Promote")
    editor.terminal("1 table promoted as run-")
    assert [(1, "DE", 2), (2, "DE", 4), (3, "FR", 6)] == branched.rows("stg_orders")
    assert [] == branched.findings()


def test_names_of_a_project_are_arguments_and_never_commands_or_options(opened, tmp_path):
    root = tmp_path / "shop"
    names = ["$(touch hacked)", "--help", "; touch hacked", "a'b", "${env:HOME}"]
    models = {f"models/{name}.sql": "SELECT 1 AS one" for name in names}
    write(root, {"rocky.toml": PROJECT["rocky.toml"], **models})
    editor = opened(root, rocky__server__path=str(_recorder(tmp_path)), **IN_TEXT)
    editor.wait_served()
    editor.click(".activitybar .action-item a", "Rocky")
    for number, name in enumerate(names, 1):
        editor.click(".sidebar .monaco-list-row", f"model {name}")
        editor.wait_for(".tab.active", name)
        editor.command("Rocky: Show the SQL That Runs")
        if name == "${env:HOME}":
            # The one name that no argument keeps as it is.
            editor.wait_for(TOLD, "would put something else in the place of `${env:HOME}`")
        else:
            editor.wait_until(lambda number=number: len(_ended(tmp_path)) == number)

    assert [
        ["emit-sql", "$(touch hacked)", "0"],
        ["emit-sql", "--", "--help", "0"],
        ["emit-sql", "; touch hacked", "0"],
        ["emit-sql", "a'b", "0"],
    ] == _ended(tmp_path)
    assert [] == list(tmp_path.rglob("hacked"))


def _recorder(folder: Path) -> Path:
    """A `rocky` that writes down each command once it has ended: its words, and what it ended with."""
    path = folder / "rocky"
    path.write_text(
        f'#!/bin/sh\n"{ROCKY}" "$@"\n'
        f'line=$(printf "%s\\037" "$@" $?)\nprintf "%s\\n" "$line" >> "{folder}/ended"\n'
    )
    path.chmod(0o755)
    return path


def _ended(folder: Path) -> list[list[str]]:
    path = folder / "ended"
    lines = path.read_text().split("\n")[:-1] if path.exists() else []
    commands = [line.split("\037")[:-1] for line in lines]
    return [each for each in commands if each[0] not in ("--version", "lsp")]


TESTS = """
[[test]]
name = "twice is twice"
[[test.given]]
ref = "raw.orders"
rows = [ { order_id = 2 } ]
[test.expect]
rows = [ { twice = 4 } ]

[[test]]
name = "twice is thrice"
[[test.given]]
ref = "raw.orders"
rows = [ { order_id = 2 } ]
[test.expect]
rows = [ { twice = 6 } ]
"""


def test_tests_are_run_and_have_their_verdicts_at_their_lines(opened, tmp_path):
    root = tmp_path / "shop"
    source = (
        '[[source]]\nname = "raw.orders"\ncolumns = [ { name = "order_id", type = "bigint" } ]\n'
    )
    write(
        root,
        {
            "rocky.toml": CONFIG,
            "sources/raw.toml": source,
            "models/doubled.sql": "SELECT order_id * 2 AS twice FROM raw.orders\n",
            "models/doubled.toml": TESTS,
        },
    )
    editor = opened(root, root / "models/doubled.toml", files__associations={"*.toml": "plaintext"})
    editor.wait_served()
    editor.command("Test: Run All Tests")

    # A Spark is started for it.
    editor.wait("document.querySelector('.codicon-testing-failed-icon')", 400)
    passed, failed = (_line(editor, f"testing-{verdict}-icon") for verdict in ("passed", "failed"))
    lines = TESTS.split("\n")
    assert [lines.index('name = "twice is twice"'), lines.index('name = "twice is thrice"')] == [
        passed,
        failed,
    ]


def _line(editor: Editor, icon: str) -> int:
    """The line beside which an icon is, from 1 on."""
    return int(
        editor.wait(
            "((glyph, line) => glyph && line && 1 + Math.round(parseFloat(glyph.style.top) / parseFloat(line.style.height)))"
            f"(document.querySelector({json.dumps(f'.glyph-margin-widgets .codicon-{icon}')}),"
            " document.querySelector('.monaco-editor .view-line'))"
        )
    )
