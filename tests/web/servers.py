"""Servers of projects, and requests as any program can make them."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any, NamedTuple

from rocky.operations.workspace import Workspace
from rocky.web.address import ServerSettings
from rocky.web.server import PageServer


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)


@contextmanager
def serving(workspace: Workspace, **settings: Any) -> Iterator[PageServer]:
    """A server that answers until the end."""
    server = PageServer(lambda: workspace, ServerSettings(**settings))
    server.start()
    try:
        # From here on nothing that changes is missed.
        assert server.answers
        yield server
    finally:
        server.close()


def ask(
    server: PageServer,
    path: str,
    *,
    method: str = "GET",
    body: bytes | None = None,
    token: str | None = "own",
    **headers: str,
) -> Answer:
    """What a server answers; with its own token, another, or None. Headers are `Sec_Fetch_Site`."""
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    given = server.guard.token if token == "own" else token
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if given is not None and "Authorization" not in sent:
        sent["Cookie"] = f"{server.guard.cookie}={given}"
    try:
        connection.putrequest(method, path, skip_host="Host" in sent, skip_accept_encoding=True)
        for name, value in sent.items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        # A stream has no end: of it only the beginning is read.
        is_stream = answer.getheader("Content-Type", "").startswith("text/event-stream")
        read = answer.read1(100) if is_stream else answer.read()
        return Answer(answer.status, dict(answer.getheaders()), read)
    finally:
        connection.close()
