"""Delivery: one event to one hook, tried again where that may help, and never for long.

A command gets the event on its standard input: nothing of it is put into the command line. An
address gets it in a request whose time and body are signed; redirects are not followed, since they
could carry it elsewhere. What is told of a hook that failed never shows its address or a secret.
"""

import hashlib
import hmac
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from rocky.canonical import line_json
from rocky.hooks.events import Event
from rocky.hooks.formats import body_of
from rocky.project.configuration.hooks import Hook
from rocky.project.secrets import Secrets
from rocky.project.toml.variables import Substituted
from rocky.run.outcomes import HookDelivery
from rocky.version import __version__

MOST_SECONDS: Final = 60.0
"""All tries of one hook together."""
_FIRST_WAIT: Final = 1.0
_AGAIN: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_TOLD: Final = 200


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where commands run, and in which environment."""

    root: Path
    environment: Mapping[str, str]


def target_of(hook: Hook) -> str:
    """What a hook calls, as it may be shown: a command's program, an address's host."""
    if hook.command is not None:
        return f"command `{hook.command.split()[0] if hook.command.split() else ''}`"
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
        error = send(hook, event, body, place, document)
        if error is None or not error.may_help:
            break
        if time.monotonic() + wait > ends or attempts > hook.retries:
            break
        time.sleep(wait)
        wait *= 2
    said = None if error is None else _secrets(hook).scrub(error.message)[:_TOLD]
    return HookDelivery(event.name, target_of(hook), attempts, said, hook.required)


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Why a hook did not take an event, and whether another try may help."""

    message: str
    may_help: bool = True


def _secrets(hook: Hook) -> Secrets:
    texts = [hook.url, hook.secret, hook.routing_key, *hook.headers.values()]
    from_outside = [value for value in hook.env.values() if isinstance(value, Substituted)]
    return Secrets([*texts, *from_outside])


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
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", hook.command or ""],
            cwd=place.root,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as failure:
        return _Refusal(str(failure), may_help=False)
    try:
        _, errors = process.communicate(body + b"\n", timeout=hook.timeout_seconds)
    except subprocess.TimeoutExpired:
        # With whatever it has started.
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return _Refusal(f"it did not end within {hook.timeout_seconds} s", may_help=False)
    if process.returncode == 0:
        return None
    lines = errors.decode(errors="replace").strip().splitlines()
    last = f": {lines[-1]}" if lines else ""
    return _Refusal(f"it ended with {process.returncode}{last}")


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
    try:
        request = urllib.request.Request(hook.url or "", body, headers, method="POST")
        with _OPENER.open(request, timeout=hook.timeout_seconds) as answer:
            answer.read(1)
    except urllib.error.HTTPError as refused:
        with refused:
            return _Refusal(f"HTTP {refused.code} {refused.reason}", refused.code in _AGAIN)
    except (OSError, ValueError) as failure:
        reason = failure.reason if isinstance(failure, urllib.error.URLError) else failure
        return _Refusal(str(reason) or type(reason).__name__)
    return None
