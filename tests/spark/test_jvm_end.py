"""How a JVM ended is told from its exit status, its output, Java's report and the system's count."""

import signal
import subprocess
from threading import Event

import pytest

from rocky.spark.connection import Connection, SparkFacts
from rocky.spark.deadline import DeadlinePassed, within
from rocky.spark.interface import FailureKind
from rocky.spark.jvm import Jvm
from rocky.spark.jvm_end import count_oom_kills, describe_end

HEAP = (
    "26/11/16 ERROR Executor: Exception in task 0.0\njava.lang.OutOfMemoryError: Java heap space\n"
)
NATIVE = "#\n# There is insufficient memory for the Java Runtime Environment to continue.\n"
CRASH = "#\n# A fatal error has been detected by the Java Runtime Environment:\n#\n#  SIGSEGV (0xb) at pc=0x0\n"


@pytest.mark.parametrize(
    ("status", "output", "crash", "kills", "message", "out_of_memory"),
    [
        (-signal.SIGKILL, "", "", 0, "Spark's process was killed (SIGKILL)", False),
        (137, "", "", 0, "Spark's process was killed (SIGKILL)", False),
        (-signal.SIGKILL, "", "", 1, "Spark ran out of memory: the system killed its process (SIGKILL)", True),
        (137, "", "", 2, "Spark ran out of memory: the system killed its process (SIGKILL)", True),
        (52, HEAP, "", 0, "Spark ran out of memory: Java heap space (it has 2g)", True),
        (52, "", "", 0, "Spark ran out of memory: Java heap space (it has 2g)", True),
        (-signal.SIGKILL, HEAP, "", 0, "Spark ran out of memory: Java heap space (it has 2g)", True),
        (1, "", NATIVE, 0, "Spark ran out of memory: the machine had none left", True),
        (-signal.SIGABRT, "", CRASH, 0, "Spark's JVM crashed: SIGSEGV (0xb) at pc=0x0", False),
        (143, "", "", 0, "Spark's process was ended by SIGTERM", False),
        (-signal.SIGTERM, "", "", 1, "Spark's process was ended by SIGTERM", False),
        (1, "Error: no disk\n", "", 0, "Spark's process ended with exit code 1: no disk", False),
        (0, "", "", 0, "Spark's process ended with exit code 0", False),
    ],
)  # fmt: skip
def test_the_end_of_a_jvm_is_told_and_out_of_memory_only_where_it_was(
    status, output, crash, kills, message, out_of_memory
):
    end = describe_end(status, output, crash, oom_kills=kills, heap="2g")

    assert (message, out_of_memory) == (end.message, end.out_of_memory)
    assert end.advice


def test_the_systems_count_of_kills_never_falls():
    first = count_oom_kills()

    assert 0 <= first <= count_oom_kills()


def test_a_call_is_waited_for_only_so_long_and_its_error_is_raised_here():
    never = Event()

    assert 7 == within(5, lambda: 7)
    with pytest.raises(ZeroDivisionError):
        within(5, lambda: 1 // 0)
    with pytest.raises(DeadlinePassed, match=r"no answer in 0\.05 seconds"):
        within(0.05, never.wait)
    never.set()


@pytest.mark.parametrize(
    ("script", "kind", "message"),
    [
        ("exit 52", FailureKind.OUT_OF_MEMORY, "Spark ran out of memory: Java heap space (it has 1g)"),
        ("kill -9 $$", FailureKind.CONNECTION_LOST, "Spark's process was killed (SIGKILL)"),
        ("sleep 0.3; exit 1", FailureKind.CONNECTION_LOST, "Spark's process ended with exit code 1"),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_a_lost_connection_says_how_the_process_ended(tmp_path, script, kind, message):
    process = subprocess.Popen(["/bin/sh", "-c", script])
    jvm = Jvm(process, None, tmp_path, False, "1g", count_oom_kills())
    facts = SparkFacts("4.1.4", None, {})
    connection = Connection(None, "local", facts, lambda: None, jvm)
    failure = connection.explain(ConnectionRefusedError(111, "Connection refused"))

    assert (kind, message) == (failure.kind, failure.message)
    assert message == connection.ending().message
