"""Steps: what a run does, in order, and what each step reads.

A step is a table to bring up to date (`build`), a query that readers get in place of a table
(`inline`: views and ephemeral models, also those that were not selected), or a seed to load
(`seed`). A table that is read and not built here is no step: it is pinned when the run starts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, Literal

from rocky.analysis.compilation import Compilation
from rocky.analysis.names import Names
from rocky.compiler.graph import topological_levels
from rocky.diagnostics import Diagnostic
from rocky.diagnostics.suggestion import suggestion
from rocky.errors import NothingSelected
from rocky.project import ModelFile, Project
from rocky.project.configuration.strategies import is_inline

StepKind = Literal["build", "inline", "seed"]
ReadKind = Literal["model", "seed", "source"]


@dataclass(frozen=True, slots=True, order=True)
class Read:
    """Something a model reads: a key of the project's models, seeds or sources."""

    kind: ReadKind
    key: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `id` names it among the steps, `key` in the project; `layer` counts from 0.

    `after` are the ids of the steps that must have ended before it: those it reads, and those its
    `depends_on` names.
    """

    kind: StepKind
    key: str
    name: str
    reads: tuple[Read, ...]
    after: tuple[str, ...]
    layer: int
    selected: bool = True

    @property
    def id(self) -> str:
        return step_id(self.kind, self.key)


@dataclass(frozen=True, slots=True)
class LeftOutStep:
    """A step that is not taken: for an error (`finding`), or for those it comes after."""

    step: Step
    finding: Diagnostic | None = None
    blocked_by: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The steps of a run in an order that respects what each reads.

    `pinned` are keys of models that are read but not built: their tables must exist. `cycle` holds
    the names of models that wait for each other, of which none can run. `left_out` were selected
    and are not among the `steps`: the run goes on without them and has failed in part.
    """

    compilation: Compilation
    steps: tuple[Step, ...]
    pinned: tuple[str, ...]
    cycle: tuple[str, ...] = ()
    left_out: tuple[LeftOutStep, ...] = ()

    @property
    def all_steps(self) -> tuple[Step, ...]:
        """Also those that are left out."""
        return (*self.steps, *(each.step for each in self.left_out))

    @property
    def project(self) -> Project:
        return self.compilation.project

    @property
    def selected(self) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.selected)

    @property
    def layers(self) -> tuple[tuple[str, ...], ...]:
        """The names of the steps, layer by layer."""
        count = 1 + max((step.layer for step in self.steps), default=-1)
        return tuple(
            tuple(step.name for step in self.steps if step.layer == layer) for layer in range(count)
        )


def step_id(kind: str, key: str) -> str:
    """A seed, a source and a model may share a name; the id tells them apart."""
    return key if kind not in ("seed", "source") else f"{kind}:{key}"


def plan_steps(compilation: Compilation, keys: Iterable[str]) -> RunPlan:
    """The steps that bring the models of these keys up to date.

    A table that has a masked twin is never brought up to date without it.
    """
    project = compilation.project
    chosen = set(keys)
    chosen |= {twin for twin, key in project.twins.items() if key in chosen}
    reads: dict[str, tuple[Read, ...]] = {}
    waiting = sorted(chosen)
    while waiting:
        key = waiting.pop()
        reads[key] = reads_of(compilation, project.models[key])
        for each in reads[key]:
            # Readers of a view need its query, whether or not it was asked for.
            if (
                each.kind == "model"
                and each.key not in reads
                and each.key not in waiting
                and (is_inline(project.models[each.key].strategy))
            ):
                waiting.append(each.key)
    seeds = {each.key for found in reads.values() for each in found if each.kind == "seed"}
    for twin, key in project.twins.items():
        if key in seeds and twin not in reads:
            reads[twin] = reads_of(compilation, project.models[twin])
            chosen.add(twin)
    needs = _needs(project, reads, seeds)
    levels, cycle = topological_levels(needs, needs)
    steps = [
        _step(project, each, reads, needs, layer, chosen)
        for layer, ids in enumerate(levels)
        for each in ids
    ]
    read = {each.key for found in reads.values() for each in found if each.kind == "model"}
    return RunPlan(compilation, tuple(steps), tuple(sorted(read - reads.keys())), tuple(cycle))


def _needs(
    project: Project, reads: Mapping[str, tuple[Read, ...]], seeds: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    """The ids of all steps, each with the ids it comes after."""
    needs: dict[str, tuple[str, ...]] = {step_id("seed", key): () for key in seeds}
    ids = {*reads, *needs}
    for key, found in reads.items():
        wanted = {step_id(each.kind, each.key) for each in found}
        for name in project.models[key].depends_on:
            wanted |= {name.lower(), step_id("seed", name.lower())}
        needs[key] = tuple(sorted((wanted & ids) - {key}))
    return needs


def _step(
    project: Project,
    each: str,
    reads: Mapping[str, tuple[Read, ...]],
    needs: Mapping[str, tuple[str, ...]],
    layer: int,
    chosen: set[str],
) -> Step:
    if each not in reads:
        key = each.removeprefix("seed:")
        return Step("seed", key, project.seeds[key].name, (), (), layer, selected=False)
    model = project.models[each]
    kind: StepKind = "inline" if is_inline(model.strategy) else "build"
    return Step(kind, each, model.name, reads[each], needs[each], layer, selected=each in chosen)


def reads_of(compilation: Compilation, model: ModelFile) -> tuple[Read, ...]:
    """What a model reads, sorted. A name that is a model's means it to all but the model itself."""
    project = compilation.project
    found: set[Read] = set()
    for name in compilation.upstream.get(model.name, ()):
        key = name.lower()
        if key in project.models and key != model.key:
            found.add(Read("model", key))
        else:
            found.add(Read("seed" if key in project.seeds else "source", key))
    return tuple(sorted(found))


def resolve_name(
    project: Project, names: Names, parts: tuple[str, ...], reader: str
) -> Read | None:
    """What a table name (lower-case parts) means to a reader; None for a name that is unknown."""
    model = names.model(parts, reader)
    if model is not None:
        return Read("model", model) if model in project.models else None
    table = names.external(parts)
    if table is None:
        return None
    key = table.name.lower()
    return Read("seed", key) if key in project.seeds else Read("source", key)


NEVER_BUILT: Final = "first build"


FULL_REFRESH: Final = "a full refresh was asked for"


RESUMED: Final = "resume"
"""The `decision` of a model that an earlier run has built."""


HELD: Final = "hold"
"""The `decision` of a model whose table stays as a revert left it."""


BUILT: Final = "build"


SKIPPED: Final = "skip"


def expected_steps(steps: Iterable[Step]) -> list[Step]:
    """Those that a run is expected to tell of: what was asked for, and tables that it needs."""
    return [step for step in steps if step.selected or step.kind != "inline"]


NEEDED: Final = "its readers need it"
UNREAD: Final = "nothing reads it; Spark has checked it"
"""Why a query without a table was bound."""


CHANGED: Final = "changed while it was read"


NOT_HELD: Final = "not in Spark's catalogue"


TOLD: Final = "catalogues are told of views"


def plan_seeds(compilation: Compilation, names: Sequence[str]) -> RunPlan:
    """One step a seed, and one its masked twin, where it has one. Raises NothingSelected.

    A name may have `*` and `?`.
    """
    project = compilation.project
    if not project.seeds:
        raise NothingSelected("the project has no seeds; put a CSV with a header into `seeds/`")
    keys = {key for name in names for key in _select(name, project)} or set(project.seeds)
    steps = [
        Step("seed", key, seed.name, (), (), 0)
        for key, seed in sorted(project.seeds.items())
        if key in keys
    ]
    for twin, key in sorted(project.twins.items()):
        if key in keys and key not in project.models:
            model = project.models[twin]
            kind: StepKind = "inline" if is_inline(model.strategy) else "build"
            reads = reads_of(compilation, model)
            steps.append(Step(kind, twin, model.name, reads, (step_id("seed", key),), 1))
    return RunPlan(compilation, tuple(steps), ())


def _select(name: str, project: Project) -> list[str]:
    wanted = name.replace("`", "").lower()
    found = [key for key in project.seeds if fnmatchcase(key, wanted)]
    if not found:
        known = [seed.name for seed in project.seeds.values()]
        hint = suggestion(name, known) or f"there are {len(known)}: `rocky list seeds`"
        raise NothingSelected(f"no seed `{name}`; {hint}")
    return found
