"""Hints as Python calls: what a message says of the command line, for whoever calls from Python.

Both ways in raise the same errors, and their messages name commands and options as a terminal has
them. Here, and nowhere else, they become calls and arguments; what is no command stays as it is.
"""

import re
import shlex
from typing import Final

_QUOTED: Final = re.compile(r"`(?P<text>rocky [^`\n]+|--[a-z][^`\n]*)`")
_WINDOW: Final = "window=rocky.Window(...)"
_OTHERWISE: Final = {
    "all": "everything=",
    "as": "principal=",
    "env": "mask_env=",
    "filter": "filters=",
    "force-rebuild": "rebuild=",
    "fresh": "rebuild=",
    "model": "models",
    "no-cache": "cache=False",
    "no-reuse": "reuse=False",
    "target": "adapter=",
    "var": "variables=",
    **dict.fromkeys(("from", "to", "partition", "latest", "missing", "lookback"), _WINDOW),
}
"""Options that are called otherwise here."""
_FLAGS: Final = frozenset(
    (
        "allow-breaking", "all", "check", "discard-later", "dry-run", "execute", "force",
        "force-rebuild", "fresh", "full-refresh", "latest", "live", "missing", "no-cache",
        "no-reuse", "promotions", "record-baselines", "start-anew", "test", "verify", "write",
    )
)  # fmt: skip
"""Options without a value."""
_CALLS: Final = {
    "branch list": "branches",
    "branch recover": "recover",
    "branch revert": "revert",
    "check-python": "check_python",
    "ci-diff": "diff",
    "emit-sql": "emit_sql",
    "explain": "rocky.explain",
    "governance apply": "apply_governance",
    "governance plan": "plan_governance",
    "governance who": "who_can_read",
    "imports update": "update_imports",
    "init": "rocky.create_project",
    "lineage-diff": "diff",
    "playground": "rocky.create_playground",
    "state accept": "accept_table",
    "state delete": "delete_watermark",
    "state restore": "restore_table",
    "state retention sweep": "sweep_state",
    **{
        name: name
        for name in (
            "apply", "backfill", "build", "ci", "compact", "compile", "compliance", "cost",
            "discover", "docs", "doctor", "drift", "erase", "gc", "history", "lineage", "list",
            "logs", "plan", "publish", "replay", "retention", "run", "seal", "seed", "show",
            "state", "test", "trace", "validate", "verify",
        )
    },
}  # fmt: skip
"""Commands by their words, the longest first when they are looked up."""
_OF_A_BRANCH: Final = ("create", "diff", "rebase", "approve", "approvals", "promote", "delete")
_LONGEST: Final = 3
_NAMED: Final = {"history": "run=", "restore_state": "table="}
"""Methods that take by name what a command takes by place."""
_PLACEHOLDER: Final = re.compile(r"[A-Z]+")


def argument_of(option: str) -> str:
    """What an option is called from Python."""
    return _OTHERWISE.get(option) or f"{option.replace('-', '_')}="


def in_python(message: str) -> str:
    """A message with calls and arguments in the place of commands and options."""
    return _QUOTED.sub(lambda found: f"`{_translated(found['text'])}`", message)


def _translated(text: str) -> str:
    try:
        words = shlex.split(text)
    except ValueError:
        return text
    if words[0] != "rocky":
        option = words[0].removeprefix("--")
        return _argument(option, words[1]) if len(words) == 2 else argument_of(option)
    return _call(words[1:]) or text


def _call(words: list[str]) -> str | None:
    """The call of a command line; None for one that has none."""
    owner, method, rest = _method(words)
    given: list[str] = []
    while rest:
        word = rest.pop(0)
        option = word.removeprefix("--")
        if word == "-m" and rest:
            given.append(f"message={_value(rest.pop(0))}")
        elif not word.startswith("-"):
            given.append(f"{_NAMED.get(method, '')}{_value(word)}")
        elif word == option:
            return None
        elif option in _FLAGS or not rest or rest[0].startswith("-"):
            given.append(_set(option))
        elif option == "branch":
            owner = f"branch({_value(rest.pop(0))}).workspace."
        elif option == "model":
            given.append(_value(rest.pop(0)))
        else:
            given.append(_argument(option, rest.pop(0)))
    return f"{owner}{method}({', '.join(given)})" if method else None


def _method(words: list[str]) -> tuple[str, str, list[str]]:
    """Of whom a command is a method, which one, and the words that are left; no name for none."""
    length = next((n for n in range(_LONGEST, 0, -1) if " ".join(words[:n]) in _CALLS), 0)
    method, rest = _CALLS.get(" ".join(words[:length]), ""), words[length:]
    if method == "restore_table" and "--from-tables" in rest:
        return "", "restore_state", [each for each in rest if each != "--from-tables"]
    if method == "doctor":
        return "", method, [each for each in rest if each != "--check"]
    if method == "compile":
        return "", method, [each for each in rest if each != "spark"]
    if words[0] == "branch" and words[1:2] and words[1] in _OF_A_BRANCH:
        named = bool(words[2:3]) and not words[2].startswith("-")
        name, rest = (_value(words[2]), words[3:]) if named else ("NAME", words[2:])
        return f"branch({name}).", words[1], rest
    return "", method, rest


def _set(option: str) -> str:
    name = argument_of(option)
    return f"{name}True" if name.endswith("=") else name


def _argument(option: str, value: str) -> str:
    name = argument_of(option)
    return f"{name}{_value(value)}" if name.endswith("=") else name


def _value(word: str) -> str:
    """A value in quotes; a word in capitals stands for one."""
    return word if _PLACEHOLDER.fullmatch(word) else f"'{word}'"
