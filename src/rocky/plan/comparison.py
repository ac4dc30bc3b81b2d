"""A kept plan compared with what would be planned now: each deviation in words.

Causes come first (code, config, inputs, state), then what would be decided otherwise because of
them. Only documents are compared, nothing is looked at here. What no sentence fits is named by its
place.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from rocky.plan.kept_plan import PlanDocument

UNREADABLE: Final = "unreadable"
"""The key under which stands why something could not be looked at."""


class Deviation(NamedTuple):
    """Something that is not as it was: `kind` says what sort of thing, `what` is a sentence."""

    kind: str
    what: str


def describe_deviations(planned: PlanDocument, found: PlanDocument) -> list[Deviation]:
    """What is not as it was, in words; nothing when both looks are equal.

    What the plan did not look at is not compared.
    """
    moves: list[Deviation] = []
    for part, kind, describe in (
        ("inputs", "inputs", _describe_table),
        ("sources", "inputs", _describe_source),
        ("tables", "state", _describe_table),
        ("watermarks", "state", _describe_watermark),
        ("intervals", "state", _describe_intervals),
    ):
        if part not in planned:
            continue
        before, after = planned[part], found.get(part, {})
        moves += [
            Deviation(kind, describe(name, before.get(name), after.get(name)))
            for name in dict.fromkeys((*before, *after))
            if before.get(name) != after.get(name)
        ]
    if "last_runs" in planned:
        moves += _describe_last_runs(planned["last_runs"], found.get("last_runs", {}))
    return moves


def find_unreadable(document: PlanDocument) -> list[str]:
    """What could not be looked at, in words."""
    return [
        f"`{name}` could not be read: {each[UNREADABLE]}"
        for part in ("inputs", "sources", "tables")
        for name, each in document.get(part, {}).items()
        if UNREADABLE in each
    ]


def _describe_table(name: str, before: Any, after: Any) -> str:
    if before is None or after is None:
        return f"`{name}` {'is new here' if before is None else 'is no longer part of it'}"
    for each, when in ((before, "when the plan was made"), (after, "now")):
        if UNREADABLE in each:
            return f"`{name}` cannot be read {when}: {each[UNREADABLE]}"
    if not before:
        return f"`{name}` was built, at version {after['version']}"
    if not after:
        return f"`{name}` is gone"
    if before["version"] != after["version"]:
        return f"`{name}` moved from version {before['version']} to {after['version']}"
    return f"`{name}` has other files at version {after['version']}"


def _describe_source(name: str, before: Any, after: Any) -> str:
    if before is None or after is None:
        return f"`{name}` {'is read now' if before is None else 'is no longer read'}"
    if before.get("declaration") != after.get("declaration"):
        return f"`{name}` has another declaration"
    for each, when in ((before, "when the plan was made"), (after, "now")):
        if UNREADABLE in each:
            return f"`{name}` cannot be read {when}: {each[UNREADABLE]}"
    if before.get("version") and after.get("version"):
        shown = [each["version"].partition(" ")[0] for each in (before, after)]
        if shown[0] != shown[1]:
            return f"`{name}` moved from version {shown[0]} to {shown[1]}"
    return f"`{name}` has other files"


def _describe_last_runs(before: PlanDocument, after: PlanDocument) -> list[Deviation]:
    """The runs since, each with what it ran."""
    since: dict[str | None, list[str]] = {}
    for name in dict.fromkeys((*before, *after)):
        if before.get(name) != after.get(name):
            since.setdefault(after.get(name), []).append(name)
    moves = []
    for run, names in since.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        if run is None:
            what = f"nothing is recorded of `{names[0]}`{more} any more"
        else:
            what = f"`{run}` has run `{names[0]}`{more} since"
        moves.append(Deviation("state", what))
    return moves


def _describe_watermark(name: str, before: Any, after: Any) -> str:
    return f"the watermark of `{name}` was {before or 'not asked for'}, and is {after or 'not'}"


def _describe_intervals(name: str, before: Any, after: Any) -> str:
    return f"the time intervals of `{name}` would be {_span(after)}, not {_span(before)}"


def _span(keys: Sequence[str] | None) -> str:
    if not keys:
        return "none"
    return keys[0] if len(keys) == 1 else f"{keys[0]} to {keys[-1]} ({len(keys)})"


ID_CHARS: Final = 12
"""So many digits of a plan's id are shown."""


_LISTED_AT_MOST: Final = 8


def describe_outdated(plan_id: str, moves: Sequence[Deviation]) -> str:
    """What to say of a plan that no longer holds: of each kind of move the first few."""
    listed = "".join(f"\n  {line}" for line in _lines(moves))
    return (
        f"plan `{plan_id[:ID_CHARS]}` no longer holds, so nothing was run:{listed}\n"
        "make a new one with `rocky plan`"
    )


def _lines(moves: Sequence[Deviation]) -> Iterator[str]:
    for kind in dict.fromkeys(each.kind for each in moves):
        found = [each.what for each in moves if each.kind == kind]
        yield from (f"{kind}: {what}" for what in found[:_LISTED_AT_MOST])
        if len(found) > _LISTED_AT_MOST:
            yield f"{kind}: {len(found) - _LISTED_AT_MOST} more"


_ORDER: Final = ("environment", "config", "code", "inputs", "state", "decision")
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


def compare_payloads(planned: PlanDocument, now: PlanDocument) -> list[Deviation]:
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
        moves = [Deviation("state", f"`{place}` has changed")]
    known = list(dict.fromkeys(moves))
    return sorted(known, key=lambda each: _ORDER.index(each.kind))


def _moves(planned: PlanDocument, now: PlanDocument) -> Iterator[Deviation]:
    before, after = planned.get("rocky_version"), now.get("rocky_version")
    if before != after:
        yield Deviation("environment", f"Rocky moved from {before} to {after}")
    if planned.get("config_hash") != now.get("config_hash"):
        yield Deviation("config", "rocky.toml changed")
    runs = {each.get("pipeline"): each for each in now.get("runs", ())}
    for run in planned.get("runs", ()):
        found = runs.pop(run.get("pipeline"), None)
        if found is None:
            yield Deviation("config", f"pipeline `{run.get('pipeline')}` is not run any more")
        elif found != run:
            yield from _run_moves(run, found)
    for name in runs:
        yield Deviation("config", f"pipeline `{name}` is run now")


def _run_moves(planned: PlanDocument, now: PlanDocument) -> Iterator[Deviation]:
    yield from _adapter_moves(planned.get("adapter", {}), now.get("adapter", {}))
    if planned.get("ledger") != now.get("ledger"):
        yield Deviation("state", _describe_ledger(planned.get("ledger"), now.get("ledger")))
    elif planned.get("variables") != now.get("variables"):
        # Without the same ledger the same values have another hash.
        yield Deviation("environment", _describe_variables(planned, now))
    if planned.get("last_run") != now.get("last_run"):
        run = now.get("last_run") or planned.get("last_run")
        yield Deviation("state", f"`{run}` was the pipeline's last run")
    if planned.get("resumes") != now.get("resumes"):
        run = now.get("resumes") or planned.get("resumes")
        word = "would be continued" if now.get("resumes") else "would not be continued"
        yield Deviation("state", f"the unfinished run `{run}` {word}")
    if planned.get("certain") != now.get("certain"):
        yield Deviation("environment", "what is known of Spark before it starts has changed")
    yield from describe_deviations(planned.get("relies_on", {}), now.get("relies_on", {}))
    yield from _step_moves(_by_name(planned), _by_name(now))
    yield from _table_moves(planned.get("tables", ()), now.get("tables", ()))


def _adapter_moves(planned: PlanDocument, now: PlanDocument) -> Iterator[Deviation]:
    if planned.get("name") != now.get("name"):
        yield Deviation("environment", f"it would run on `[adapter.{now.get('name')}]`")
    elif planned.get("env_hash") != now.get("env_hash"):
        yield Deviation("environment", "Spark or its settings changed")
    for name in ("warehouse", "settings"):
        if planned.get(name) != now.get(name):
            what = "warehouse" if name == "warehouse" else "`[adapter]`"
            yield Deviation("environment", f"the {what} has changed")


def _describe_variables(planned: PlanDocument, now: PlanDocument) -> str:
    names = {
        name for each in (planned, now) for name in (each.get("variables") or {}).get("names", ())
    }
    if not names:
        return "files or variables that Spark reads here have changed"
    listed = ", ".join(f"`{name}`" for name in sorted(names))
    return f"a variable of the environment has another value; asked for are {listed}"


def _describe_ledger(before: str | None, after: str | None) -> str:
    if before is None:
        return "there is a state file now; there was none when the plan was made"
    if after is None:
        return "there is no state file where the plan's was: name it with `--state-path`"
    return "the state file is another one than the plan was made with: see `--state-path`"


def _by_name(run: PlanDocument) -> dict[tuple[str, str], PlanDocument]:
    return {(each["kind"], each["name"]): each for each in run.get("steps", ())}


def _step_moves(
    planned: Mapping[tuple[str, str], PlanDocument], now: Mapping[tuple[str, str], PlanDocument]
) -> Iterator[Deviation]:
    for key in dict.fromkeys((*planned, *now)):
        before, after, name = planned.get(key), now.get(key), key[1]
        if before is None or after is None:
            word = "is part of it now" if before is None else "is no longer part of it"
            yield Deviation("code", f"`{name}` {word}")
        elif before != after:
            yield from _changed_step(name, before, after)


def _changed_step(name: str, before: PlanDocument, after: PlanDocument) -> Iterator[Deviation]:
    changed = next((words for key, words in _CODE if before.get(key) != after.get(key)), None)
    if changed is not None:
        yield Deviation("code", f"`{name}`: {changed}")
    if before.get("decision") != after.get("decision"):
        yield Deviation(
            "decision",
            f"`{name}`: `{after.get('decision')}` and not `{before.get('decision')}`:"
            f" {after.get('reason')}",
        )
    elif changed is None and any(before.get(key) != after.get(key) for key in _DECIDED):
        what = after.get("reason") if before.get("reason") != after.get("reason") else None
        yield Deviation("decision", f"`{name}`: {what or 'what it is made from is another'}")
    elif changed is None:
        yield Deviation("code", f"`{name}`: what it reads, or its place among the others, changed")


def _table_moves(planned: Any, now: Any) -> Iterator[Deviation]:
    """Tables of a pipeline that are copied, loaded, followed or checked."""
    before = {each["table"]: each for each in planned}
    after = {each["table"]: each for each in now}
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            word = "is in the source now" if old is None else "is not in the source any more"
            yield Deviation("inputs", f"`{name}` {word}")
        elif old.get("files") != new.get("files"):
            yield Deviation("inputs", f"the files of `{name}` are others")
        elif old != new:
            yield Deviation("decision", f"`{name}`: `{new['decision']}`: {new['reason']}")


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
