"""What changed of the protection of classified columns: exposed, masked less, masked otherwise.

Both sides are judged as a run of each would mask them, in every environment that either names. A
tag that a model takes off in the open is a change of its own, and so is one that its query ends.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from rocky.analysis.changes.change import Change, change_of
from rocky.analysis.classification import Classifications, TagFact, classify
from rocky.analysis.compilation import Compilation
from rocky.analysis.compliance import (
    ClassifiedColumn,
    Protected,
    environments_of,
    find_protection,
)
from rocky.language.binder.logic.digests import Renames
from rocky.project.configuration.masks import TIME_UNITS, MaskStrategy

_STRENGTH: Final = {"redact": 4, "null": 4, "hash": 3, "sha2": 2}
"""What each strategy hides, the most first; the others, of which a part stays, have the least."""
_PARTIAL: Final = 1
_DECIDED: Final = {"clear_by_decision": "clear by decision", "allowed": "it may be clear"}
_Place = tuple[str, str, str]
"""The key of a table in the head, a column or field of it in lower case, and a tag."""


class _Seen(NamedTuple):
    """One change in one environment, without the environment."""

    rule: str
    column: str
    before: str | None
    after: str | None
    detail: str


def compare_protection(
    base: Compilation, head: Compilation, renames: Renames
) -> dict[str, list[Change]]:
    """The changes by key of the head's table. `renames` lead from the base to the head."""
    old_facts, new_facts = classify(base), classify(head)
    if not old_facts and not new_facts:
        return {}
    environments = _environments(base, head)
    before = {
        _moved(each, renames): each for each in find_protection(base, old_facts, environments)
    }
    after = {_place(each): each for each in find_protection(head, new_facts, environments)}
    found: dict[str, dict[_Seen, list[str]]] = {}
    clear = {
        (*place[:2], env.env)
        for place, each in before.items()
        for env in each.envs
        if env.state == "exposed"
    }
    for place, new in after.items():
        old = before.get(place)
        for index, protected in enumerate(new.envs):
            if old is None and (*place[:2], protected.env) in clear:
                # Another tag said so of the same values before.
                continue
            was = old.envs[index] if old is not None else None
            if was is None and _had(base, place, renames):
                was = Protected(protected.env, "allowed") if protected.enforced else None
            for seen in _compare(new, was, protected):
                found.setdefault(place[0], {}).setdefault(seen, []).append(protected.env)
    for place, old in before.items():
        if place not in after and _is_declared_no_more(old.fact, new_facts, renames):
            for protected in old.envs:
                if protected.state == "masked" and _has(head, place):
                    seen = _Seen(
                        "mask_removed",
                        old.name,
                        str(protected.strategy),
                        None,
                        f"`{place[2]}` is not declared at `{'.'.join(old.fact.origin)}` any more",
                    )
                    found.setdefault(place[0], {}).setdefault(seen, []).append(protected.env)
    return {key: [*_changes(each)] for key, each in found.items()}


def _environments(base: Compilation, head: Compilation) -> tuple[str | None, ...]:
    if head.project.env is not None:
        return (head.project.env,)
    named = {*environments_of(base.project), *environments_of(head.project)} - {None}
    return (None, *sorted(each for each in named if each is not None))


def _place(column: ClassifiedColumn) -> _Place:
    return column.table.lower(), column.name.lower(), column.fact.tag


def _moved(column: ClassifiedColumn, renames: Renames) -> _Place:
    """The place that a column of the base has in the head."""
    table, field = column.table.lower(), column.fact.field.lower()
    name = renames.column(table, column.column).lower()
    return renames.table(table), f"{name}.{field}" if field else name, column.fact.tag


def _has(head: Compilation, place: _Place) -> bool:
    """Whether a table of the head still has a column."""
    return place[1].partition(".")[0] in _columns(head, place[0])


def _had(base: Compilation, place: _Place, renames: Renames) -> bool:
    """Whether the base has a column of the head, untagged: whoever reads it reads clear values."""
    key = next((old for old, new in renames.tables.items() if new == place[0]), place[0])
    names = {renames.column(key, each) for each in _columns(base, key)}
    return place[1].partition(".")[0] in names


def _columns(side: Compilation, key: str) -> set[str]:
    if key in side.models:
        return {each.name.lower() for each in side.models[key].columns}
    declared = side.project.seeds.get(key) or side.project.sources.get(key)
    return {each.name.lower() for each in declared.columns} if declared is not None else set()


def _is_declared_no_more(fact: TagFact, head: Classifications, renames: Renames) -> bool:
    """Whether the column that gave a tag is there without it."""
    origin = fact.origin
    table = renames.table(origin.table.lower())
    column = renames.column(origin.table.lower(), origin.column)
    first = [*fact.steps()][-1]
    return all(each.tag != first.tag for each in head.of(table, column))


def _compare(column: ClassifiedColumn, was: Protected | None, now: Protected) -> Iterator[_Seen]:
    tag = f"`{column.fact.tag}`"
    before = None if was is None or was.strategy is None else str(was.strategy)
    after = None if now.strategy is None else str(now.strategy)
    if was is None:
        if now.state == "exposed":
            yield _Seen("column_exposed", column.name, None, None, f"{tag}: {now.reason}")
    elif was.enforced and not now.enforced:
        why = now.reason or _DECIDED[now.state]
        yield _Seen("mask_removed", column.name, before, after, f"{tag}: {why}")
    elif not was.enforced and now.enforced:
        yield _Seen("mask_added", column.name, before, after, tag)
    elif was.state != "exposed" and now.state == "exposed":
        yield _Seen("column_exposed", column.name, None, None, f"{tag}: {now.reason}")
    elif was.enforced and was.strategy and now.strategy and was.strategy != now.strategy:
        rule = "mask_changed" if _hides_no_less(was.strategy, now.strategy) else "mask_weakened"
        yield _Seen(rule, column.name, before, after, tag)


def _hides_no_less(before: MaskStrategy, after: MaskStrategy) -> bool:
    """Whether a mask certainly hides what another one did."""
    one, other = (_STRENGTH.get(each.name, _PARTIAL) for each in (before, after))
    if one != other or other != _PARTIAL:
        return other >= one
    if before.name != after.name:
        return False
    match after.name:
        case "truncate":
            return int(after.argument) <= int(before.argument)
        case "bucket":
            return int(after.argument) % int(before.argument) == 0
        case "date_trunc":
            return TIME_UNITS.index(after.argument) <= TIME_UNITS.index(before.argument)
        case _:
            return False


def _changes(found: Mapping[_Seen, Iterable[str]]) -> Iterator[Change]:
    for seen, environments in found.items():
        where = ", ".join(environments)
        yield change_of(
            seen.rule, seen.column, seen.before, seen.after, f"{seen.detail}, in {where}"
        )
