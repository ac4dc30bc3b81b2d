"""Java: finding one that Spark can run on, and saying what to install when there is none.

`JAVA_HOME` wins over the `java` on the path, as it does for Spark itself.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

from rocky.errors import SparkUnavailable

OLDEST: Final = 17
_VERSION: Final = re.compile(r'version "(\d+)(?:\.(\d+))?')
_INSTALL: Final = f"""install Java {OLDEST} or newer:
  Debian or Ubuntu: apt-get install openjdk-17-jre-headless
  Fedora:           dnf install java-17-openjdk-headless
  macOS:            brew install openjdk@17
or set JAVA_HOME to one you already have"""


def check_java() -> None:
    """Raise SparkUnavailable unless there is a Java that Spark can run on."""
    program = find_java()
    if program is None:
        raise SparkUnavailable(f"Spark needs Java and none was found; {_INSTALL}")
    version = java_version(program)
    if version is None:
        raise SparkUnavailable(f"`{program} -version` does not say a version; {_INSTALL}")
    if version < OLDEST:
        message = f"Spark needs Java {OLDEST} or newer and `{program}` is Java {version}"
        raise SparkUnavailable(f"{message}; {_INSTALL}")


def find_java() -> str | None:
    """The program Spark would start, or None."""
    home = os.environ.get("JAVA_HOME")
    if home:
        program = Path(home) / "bin" / "java"
        return str(program) if program.is_file() else None
    return shutil.which("java")


def java_version(program: str) -> int | None:
    """The major version of a Java, or None when it will not say."""
    try:
        said = subprocess.run(
            [program, "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _VERSION.search(said.stderr + said.stdout)
    if found is None:
        return None
    # Java 8 and older call themselves 1.8.
    return int(found[2] or 0) if found[1] == "1" else int(found[1])
