"""Real processes for tests, begun in milliseconds: forked from one that has loaded Rocky already.

A process of these is one of its own in every way that matters: it has its own memory, its locks end
with it, and it can be killed. Only a second of imports is spared. What must not have been imported
before (what an import costs, what the command line loads) takes a fresh interpreter instead.
"""

import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from multiprocessing import forkserver, get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from pathlib import Path
from threading import Thread
from typing import Any, Literal, TextIO

from rocky.cli.app import main

ROOT = Path(__file__).parents[1]
# Neither opens a file or starts a thread when it is imported, so that a fork is safe.
LOADED = [
    "pandas", "pyarrow.compute", "pytest",
    "rocky.branches.promotion.moves", "rocky.cli.app", "rocky.cli.commands.branch.promotion",
    "rocky.compiler.model_binder", "rocky.compiler.stale_models",
    "rocky.cli.commands.lsp", "rocky.evidence.retention.collection", "rocky.operations.branch.promote",
    "rocky.run.project_run", "rocky.state.session", "tests.run.runs", "tests.store.tables",
]  # fmt: skip


@cache
def fork_context() -> ForkServerContext:
    """Where processes come from; `multiprocessing` makes pools and queues with it too."""
    context = get_context("forkserver")
    context.set_forkserver_preload(LOADED)
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    try:
        forkserver.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before
    return context


class Running:
    """A process of its own. `stdout` and `stderr` are what it says, `stdin` is what it is told."""

    def __init__(
        self,
        task: Callable[..., object],
        *given: Any,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        context = fork_context()
        out, child_out = context.Pipe(duplex=False)
        err, child_err = context.Pipe(duplex=False)
        child_in, told = context.Pipe(duplex=False)
        around = (dict(os.environ if env is None else env), str(cwd or Path.cwd()))
        self._process = context.Process(
            target=_begin, args=(child_in, child_out, child_err, *around, task, given)
        )
        self._process.start()
        for end in (child_in, child_out, child_err):
            end.close()
        self.stdin, self.stdout, self.stderr = _text(told, "w"), _text(out), _text(err)

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, failed: object, *_: object) -> None:
        if failed is not None and self.poll() is None:
            self.kill()
        self.wait()
        self.close()

    def close(self) -> None:
        """Let go of its streams."""
        for stream in (self.stdin, self.stdout, self.stderr):
            with suppress(BrokenPipeError):
                stream.close()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float = 240) -> int:
        self._process.join(timeout)
        assert self._process.exitcode is not None, "it is still running"
        return self._process.exitcode

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def send_signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def communicate(self, timeout: float = 240) -> tuple[str, str]:
        """All that it says until it ends; it is told nothing."""
        self.stdin.close()
        said: list[str] = []
        beside = Thread(target=lambda: said.append(self.stderr.read()))
        beside.start()
        out = self.stdout.read()
        beside.join()
        self.wait(timeout)
        self.close()
        return out, said[0]


def is_stopped(process: int) -> bool:
    """Whether a process was stopped by a signal, and has not been told to go on. One that ended was not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state.rpartition(") ")[2].startswith("T")


def run_process(task: Callable[..., object], *given: Any, **around: Any) -> tuple[int, str, str]:
    """The exit code of a process, and what it said on both its streams."""
    with Running(task, *given, **around) as process:
        out, err = process.communicate()
        return process.wait(), out, err


def run_program(text: str, *arguments: str) -> None:
    """A task: the text of a program with its arguments, as `python -c` would run it."""
    sys.argv = ["-c", *arguments]
    exec(compile(text, "<program>", "exec"), {"__name__": "__main__"})


def run_command(*line: str) -> None:
    """A task: a command line of Rocky's, as its program would run it."""
    main(list(line))


def _text(end: Connection, mode: Literal["r", "w"] = "r") -> TextIO:
    file = os.fdopen(os.dup(end.fileno()), mode)
    end.close()
    return file


def _begin(
    told: Connection,
    out: Connection,
    err: Connection,
    env: dict[str, str],
    cwd: str,
    task: Callable[..., object],
    given: tuple[Any, ...],
) -> None:
    for number, end in enumerate((told, out, err)):
        os.dup2(end.fileno(), number)
        end.close()
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout, sys.stderr = (os.fdopen(each, "w", 1, closefd=False) for each in (1, 2))
    # As in any interpreter: who puts others in their place may go on with their buffers.
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    task(*given)
    sys.stdout.flush()
