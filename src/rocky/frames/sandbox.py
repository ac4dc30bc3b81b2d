"""Building frames in a process apart: what is asked of it, and what it answers.

The process has an empty environment but for the language, its input is closed, and it is killed
when it takes too long. What it may do is in `rocky.frames.worker`.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.diagnostics.diagnostic import Span
from rocky.errors import RockyError
from rocky.language.datatypes.text import decode_type, encode_type
from rocky.language.datatypes.types import StructField
from rocky.language.ir import Edge

_WORKER: Final = Path(__file__).with_name("worker.py")
_START_SECONDS: Final = 60.0
"""What loading PySpark may take on a machine that is busy."""


@dataclass(frozen=True, slots=True)
class Target:
    """A function to call: its file, the folders its imports are looked for in, its tables."""

    id: str
    file: Path
    function: str
    root: Path
    folders: tuple[Path, ...]
    inputs: Mapping[str, str]
    tables: Mapping[str, Sequence[StructField]]


@dataclass(frozen=True, slots=True)
class Place:
    """A file and a part of it, where they are known."""

    path: str | None = None
    span: Span | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something is not known, and where."""

    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a target.

    `failure` is a fault of the code itself; `needs_rows` says that it looks at rows, so that no
    plan can be known.
    """

    id: str
    columns: tuple[StructField, ...] = ()
    known: bool = False
    sql: str | None = None
    gaps: tuple[Reason, ...] = ()
    lineage: tuple[tuple[Edge, ...], ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    failure: Reason | None = None
    needs_rows: Reason | None = None


def check_targets(targets: Sequence[Target], seconds: float) -> list[Outcome]:
    """What is known of each target's frame. Raises RockyError when the process cannot be used."""
    if not targets:
        return []
    asked = {"seconds": seconds, "targets": [_asked(each) for each in targets]}
    limit = _START_SECONDS + seconds * len(targets)
    try:
        done = subprocess.run(
            [sys.executable, "-I", str(_WORKER)],
            input=json.dumps(asked).encode(),
            capture_output=True,
            env={"LANG": "C.UTF-8"},
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise RockyError(f"checking Python took longer than {limit:g} s") from late
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if len(answers) != len(targets):
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        why = lines[-1] if lines else f"it ended with {done.returncode}"
        missing = "No module named" in why or "PACKAGE_NOT_INSTALLED" in why
        advice = "; `rocky-spark[connect]` has what is missing" if missing else ""
        raise RockyError(f"Python cannot be checked: {why}{advice}")
    return [_outcome(each) for each in answers]


def _asked(target: Target) -> dict[str, Any]:
    return {
        "id": target.id,
        "file": str(target.file),
        "function": target.function,
        "root": str(target.root),
        "folders": [str(each) for each in target.folders],
        "inputs": dict(target.inputs),
        "tables": {
            name: [[each.name, encode_type(each.type), each.nullable] for each in fields]
            for name, fields in target.tables.items()
        },
    }


def _outcome(answer: dict[str, Any]) -> Outcome:
    failure, needs = answer.get("failure"), answer.get("needs_rows")
    if failure is not None:
        text, path, line = failure
        return Outcome(answer["id"], failure=Reason(text, Place(path, None, line)))
    if needs is not None:
        return Outcome(answer["id"], needs_rows=_reason(needs))
    return Outcome(
        answer["id"],
        tuple(StructField(name, decode_type(kind), null) for name, kind, null in answer["columns"]),
        answer["known"],
        answer["sql"],
        tuple(_reason(each) for each in answer["gaps"]),
        tuple(tuple(Edge(*edge) for edge in edges) for edges in answer["lineage"]),
        tuple(_finding(each) for each in answer["findings"]),
    )


def _reason(said: list[Any]) -> Reason:
    text, path, span = said
    return Reason(text, Place(path, Span(*span) if span else None))


def _finding(said: list[Any]) -> Diagnostic:
    code, message, path, span, severity, condition, advice = said
    return Diagnostic(
        Code(code),
        message,
        Span(*span) if span else None,
        path,
        Severity(severity),
        condition,
        help=advice,
    )
