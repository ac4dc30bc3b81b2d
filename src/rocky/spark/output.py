"""What Spark prints: its first error, and the settings that an error is about.

A JVM that gives up prints a page: warnings, tables of packages, an exception and its stack. The
first line that says what is wrong is the one to show; the rest belongs in a log.
"""

import re
from collections.abc import Mapping
from typing import Final

_THREAD: Final = re.compile(r'^Exception in thread "[^"]*" (?P<said>\S.*)')
_LOGGED: Final = re.compile(
    r"^\d\d/\d\d/\d\d \d\d:\d\d:\d\d (?:ERROR|FATAL) [\w.$]+: (?P<said>\S.*)"
)
_THROWN: Final = re.compile(r"^(?P<said>(?:[a-z_][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error)\b.*)")
_ERROR: Final = re.compile(r"^(?:Error|error)(?: [\w ]+)?: (?P<said>\S.*)")
_NO_JVM: Final = "Could not create the Java Virtual Machine"
_NO_START: Final = "Error occurred during "
_CHATTER: Final = re.compile(
    r"^(WARNING|NOTE|Picked up|Using |Setting default log level|To adjust logging level"
    r"|\[warning\]|OpenJDK .*warning|[\d/]+ [\d:]+ WARN (Utils|NativeCodeLoader): )"
)
_CLASS: Final = re.compile(r"^(?:[a-z_][\w$]*\.)+(?P<name>[A-Z][\w$]*)(?:: |$)")
_MISSING_CLASS: Final = ("ClassNotFoundException", "NoClassDefFoundError")
_BRACKETS: Final = re.compile(r"^\[(?P<inner>[a-z].*)\]$")

# The settings that an error is about, where it does not name them, and what to do.
_SIGNS: Final = (
    (
        re.compile(r"Master must|Could not parse Master URL|Master URL"),
        ("master",),
        "write a master such as `local[*]` or `spark://host:7077`",
    ),
    (
        re.compile(r"heap size|reserve enough space|INVALID_DRIVER_MEMORY|System memory \d+ must"),
        ("spark.driver.memory",),
        "write a size such as `2g` that the machine has",
    ),
    (
        re.compile(r"unresolved dependenc|download failed|Maven Coordinates|not found.*\.ivy2"),
        ("spark.jars.packages", "spark.jars.repositories"),
        "check the coordinates (`group:artifact:version`), and that this machine reaches the"
        " repositories",
    ),
    (re.compile(r"Executor memory|INVALID_EXECUTOR_MEMORY"), ("spark.executor.memory",), None),
    (re.compile(r"Executor cores"), ("spark.executor.cores",), None),
    (
        re.compile(
            r"Unrecognized (VM )?option|Unsupported.*option|agent library|garbage collectors"
        ),
        ("spark.driver.extraJavaOptions", "spark.driver.defaultJavaOptions"),
        "write options that this Java knows",
    ),
    (
        re.compile(r"Service 'sparkDriver'"),
        ("spark.driver.port", "spark.driver.bindAddress", "spark.driver.host"),
        "name a port that is free and an address of this machine",
    ),
)
_TELLING: Final = 6
"""A value of fewer characters may stand in any text by chance."""


def first_error(output: str) -> str:
    """The first thing in Spark's words that says what is wrong; nothing when nothing does."""
    lines = [line.rstrip() for line in output.splitlines()]
    if any(_NO_JVM in line for line in lines):
        said = [line for line in lines if line.strip() and not _CHATTER.match(line)]
        return said[0].strip().removeprefix("Error: ")
    for at, line in enumerate(lines):
        if line.startswith(_NO_START):
            return next((each.strip() for each in lines[at + 1 :] if each.strip()), line)
        for form in (_THREAD, _LOGGED, _THROWN, _ERROR):
            found = form.match(line)
            if found is not None:
                return plain_error(found["said"])
    return ""


def plain_error(said: str) -> str:
    """An error without the Java class around it; of a class that is missing, with a word for it."""
    found = _CLASS.match(said)
    if found is None:
        return said.strip()
    rest = said[found.end() :].strip()
    if found["name"] in _MISSING_CLASS:
        return f"there is no class `{rest}`"
    inner = _BRACKETS.match(rest)
    return (inner["inner"] if inner else rest) or said.strip()


def last_lines(output: str, count: int) -> tuple[str, ...]:
    """The last lines that were printed, without empty ones and what every start prints."""
    said = [line.rstrip() for line in output.splitlines() if line.strip()]
    return tuple([line for line in said if not _CHATTER.match(line)][-count:])


def blamed_settings(error: str, conf: Mapping[str, str]) -> tuple[tuple[str, ...], str | None]:
    """The settings among those of a project that an error is about, and what to do."""
    for sign, names, advice in _SIGNS:
        if sign.search(error):
            there = tuple(name for name in names if name in conf)
            if there:
                return there, advice
    named = tuple(name for name in conf if name in error)
    quoted = tuple(
        name
        for name, value in conf.items()
        if len(value) >= _TELLING and value.strip() in error and name not in named
    )
    return named + quoted, None
