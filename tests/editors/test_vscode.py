"""The extension in a real VS Code, in a real browser: what somebody sees who opens a project.

Needs `make vscode vscode-server`; left out where that was not made.
"""

import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.parse import quote

import pytest

from rocky.operations.migration.template import PlaygroundRequest, playground
from tests.servers.browser import Browser, Page, open_browser

pytestmark = [pytest.mark.slow, pytest.mark.server, pytest.mark.exhaustive]

ROOT = Path(__file__).parents[2]
NODE = ROOT / ".venv/node/bin/node"
SERVER = ROOT / ".venv/node/code-server/node_modules/code-server/out/node/entry.js"
PACKAGE = ROOT / "editors/vscode/dist/rocky.vsix"
SETTINGS = {
    "security.workspace.trust.enabled": False,
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
    "telemetry.telemetryLevel": "off",
    "extensions.autoCheckUpdates": False,
    "chat.disableAIFeatures": True,
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "editor.minimap.enabled": False,
    "rocky.server.path": str(Path(sys.executable).with_name("rocky")),
}
_SECONDS = 90


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    if not (SERVER.exists() and PACKAGE.exists()):
        pytest.skip("needs the extension and a VS Code: make vscode vscode-server")
    home = tmp_path_factory.mktemp("code")
    settings = home / "data/User/settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps(SETTINGS))
    arguments = ["--install-extension", str(PACKAGE), *folders(home)]
    subprocess.run([NODE, SERVER, *arguments], check=True, capture_output=True, timeout=_SECONDS)
    return home


def folders(home: Path) -> list[str]:
    return ["--user-data-dir", str(home / "data"), "--extensions-dir", str(home / "extensions")]


@pytest.fixture(scope="module")
def shop(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("project") / "shop"
    playground(PlaygroundRequest(root))
    return root


@pytest.fixture(scope="module")
def address(home) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    place = f"127.0.0.1:{port}"
    said = (home / "server.log").open("w")
    process = subprocess.Popen(
        [NODE, SERVER, "--auth", "none", "--bind-addr", place, "--disable-telemetry",
         "--disable-update-check", *folders(home)],
        stdout=said, stderr=said,
    )  # fmt: skip
    try:
        until = time.monotonic() + _SECONDS
        while True:
            try:
                urllib.request.urlopen(f"http://{place}/healthz", timeout=1).read()
                break
            except (URLError, OSError):
                assert time.monotonic() < until, (home / "server.log").read_text()
                time.sleep(0.2)
        yield f"http://{place}"
    finally:
        process.terminate()
        process.wait(20)
        said.close()


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[Browser]:
    with open_browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="module")
def page(browser, address, shop) -> Page:
    """The editor with `fct_revenue` open."""
    page = browser.open_page(width=1440, height=900)
    file = f"vscode-remote://{address.removeprefix('http://')}{shop}/models/marts/fct_revenue.sql"
    page.visit(f"{address}/?folder={shop}&payload={quote(json.dumps([['openFile', file]]))}")
    wait(page, "document.querySelector('.monaco-editor .view-line')")
    return page


def wait(page: Page, expression: str) -> object:
    """As `Page.wait`, with the patience that a whole editor asks for."""
    until = time.monotonic() + _SECONDS
    while not (found := page.ask(f"Boolean({expression})")):
        assert time.monotonic() < until, f"never true: {expression}"
        time.sleep(0.1)
    return found


def test_the_status_bar_says_that_the_project_is_fine(page):
    wait(page, "document.querySelector('[id=\"rocky-spark.rocky.rocky.status\"]')")
    wait(page, "/Rocky/.test(document.querySelector('.statusbar').innerText)")


def test_a_misspelt_column_is_underlined_before_it_is_saved(page, shop):
    path = shop / "models/marts/fct_revenue.sql"
    before = path.read_text()
    last = "document.querySelector('.monaco-editor .view-line:last-child').getBoundingClientRect()"
    x, y = page.ask(f"[{last}.x + 200, {last}.y + 8]")

    page.click(x, y)
    page.type("WHERE amuont > 0")
    wait(page, "document.querySelector('.squiggly-error')")

    assert before == path.read_text()


def test_the_views_list_models_and_runs(page):
    page.ask("document.querySelector('.activitybar [aria-label=\"Rocky\"]').click()")
    wait(page, "/stg_customers/.test(document.querySelector('.sidebar').innerText)")
    wait(page, "/Nothing has run here yet/.test(document.querySelector('.sidebar').innerText)")


def test_the_lineage_of_the_open_model_is_shown_beside_it(page):
    page.ask("document.querySelector('.editor-actions [aria-label^=\"Show Lineage\"]').click()")
    wait(page, "/Lineage/.test(document.querySelector('.panel .composite.title').innerText)")
    wait(page, "document.querySelector('iframe.webview.ready')")
