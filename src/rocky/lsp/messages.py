"""Messages: JSON-RPC over a pair of byte streams, each message with its length in front."""

import json
from collections.abc import Mapping
from threading import Lock
from typing import Any, BinaryIO, Final

Message = Mapping[str, Any]

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
NOT_INITIALIZED: Final = -32002
REQUEST_CANCELLED: Final = -32800
CONTENT_MODIFIED: Final = -32801
REQUEST_FAILED: Final = -32803

_MOST_BYTES: Final = 256 * 1024 * 1024


class ProtocolError(Exception):
    """What came is no message, and nobody can tell where the next one begins."""


class UnreadableMessage(Exception):
    """A message that is not JSON; the next one can be read all the same."""


def read_message(stream: BinaryIO) -> Message | None:
    """The next message; None when there are no more. Raises ProtocolError, UnreadableMessage."""
    length: int | None = None
    while True:
        line = stream.readline()
        if not line:
            if length is None:
                return None
            raise ProtocolError("the input ended inside a message")
        head = line.strip()
        if not head:
            break
        name, _, value = head.partition(b":")
        if name.strip().lower() == b"content-length":
            if not value.strip().isdigit() or int(value) > _MOST_BYTES:
                raise ProtocolError(f"`{head.decode(errors='replace')}` is no length of a message")
            length = int(value)
    if length is None:
        raise ProtocolError("a message has no `Content-Length`")
    body = stream.read(length)
    if len(body) < length:
        raise ProtocolError("the input ended inside a message")
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as failure:
        raise UnreadableMessage(str(failure)) from failure
    if not isinstance(found, dict):
        raise UnreadableMessage("a message is a JSON object")
    return found


class Outgoing:
    """What is sent, from any thread; a client that is gone hears nothing any more."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lock = Lock()
        self._asked = 0

    def notify(self, method: str, params: Any) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, params: Any) -> None:
        """Ask the client for something; whatever it answers, nothing here depends on it."""
        with self._lock:
            self._asked += 1
            number = self._asked
        message = {"jsonrpc": "2.0", "id": f"rocky-{number}", "method": method, "params": params}
        self._send(message)

    def answer(self, request: object, result: Any) -> None:
        self._send({"jsonrpc": "2.0", "id": request, "result": result})

    def refuse(self, request: object, code: int, message: str) -> None:
        error = {"code": code, "message": message}
        self._send({"jsonrpc": "2.0", "id": request, "error": error})

    def _send(self, message: dict[str, Any]) -> None:
        # Half a pair of UTF-16 has an escape in JSON and no encoding.
        body = json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode()
        with self._lock:
            try:
                self._stream.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
                self._stream.flush()
            except (BrokenPipeError, ValueError):
                # The reading end tells that the client is gone, and ends the server.
                return
