"""The program `git`, started in one way: nothing from outside can redirect it.

A hook or a wrapper leaves `GIT_DIR` and the like in the environment, and then `git -C folder` would
answer about another repository. All such variables are dropped; only those that say where settings
are stay, because an identity or a trusted folder may be set there.
"""

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rocky.errors import GitUnavailable

PATIENCE_SECONDS: Final = 120
_KEPT: Final = re.compile(r"GIT_CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)\Z")
_HELD: Final = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    # What a commit is must not depend on somebody's local replacements.
    "GIT_NO_REPLACE_OBJECTS": "1",
    # Messages are matched, and names come as UTF-8 whatever the terminal speaks.
    "LC_ALL": "C",
}
_SETTINGS: Final = (
    "core.quotePath=false",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.sparseCheckout=false",
    "log.showSignature=false",
    "color.ui=false",
)
_NO_NAMES: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True)
class Answer:
    """What git said. `code` 0 is success."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """Standard output without the last line break; bytes that are not UTF-8 survive."""
        return decode_name(self.out).removesuffix("\n")

    @property
    def reason(self) -> str:
        """The first line of what it complained about."""
        lines = [line for line in self.err.splitlines() if line.strip()]
        return lines[0].removeprefix("fatal: ").removeprefix("error: ") if lines else "no reason"


def ask_git(
    folder: Path,
    *arguments: str,
    stdin: bytes = b"",
    names: Mapping[str, str] = _NO_NAMES,
    patience: float = PATIENCE_SECONDS,
) -> Answer:
    """Run git in a folder, with `names` on top of the environment.

    Raises GitUnavailable when it cannot be started or does not come back.
    """
    line = ["git", "--no-pager", "--literal-pathspecs"]
    for setting in _SETTINGS:
        line += ["-c", setting]
    try:
        done = subprocess.run(
            [*line, "-C", str(folder), *arguments],
            input=stdin,
            capture_output=True,
            timeout=patience,
            check=False,
            env={**_environment(), **names},
        )
    except FileNotFoundError as failure:
        raise GitUnavailable("`git` is not installed, or not on the PATH") from failure
    except OSError as failure:
        raise GitUnavailable(f"`git` cannot be started: {failure.strerror}") from failure
    except subprocess.TimeoutExpired as failure:
        raise GitUnavailable(f"`git {arguments[0]}` took longer than {patience:g} s") from failure
    return Answer(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))


def demand_git(
    folder: Path,
    *arguments: str,
    stdin: bytes = b"",
    names: Mapping[str, str] = _NO_NAMES,
) -> Answer:
    """What git says, where only success is an answer. Raises GitUnavailable."""
    answer = ask_git(folder, *arguments, stdin=stdin, names=names)
    if answer.code:
        raise GitUnavailable(f"`git {arguments[0]}` failed: {answer.reason}")
    return answer


def decode_name(data: bytes) -> str:
    """A name or a text of git's; bytes that are not UTF-8 come back as they were by encoding."""
    return data.decode("utf-8", "surrogateescape")


def encode_name(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def split_names(data: bytes) -> list[str]:
    """What `-z` lists."""
    return [decode_name(each) for each in data.split(b"\0") if each]


def _environment() -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()  # noqa: TID251 - to pass on less of it
        if not name.upper().startswith("GIT_") or _KEPT.match(name)
    }
    return {**kept, **_HELD}
