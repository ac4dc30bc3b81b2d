"""Models that cannot be compared, because the code of a Python model was not run on a side.

Without its plan nobody knows the columns of a model that declares no `output`. Compared all the
same, they would be a change that nobody made, or hide one that somebody did: in the model, and in
whatever reads it. The same code over the same tables gives the same, and needs no plan.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rocky.analysis.changes.change import MissingPlan, UncomparedModel
from rocky.analysis.changes.models import Side, is_unchanged, match_models
from rocky.analysis.changes.reach import models_below
from rocky.analysis.compilation import unpack_schema
from rocky.analysis.lineage import reach_models
from rocky.analysis.python_plans import lacks_plan

_SHOWN: Final = 5
_BASE: Final = "base"


def find_uncompared(base: Side, head: Side) -> tuple[UncomparedModel, ...]:
    """The models of both sides that cannot be compared for want of a plan; causes come first."""
    before, after = _Doubt(base), _Doubt(head)
    if not before.missing and not after.missing:
        return ()
    matching = match_models(base, head)
    pairs = {**{key: key for key in matching.common}, **matching.renamed}
    suspects = {
        old: new
        for old, new in pairs.items()
        if (before.has(old) or after.has(new)) and _differ(base, old, head, new)
    }
    arrived = set(pairs.values())
    found = set(suspects.values())
    found |= {pairs[key] for key in before.below(suspects) if key in pairs}
    found |= {key for key in after.below(suspects.values()) if key in arrived}
    was = {new: old for old, new in pairs.items()}
    causes = after.missing | {pairs[key] for key in before.missing if key in pairs}
    return tuple(
        UncomparedModel(
            head.model(key).name,
            head.model(key).path,
            (
                *(MissingPlan(name, "base") for name in before.causes(was[key])),
                *(MissingPlan(name, "head") for name in after.causes(key)),
            ),
        )
        for key in sorted(found, key=lambda key: (key not in causes, key))
    )


def describe_uncompared(models: Sequence[UncomparedModel]) -> str:
    """Which models are not compared, why, and what to do about it."""
    sides: dict[str, set[str]] = {}
    for each in (each for model in models for each in model.missing):
        sides.setdefault(each.model, set()).add(each.side)
    code = [
        f"`{name}` ({'base' if _BASE in found else 'working tree'})"
        if len(found) == 1
        else f"`{name}` (both sides)"
        for name, found in sorted(sides.items())
    ]
    verb = "is" if len(models) == 1 else "are"
    remedy = "run `rocky compile` first, or set `ROCKY_ANALYSE=always` where the code may be run"
    if any(_BASE in found for found in sides.values()):
        remedy = (
            "set `ROCKY_ANALYSE=always` where the code may be run (`rocky compile` builds the plans"
            " of the working tree only)"
        )
    return (
        f"{_listed([f'`{each.name}`' for each in models])} {verb} not compared: the code of"
        f" {_listed(code)} was not run; {remedy}"
    )


def _listed(names: Sequence[str]) -> str:
    rest = len(names) - _SHOWN
    shown = list(names[:_SHOWN])
    if rest > 0:
        shown.append(f"{rest:,} more")
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def _differ(base: Side, old: str, head: Side, new: str) -> bool:
    both = old in base.compilation.models and new in head.compilation.models
    return both and not is_unchanged(base, old, head, new)


class _Doubt:
    """What is not known on a side for want of plans. `missing` are the models that have none."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self.missing = {
            key
            for key, model in side.project.models.items()
            if model.is_python and key in side.compilation.models and lacks_plan(side.record(key))
        }
        self._doubtful = models_below(side.compilation, self.missing)

    def has(self, key: str) -> bool:
        """Whether columns of a model may be unknown for want of a plan."""
        if key not in self._doubtful or key not in self._side.compilation.models:
            return False
        record = self._side.record(key)
        return bool(record.unknown) or not unpack_schema(record).known

    def below(self, keys: Iterable[str]) -> set[str]:
        """Those of some models that are in doubt here, and what reads them."""
        return models_below(self._side.compilation, self._doubtful.intersection(keys))

    def causes(self, key: str) -> Iterator[str]:
        """The models without a plan that a model is, or reads."""
        model = self._side.model(key)
        here = reach_models(self._side.compilation.upstream, (model.name,))
        for each in sorted(name.lower() for name in here):
            if each in self.missing:
                yield self._side.model(each).name
