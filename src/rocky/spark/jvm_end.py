"""The end of a JVM: by itself, by a signal, or for want of memory.

Nobody hears from a JVM that is gone; what is left of it are its exit status, what it printed, the
report that Java writes of a crash, and the system's own count of processes that it has killed to
get memory back.
"""

import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rocky.spark.output import first_error

_SPARK_OUT_OF_MEMORY: Final = 52
"""The exit code of a Spark whose heap is full (`SparkExitCode.OOM`)."""
_SHELL_SIGNALS: Final = 128
"""A shell says 128 and the number of the signal that ended its child."""
_HEAP_FULL: Final = re.compile(r"java\.lang\.OutOfMemoryError(?:: (?P<what>[^\n]+))?")
_CRASH: Final = re.compile(
    r"^#\s+(?P<what>(?:SIG|EXCEPTION_|Internal Error)\S*[^\n]*)", re.MULTILINE
)
_NO_MEMORY: Final = "insufficient memory for the Java Runtime"
_OOM_KILLS: Final = re.compile(r"^oom_kill (\d+)$", re.MULTILINE)
_MORE_MEMORY: Final = (
    "raise `spark.driver.memory` in `[adapter.conf]`, or build fewer models at once (`--parallel`)"
)
_LESS_MEMORY: Final = (
    "lower `spark.driver.memory` in `[adapter.conf]`, or give the machine or the container more"
)


@dataclass(frozen=True, slots=True)
class JvmEnd:
    """How a JVM ended, in words, and what to do about it."""

    message: str
    advice: str
    out_of_memory: bool = False


def describe_end(
    status: int, output: str, crash: str = "", *, oom_kills: int = 0, heap: str = ""
) -> JvmEnd:
    """What became of a JVM.

    `status` is as `Popen` has it, `output` what it printed, `crash` Java's report of a crash and
    `oom_kills` how many processes the system has killed for memory while it ran.
    """
    full = _HEAP_FULL.search(output)
    if full is not None or status == _SPARK_OUT_OF_MEMORY:
        what = (full and full["what"]) or "Java heap space"
        size = f" (it has {heap})" if heap else ""
        return JvmEnd(f"Spark ran out of memory: {what.strip()}{size}", _MORE_MEMORY, True)
    if _NO_MEMORY in crash or _NO_MEMORY in output:
        return JvmEnd("Spark ran out of memory: the machine had none left", _LESS_MEMORY, True)
    fatal = _CRASH.search(crash)
    if fatal is not None:
        return JvmEnd(f"Spark's JVM crashed: {fatal['what'].strip()}", "look at the log")
    number = -status if status < 0 else status - _SHELL_SIGNALS
    name = _signal_name(number)
    if name == "SIGKILL" and oom_kills:
        said = "Spark ran out of memory: the system killed its process (SIGKILL)"
        return JvmEnd(said, _LESS_MEMORY, True)
    if name == "SIGKILL":
        return JvmEnd(
            "Spark's process was killed (SIGKILL)",
            "look who did: a person, or whatever limits the memory of its container",
        )
    if name is not None:
        return JvmEnd(f"Spark's process was ended by {name}", "look who did")
    why = first_error(output)
    said = f"Spark's process ended with exit code {status}"
    return JvmEnd(f"{said}: {why}" if why else said, "look at the log")


def count_oom_kills() -> int:
    """How many processes the system has killed for memory: here, or in our container."""
    found = [0]
    for path in _counters():
        try:
            counted = _OOM_KILLS.search(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            continue
        if counted is not None:
            found.append(int(counted[1]))
    return sum(found)


def _counters() -> Iterator[Path]:
    yield Path("/proc/vmstat")
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return
    for line in lines:
        number, _, rest = line.partition(":")
        if number == "0":
            place = rest.partition(":")[2].lstrip("/")
            yield Path("/sys/fs/cgroup") / place / "memory.events"


def _signal_name(number: int) -> str | None:
    try:
        return signal.Signals(number).name
    except ValueError:
        return None
