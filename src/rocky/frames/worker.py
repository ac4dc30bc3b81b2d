"""The process in which an author's Python builds its frames: a program of its own, run by path.

It reads one JSON document from its input and answers a line for each target. Each target is built
in a fork that has loaded PySpark already, so that one cannot see what another left behind. From
the first line of the author's code on, the process starts no other, opens no connection and no
file for writing: Python's audit events are refused. That stops code that reaches out by ordinary
means. It is no jail for code that wants to break out.
"""

import importlib.util
import json
import os
import select
import signal
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any, NoReturn

if __name__ == "__main__":
    # It is started apart from everything, and finds the package it is part of by its own path.
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from rocky.diagnostics.diagnostic import Diagnostic
from rocky.frames.frame_check import CheckedFrame, Frames, is_frame
from rocky.frames.guard import Guard, limit_process
from rocky.frames.session import NeedsRows
from rocky.language.datatypes.text import decode_type, encode_type
from rocky.language.datatypes.types import StructField
from rocky.project.call_places import CallPlaces


def main() -> None:
    """Answer for every target of the document on the input."""
    asked = json.loads(sys.stdin.buffer.read())
    answers = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):
        # What the author prints is nobody's answer.
        os.dup2(nowhere, standard)
    for target in asked["targets"]:
        line = json.dumps(_in_fork(target, asked["seconds"], answers)) + "\n"
        os.write(answers, line.encode())


def _in_fork(target: dict[str, Any], seconds: float, answers: int) -> dict[str, Any]:
    """The answer for one target, or what became of the process that was to give it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        # It answers for itself alone.
        os.close(answers)
        limit_process(seconds)
        _answer(target, writing)
    os.close(writing)
    data = b""
    timed_out = False
    while True:
        ready, _, _ = select.select([reading], [], [], seconds)
        if not ready:
            timed_out = True
            os.kill(child, signal.SIGKILL)
            break
        part = os.read(reading, 1 << 16)
        if not part:
            break
        data += part
    os.close(reading)
    os.waitpid(child, 0)
    if timed_out:
        return {"id": target["id"], "failure": [f"took longer than {seconds:g} s", None, 0]}
    if not data:
        return {"id": target["id"], "failure": ["ended its process", None, 0]}
    found: dict[str, Any] = json.loads(data)
    return found


def _answer(target: dict[str, Any], writing: int) -> NoReturn:
    try:
        found = check_target(target)
        data = json.dumps({"id": target["id"], **found}).encode()
        view = memoryview(data)
        while view:
            view = view[os.write(writing, view) :]
    finally:
        os._exit(0)  # no clean-up of the author's: its exit handlers are not ours to run


def check_target(target: dict[str, Any]) -> dict[str, Any]:
    """What is known of the frame that a function returns, as plain values."""
    schemas = {
        name: [StructField(each, decode_type(kind), nullable) for each, kind, nullable in fields]
        for name, fields in target["tables"].items()
    }
    warnings.simplefilter("ignore")
    sys.dont_write_bytecode = True
    sys.path[:0] = target["folders"]
    path = target["file"]
    with Frames(schemas) as frames:
        # A parameter without a table is the session itself.
        inputs = {
            name: frames.table(table) if table else frames.session
            for name, table in target["inputs"].items()
        }
        guard = Guard()
        guard.hold()
        try:
            made = _function(path, target["function"])(**inputs)
        except NeedsRows as stopped:
            return {"needs_rows": [f"{stopped.what}", *_line(stopped.site)]}
        except BaseException as error:  # noqa: BLE001 - whatever the author's code raises is told
            return {"failure": [_told(error), *_raised_at(error, target["root"])]}
        if not is_frame(made):
            kind = type(made).__name__
            return {"failure": [f"returns `{kind}`, which is no DataFrame", None, 0]}
        return _described(frames.check(made))


def _function(path: str, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


def _described(found: CheckedFrame) -> dict[str, Any]:
    return {
        "columns": [[each.name, encode_type(each.type), each.nullable] for each in found.columns],
        "known": found.known,
        "sql": found.sql,
        "gaps": [[each.reason, *_line(each.site)] for each in found.gaps],
        "lineage": [
            [[edge.table, edge.column, edge.kind] for edge in edges] for edges in found.lineage
        ],
        "findings": [_finding(each) for each in found.diagnostics],
    }


def _finding(each: Diagnostic) -> list[Any]:
    span = list(each.span) if each.span is not None else None
    return [
        each.code.value,
        each.message,
        each.path,
        span,
        each.severity.value,
        each.condition,
        each.help,
    ]


def _line(site: Any) -> list[Any]:
    path, span = CallPlaces().span(site, "")
    return [path, list(span) if span is not None else None]


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _raised_at(error: BaseException, root: str) -> list[Any]:
    """The innermost line in a file of the author's."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [each for each in frames if each.filename.startswith(root)]
    return [own[-1].filename, own[-1].lineno] if own else [None, 0]


if __name__ == "__main__":
    main()
