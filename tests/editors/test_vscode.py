"""The extension in a real VS Code, in a real browser: what somebody sees who opens a project.

`make test-all` makes what it needs first, and wants it to be there.
"""

import os
import signal
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.editors.code import STATUS

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

    # Not by a click: the line may be under the panel.
    editor.command("View: Focus Active Editor Group")
    editor.wait("document.activeElement?.closest('.editor-instance .monaco-editor')")
    editor.press("End", 35, modifiers=2)
    editor.page.type("WHERE amuont > 0")
    editor.wait_for(".monaco-editor .view-lines", "amuont")
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
