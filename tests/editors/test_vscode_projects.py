"""Projects and environments of all kinds in a real VS Code: whose program is started, when, and what is said without one.

Each test has windows of its own, because it has settings of its own.
"""

from pathlib import Path

import pytest

from rocky.operations.migration.template import PlaygroundRequest, playground
from tests.editors.code import STATUS, TOLD, Editor

pytestmark = [pytest.mark.slow, pytest.mark.server, pytest.mark.exhaustive]


def test_without_a_program_it_says_where_it_looked_and_what_to_do(opened, shop):
    editor = opened(shop, rocky__server__path="/nowhere/rocky")
    said = "Rocky: `rocky.server.path` is /nowhere/rocky, which is no program."
    todo = (
        "Install it into the project's environment, or name it in the setting `rocky.server.path`."
    )

    editor.wait_told(f"{said} {todo}")
    editor.command("Rocky: Run All Models")
    editor.wait_told(said)


def test_what_looks_like_a_link_in_a_message_is_only_text(opened, shop):
    editor = opened(shop, rocky__server__path="/nowhere/[rocky](command:rocky.output)")

    editor.wait_for(TOLD, "[rocky] \u200b(command:rocky.output), which is no program.")
    assert not editor.page.ask(f"Boolean(document.querySelector({f'{TOLD} a'!r}))")


def test_a_program_that_is_too_old_is_not_started(opened, shop, tmp_path):
    old = _program(tmp_path, 'echo "rocky 0.1.3"')
    editor = opened(shop, rocky__server__path=str(old))

    editor.wait_for(".notifications-toasts", "is Rocky 0.1.3, and this extension needs 0.2.0")
    assert ["--version"] == (tmp_path / "asked").read_text().split()


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
