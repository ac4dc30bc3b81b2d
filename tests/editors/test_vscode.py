"""The extension in a real VS Code, in a real browser: what somebody sees who opens a project.

`make test-all` makes what it needs first, and wants it to be there.
"""

import os
import signal
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocky.operations.migration.template import PlaygroundRequest, playground
from tests.editors.code import STATUS, Editor

pytestmark = [pytest.mark.slow, pytest.mark.server, pytest.mark.exhaustive]


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


def test_each_overlay_says_what_its_operation_found(lineage):
    for name in ("drift", "breaking", "replay", "governance"):
        lineage.panel(f"page.querySelector('[data-overlay={name}][aria-pressed=false]')?.click()")
        command = {"breaking": "ci-diff", "governance": "compliance"}.get(name, name)
        said = "page.querySelector('.overlay-legend')?.innerText"
        lineage.wait_panel(f"{said}?.includes('rocky {command}')")


def test_folders_are_drawn_as_one_box_each(lineage):
    names = "page.querySelector('.graph')?.rockyView.nodes.map((each) => each.name)"
    before = lineage.panel(names)
    press = "[...page.querySelectorAll('button')].find((each) => each.textContent.startsWith({!r})).click()"
    lineage.panel("page.querySelector('.folders').hidden && " + press.format("Folders"))
    lineage.panel(press.format("models/staging"))

    after = lineage.panel(names)
    assert "models/staging" in after
    assert "stg_orders" in set(before) - set(after)

    lineage.panel(press.format("models/staging"))
    assert before == lineage.panel(names)


def test_the_graph_is_saved_as_a_picture(lineage, shop):
    lineage.panel("page.querySelector('[aria-label=\"Save as SVG\"]').click()")
    lineage.wait("document.querySelector('.quick-input-widget input')?.value.endsWith('.svg')")
    lineage.click(".quick-input-widget .monaco-button", "OK")
    path = shop / "Lineage-of-fct_revenue.svg"
    lineage.wait_until(path.exists)

    texts = {each.text for each in ET.fromstring(path.read_text()).iter() if each.text}
    assert {"fct_revenue", "stg_orders", "Lineage of fct_revenue"} <= texts
    path.unlink()


def test_a_column_of_the_graph_leads_to_its_line(lineage):
    lineage.panel("location.hash = '#/table/stg_orders/order_id'")
    lineage.wait_for(".tab.active", "stg_orders")
    lineage.wait("!/Ln 1, Col 1\\b/.test(document.querySelector('.statusbar').innerText)")
    lineage.wait_panel("page.querySelector('h1')?.textContent === 'stg_orders'")
    lineage.panel("location.hash = '#/table/fct_revenue'")
    lineage.wait_for(".tab.active", "fct_revenue")


def test_what_changes_on_disk_changes_the_overlay_that_is_on(lineage, shop):
    lineage.panel("page.querySelector('[data-overlay=breaking][aria-pressed=false]')?.click()")
    path = shop / "models/staging/stg_orders.sql"
    text = path.read_text()
    path.write_text(text.replace("AS has_voucher", "AS has_voucher, 1 AS extra"))

    lineage.wait_panel(
        "page.querySelector('.graph')?.rockyView.signals?.some((each) => each?.state === 'changed')"
    )
    path.write_text(text)
    lineage.wait_panel(
        "page.querySelector('.graph')?.rockyView.signals?.every((each) => each?.state !== 'changed')"
    )


def test_a_misspelt_column_is_underlined_before_it_is_saved(editor, shop):
    path = shop / "models/marts/fct_revenue.sql"
    before = path.read_text()

    editor.click(".monaco-editor .view-line:last-child")
    editor.press("End", 35, modifiers=2)
    editor.page.type("WHERE amuont > 0")
    editor.wait("document.querySelector('.squiggly-error')")

    assert before == path.read_text()
    editor.command("File: Revert File")
    editor.wait("!document.querySelector('.squiggly-error')")


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
    assert {"--version"} == set((tmp_path / "asked").read_text().split())


def test_a_workspace_that_is_not_trusted_starts_no_program_until_it_is(opened, tmp_path):
    root = tmp_path / "shop"
    playground(PlaygroundRequest(root))
    # All that a project can bring: a setting, an environment, tasks that start with the folder.
    spy = _program(tmp_path, 'echo "rocky 0.2.0"')
    for place in (".venv/bin", "venv/bin"):
        (root / place).mkdir(parents=True)
        (root / place / "rocky").symlink_to(spy)
    (root / ".vscode").mkdir()
    (root / ".vscode/settings.json").write_text(f'{{"rocky.server.path": "{spy}"}}')
    editor = opened(
        root,
        root / "models/marts/fct_revenue.sql",
        security__workspace__trust__enabled=True,
        security__workspace__trust__startupPrompt="never",
    )
    editor.wait_for(".statusbar", "Restricted Mode")
    editor.wait_for(".monaco-editor .view-line", "WITH")
    assert [] == _commands(editor, "Rocky: ")
    assert not (tmp_path / "asked").exists()
    assert not editor.page.ask(f"Boolean(document.querySelector({STATUS!r}))")

    # Whoever trusts it gets the project's own program, and that this is seen shows that it would have been.
    editor.command("Workspaces: Manage Workspace Trust")
    editor.click(".workspace-trust-editor .monaco-button", "Trust")
    editor.wait_until((tmp_path / "asked").exists)


def _commands(editor: Editor, title: str) -> list[str]:
    """The commands of the palette that begin so, once it has looked for them."""
    editor.press("F1", 112)
    editor.wait("document.activeElement?.closest('.quick-input-widget')")
    editor.page.type(title)
    rows = "[...document.querySelectorAll('.quick-input-list .monaco-list-row')].map((each) => each.innerText)"
    editor.wait(f"{rows}.length && !{rows}.some((each) => each.includes('Loading'))")
    found = editor.page.ask(rows)
    editor.press("Escape", 27)
    return [each for each in found if each.startswith(title)]


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
