"""The process that builds plans, from the outside: started when the first plan is wanted.

It has an empty environment but for the language, and Python's isolated mode: no variable, no
folder of the user's has a say. What it may do is in `rocky.frames.guard`.
"""

import base64
import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import IO, Any, Final
from weakref import finalize

from msgspec import DecodeError

from rocky.analysis.python_plans import INSTALL_CONNECT, PythonPlan, unpack_plan
from rocky.frames.plan_targets import SentModules

_WORKER: Final = Path(__file__).with_name("plan_worker.py")
_START_SECONDS: Final = 60.0
"""What loading PySpark may take on a machine that is busy."""
_SPARE_SECONDS: Final = 5.0
_TURN: Final = 0.01
"""Seconds between two looks at what else is to be done."""


class CannotBuild(Exception):
    """The process cannot be used; the text says why."""


class PlanProcess:
    """One process for all plans of a compile. Raises CannotBuild where it cannot be used.

    `meanwhile` is called every now and then while it is waited for.
    """

    def __init__(
        self, seconds: float, jobs: int, meanwhile: Callable[[], None] | None = None
    ) -> None:
        self._meanwhile = meanwhile
        self._seconds = seconds
        self._jobs = jobs
        # Not a pipe: nobody reads along, and a full one would stop the process.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._process: subprocess.Popen[bytes] | None = None
        self._end: finalize[..., PlanProcess] = finalize(self, self._errors.close)
        self._data = b""

    def build(
        self, targets: Sequence[dict[str, Any]], modules: SentModules
    ) -> Iterator[tuple[str, PythonPlan]]:
        """The plan of each target, by its id, as soon as it is there."""
        process = self._started()
        asked = {
            "seconds": self._seconds,
            "jobs": self._jobs,
            "targets": list(targets),
            "modules": modules.texts,
        }
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(asked).encode() + b"\n")
            process.stdin.flush()
        except OSError as gone:
            raise CannotBuild(self._why()) from gone
        for _ in targets:
            key, _, said = self._line(self._seconds + _SPARE_SECONDS).partition(b"\t")
            try:
                yield json.loads(key), unpack_plan(base64.b64decode(said, validate=True))
            except (ValueError, DecodeError) as odd:
                raise CannotBuild("its process answered with something else") from odd

    def close(self) -> None:
        """End the process, if it was ever started."""
        self._process = None
        self._end()

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-X", "utf8", str(_WORKER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env={"LANG": "C.UTF-8"},
                cwd=os.sep,
                close_fds=True,
            )
            # A session that is forgotten ends its process too.
            self._end = finalize(self, _end, self._process, self._errors)
            self._line(_START_SECONDS)
        return self._process

    def _line(self, seconds: float) -> bytes:
        assert self._process is not None
        pipe: IO[bytes] | None = self._process.stdout
        assert pipe is not None
        until = monotonic() + seconds
        while b"\n" not in self._data:
            left = max(until - monotonic(), 0)
            wait = left if self._meanwhile is None else min(left, _TURN)
            ready, _, _ = select.select([pipe], [], [], wait)
            if not ready and self._meanwhile is not None and wait < left:
                self._meanwhile()
                continue
            if not ready:
                raise CannotBuild(f"its process said nothing for {seconds:g} s")
            part = os.read(pipe.fileno(), 1 << 20)
            if not part:
                raise CannotBuild(self._why())
            self._data += part
        line, _, self._data = self._data.partition(b"\n")
        return line

    def _why(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        why = lines[-1] if lines else "its process ended"
        missing = "No module named" in why or "PACKAGE_NOT_INSTALLED" in why
        return f"{why}; {INSTALL_CONNECT}" if missing else why


def _end(process: "subprocess.Popen[bytes]", errors: IO[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    process.kill()
    process.wait()
    errors.close()
