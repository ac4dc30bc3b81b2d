"""The log of a run: `.rocky/logs/<run>.log`, with the stacks and Spark's own words.

People get a sentence; whoever has to find out more gets all of it here. A run in which nothing
failed has none. Secrets are blotted out before anything is written. A log that cannot be written
fails nothing, and the newest are kept.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Final

from rocky.errors import RockyError, SparkUnavailable
from rocky.store.folder import refuse_escape

LOGS_FOLDER: Final = ".rocky/logs"
LOGS_KEPT: Final = 50
_SUFFIX: Final = ".log"
_ENTRY_LENGTH: Final = 1_000_000
_IGNORED: Final = "*\n"
_FAILURES: Final = re.compile(r"SQLSTATE|Exception|Traceback")
_OWN_MODE: Final = 0o600


def log_path(run_id: str) -> str:
    """Where the log of a run is, from the project's folder."""
    return f"{LOGS_FOLDER}/{run_id}{_SUFFIX}"


class RunLog:
    """The log of one run, made by its first entry. Threads may share it."""

    def __init__(
        self, root: Path, run_id: str, redact: Callable[[str], str] = lambda text: text
    ) -> None:
        self._root = root
        self._name = log_path(run_id)
        self._redact = redact
        self._lock = Lock()
        self._begun = False
        self._hides_output = False

    @property
    def path(self) -> str | None:
        """Where it is, from the project's folder; None while there is none."""
        return self._name if self._begun else None

    def add(self, title: str, text: str) -> None:
        """Write an entry under a title; nothing when there is nothing to say."""
        if not text.strip():
            return
        said = self._redact(_shortened(text.rstrip()))
        at = datetime.now(UTC).isoformat(timespec="seconds")
        with self._lock, suppress(OSError, RockyError):
            path = self._open()
            with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(f"== {at} {self._redact(title)}\n{said}\n\n")
            self._begun = True

    def add_output(self, text: str, secret: str | None = None) -> None:
        """Write down what Spark printed, unless a value may be in it that nobody may see.

        `secret` is a classified column of the project, if it has one.
        """
        if self._hides_output:
            return
        if secret is not None and tells_of_failures(text):
            text = f"it is not kept: it may hold values of `{secret}`, classified"
        self.add("what Spark printed", text)

    def hide(self, title: str, secret: str) -> None:
        """Write an entry without its stack, which holds a value; so may what Spark printed."""
        self.add(title, f"the stack is not kept: it may hold values of `{secret}`, classified")
        self._hides_output = True

    def _open(self) -> Path:
        path = self._root / self._name
        if self._begun:
            return path
        refuse_escape(self._root, self._name)
        path.parent.mkdir(parents=True, exist_ok=True)
        ignored = path.with_name(".gitignore")
        if not ignored.exists():
            ignored.write_text(_IGNORED, encoding="utf-8")
        remove_old_logs(path.parent, LOGS_KEPT - 1)
        path.touch(mode=_OWN_MODE)
        return path


def tells_of_failures(text: str) -> bool:
    """Whether what Spark printed has words of an exception, which may quote values of rows."""
    return _FAILURES.search(text) is not None


def read_log(root: Path, run_id: str) -> str | None:
    """The log of a run; None when there is none. Raises OSError."""
    refuse_escape(root, log_path(run_id))
    try:
        return (root / log_path(run_id)).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None


class NoLog(RunLog):
    """Nowhere to write to."""

    def __init__(self) -> None:
        super().__init__(Path(), "")

    def add(self, title: str, text: str) -> None:
        """Nothing is kept."""


def no_log(_run_id: str) -> RunLog:
    """The log of a run that keeps none."""
    return NoLog()


@contextmanager
def logged_start(log: RunLog) -> Iterator[None]:
    """Inside, what a Spark that would not start has printed goes to the log, which is named.

    Raises SparkUnavailable.
    """
    try:
        yield
    except SparkUnavailable as failure:
        log.add("Spark would not start", failure.output)
        if log.path is None:
            raise
        raise SparkUnavailable(f"{failure}\n  = log: {log.path}") from failure


def remove_old_logs(folder: Path, kept: int) -> None:
    """Remove all logs but the newest."""
    logs = sorted(folder.glob(f"*{_SUFFIX}"), key=_modified, reverse=True)
    for path in logs[kept:]:
        with suppress(OSError):
            path.unlink()


def _modified(path: Path) -> float:
    with suppress(OSError):
        return path.stat().st_mtime
    return 0.0


def _shortened(text: str) -> str:
    """The text without its middle when it is too long: causes are told first and last."""
    if len(text) <= _ENTRY_LENGTH:
        return text
    half = _ENTRY_LENGTH // 2
    return f"{text[:half]}\n... {len(text) - 2 * half:,} characters left out ...\n{text[-half:]}"
