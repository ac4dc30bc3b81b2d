"""Standard output and standard error: the only place that writes to them.

Standard output carries the answer; notes and failures go to standard error. A name that the
terminal cannot show is escaped, never a reason to stop.
"""

import json
import sys
from io import TextIOWrapper
from typing import Any

import click

from rocky.errors import InternalError
from rocky.version import __version__


def make_output_safe() -> None:
    """Escape what the streams cannot encode: file names may hold bytes that are not UTF-8."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def write_text(text: str, *, newline: bool = False) -> None:
    click.echo(text, nl=newline)


def write_line(text: str = "") -> None:
    click.echo(text)


def write_note(text: str) -> None:
    """A line for people, out of the way of the answer."""
    click.echo(text, err=True)


def write_json(command: str, document: dict[str, Any]) -> None:
    """The one JSON document of a command: compact in a pipe, indented on a terminal."""
    whole = {"version": __version__, "command": command, **document}
    indent = 2 if sys.stdout.isatty() else None
    separators = None if indent else (",", ":")
    ascii_only = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    click.echo(json.dumps(whole, indent=indent, separators=separators, ensure_ascii=ascii_only))


def report_failure(failure: BaseException, command: str | None, *, as_json: bool) -> None:
    """Say what failed: a line on standard error and, in JSON mode, the document as well."""
    message = describe_failure(failure)
    if as_json:
        write_json(command or "", {"error": {"kind": type(failure).__name__, "message": message}})
    write_note(f"error: {message}")


def describe_failure(failure: BaseException) -> str:
    if isinstance(failure, InternalError):
        return f"{failure}\nthis is a defect in Rocky: please report it"
    if isinstance(failure, OSError) and failure.strerror:
        place = f" `{failure.filename}`" if failure.filename else ""
        return f"cannot use{place}: {failure.strerror.lower()}"
    return str(failure)
