"""A plan compared with what would be planned now: everything in its payload, each move in words.

Causes come first (code, config, inputs, state), then what would be decided otherwise because of
them. Nothing is compared here that has no words: what no sentence fits is named by its place.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rocky.run.applied import Document
from rocky.run.observed import Move, describe_moves

_ORDER: Final = ("surroundings", "config", "code", "inputs", "state", "decision")
_CODE: Final = (
    ("skip_hash", "recipe changed"),
    ("settings_hash", "settings changed"),
    ("recipe_hash", "text changed, though not what it means"),
    ("text_hash", "file changed, though not its query"),
    ("content_hash", "file changed"),
    ("target", "target changed"),
    ("sql", "SQL changed"),
)
"""What says that a step's code changed, the most telling first."""
_DECIDED: Final = (
    "decision",
    "reason",
    "reused_from",
    "basis",
    "waits_for",
    "input_hash",
    "schema_changes",
)


def compare_payloads(planned: Document, now: Document) -> list[Move]:
    """What moved since a plan was made; nothing when both payloads are equal."""
    if planned == now:
        return []
    try:
        moves = list(_moves(planned, now))
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError):
        # A file that somebody wrote by hand, with the id to fit, may hold anything.
        moves = []
    if not moves:
        place = next(_places(planned, now), "payload")
        moves = [Move("state", f"`{place}` is not what it was")]
    known = list(dict.fromkeys(moves))
    return sorted(known, key=lambda each: _ORDER.index(each.kind))


def _moves(planned: Document, now: Document) -> Iterator[Move]:
    before, after = planned.get("rocky_version"), now.get("rocky_version")
    if before != after:
        yield Move("surroundings", f"Rocky moved from {before} to {after}")
    if planned.get("config_hash") != now.get("config_hash"):
        yield Move("config", "rocky.toml changed")
    runs = {each.get("pipeline"): each for each in now.get("runs", ())}
    for run in planned.get("runs", ()):
        found = runs.pop(run.get("pipeline"), None)
        if found is None:
            yield Move("config", f"pipeline `{run.get('pipeline')}` is not run any more")
        elif found != run:
            yield from _run_moves(run, found)
    for name in runs:
        yield Move("config", f"pipeline `{name}` is run now")


def _run_moves(planned: Document, now: Document) -> Iterator[Move]:
    yield from _adapter_moves(planned.get("adapter", {}), now.get("adapter", {}))
    if planned.get("ledger") != now.get("ledger"):
        yield Move("state", _describe_ledger(planned.get("ledger"), now.get("ledger")))
    elif planned.get("variables") != now.get("variables"):
        # Without the same ledger the same values have another hash.
        yield Move("surroundings", _describe_variables(planned, now))
    if planned.get("last_run") != now.get("last_run"):
        run = now.get("last_run") or planned.get("last_run")
        yield Move("state", f"`{run}` was the pipeline's last run")
    if planned.get("resumes") != now.get("resumes"):
        run = now.get("resumes") or planned.get("resumes")
        word = "would be gone on with" if now.get("resumes") else "would not be gone on with"
        yield Move("state", f"the unfinished run `{run}` {word}")
    if planned.get("certain") != now.get("certain"):
        yield Move("surroundings", "whether Spark is known before it starts is another")
    yield from describe_moves(planned.get("relies_on", {}), now.get("relies_on", {}))
    yield from _step_moves(_by_name(planned), _by_name(now))
    yield from _table_moves(planned.get("tables", ()), now.get("tables", ()))


def _adapter_moves(planned: Document, now: Document) -> Iterator[Move]:
    if planned.get("name") != now.get("name"):
        yield Move("surroundings", f"it would run on `[adapter.{now.get('name')}]`")
    elif planned.get("env_hash") != now.get("env_hash"):
        yield Move("surroundings", "Spark or its settings changed")
    for name in ("warehouse", "settings"):
        if planned.get(name) != now.get(name):
            what = "warehouse" if name == "warehouse" else "`[adapter]`"
            yield Move("surroundings", f"the {what} is another one")


def _describe_variables(planned: Document, now: Document) -> str:
    names = {
        name for each in (planned, now) for name in (each.get("variables") or {}).get("names", ())
    }
    if not names:
        return "what surrounds Spark here, files or variables that it reads, is not as it was"
    listed = ", ".join(f"`{name}`" for name in sorted(names))
    return f"a variable of the environment has another value; asked for are {listed}"


def _describe_ledger(before: str | None, after: str | None) -> str:
    if before is None:
        return "there is a state file now; there was none when the plan was made"
    if after is None:
        return "there is no state file where the plan's was: name it with `--state-path`"
    return "the state file is another one than the plan was made with: see `--state-path`"


def _by_name(run: Document) -> dict[tuple[str, str], Document]:
    return {(each["kind"], each["name"]): each for each in run.get("steps", ())}


def _step_moves(
    planned: Mapping[tuple[str, str], Document], now: Mapping[tuple[str, str], Document]
) -> Iterator[Move]:
    for key in dict.fromkeys((*planned, *now)):
        before, after, name = planned.get(key), now.get(key), key[1]
        if before is None or after is None:
            word = "is part of it now" if before is None else "is no longer part of it"
            yield Move("code", f"`{name}` {word}")
        elif before != after:
            yield from _changed_step(name, before, after)


def _changed_step(name: str, before: Document, after: Document) -> Iterator[Move]:
    changed = next((words for key, words in _CODE if before.get(key) != after.get(key)), None)
    if changed is not None:
        yield Move("code", f"`{name}`: {changed}")
    if before.get("decision") != after.get("decision"):
        yield Move(
            "decision",
            f"`{name}`: `{after.get('decision')}` and not `{before.get('decision')}`:"
            f" {after.get('reason')}",
        )
    elif changed is None and any(before.get(key) != after.get(key) for key in _DECIDED):
        what = after.get("reason") if before.get("reason") != after.get("reason") else None
        yield Move("decision", f"`{name}`: {what or 'what it is made from is another'}")
    elif changed is None:
        yield Move("code", f"`{name}`: what it reads, or its place among the others, changed")


def _table_moves(planned: Any, now: Any) -> Iterator[Move]:
    """Tables of a pipeline that are copied, loaded, followed or checked."""
    before = {each["table"]: each for each in planned}
    after = {each["table"]: each for each in now}
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            word = "is in the source now" if old is None else "is not in the source any more"
            yield Move("inputs", f"`{name}` {word}")
        elif old.get("files") != new.get("files"):
            yield Move("inputs", f"the files of `{name}` are others")
        elif old != new:
            yield Move("decision", f"`{name}`: `{new['decision']}`: {new['reason']}")


def _places(planned: Any, now: Any, at: str = "") -> Iterator[str]:
    """Where two documents differ."""
    if isinstance(planned, dict) and isinstance(now, dict):
        for key in dict.fromkeys((*planned, *now)):
            place = f"{at}.{key}" if at else str(key)
            yield from _places(planned.get(key), now.get(key), place)
    elif isinstance(planned, list) and isinstance(now, list) and len(planned) == len(now):
        for number, (one, other) in enumerate(zip(planned, now, strict=True)):
            yield from _places(one, other, f"{at}[{number}]")
    elif planned != now:
        yield at
