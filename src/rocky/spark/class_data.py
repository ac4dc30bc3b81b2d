"""Class data: an archive of Spark's classes, ready for the JVM to map into memory.

Starting Spark is mostly loading some ten thousand classes. The first run leaves an archive of
them behind (the JVM writes it after it was told to end, when nobody waits for it any more), and
later starts use it. It is only ever a shortcut: without it, or with a bad one, Spark starts as
it always did. It lies on top of an archive of Java's own classes; a Java without one (that of the
wheel) is given one after the first run, and Spark's follows after the second.
"""

import os
import shlex
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from blake3 import blake3

from rocky.spark.java import Java

SWITCH: Final = "ROCKY_CLASS_DATA"
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
class ClassData:
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
            unfinished = _unfinished(self.base)
            dump = [program, "-Xshare:dump", f"-XX:SharedArchiveFile={unfinished}"]
            after = f"{shlex.join(dump)} >/dev/null 2>&1"
            return _wrapped(command, after, unfinished, self.base)
        unfinished = _unfinished(self.archive)
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


def class_data_for(java: Java, jars: Path, options: Sequence[str]) -> ClassData | None:
    """Where the archive for these jars, this Java and these JVM options lies.

    None when there can be none: no folder to keep it in, or it was switched off.
    """
    if os.name != "posix" or os.environ.get(SWITCH, "").lower() in {"0", "off", "false", "no"}:
        return None
    folder = cache_folder()
    if folder is None:
        return None
    archive = folder / f"{_key(java, jars, options)}{_SUFFIX}"
    if any((java.home / "lib").glob("**/classes.jsa")):
        return ClassData(archive)
    return ClassData(archive, folder / f"base-{_hash([java.program, java.full])}{_SUFFIX}")


def cache_folder() -> Path | None:
    """The user's folder for archives, made if need be; None when that is not possible."""
    try:
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(home) / "rocky" / "class-data"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    return folder if os.access(folder, os.W_OK) else None


def remove_unused(folder: Path) -> None:
    """Remove archives of other versions that no start has used for a month."""
    oldest = time.time() - UNUSED_DAYS * 24 * 3600
    for path in folder.glob(f"*{_SUFFIX}*"):
        with suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()


def _key(java: Java, jars: Path, options: Sequence[str]) -> str:
    """A name that changes with anything the archive depends on."""
    parts = [java.program, java.full, str(jars), *options]
    for jar in sorted(jars.glob("*.jar")):
        facts = jar.stat()
        parts.append(f"{jar.name} {facts.st_size} {facts.st_mtime_ns}")
    return _hash(parts)


def _hash(parts: Sequence[str]) -> str:
    return blake3("\n".join(parts).encode()).hexdigest()[:32]


def _unfinished(archive: Path) -> Path:
    return archive.with_name(f"{archive.name}.{os.getpid()}{_UNFINISHED}")


def _wrapped(command: Sequence[str], after: str, unfinished: Path, archive: Path) -> list[str]:
    script = _WRAPPER.format(
        command=shlex.join(command),
        after=after,
        unfinished=shlex.quote(str(unfinished)),
        archive=shlex.quote(str(archive)),
    )
    return ["/bin/sh", "-c", script]
