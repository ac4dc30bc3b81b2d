"""The program `git`, started in one way: nothing from outside can redirect it.

A hook or a wrapper leaves `GIT_DIR` and the like in the environment, and then `git -C folder` would
answer about another repository. All such variables are dropped; only those that say where settings
are stay, because an identity or a trusted folder may be set there.

Nor does it start what a repository names: hooks, a file system monitor, pagers, programs that
compare or convert, and filters (`clean`, `smudge`, `process`). Whoever proposes a change writes
`.gitattributes`, and what is read is what the objects hold.
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
    "core.pager=cat",
    "core.askPass=",
    "diff.external=",
    "protocol.ext.allow=never",
    "core.sparseCheckout=false",
    "log.showSignature=false",
    "color.ui=false",
    "core.warnAmbiguousRefs=true",
    "blame.ignoreRevsFile=",
)
_NO_NAMES: Final[Mapping[str, str]] = {}

_CONVERTING: Final = frozenset({"add", "blame", "checkout-index", "diff", "log", "status"})
"""The commands that look at files of the working tree, or write them, and would convert them."""
_COMPARING: Final = frozenset({"diff", "log"})
_FILTER: Final = re.compile(r"filter\.(.*)\.(clean|smudge|process|required)", re.DOTALL)
_COUNT: Final = "GIT_CONFIG_COUNT"


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
    environment = {**_environment(), **names}
    command, *others = arguments
    if command in _CONVERTING:
        environment = _without_filters([*line, "-C", str(folder)], environment, patience)
    if command in _COMPARING:
        others = ["--no-ext-diff", "--no-textconv", *others]
    return _run([*line, "-C", str(folder), command, *others], stdin, environment, patience)


def _run(line: list[str], stdin: bytes, environment: dict[str, str], patience: float) -> Answer:
    try:
        done = subprocess.run(
            line,
            input=stdin,
            capture_output=True,
            timeout=patience,
            check=False,
            env=environment,
        )
    except FileNotFoundError as failure:
        raise GitUnavailable("`git` is not installed, or not on the PATH") from failure
    except OSError as failure:
        raise GitUnavailable(f"`git` cannot be started: {failure.strerror}") from failure
    except subprocess.TimeoutExpired as failure:
        shown = line[line.index("-C") + 2]
        raise GitUnavailable(f"`git {shown}` took longer than {patience:g} s") from failure
    return Answer(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))


def _without_filters(
    line: list[str], environment: dict[str, str], patience: float
) -> dict[str, str]:
    """The environment with every filter that any setting defines made one that does nothing."""
    listed = _run(
        [*line, "config", "-z", "--name-only", "--get-regexp", r"^filter\."],
        b"",
        environment,
        patience,
    )
    drivers = {found[1] for each in split_names(listed.out) if (found := _FILTER.fullmatch(each))}
    settings = [
        (f"filter.{driver}.{key}", value)
        for driver in sorted(drivers)
        for key, value in (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))
    ]
    # As variables, because a name may hold any character; those that are there stay before them.
    given = environment.get(_COUNT, "")
    first = int(given) if given.isdecimal() else 0
    added = {_COUNT: str(first + len(settings))} if settings else {}
    for number, (key, value) in enumerate(settings, first):
        added |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return {**environment, **added}


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
