"""Standard output, standard error and exit codes: the only place that writes to people and shells.

Standard output carries the answer; notes and failures go to standard error. A name that the
terminal cannot show is escaped, never a reason to stop. A usage mistake exits with 1, not 2 as in
most tools: 2 says that a run built some of its tables.
"""

import json
import os
import sys
from enum import IntEnum
from io import TextIOWrapper
from typing import Any

import click

from rocky.errors import describe_failure
from rocky.version import __version__


class ExitCode(IntEnum):
    """One meaning a code, for every command."""

    OK = 0
    FAILED = 1
    PARTIAL = 2
    CRITICAL = 3
    WARNINGS = 4
    INTERRUPTED = 130


class OutputLost(OSError):
    """Standard output could not be written; no document or line can go there any more."""


def make_output_safe() -> None:
    """Escape what the streams cannot encode: file names may hold bytes that are not UTF-8.

    A stream that was closed before we began is None; what is written to it is dropped.
    """
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 - lives until exit
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 - lives until exit
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def drop_output() -> None:
    """Send what is left to nowhere, so that the interpreter's last flush does not fail."""
    sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 - lives until exit


def write_text(text: str, *, newline: bool = False) -> None:
    """The only way to standard output. Raises OutputLost; BrokenPipeError when no one reads."""
    try:
        click.echo(text, nl=newline)
    except BrokenPipeError:
        raise
    except OSError as failure:
        raise OutputLost(failure.errno, failure.strerror) from failure


def write_line(text: str = "") -> None:
    write_text(text, newline=True)


def write_note(text: str) -> None:
    """A line for people, out of the way of the answer."""
    click.echo(text, err=True)


def write_json(command: str, document: dict[str, Any]) -> None:
    """The one JSON document of a command."""
    write_line(json.dumps({**_head(command), **document}, **_layout()))


def write_report(command: str, report: Any) -> None:
    """A report as the JSON document of a command."""
    # Here, so that `rocky --help` does not pay for dataclasses.
    from rocky.operations.report import format_report  # noqa: PLC0415

    write_line(format_report(_head(command), report, **_layout()))


def _head(command: str) -> dict[str, str]:
    return {"version": __version__, "command": command}


def _layout() -> dict[str, Any]:
    """Compact in a pipe, indented on a terminal; escaped where names could not be written."""
    indent = 2 if sys.stdout.isatty() else None
    ascii_only = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    separators = None if indent else (",", ":")
    return {"indent": indent, "separators": separators, "ensure_ascii": ascii_only}


def report_failure(failure: BaseException, command: str | None, *, as_json: bool) -> None:
    """Say what failed: a line on standard error and, in JSON mode, the document as well.

    The findings for which something was refused are in the document, as in that of a compile.
    """
    message = describe_failure(failure)
    if as_json:
        kind = getattr(failure, "kind", type(failure).__name__)
        error: dict[str, Any] = {"kind": kind, "message": message}
        found = getattr(failure, "diagnostics", ())
        if found:
            # Only who is refused pays for it.
            from rocky.operations.report import encode_report  # noqa: PLC0415

            error["diagnostics"] = [encode_report(each) for each in found]
        write_json(command or "", {"error": error})
    write_note(f"error: {message}")


def report_interrupt(command: str | None, *, as_json: bool) -> None:
    """Say that the command was stopped, in JSON mode as a document as well."""
    if as_json:
        error = {"kind": "Interrupted", "message": "interrupted"}
        write_json(command or "", {"error": error})
    write_note("interrupted")


def describe_lost_output(failure: OSError) -> str:
    return f"cannot write the output: {(failure.strerror or str(failure)).lower()}"
