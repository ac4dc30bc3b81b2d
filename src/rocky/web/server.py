"""The server of a page: the standard library's, on one address, for reading unless it says so.

It serves three things: the page's own files, by exact name; the protocol; and a stream that says
when something has changed. A request passes the guard first, whatever it asks for.
"""

import json
import logging
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from threading import BoundedSemaphore, Event, Lock, Thread
from typing import TYPE_CHECKING, Any, ClassVar, Final
from urllib.parse import parse_qs, urlsplit

from rocky.errors import InvalidRequest, RockyError, SourceUnreadable
from rocky.operations.page.site_folder import load_assets
from rocky.operations.report import format_report
from rocky.protocol.endpoint import API, describe_error, parse_arguments, parse_body
from rocky.protocol.notices import Notices
from rocky.version import __version__
from rocky.web.address import ServerAddress, ServerSettings, is_address
from rocky.web.fixed_answers import OPENED, TURNED_AWAY
from rocky.web.guard import HEADERS, Guard, Refusal, is_whole, local_hosts, new_token

# It says its address and shows the frame of the page before the project's code is loaded.
if TYPE_CHECKING:
    from rocky.operations.workspace import Workspace
    from rocky.web.answers import Answers
    from rocky.web.jobs import Jobs

logger = logging.getLogger(__name__)

START: Final = "live.html"
_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_JSON: Final = "application/json; charset=utf-8"
_LARGEST_BODY: Final = 64 * 1024
_MOST_STREAMS: Final = 32
_MOST_CONNECTIONS: Final = 128
"""Browsers open six; each costs a thread, for as long as it is open."""
_BEAT: Final = 10.0
_COMPACT: Final[dict[str, Any]] = {"separators": (",", ":")}


class PageServer(ThreadingHTTPServer):
    """A server of one project."""

    daemon_threads = True
    # A port that somebody else listens on is refused, and not shared.
    allow_reuse_address = True

    def __init__(self, open_workspace: "Callable[[], Workspace]", settings: ServerSettings) -> None:
        if settings.allow_actions and not settings.local:
            raise InvalidRequest("a server for others is for reading: it takes no actions")
        try:
            super().__init__((settings.host, settings.port), _Handler)
        except OSError as error:
            place = f"{settings.host}:{settings.port}"
            raise SourceUnreadable(
                f"cannot listen on `{place}`: {(error.strerror or str(error)).lower()};"
                " another `--port` may be free"
            ) from error
        token = new_token() if settings.local else None
        named = frozenset(each.lower() for each in settings.hosts)
        own = local_hosts(self.server_port) | {f"{settings.host}:{self.server_port}"}
        self.settings = settings
        self.guard = Guard(own | named, token, f"rocky-{self.server_port}")
        self.notices = Notices()
        self.streams = BoundedSemaphore(_MOST_STREAMS)
        self._connections = BoundedSemaphore(_MOST_CONNECTIONS)
        self.stop, self.opened = Event(), Event()
        self._open, self._opening = open_workspace, Lock()
        self._answers: Answers | None = None
        self._thread = Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.1}, name="rocky-page"
        )

    @property
    def address(self) -> ServerAddress:
        """The address to open."""
        query = "" if self.guard.token is None else f"?token={self.guard.token}"
        host = f"[{self.settings.host}]" if ":" in self.settings.host else self.settings.host
        return ServerAddress(
            f"http://{host}:{self.server_port}/{query}",
            self.settings.host,
            self.server_port,
            self.settings.allow_actions,
            self.guard.token,
        )

    @cached_property
    def assets(self) -> Mapping[str, bytes]:
        """The files of the page by name: those of every page, and those that need a server."""
        own = files("rocky.web") / "assets"
        return load_assets() | {
            each.name: each.read_bytes() for each in own.iterdir() if each.is_file()
        }

    @property
    def answers(self) -> "Answers":
        """What answers questions. It loads all that describes a project: after the start."""
        with self._opening:
            if self._answers is None:
                from rocky.web.answers import Answers  # noqa: PLC0415

                found = Answers(self._open(), self.notices, self.settings)
                found.open()
                self._answers = found
        return self._answers

    @property
    def jobs(self) -> "Jobs":
        """What acts."""
        return self.answers.jobs

    def start(self) -> None:
        """Answer, in threads of its own."""
        self._thread.start()
        Thread(target=self._warm_up, name="rocky-warm-up", daemon=True).start()

    def _warm_up(self) -> None:
        """Make what the page will ask for first while the browser is still opening it."""
        # Whoever asks is told why a project cannot be shown.
        with suppress(RockyError, OSError):
            self.answers.warm_up()

    def close(self) -> None:
        """End the server and all its streams."""
        self.stop.set()
        self.opened.set()
        self.notices.tell("end")
        # One that is being made ends with the process.
        if self._answers is not None:
            self._answers.close()
        self.shutdown()
        self._thread.join(5)
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        """A thread for a connection, while there are few enough."""
        if self._connections.acquire(blocking=False):
            super().process_request(request, client_address)
            return
        with suppress(OSError):
            # What was sent is read, else the system takes the answer back.
            request.settimeout(0.1)
            request.recv(_LARGEST_BODY)
            request.sendall(TURNED_AWAY)
        self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """One connection, from its first request to its last."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._connections.release()

    def handle_error(self, *_: Any) -> None:
        """Faults of ours are told, but for what was asked, which may have the token."""
        if not isinstance(fault := sys.exception(), OSError):
            logger.error("a request was not answered", exc_info=fault)


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server_version = "rocky"
    sys_version = ""
    timeout: ClassVar[float | None] = 60.0

    @property
    def _page(self) -> PageServer:
        assert isinstance(self.server, PageServer)
        return self.server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name is the library's
        """Nothing: an address may have the token."""

    # -------------------------------------------------------------- requests

    def parse_request(self) -> bool:
        """Read a request. One that is not as it should be is refused, and nothing may follow it."""
        if not super().parse_request():
            return False
        # What stands below a line that is no header was not read: a size may be among it.
        if is_whole(self.headers) and is_address(self.path):
            return True
        self.close_connection = True
        self._is_refused(Refusal(400, "this is not a request"))
        return False

    def do_GET(self) -> None:
        # A question has no body. One that has is not read, and must not pass for the next question:
        # a proxy may send that of somebody else on the same connection.
        said = self._brought()
        if said.get("Content-Length", "0") != "0" or "Transfer-Encoding" in said:
            self.close_connection = True
            self._is_refused(Refusal(400, "a question has no body"))
            return
        path, query = self._parts()
        if self._is_refused(self._page.guard.refuse_foreign(self._brought())):
            return
        if path == "/" and "token" in parse_qs(query):
            self._let_in(query)
            return
        guard = self._page.guard
        refusal = guard.refuse_stranger(self._brought())
        # The page itself may be opened by a link from anywhere; what it loads may not.
        if path != "/":
            refusal = refusal or guard.refuse_embedded(self._brought())
        if self._is_refused(refusal):
            return
        if path == f"{API}events":
            self._stream()
        elif path.startswith(API):
            self._answer(path.removeprefix(API), query)
        else:
            self._serve_file("index.html" if path == "/" else path.removeprefix("/"))

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        guard = self._page.guard
        refusal = (
            guard.refuse_foreign(self._brought())
            or guard.refuse_embedded(self._brought())
            or guard.refuse_stranger(self._brought())
            or guard.refuse_unasked(self._brought())
        )
        if refusal is not None:
            # What was sent with it is not read, so nothing can follow it.
            self.close_connection = True
            self._is_refused(refusal)
            return
        path, _ = self._parts()
        if path == f"{API}layouts":
            self._keep_layout()
            return
        body = self._body()
        if body is None:
            return
        name = path.removeprefix(f"{API}actions/")
        action = self._page.jobs.action(name) if path.startswith(f"{API}actions/") else None
        if action is None:
            message = "nothing can be changed here"
            if not self._page.settings.allow_actions and self._page.settings.local:
                message = "actions are not allowed: `rocky ui --allow-actions` does"
            self._is_refused(Refusal(403, message))
            return
        try:
            job = self._page.jobs.begin(
                action, parse_arguments(action.parameters, parse_body(body))
            )
        except RockyError as failure:
            self._send_error(failure)
            return
        self._send(202, format_report(self._head("actions"), job, **_COMPACT).encode(), _JSON)

    def _keep_layout(self) -> None:
        """Where a page has put boxes: nothing of the project, and nothing that decides anything."""
        found = self._page.answers.layouts
        if not found.keeps:
            self.close_connection = True
            self._is_refused(Refusal(403, "nothing can be changed here"))
            return
        body = self._body(found.largest)
        if body is None:
            return
        try:
            found.keep(body)
        except RockyError as failure:
            self._send_error(failure)
            return
        self._send(200, json.dumps(self._head("layouts")).encode(), _JSON)

    # -------------------------------------------------------------- answers

    def _let_in(self, query: str) -> None:
        """The first request: whoever brings the token gets the cookie."""
        given = parse_qs(query)["token"][0]
        if not self._page.guard.is_token(given):
            message = "this token is of another start of `rocky ui`: open the address it printed"
            self._is_refused(Refusal(401, message))
            return
        cookie = {"Set-Cookie": self._page.guard.cookie_of()}
        self._send(200, OPENED.encode(), _TYPES[".html"], cookie)
        self._page.opened.set()

    def _answer(self, name: str, query: str) -> None:
        if name == "openapi":
            self._send(200, (files("rocky.web") / "openapi.json").read_bytes(), _JSON)
            return
        try:
            found = self._page.answers.answer(name, query)
        except Exception as failure:  # noqa: BLE001 - whatever it is, it is said and nobody else is cut off
            self._send_error(failure)
            return
        self._send(200, found, _JSON)

    def _serve_file(self, name: str) -> None:
        name = START if name == "index.html" else name
        found = self._page.assets.get(name)
        kind = _TYPES.get(f".{name.rpartition('.')[2]}")
        if found is None or kind is None:
            self._is_refused(Refusal(404, "there is no such file"))
            return
        self._send(200, found, kind)

    def _stream(self) -> None:
        """What happens from now on, as it happens, until the browser leaves."""
        if not self._page.streams.acquire(blocking=False):
            self._is_refused(Refusal(503, "too many pages are open"))
            return
        try:
            self.close_connection = True
            self._send_head(200, "text/event-stream; charset=utf-8", {"Connection": "close"})
            if self.command == "HEAD":
                return
            number = self._page.notices.last
            self._write(b": here\n\n")
            while not self._page.stop.is_set():
                found = self._page.notices.after(number, _BEAT)
                text = "".join(f"event: {each.event}\ndata: {each.data}\n\n" for each in found)
                self._write(text.encode() or b": still here\n\n")
                number = found[-1].number if found else number
        except OSError:
            # The browser has left.
            return
        finally:
            self._page.streams.release()

    # -------------------------------------------------------------- the wire

    def _parts(self) -> tuple[str, str]:
        found = urlsplit(self.path)
        return found.path, found.query

    def _brought(self) -> dict[str, str]:
        """The headers; one that is said twice has both values, and so is none that is expected."""
        found: dict[str, str] = {}
        for name, value in self.headers.items():
            key = name.title()
            found[key] = f"{found[key]}, {value}" if key in found else value
        return found

    def _body(self, largest: int = _LARGEST_BODY) -> bytes | None:
        """What was sent; None, and refused, when it is too much or of no known size."""
        size = self._brought().get("Content-Length", "")
        is_short = size.isascii() and size.isdigit() and len(size) <= len(str(largest))
        if not is_short or int(size) > largest or "Transfer-Encoding" in self.headers:
            self.close_connection = True
            self._is_refused(Refusal(413, "what is sent must say its size, and be small"))
            return None
        return self.rfile.read(int(size))

    def _head(self, name: str) -> dict[str, str]:
        return {"version": __version__, "endpoint": name}

    def _is_refused(self, refusal: Refusal | None) -> bool:
        if refusal is None:
            return False
        error = {"kind": "Refused", "message": refusal.message}
        self._send(refusal.status, json.dumps({"error": error}).encode(), _JSON)
        return True

    def _send_error(self, failure: Exception) -> None:
        status, document = describe_error(failure)
        self._send(status, json.dumps(document).encode(), _JSON)

    def _send(
        self, status: int, body: bytes, kind: str, more: Mapping[str, str] | None = None
    ) -> None:
        length = {"Content-Length": str(len(body))}
        self._send_head(status, kind, length | dict(more or {}))
        if self.command != "HEAD":
            self._write(body)

    def _send_head(self, status: int, kind: str, more: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind, **more}.items():
            self.send_header(name, value)
        self.end_headers()

    def _write(self, data: bytes) -> None:
        try:
            self.wfile.write(data)
            self.wfile.flush()
        except TimeoutError as error:
            raise OSError("the browser does not read") from error
