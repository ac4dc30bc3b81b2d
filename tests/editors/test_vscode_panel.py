"""The lineage panel for everybody: by keyboard, for screen readers, in every theme, and for hostile projects."""

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.server, pytest.mark.exhaustive]


@pytest.mark.parametrize(
    ("theme", "body"),
    [
        ("Light Modern", ".vscode-light"),
        ("Dark Modern", ".vscode-dark"),
        ("Default High Contrast", ".vscode-high-contrast"),
    ],
    ids=["light", "dark", "contrast"],
)
def test_the_panel_breaks_no_rule_of_axe(opened, shop, theme, body):
    lineage = opened(shop, shop / "models/marts/fct_revenue.sql", workbench__colorTheme=theme)
    lineage.wait_served()
    lineage.show_lineage("fct_revenue")
    assert lineage.panel(f"page.body.matches('{body}')")
    broken = []
    for name in ("drift", "breaking", "replay", "governance"):
        lineage.panel(f"page.querySelector('[data-overlay={name}][aria-pressed=false]')?.click()")
        lineage.wait_panel("page.querySelector('.overlay-legend')?.innerText.includes('rocky ')")
        lineage.panel("page.querySelectorAll('details').forEach((each) => { each.open = true; })")
        lineage.panel("page.querySelector('.folders').hidden = false")
        broken += [f"{name}: {each}" for each in lineage.audit()]
    lineage.panel("location.hash = '#/details/fct_revenue'")
    lineage.wait_panel("page.body.dataset.page === 'details' && page.querySelector('main table')")
    broken += [f"details: {each}" for each in lineage.audit()]

    assert [] == broken


def test_the_panel_is_walked_by_keyboard_alone(lineage):
    lineage.command("Rocky: Show Lineage")
    lineage.wait_panel("page.hasFocus()")
    here = "((at) => at.getAttribute('aria-label') || at.getAttribute('placeholder') || at.innerText)(page.activeElement)"
    met: list[str] = []
    while not (met and met[-1].startswith("Lineage of fct_revenue")) and len(met) < 40:
        lineage.press("Tab", 9)
        met.append(str(lineage.panel(here)))
    assert {"How far", "Which way", "Folders", "Drift", "Breaking", "Replay", "Governance"} <= set(
        met
    )

    view = "page.querySelector('.graph').rockyView"
    lineage.press("ArrowLeft", 37)
    chosen = lineage.wait_panel(
        f"{view}.chosen !== {view}.focus && {view}.nodes[{view}.chosen].name"
    )
    assert chosen in str(lineage.panel(f"{view}.said.textContent"))
    lineage.press("Enter", 13)
    lineage.wait_for(".tab.active", str(chosen))
    lineage.wait_panel(f"page.querySelector('h1')?.textContent === {str(chosen)!r}")
    lineage.panel("location.hash = '#/table/fct_revenue'")
    lineage.wait_for(".tab.active", "fct_revenue")


def test_messages_of_other_origins_and_paths_out_of_the_project_are_ignored(lineage):
    """Any frame can send a message to any other; only those of the frame around the panel are the editor's."""
    send = (
        "page.defaultView.dispatchEvent(new page.defaultView.MessageEvent('message',"
        " {{ origin: {origin}, data: {{ kind: 'stopped', words: {words!r} }} }}))"
    )
    said = "page.querySelector('main').innerText"
    for origin in ("'null'", "'https://example.com'", "''"):
        lineage.panel(send.format(origin=origin, words="HACKED"))
        assert "HACKED" not in str(lineage.panel(said))
    # The editor's own is heeded, so the others would have been.
    lineage.panel(send.format(origin="page.defaultView.origin", words="It stopped."))
    assert "It stopped." == lineage.panel(said)

    lineage.panel("location.hash = '#/constructor/x'")
    lineage.panel("location.hash = '#/lineage/fct_revenue'")
    lineage.wait_panel("page.querySelector('.graph')?.rockyView.wide")
