"""Servers in front of servers that fail as servers do: die, hang, crawl, err, lose an answer."""

import http.client
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

SLOW_SECONDS = 0.3
_OURS = ("content-length", "transfer-encoding", "connection")

Judge = Callable[[str, str], str | None]
"""Says by method and path what is to go wrong with a request; None when nothing is."""


@dataclass
class HttpFaults:
    """What goes wrong next, and what was asked so far.

    A fault is a status, `hang`, `slow`, `drop` (no answer), `lost` (no answer, but it was done) or
    `cut` (half of an answer). `created` are the paths of puts that asked to be the first.
    A server that `is_heedless` overlooks the conditions of requests.
    """

    upstream: str
    url: str = ""
    judge: Judge = lambda _, __: None
    seen: list[tuple[str, str]] = field(default_factory=list)
    created: list[str] = field(default_factory=list)
    before_put: Callable[[], None] = lambda: None
    released: threading.Event = field(default_factory=threading.Event)
    is_heedless: bool = False
    putting: threading.Lock = field(default_factory=threading.Lock)

    def fail(
        self, fault: str, times: int | None = None, *, method: str = "", path: str = ""
    ) -> None:
        """Let requests go wrong: so many of them, or all from now on."""
        left = [times]

        def judge(asked: str, where: str) -> str | None:
            if (method and asked != method) or path not in where or left[0] == 0:
                return None
            if left[0] is not None:
                left[0] -= 1
            return fault

        self.judge = judge

    def heal(self) -> None:
        self.judge = lambda _, __: None


class _Proxy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    faults: HttpFaults

    def answer(self) -> None:
        faults = self.faults
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        faults.seen.append((self.command, self.path))
        if self.headers.get("If-None-Match") == "*":
            faults.created.append(self.path)
        fault = faults.judge(self.command, self.path) or "none"
        if fault in ("hang", "slow"):
            faults.released.wait(60 if fault == "hang" else SLOW_SECONDS)
        if fault in ("hang", "drop"):
            self.close_connection = True
        elif fault.isdigit():
            self.reply(int(fault), [], b"<Error><Code>Injected</Code></Error>")
        else:
            self.pass_on(body, fault)

    def pass_on(self, body: bytes, fault: str) -> None:
        if self.command == "PUT":
            self.faults.before_put()
            # The server looks at a condition and writes in two steps, and is to do both as one.
            with self.faults.putting:
                found = self.forward(body)
        else:
            found = self.forward(body)
        if fault in ("lost", "cut"):
            self.close_connection = True
        if fault != "lost":
            self.reply(*found, is_cut=fault == "cut")

    def forward(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        address = urlsplit(self.faults.upstream).netloc
        connection = http.client.HTTPConnection(address, timeout=30)
        try:
            headers = dict(self.headers)
            if self.faults.is_heedless:
                headers = {name: headers[name] for name in headers if name.lower()[:3] != "if-"}
            connection.request(self.command, self.path, body, headers)
            found = connection.getresponse()
            return found.status, found.getheaders(), found.read()
        finally:
            connection.close()

    def reply(
        self, status: int, headers: list[tuple[str, str]], data: bytes, *, is_cut: bool = False
    ) -> None:
        is_head = self.command == "HEAD"
        kept = [each for each in headers if each[0].lower() not in _OURS]
        length = [each for each in headers if is_head and each[0].lower() == "content-length"]
        with suppress(OSError):
            self.send_response_only(status)
            for name, value in [*kept, *(length or [("Content-Length", str(len(data)))])]:
                self.send_header(name, value)
            self.end_headers()
            if not is_head:
                self.wfile.write(data[: len(data) // 2] if is_cut else data)

    do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = answer  # noqa: N815 - the library's names

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def http_faults(upstream: str) -> Iterator[HttpFaults]:
    """A proxy before an HTTP server."""
    faults = HttpFaults(upstream)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Proxy", (_Proxy,), {"faults": faults}))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    faults.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield faults
    finally:
        faults.released.set()
        server.shutdown()
        thread.join()
        server.server_close()


class TcpFaults:
    """A proxy before any server. `mode`: `pass`, `refuse`, `hang`, `lost` (once, when done)."""

    def __init__(self, upstream: int) -> None:
        self.mode = "pass"
        self._upstream = upstream
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets = [self._listener]
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        for each in self._sockets:
            each.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.mode == "refuse":
                client.close()
                continue
            server = socket.create_connection(("127.0.0.1", self._upstream))
            self._sockets += (client, server)
            for work in (self._ask, self._answer):
                threading.Thread(target=work, args=(client, server), daemon=True).start()

    def _ask(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(65536):
                server.sendall(data)

    def _answer(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                if self.mode == "hang":
                    continue
                if self.mode in ("lost", "refuse"):
                    self.mode = "pass" if self.mode == "lost" else self.mode
                    break
                client.sendall(data)
        for each in (client, server):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


@contextmanager
def tcp_faults(upstream: int) -> Iterator[TcpFaults]:
    faults = TcpFaults(upstream)
    try:
        yield faults
    finally:
        faults.close()
