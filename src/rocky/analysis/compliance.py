"""Compliance: what becomes of every classified column in every environment.

What a mask does is not judged anew here: it is read off the plan of masks that a run in that
environment goes by. Sources are not ours to mask; they stand at the beginning of the ways.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from rocky.analysis.classification import Classifications, TagFact
from rocky.analysis.column_masks import MaskPlan
from rocky.analysis.compilation import Compilation
from rocky.analysis.masks.plan import plan_masks
from rocky.project import Project
from rocky.project.configuration.masks import MaskStrategy
from rocky.project.pipeline_tables import PipelineTable
from rocky.project.project import mask_environments, mask_level, mask_strategies, twin_key

DEFAULT: Final = "default"
"""How the environment is called that is there when none is named."""
Protection = Literal["masked", "not_stored", "clear_by_decision", "allowed", "exposed"]
"""`masked`: only masked values are written. `not_stored`: clear in a model that writes nothing and
is not registered. `clear_by_decision`: the strategy is `none`. `allowed`: without a mask, and its
tag is in `allow_unmasked`. `exposed`: clear, and nobody said that it may be."""


@dataclass(frozen=True, slots=True)
class Protected:
    """What becomes of a tagged column in an environment.

    `strategy` is what was found for the tag, or for the tag that decides in its place (`by`).
    `reason` says why a column is exposed; `level` is where a mask holds.
    """

    env: str
    state: Protection
    strategy: MaskStrategy | None = None
    by: str | None = None
    level: str | None = None
    reason: str = ""

    @property
    def enforced(self) -> bool:
        """Whether no clear value can be read of what runs leave."""
        return self.state in ("masked", "not_stored")


@dataclass(frozen=True, slots=True)
class ClassifiedColumn:
    """A column of a table that the project writes, with one of its tags, in each environment."""

    table: str
    column: str
    fact: TagFact
    envs: tuple[Protected, ...]

    @property
    def name(self) -> str:
        """The column, or the field in it that has the tag."""
        return f"{self.column}.{self.fact.field}" if self.fact.field else self.column


def environments_of(project: Project) -> tuple[str | None, ...]:
    """The environment that was chosen; without one that of no name, and every named one."""
    if project.env is not None:
        return (project.env,)
    return (None, *mask_environments(project))


def find_protection(
    compilation: Compilation,
    classifications: Classifications,
    environments: Iterable[str | None],
) -> tuple[ClassifiedColumn, ...]:
    """Every classified column of the tables that the project writes, in these environments."""
    if not classifications:
        return ()
    judges = [_Judge(compilation, classifications, env) for env in environments]
    return tuple(
        ClassifiedColumn(
            table, fact.column.column, fact, tuple(each.judge(fact) for each in judges)
        )
        for table, facts in _written(compilation.project, classifications)
        for fact in facts
    )


def _written(
    project: Project, classifications: Classifications
) -> Iterator[tuple[str, Iterable[TagFact]]]:
    """The tables that the project writes and that have tags, by name, with their facts."""
    for key in sorted(classifications):
        if key in project.twins:
            # What becomes of its columns is said of what it is a twin of.
            continue
        source = project.sources.get(key)
        table = project.models.get(key) or project.seeds.get(key)
        if table is not None:
            name = table.name
        elif isinstance(source, PipelineTable):
            name = source.name
        else:
            continue
        found = classifications.table(key)
        yield name, [each for column in found.values() for each in column]


class _Judge:
    """The masks of one environment."""

    def __init__(
        self, compilation: Compilation, classifications: Classifications, env: str | None
    ) -> None:
        project = replace(compilation.project, env=env)
        self._project = project
        self._facts = classifications
        self._env = env or DEFAULT
        self._strategies = mask_strategies(project)
        self._plan = _plan_in(compilation, classifications, env)
        self._problems = {
            (each.table, each.column.lower()): each.message for each in self._plan.problems
        }

    def judge(self, fact: TagFact) -> Protected:
        """What becomes of a column that has a tag."""
        key, column = fact.column.table.lower(), fact.column.column.lower()
        chosen = _chosen(self._facts.of(key, column), self._strategies)
        own = self._strategies.get(fact.tag)
        covering = _covering(chosen, fact.field)
        if covering is not None:
            tag, strategy = covering
            by = tag if tag != fact.tag else None
            reason = self._obstacle(key, column)
            if reason:
                return Protected(self._env, "exposed", strategy, by, reason=reason)
            if is_clear(self._plan, key, column):
                return Protected(self._env, "not_stored", strategy, by)
            level = mask_level(self._project) if self._is_shown(key, column) else "write"
            return Protected(self._env, "masked", strategy, by, level)
        if own is not None and own.name == "none":
            return Protected(self._env, "clear_by_decision", own)
        if own is not None:
            higher = chosen[fact.field if fact.field in chosen else ""][0]
            reason = f"`{higher}` stands higher than `{fact.tag}`, and its mask is `none`"
            return Protected(self._env, "exposed", own, higher, reason=reason)
        if fact.tag in self._project.config.classifications.allow_unmasked:
            return Protected(self._env, "allowed")
        return Protected(self._env, "exposed", reason=f"no mask for the tag `{fact.tag}`")

    def _is_shown(self, key: str, column: str) -> bool:
        """Whether a mask is put on a clear column here, so that the level says where it holds.

        What pipelines write is masked in the table itself, and what models take from it has been
        masked there, whatever holds for models.
        """
        plan = self._plan
        shown = (plan.of(key), plan.of(twin_key(key)), plan.catalog.get(key, {}))
        return key not in self._project.writers and any(column in each for each in shown)

    def _obstacle(self, key: str, column: str) -> str:
        """Why a mask that is asked for is not there; empty where nothing is in its way."""
        return self._problems.get((key, column)) or self._problems.get((key, "*"), "")


def is_clear(plan: MaskPlan, key: str, column: str) -> bool:
    """Whether a column of a model that has no table shows clear values."""
    return any(each.lower() == column for each in plan.clear.get(key, ()))


def _plan_in(
    compilation: Compilation, classifications: Classifications, env: str | None
) -> MaskPlan:
    project = compilation.project
    if project.env == env:
        return compilation.masks
    return plan_masks(replace(compilation, project=replace(project, env=env)), classifications)


_Chosen = Mapping[str, tuple[str, MaskStrategy]]


def _chosen(facts: Iterable[TagFact], strategies: Mapping[str, MaskStrategy]) -> _Chosen:
    """By field the tag that decides, and its strategy: the highest of those that have one."""
    found: dict[str, tuple[str, MaskStrategy]] = {}
    for fact in facts:
        strategy = strategies.get(fact.tag)
        if strategy is not None:
            found.setdefault(fact.field, (fact.tag, strategy))
    return found


def _covering(chosen: _Chosen, field: str) -> tuple[str, MaskStrategy] | None:
    """The tag and the mask that hide a field, or the whole column; None where it stays clear."""
    for path, found in chosen.items():
        inside = not path or field == path or field.startswith(f"{path}.")
        if inside and found[1].name != "none":
            return found
    return None
