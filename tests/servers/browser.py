"""A real Chromium without a window, spoken to over two pipes in its own debugging protocol."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_SECONDS = 120
_OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    # Without it a canvas is drawn by an emulated GPU, a second a frame.
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)


def browser_binary() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


@contextmanager
def open_browser(folder: Path) -> Iterator["Browser"]:
    """A browser that keeps its files in a folder; skips where there is none to start."""
    binary = browser_binary()
    if binary is None:
        pytest.skip("needs a browser: apt-get install chromium")
    commands, to_browser = os.pipe()
    from_browser, answers = os.pipe()
    # Above 9, so that neither is one of the two that the browser wants.
    ends = [fcntl.fcntl(each, fcntl.F_DUPFD, 10) for each in (commands, answers)]
    for each in (commands, answers):
        os.close(each)
    process = subprocess.Popen(
        [
            "bash",
            "-c",
            f'exec "$0" "$@" 3<&{ends[0]} 4>&{ends[1]}',
            binary,
            *_OPTIONS,
            f"--user-data-dir={folder}",
        ],
        pass_fds=ends,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for each in ends:
        os.close(each)
    try:
        yield Browser(to_browser, from_browser)
    finally:
        os.close(to_browser)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(_SECONDS)
        os.close(from_browser)


class Browser:
    """The browser: a command is a method of the protocol, and events are kept as they come."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._rest = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def send(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """What the browser answers to a command."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + _SECONDS
        while True:
            found = self._read(deadline)
            if found.get("id") == self._number:
                assert "error" not in found, f"{method}: {found.get('error')}"
                return dict(found["result"])
            self.events.append(found)

    def _read(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], max(0, deadline - time.monotonic()))
            assert ready, "the browser does not answer"
            read = os.read(self._from, 1 << 20)
            assert read, "the browser ended"
            self._rest += read
        text, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(text))

    def open_page(
        self, *, width: int = 1280, height: int = 900, dark: bool = False, apart: bool = False
    ) -> "Page":
        """An empty page of a size; `apart` it knows nothing of what other pages have stored."""
        within = {"browserContextId": self._context()} if apart else {}
        target = self.send("Target.createTarget", url="about:blank", **within)["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, target)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.send(f"{domain}.enable")
        page.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        page.send("Emulation.setEmulatedMedia", features=[scheme])
        return page

    def targets(self) -> set[str]:
        found = self.send("Target.getTargets")["targetInfos"]
        return {str(each["targetId"]) for each in found}

    def _context(self) -> str:
        return str(self.send("Target.createBrowserContext")["browserContextId"])


class Page:
    """One page of a browser."""

    def __init__(self, browser: Browser, session: str, target: str) -> None:
        self._browser, self._session, self._target = browser, session, target

    def close(self) -> None:
        """Close it, and wait until it is gone."""
        self._browser.send("Target.closeTarget", targetId=self._target)
        deadline = time.monotonic() + _SECONDS
        while self._target in self._browser.targets():
            assert time.monotonic() < deadline, "the page stays open"
            time.sleep(0.03)

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._browser.send(method, self._session, **parameters)

    def visit(self, address: str) -> None:
        self.send("Page.navigate", url=address)
        self.wait("document.readyState === 'complete'")

    def ask(self, expression: str) -> Any:
        """The value of an expression; a promise is waited for."""
        found = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, expression: str) -> Any:
        """The value of an expression, once it is one that counts as true."""
        deadline = time.monotonic() + _SECONDS
        while not (value := self._ask_on_the_way(expression)):
            assert time.monotonic() < deadline, f"never true: {expression}"
            time.sleep(0.03)
        return value

    def _ask_on_the_way(self, expression: str) -> Any:
        """The value, or nothing while the page is left for another."""
        try:
            return self.ask(expression)
        except AssertionError as failure:
            if "navigated or closed" not in str(failure):
                raise
            return None

    def text(self, selector: str) -> str:
        """The text that people see in an element, once it is there."""
        chosen = json.dumps(selector)
        self.wait(f"document.querySelector({chosen}) !== null")
        return str(self.ask(f"document.querySelector({chosen}).innerText"))

    def type(self, text: str) -> None:
        self.send("Input.insertText", text=text)

    def press(self, key: str) -> None:
        codes = {"Enter": 13, "ArrowDown": 40, "ArrowRight": 39, "Escape": 27, "/": 191, "Tab": 9}
        shown = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
        held = {"key": key, "windowsVirtualKeyCode": codes[key]}
        self.send("Input.dispatchKeyEvent", type="keyDown", **held, **shown)
        self.send("Input.dispatchKeyEvent", type="keyUp", **held)

    def click(self, x: float, y: float, button: str = "left") -> None:
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=1)

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """A picture of what is seen, or of the whole page."""
        found = self.send("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))

    def complaints(self) -> list[str]:
        """What went wrong so far: errors, refusals of the page's own policy, failed loads."""
        self.ask("1")
        kinds: dict[str, Callable[[dict[str, Any]], str | None]] = {
            "Runtime.exceptionThrown": lambda each: json.dumps(each["exceptionDetails"]),
            "Runtime.consoleAPICalled": lambda each: (
                json.dumps(each["args"]) if each["type"] in ("error", "warning") else None
            ),
            "Log.entryAdded": lambda each: (
                f"{each['entry']['text']} {each['entry'].get('url', '')}"
            ),
            "Page.javascriptDialogOpening": lambda each: f"a dialogue: {each['message']}",
            "Network.loadingFailed": lambda each: f"not loaded: {each['errorText']}",
        }
        found = [
            kinds[event["method"]](event["params"])
            for event in self._browser.events
            if event.get("sessionId") == self._session and event["method"] in kinds
        ]
        return [each for each in found if each is not None]

    def requested(self) -> list[str]:
        """The addresses that the page has asked for."""
        return [
            str(event["params"]["request"]["url"])
            for event in self._browser.events
            if event.get("sessionId") == self._session
            and event["method"] == "Network.requestWillBeSent"
        ]
