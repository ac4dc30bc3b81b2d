"""Delivery: one event to one hook, tried again where that may help, and never for long.

A command gets the event on its standard input: nothing of it is put into the command line, and
`${NAME}` in that line is left to the shell, so that no value becomes a command. An address gets it
in a request whose time and body are signed; redirects are not followed, since they could carry it
elsewhere. What is told of a hook that failed never shows its address or a secret.
"""

import hashlib
import hmac
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryFile
from threading import Thread
from typing import IO, Any, Final
from urllib.parse import urlsplit

from rocky.canonical import line_json
from rocky.hooks.events import Event
from rocky.hooks.formats import body_of
from rocky.project.configuration.hooks import Hook
from rocky.project.secrets import Secrets, is_secret_name
from rocky.project.toml.variables import Substituted, written
from rocky.run.outcomes import HookDelivery
from rocky.version import __version__

MOST_SECONDS: Final = 60.0
"""All tries of one hook together."""
_FIRST_WAIT: Final = 1.0
_AGAIN: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_TOLD: Final = 200
_PIECE: Final = 4096
_AFTERWARDS: Final = 1.0
"""How long is waited for the last words of a command that has ended."""
_WORD: Final = 6
"""A value of a variable that is shorter stands in every text."""
_ASSIGNED: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_NAMED: Final = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where commands run, and in which environment."""

    root: Path
    environment: Mapping[str, str]


def target_of(hook: Hook) -> str:
    """What a hook calls, as it may be shown: a command's program, an address's host."""
    if hook.command is not None:
        # As it stands in the file: what a variable resolved to may be a secret.
        words = written(hook.command).split()
        # A shell takes variables before the program, and one of them may be a secret.
        named = next((word for word in words if not _ASSIGNED.match(word)), "")
        return f"command `{named}`"
    return f"{hook.format} at {urlsplit(hook.url or '').hostname or 'no host'}"


def deliver(hook: Hook, event: Event, place: Surroundings) -> HookDelivery:
    """Tell a hook of an event. A failure is in the answer, and never raised."""
    document = event.document()
    body = line_json(body_of(hook, document)).encode()
    send = _run_command if hook.command is not None else _post
    ends = time.monotonic() + MOST_SECONDS
    wait, error = _FIRST_WAIT, None
    attempts = 0
    for _ in range(1 + hook.retries):
        attempts += 1
        try:
            error = send(hook, event, body, place, document)
        except (OSError, RuntimeError) as failure:
            # No room for what a command is given, or no thread to wait in.
            error = _Refusal(str(failure) or type(failure).__name__, may_help=False)
        if error is None or not error.may_help:
            break
        if time.monotonic() + wait > ends or attempts > hook.retries:
            break
        time.sleep(wait)
        wait *= 2
    said = None if error is None else _shown(_secrets(hook, place).scrub(error.message))
    return HookDelivery(event.name, target_of(hook), attempts, said, hook.required)


def _shown(text: str) -> str:
    """What somebody else wrote, in one line that can do nothing to a terminal."""
    return "".join(each if each.isprintable() else " " for each in text[:_TOLD])


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Why a hook did not take an event, and whether another try may help."""

    message: str
    may_help: bool = True


def _secrets(hook: Hook, place: Surroundings) -> Secrets:
    texts = [hook.url, hook.secret, hook.routing_key, *hook.headers.values()]
    from_outside = [value for value in hook.env.values() if isinstance(value, Substituted)]
    named = _NAMED.findall(written(hook.command or ""))
    values = [place.environment.get(name, "") for name in named]
    # A script may tell what its line does not name.
    values += [value for name, value in place.environment.items() if is_secret_name(name)]
    return Secrets([*texts, *from_outside, *(each for each in values if len(each) >= _WORD)])


def _run_command(
    hook: Hook, event: Event, body: bytes, place: Surroundings, document: Mapping[str, Any]
) -> _Refusal | None:
    environment = {
        **place.environment,
        **hook.env,
        "ROCKY_EVENT": event.name,
        "ROCKY_RUN_ID": event.run_id or "",
        "ROCKY_DELIVERY": str(document["delivery"]),
    }
    with TemporaryFile() as given:
        given.write(body + b"\n")
        given.seek(0)
        try:
            process = subprocess.Popen(
                ["/bin/sh", "-c", written(hook.command or "")],
                cwd=place.root,
                env=environment,
                stdin=given,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as failure:
            return _Refusal(str(failure), may_help=False)
        errors = _LastWords(process.stderr)
        try:
            process.wait(hook.timeout_seconds)
        except subprocess.TimeoutExpired:
            # With whatever it has started.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return _Refusal(f"it did not end within {hook.timeout_seconds} s", may_help=False)
    if process.returncode == 0:
        return None
    return _Refusal(f"it ended with {process.returncode}{errors.last_line()}")


class _LastWords:
    """The end of what a command wrote to its standard error, however much that was.

    Read in a thread: a child that went its own way may hold the pipe open for ever.
    """

    def __init__(self, pipe: IO[bytes] | None) -> None:
        self._kept = b""
        self._thread = Thread(target=self._read, args=(pipe,), daemon=True)
        self._thread.start()

    def _read(self, pipe: Any) -> None:
        with pipe:
            while piece := pipe.read1(_PIECE):
                self._kept = (self._kept + piece)[-_PIECE:]

    def last_line(self) -> str:
        self._thread.join(_AFTERWARDS)
        lines = self._kept.decode(errors="replace").strip().splitlines()
        return f": {lines[-1]}" if lines else ""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


_OPENER: Final = urllib.request.build_opener(_NoRedirect)


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """What proves who sent a body, and when."""
    made = hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256)
    return f"v1={made.hexdigest()}"


def _post(
    hook: Hook, event: Event, body: bytes, _: Surroundings, document: Mapping[str, Any]
) -> _Refusal | None:
    timestamp = str(int(time.time()))
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"rocky/{__version__}",
        **hook.headers,
        "X-Rocky-Event": event.name,
        "X-Rocky-Delivery": str(document["delivery"]),
        "X-Rocky-Timestamp": timestamp,
    }
    if hook.secret is not None:
        headers["X-Rocky-Signature"] = signature(hook.secret, timestamp, body)
    answered: list[_Refusal | None] = []
    ask = Thread(target=lambda: answered.append(_ask(hook, body, headers)), daemon=True)
    ask.start()
    # The limit of a socket is one for each of its bytes; this is one for the answer.
    ask.join(hook.timeout_seconds)
    if not answered:
        return _late(hook)
    return answered[0]


def _late(hook: Hook) -> _Refusal:
    return _Refusal(f"it did not answer within {hook.timeout_seconds} s")


def _ask(hook: Hook, body: bytes, headers: Mapping[str, str]) -> _Refusal | None:
    try:
        request = urllib.request.Request(hook.url or "", body, dict(headers), method="POST")
        with _OPENER.open(request, timeout=hook.timeout_seconds) as answer:
            answer.read(1)
    except urllib.error.HTTPError as refused:
        with refused:
            return _Refusal(f"HTTP {refused.code} {refused.reason}", refused.code in _AGAIN)
    except HTTPException as failure:
        return _Refusal(f"it answered with no HTTP ({type(failure).__name__})", may_help=False)
    except OSError as failure:
        reason = failure.reason if isinstance(failure, urllib.error.URLError) else failure
        if isinstance(reason, TimeoutError):
            # The socket's limit and that of the whole answer end together; either may be first.
            return _late(hook)
        return _Refusal(str(reason) or type(reason).__name__)
    except ValueError:
        # What Python says of it shows the value.
        message = "its address or a header holds what HTTP does not take, such as the end of a line"
        return _Refusal(message, may_help=False)
    return None
