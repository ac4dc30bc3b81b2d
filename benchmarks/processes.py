"""Commands run in fresh processes, and what they cost.

CPU seconds are user and system time of the process and of all its children, so worker processes
hide nothing. Wall-clock time is shown but never judged: a busy machine stretches it at will.
"""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

SOURCES = Path(__file__).resolve().parent.parent / "src"


@dataclass(frozen=True, slots=True)
class Cost:
    """What one command took; `peak` is of the largest of its processes, in MB."""

    cpu: float
    wall: float
    peak: float
    printed: str = ""


def user_environment(byte_code: Path) -> dict[str, str]:
    """The environment of someone who installed Rocky: byte code is kept from run to run."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONPATH")
    }
    return kept | {"PYTHONPATH": str(SOURCES), "PYTHONPYCACHEPREFIX": str(byte_code)}


def run(
    arguments: Sequence[str],
    folder: Path,
    environment: dict[str, str],
    *,
    keep_output: bool = False,
) -> Cost:
    """Run Python with some arguments to the end. A crash stops the benchmark."""
    started = time.monotonic()
    output = subprocess.PIPE if keep_output else subprocess.DEVNULL
    process = subprocess.Popen(
        [sys.executable, *arguments], cwd=folder, env=environment, stdout=output, text=True
    )
    printed = process.stdout.read() if process.stdout else ""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"`{' '.join(arguments)}` failed with exit code {process.returncode}")
    scale = 1 << 20 if sys.platform == "darwin" else 1 << 10
    cpu = usage.ru_utime + usage.ru_stime
    return Cost(cpu, time.monotonic() - started, usage.ru_maxrss / scale, printed)


def typical(costs: Sequence[Cost]) -> Cost:
    """The medians of several runs, and their largest peak."""
    return Cost(
        median(each.cpu for each in costs),
        median(each.wall for each in costs),
        max(each.peak for each in costs),
        costs[-1].printed,
    )
