"""What can be compared of two compilations where a side does not compile: never all of it.

Models that compile on both sides are compared. One that does not is named, with its first error and
the columns that it lost. What reads such a model is typed by guesses, so of it is said only by what
it is reached. An error that is of no model leaves nothing that could be relied on.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from rocky.analysis.changes.change import ProjectDiff, TableDiff
from rocky.analysis.changes.diff import Comparison
from rocky.analysis.changes.missing_plans import find_uncompared
from rocky.analysis.changes.models import Side, has_own_changes
from rocky.analysis.changes.reach import models_below
from rocky.analysis.compilation import Compilation
from rocky.analysis.lineage import reach_models
from rocky.diagnostics import Diagnostic, Severity


@dataclass(frozen=True, slots=True)
class BrokenModel:
    """A model that does not compile on one side. `error` is its first.

    `lost` are the columns that the base knew and the head does not know any more; none where the
    base does not compile. `affected_by` names the tables whose changes reach it.
    """

    name: str
    side: Literal["base", "head"]
    path: str
    error: Diagnostic
    lost: tuple[str, ...] = ()
    affected_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PartialDiff:
    """What differs in the part that was compared, of `compared` models, and what was not."""

    diff: ProjectDiff
    broken: tuple[BrokenModel, ...]
    compared: int


def diff_parts(base: Compilation, head: Compilation) -> PartialDiff | None:
    """What differs between the parts that compile; None when no part is sure to."""
    old, new = _first_errors(base), _first_errors(head)
    if old is None or new is None:
        return None
    below = models_below(base, old) | models_below(head, new)
    told = frozenset({*old, *new, *below})
    one, other = Side(base), Side(head)
    uncompared = tuple(
        each for each in find_uncompared(one, other) if each.name.lower() not in told
    )
    left_out = told | {each.name.lower() for each in uncompared}
    diff = Comparison(one, other, left_out).run()
    reached = {each.name.lower(): each for each in diff.tables if each.name.lower() in left_out}
    broken = [
        *(_broken(one, key, "base", error, reached) for key, error in old.items()),
        *(
            replace(_broken(other, key, "head", error, reached), lost=_lost(base, old, head, key))
            for key, error in new.items()
        ),
    ]
    readers = [
        _reader(one, other, key, reached.get(key), {**old, **new})
        for key in below - old.keys() - new.keys()
        if key in head.project.models
    ]
    kept = [
        each
        for each in diff.tables
        if each.status == "removed" or each.name.lower() not in left_out
    ]
    compared = sum(key not in left_out for key in head.project.models)
    changed = sum(each.kind == "model" and each.status != "removed" for each in kept)
    return PartialDiff(
        replace(
            diff,
            tables=(*kept, *sorted(readers, key=lambda each: each.name.lower())),
            unchanged=compared - changed,
            uncompared=uncompared,
        ),
        tuple(sorted(broken, key=lambda each: (each.name.lower(), each.side))),
        compared,
    )


def _first_errors(side: Compilation) -> dict[str, Diagnostic] | None:
    """The first error of each model that has any, by its key; None when one is of no model."""
    found: dict[str, Diagnostic] = {}
    for each in side.diagnostics:
        if each.severity is Severity.ERROR:
            if each.model is None or each.model.lower() not in side.project.models:
                return None
            known = found.setdefault(each.model.lower(), each)
            if known.path == each.path and _start(each) < _start(known):
                found[each.model.lower()] = each
    if not side.models.records().keys() | found.keys() >= side.project.models.keys():
        return None
    return found


def _start(error: Diagnostic) -> int:
    return error.span.start if error.span is not None else 0


def _broken(
    side: Side,
    key: str,
    which: Literal["base", "head"],
    error: Diagnostic,
    reached: dict[str, TableDiff],
) -> BrokenModel:
    model = side.model(key)
    causes = reached[key].affected_by if key in reached else ()
    return BrokenModel(model.name, which, model.path, error, affected_by=causes)


def _lost(
    base: Compilation, errors: dict[str, Diagnostic], head: Compilation, key: str
) -> tuple[str, ...]:
    if key not in base.models or key in errors:
        return ()
    columns = head.models[key].columns if key in head.models else ()
    left = {each.name.lower() for each in columns if each.type.kind != "unknown"}
    known = (each for each in base.models[key].columns if each.type.kind != "unknown")
    return tuple(each.name for each in known if each.name.lower() not in left)


def _reader(
    base: Side, head: Side, key: str, reached: TableDiff | None, broken: Iterable[str]
) -> TableDiff:
    """A model that compiles and reads, maybe through others, one that does not."""
    model = head.model(key)
    both = key in base.compilation.models and key in head.compilation.models
    own = both and has_own_changes(base, key, head, key)
    upstream: set[str] = set()
    for side in (base, head):
        if key in side.project.models:
            name = side.model(key).name
            upstream |= {each.lower() for each in reach_models(side.compilation.upstream, (name,))}
    names = {
        side.model(each).name
        for side in (base, head)
        for each in broken
        if each in upstream and each in side.project.models
    }
    names |= set(reached.affected_by if reached is not None else ())
    return TableDiff(
        model.name,
        "model",
        "modified" if own else "affected" if key in base.project.models else "added",
        model.path,
        model.target.full_name,
        affected_by=tuple(sorted(names)),
    )
