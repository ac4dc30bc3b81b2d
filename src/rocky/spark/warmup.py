"""The warm-up of a JVM: how much it compiles while it is young, and what it can prepare meanwhile.

A JVM compiles methods that are called often, first fast and then thoroughly. In a run over little
data the thorough compiler takes more time than everything that Spark does, and what it makes is
never used. So it begins late in every JVM of ours, and not at all in one whose work is known to be
small. Neither changes a row: it is the same code, translated less well.

The class behind `upper`, `lower` and `initcap` looks at every letter of Unicode when it is first
used, which takes a second. While Spark starts, a core has nothing else to do.

No pyspark here.
"""

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

SMALL_BYTES: Final = 8 * 1024 * 1024
"""Inputs up to here are small. A model of two million rows takes as long either way."""
SMALL_STEPS: Final = 100
"""With more models, planning them alone is worth a thorough compilation."""

CASE_CLASS: Final = "org.apache.spark.sql.catalyst.util.CollationAwareUTF8String"


@dataclass(frozen=True, slots=True)
class Work:
    """What is known, before Spark starts, of what it will have to do."""

    is_small: bool = False
    changes_case: bool = False


UNKNOWN_WORK: Final = Work()
_EXPECTED: ContextVar[Work] = ContextVar("expected_work", default=UNKNOWN_WORK)


@contextmanager
def expecting(work: Work) -> Iterator[None]:
    """Inside, a Spark that is started has this work to do first."""
    before = _EXPECTED.set(work)
    try:
        yield
    finally:
        _EXPECTED.reset(before)


def expected_work() -> Work:
    """What a Spark that starts now will have to do."""
    return _EXPECTED.get()


_LATER: Final = 30
"""How many times longer than by default a method is watched before it is compiled thoroughly."""
_THRESHOLDS: Final = {
    "Tier4InvocationThreshold": 5000,
    "Tier4MinInvocationThreshold": 600,
    "Tier4CompileThreshold": 15000,
    "Tier4BackEdgeThreshold": 40000,
}
_LATE: Final = tuple(f"-XX:{name}={_LATER * usual}" for name, usual in _THRESHOLDS.items())
_NEVER: Final = ("-XX:TieredStopAtLevel=1",)
_OPTION_SETTINGS: Final = ("spark.driver.defaultJavaOptions", "spark.driver.extraJavaOptions")
_OPTION_VARIABLES: Final = ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS")
_STACK: Final = "-Xss"


def compilation_options(
    settings: Mapping[str, str], environment: Mapping[str, str], work: Work
) -> tuple[str, ...]:
    """JVM options that say when its compilers work.

    None where somebody has tuned the JVM: then all of it is theirs to decide.
    """
    given = [settings.get(name, "") for name in _OPTION_SETTINGS]
    given += [environment.get(name, "") for name in _OPTION_VARIABLES]
    words = [word for text in given for word in shlex.split(text)]
    if any(word.startswith("-X") and not word.startswith(_STACK) for word in words):
        return ()
    return _NEVER if work.is_small else _LATE
