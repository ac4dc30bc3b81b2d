"""A client of the language server: a real process, real streams, every message as it came.

The process is forked from one that has loaded Rocky, unless a test asks for the program itself.

What the server sends is read by a thread; a test waits for what it names, and for nothing else.
"""

import json
import os
import queue
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any, Self

from tests.processes import Running, run_command

ROOT = Path(__file__).parents[2]
PATIENCE = 120.0
"""Seconds: nobody waits as long unless the server is stuck, or the machine busy."""


class Client:
    """An editor without a window."""

    def __init__(self, folder: Path, *, program: bool = False) -> None:
        self.process = _program(folder) if program else Running(run_command, "lsp", cwd=folder)
        self._input, self._output = self.process.stdin.buffer, self.process.stdout.buffer
        self.folder = folder
        self.heard: list[dict[str, Any]] = []
        self.diagnostics: dict[str, dict[str, Any]] = {}
        self._messages: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._id = 0
        self.legend: dict[str, list[str]] = {}
        self._versions: dict[str, int] = {}
        Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with suppress(BrokenPipeError):
                stream.close()

    def _listen(self) -> None:
        out = self._output
        try:
            while head := out.readline():
                assert head.startswith(b"Content-Length: "), head
                assert out.readline() == b"\r\n"
                self._messages.put(json.loads(out.read(int(head.split(b":")[1]))))
        except ValueError:
            pass  # Closed by the test, which is over.
        self._messages.put(None)

    def send(self, message: dict[str, Any]) -> None:
        self.send_bytes(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def send_bytes(self, body: bytes) -> None:
        self._input.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._input.flush()

    def notify(self, method: str, params: Any) -> None:
        self.send({"method": method, "params": params})

    def begin(self, method: str, params: Any) -> int:
        self._id += 1
        self.send({"id": self._id, "method": method, "params": params})
        return self._id

    def ask(self, method: str, params: Any) -> Any:
        number = self.begin(method, params)
        answer = self.wait(lambda each: each.get("id") == number and "method" not in each)
        assert "error" not in answer, answer
        return answer["result"]

    def refusal(self, method: str, params: Any) -> dict[str, Any]:
        """The error that a request is answered by."""
        number = self.begin(method, params)
        return self.wait(lambda each: each.get("id") == number and "method" not in each)["error"]

    def wait(self, is_it: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next message that is meant."""
        while True:
            message = self._messages.get(timeout=PATIENCE)
            assert message is not None, "the server is gone"
            self.heard.append(message)
            if message.get("method") == "textDocument/publishDiagnostics":
                self.diagnostics[message["params"]["uri"]] = message["params"]
            if is_it(message):
                return message

    # ------------------------------------------------------------------ what editors do

    def start(
        self, folders: list[Path] | None = None, *, trusted: bool = False, **capabilities: Any
    ) -> Any:
        uris = [each.as_uri() for each in folders or [self.folder]]
        params = {
            "processId": None,
            "rootUri": uris[0],
            "workspaceFolders": [{"uri": each, "name": each} for each in uris],
            "capabilities": capabilities,
            "initializationOptions": {"trusted": trusted},
        }
        found = self.ask("initialize", params)
        self.legend = found["capabilities"]["semanticTokensProvider"]["legend"]
        self.notify("initialized", {})
        return found

    def opened(self) -> list[str]:
        """The documents that are open, which are then taken for closed."""
        found, self._versions = list(self._versions), {}
        return found

    def uri(self, path: str) -> str:
        return (self.folder / path).as_uri()

    def open(self, path: str, text: str | None = None) -> str:
        uri = self.uri(path)
        if self._versions.pop(uri, None) is not None:
            self.close(uri)
        self._versions[uri] = 1
        shown = (self.folder / path).read_text() if text is None else text
        item = {"uri": uri, "languageId": "sql", "version": 1, "text": shown}
        self.notify("textDocument/didOpen", {"textDocument": item})
        return uri

    def change(self, uri: str, *changes: dict[str, Any]) -> int:
        self._versions[uri] += 1
        document = {"uri": uri, "version": self._versions[uri]}
        params = {"textDocument": document, "contentChanges": list(changes)}
        self.notify("textDocument/didChange", params)
        return self._versions[uri]

    def close(self, uri: str) -> None:
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def published(self, uri: str, version: int | None = None) -> list[dict[str, Any]]:
        """What the server says next of a document, of this version if one is named."""

        def is_it(message: dict[str, Any]) -> bool:
            if message.get("method") != "textDocument/publishDiagnostics":
                return False
            params = message["params"]
            return params["uri"] == uri and (version is None or params.get("version") == version)

        return self.wait(is_it)["params"]["diagnostics"]

    def settled(self) -> dict[str, Any]:
        """Wait until everything that was sent so far has been followed, readers included."""
        return self.ask("rocky/status", {})

    def stop(self) -> int:
        self.ask("shutdown", None)
        self.notify("exit", None)
        return self.process.wait(PATIENCE)


def _program(folder: Path) -> Any:
    return subprocess.Popen(
        [sys.executable, "-m", "rocky.cli", "lsp"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def place(line: int, character: int) -> dict[str, int]:
    return {"line": line, "character": character}


def replaced(start: dict[str, int], end: dict[str, int], text: str) -> dict[str, Any]:
    return {"range": {"start": start, "end": end}, "text": text}
