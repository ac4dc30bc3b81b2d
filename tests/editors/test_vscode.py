"""The extension in a real VS Code, in a real browser: what somebody sees who opens a project.

`make test-all` makes what it needs first, and wants it to be there.
"""

import json
import os
import signal
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rocky.operations.migration.template import PlaygroundRequest, playground
from tests.editors.code import PACKAGE, ROCKY, SERVER, CodeServer, Editor, serve_code
from tests.servers.browser import Browser, open_browser

STATUS = '[id="rocky-spark.rocky.rocky.status"]'
pytestmark = [pytest.mark.slow, pytest.mark.server, pytest.mark.exhaustive]


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[CodeServer]:
    if not (SERVER.exists() and PACKAGE.exists()):
        said = "needs the extension and a VS Code: make vscode vscode-server"
        assert not os.environ.get("ROCKY_EDITORS"), said
        pytest.skip(said)
    with serve_code(tmp_path_factory.mktemp("code")) as running:
        yield running


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[Browser]:
    with open_browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="module")
def shop(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("project") / "shop"
    playground(PlaygroundRequest(root))
    environment = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull}
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "the shop"]):
        who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
        subprocess.run(["git", *who, *words], cwd=root, check=True, env=environment)
    return root


@pytest.fixture
def opened(browser, server) -> Iterator[Callable[..., Editor]]:
    """Opens a window of its own, with settings of its own."""

    def make(folder: Path, file: Path | None = None, **settings: Any) -> Editor:
        server.configure({name.replace("__", "."): value for name, value in settings.items()})
        editor = Editor(browser.open_page(width=1440, height=900))
        editor.visit(server.link(folder, file))
        return editor

    yield make
    server.configure({})


@pytest.fixture(scope="module")
def editor(browser, server, shop) -> Editor:
    """The editor with `fct_revenue` open."""
    editor = Editor(browser.open_page(width=1440, height=900))
    editor.visit(server.link(shop, shop / "models/marts/fct_revenue.sql"))
    editor.wait_for(".monaco-editor .view-line", "WITH")
    return editor


def test_the_status_bar_says_that_the_project_is_fine(editor):
    editor.wait_for(STATUS, "Rocky")


def test_the_views_list_models_and_runs(editor):
    editor.click(".activitybar .action-item a", "Rocky")
    editor.wait_for(".sidebar", "stg_customers")
    editor.wait_for(".sidebar", "Nothing has run here yet")


def test_the_lineage_of_the_open_model_is_shown_beside_it(editor):
    editor.click('.editor-actions [aria-label^="Show Lineage"]')
    editor.wait_panel("page.querySelector('h1')?.textContent === 'fct_revenue'")
    names = editor.wait_panel(
        "page.querySelector('.graph')?.rockyView.nodes.map((each) => each.name)"
    )

    assert {"fct_revenue", "stg_orders"} <= set(names)


def test_each_overlay_says_what_its_operation_found(editor):
    for name in ("drift", "breaking", "replay", "governance"):
        editor.panel(f"page.querySelector('[data-overlay={name}]').click()")
        command = {"breaking": "ci-diff", "governance": "compliance"}.get(name, name)
        said = "page.querySelector('.overlay-legend')?.innerText"
        editor.wait_panel(f"{said}?.includes('rocky {command}')")


def test_folders_are_drawn_as_one_box_each(editor):
    names = "page.querySelector('.graph')?.rockyView.nodes.map((each) => each.name)"
    before = editor.panel(names)
    press = "[...page.querySelectorAll('button')].find((each) => each.textContent.startsWith({!r})).click()"
    editor.panel(press.format("Folders"))
    editor.panel(press.format("models/staging"))

    after = editor.panel(names)
    assert "models/staging" in after
    assert "stg_orders" in set(before) - set(after)

    editor.panel(press.format("models/staging"))
    assert before == editor.panel(names)


def test_the_graph_is_saved_as_a_picture(editor, shop):
    editor.panel("page.querySelector('[aria-label=\"Save as SVG\"]').click()")
    editor.wait("document.querySelector('.quick-input-widget input')?.value.endsWith('.svg')")
    editor.click(".quick-input-widget .monaco-button", "OK")
    path = shop / "Lineage-of-fct_revenue.svg"
    editor.wait_until(path.exists)

    texts = {each.text for each in ET.fromstring(path.read_text()).iter() if each.text}
    assert {"fct_revenue", "stg_orders", "Lineage of fct_revenue"} <= texts
    path.unlink()


def test_a_column_of_the_graph_leads_to_its_line(editor):
    editor.panel("location.hash = '#/table/stg_orders/order_id'")
    editor.wait_for(".tab.active", "stg_orders")
    editor.wait("!/Ln 1, Col 1\\b/.test(document.querySelector('.statusbar').innerText)")
    editor.wait_panel("page.querySelector('h1')?.textContent === 'stg_orders'")
    editor.panel("location.hash = '#/table/fct_revenue'")
    editor.wait_for(".tab.active", "fct_revenue")


def test_what_changes_on_disk_changes_the_overlay_that_is_on(editor, shop):
    editor.panel("page.querySelector('[data-overlay=breaking]').click()")
    path = shop / "models/staging/stg_orders.sql"
    text = path.read_text()
    path.write_text(text.replace("AS has_voucher", "AS has_voucher, 1 AS extra"))

    editor.wait_panel(
        "page.querySelector('.graph')?.rockyView.signals?.some((each) => each?.state === 'changed')"
    )
    path.write_text(text)
    editor.wait_panel(
        "page.querySelector('.graph')?.rockyView.signals?.every((each) => each?.state !== 'changed')"
    )


def test_a_misspelt_column_is_underlined_before_it_is_saved(editor, shop):
    path = shop / "models/marts/fct_revenue.sql"
    before = path.read_text()

    editor.click(".monaco-editor .view-line:last-child")
    editor.press("End", 35, modifiers=2)
    editor.page.type("WHERE amuont > 0")
    editor.wait("document.querySelector('.squiggly-error')")
    editor.wait_for(STATUS, "Rocky")

    assert before == path.read_text()


def test_a_server_that_dies_is_started_again_and_that_is_said(editor, shop):
    served = [each for each in _processes("lsp") if (each / "cwd").readlink() == shop]
    assert served
    for each in served:
        os.kill(int(each.name), signal.SIGKILL)

    editor.wait_for(".notifications-toasts", "was started again")
    editor.wait_for(STATUS, "Rocky")
    editor.wait(f"!document.querySelector({STATUS!r}).innerText.includes('stopped')")


def _processes(word: str) -> Iterator[Path]:
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                words = (each / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if word.encode() in words and any(part.endswith(b"rocky") for part in words):
                yield each


# ------------------------------------------------------------------ other projects and environments


def test_without_a_program_it_says_where_it_looked_and_what_to_do(opened, shop):
    editor = opened(shop, rocky__server__path="/nowhere/rocky")

    editor.wait_for(".notifications-toasts", "/nowhere/rocky, which is no program")
    editor.wait_for(".notifications-toasts", "rocky.server.path")
    editor.command("Rocky: Run All Models")
    editor.wait_for(".notifications-toasts", "Rocky: `rocky.server.path` is /nowhere/rocky")


def test_a_program_that_is_too_old_is_not_started(opened, shop, tmp_path):
    old = _program(tmp_path, 'echo "rocky 0.1.3"')
    editor = opened(shop, rocky__server__path=str(old))

    editor.wait_for(".notifications-toasts", "is Rocky 0.1.3, and this extension needs 0.2.0")
    assert ["--version"] == (tmp_path / "asked").read_text().split()


def test_a_workspace_that_is_not_trusted_starts_no_program(opened, shop, tmp_path):
    spy = _program(tmp_path, 'echo "rocky 0.2.0"')
    editor = opened(
        shop,
        shop / "models/marts/fct_revenue.sql",
        security__workspace__trust__enabled=True,
        security__workspace__trust__startupPrompt="never",
        rocky__server__path=str(spy),
    )
    editor.wait_for(".statusbar", "Restricted Mode")
    editor.wait_for(".monaco-editor .view-line", "WITH")
    editor.page.ask("new Promise((done) => setTimeout(done, 4000))")

    assert not (tmp_path / "asked").exists()
    assert not editor.page.ask(f"Boolean(document.querySelector({STATUS!r}))")


def test_the_verdict_of_a_test_is_in_the_testing_view(opened, shop, tmp_path):
    result = {"model": "fct_revenue", "name": "not_null:month", "passed": False}
    report = {"unit_tests": [], "data_tests": [{**result, "error": None, "failing_rows": 3}]}
    (tmp_path / "report.json").write_text(json.dumps(report))
    # What Spark would say is given, because it starts for longer than all of this takes.
    stand_in = _program(
        tmp_path,
        f'if [ "$1" = test ]; then cat "{tmp_path}/report.json"; exit 1; fi; exec "{ROCKY}" "$@"',
    )
    editor = opened(shop, rocky__server__path=str(stand_in))
    editor.wait_for(STATUS, "Rocky")
    editor.click(".activitybar .action-item a", "Testing")
    editor.wait_for(".sidebar", "fct_revenue")
    editor.command("Test: Run All Tests")

    editor.wait("document.querySelector('.sidebar .codicon-testing-failed-icon')")
    editor.wait_for(".monaco-workbench", "3 rows fail")
    assert "test fct_revenue -o json" in (tmp_path / "asked").read_text()


def _program(folder: Path, says: str) -> Path:
    path = folder / "rocky"
    path.write_text(f'#!/bin/sh\necho "$@" >> "{folder}/asked"\n{says}\n')
    path.chmod(0o755)
    return path


def test_a_hostile_project_in_a_hostile_place_is_only_text(opened, tmp_path):
    root = tmp_path / "a shop #1 100% - ünï {x}"
    markup = "<img src=x onerror=parent.parent.hacked=1>"
    playground(PlaygroundRequest(root))
    (root / "models/marts/evil.sql").write_text(f"SELECT order_id AS `{markup}` FROM stg_orders\n")
    (root / "models/marts/evil.toml").write_text(
        f'description = "{markup} $(error) [x](command:rocky.runAll)"\n'
    )
    editor = opened(root, root / "models/marts/evil.sql")
    editor.wait_for(STATUS, "Rocky")
    editor.click(".activitybar .action-item a", "Rocky")
    editor.wait_for(".sidebar", "stg_customers")
    editor.command("Rocky: Show Lineage")
    editor.wait_panel("page.querySelector('h1')?.textContent === 'evil'")
    editor.panel("page.querySelector('[href=\"#/details/evil\"]').click()")
    editor.wait_panel("page.querySelector('main').innerText.includes('onerror')")

    assert 0 == editor.panel("page.querySelectorAll('main img').length")
    assert not editor.page.ask("Boolean(window.hacked)")


def test_with_two_projects_the_one_that_is_edited_is_served(opened, tmp_path):
    for name in ("north", "south"):
        playground(PlaygroundRequest(tmp_path / name))
    (tmp_path / "south/models/marts/only_south.sql").write_text("SELECT 1 AS one\n")
    editor = opened(tmp_path, tmp_path / "south/models/marts/only_south.sql")

    editor.wait_for(STATUS, "Rocky south")
    editor.click(".activitybar .action-item a", "Rocky")
    editor.wait_for(".sidebar", "only_south")
