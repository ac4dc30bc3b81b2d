"""A change: one difference between two states of a table, and the rules of what it does to readers.

One row a rule. The page `docs/reference/breaking-changes.md` repeats this table and a test keeps
both equal. A rule's name is part of the output formats and never changes its meaning; its impact
never depends on the project. `ProjectDiff` is what comparing two compilations came to. In words a
change is one line, without its table; what changes reach is grouped.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, NamedTuple

from rocky.diagnostics.render import counted


class Impact(StrEnum):
    """What a change does to those who read the table. As it is shown, worst first."""

    BREAKING = "breaking"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Reached:
    """A column that a change reaches. `kind` is that of lineage, or `rows`.

    `rows` means that the column's values are as before and the rows they stand in may not be.
    """

    model: str
    column: str
    kind: str
    side: Literal["base", "head"] = "head"


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `rule` is a key of the written rules, `column` absent for whole tables.

    `before` and `after` are what is shown of each side: a type, a name, a setting.
    """

    rule: str
    impact: Impact
    column: str | None = None
    before: str | None = None
    after: str | None = None
    detail: str = ""
    reaches: tuple[Reached, ...] = ()


_BREAKING, _WARNING, _INFO = Impact.BREAKING, Impact.WARNING, Impact.INFO


class Rule(NamedTuple):
    """One row: `sentence` says what changed and why the impact is what it is."""

    name: str
    impact: Impact
    sentence: str


_TABLE: Final = (
    Rule("model_removed", _BREAKING, "the model is gone: whoever reads its table reads old rows"),
    Rule("model_added", _INFO, "the model is new: nobody reads it yet"),
    Rule("model_renamed", _INFO, "the model is renamed; a new table name is a change of its own"),
    Rule("target_changed", _BREAKING, "the table is written under another name"),
    Rule("column_removed", _BREAKING, "the column is gone"),
    Rule("column_renamed", _BREAKING, "the column has another name: same logic, same type"),
    Rule("column_added", _INFO, "the column is new"),
    Rule(
        "column_reordered",
        _WARNING,
        "the column is at another position: matters to readers by position",
    ),
    Rule("column_type_widened", _WARNING, "the type holds every value it held, and more"),
    Rule(
        "column_type_changed", _BREAKING, "the type changed, and may not hold every value it held"
    ),
    Rule("column_nullability_loosened", _BREAKING, "the column can be null and could not before"),
    Rule("column_nullability_tightened", _INFO, "the column cannot be null any more"),
    Rule("logic_changed", _WARNING, "the column is computed in another way"),
    Rule("rows_changed", _WARNING, "the rows are selected in another way"),
    Rule("strategy_changed", _BREAKING, "the table is brought up to date by another strategy"),
    Rule("strategy_key_changed", _BREAKING, "rows are matched, dated or replaced by other columns"),
    Rule("strategy_setting_changed", _WARNING, "the strategy works in other steps"),
    Rule("partitioning_changed", _BREAKING, "the table's files are partitioned by other columns"),
    Rule("classification_removed", _BREAKING, "the column is not marked as sensitive any more"),
    Rule("classification_added", _WARNING, "the column is marked as sensitive"),
    Rule("classification_changed", _WARNING, "the column is marked as sensitive in another way"),
    Rule("declassified", _BREAKING, "a tag of the column is taken off in the open"),
    Rule("declassification_removed", _WARNING, "the column keeps its tag again"),
    Rule("column_exposed", _BREAKING, "a classified column is clear, and nobody decided so"),
    Rule("mask_removed", _BREAKING, "the column was masked, and is clear"),
    Rule("mask_weakened", _BREAKING, "the mask may hide less than before"),
    Rule("mask_changed", _WARNING, "the column is masked in another way, which hides no less"),
    Rule("mask_added", _WARNING, "the column was clear, and is masked"),
    Rule("contract_weakened", _BREAKING, "a promise of the contract is withdrawn"),
    Rule("contract_tightened", _INFO, "the contract promises more"),
    Rule("source_removed", _WARNING, "the source is not declared any more"),
    Rule("source_added", _INFO, "the source is newly declared"),
    Rule("source_column_changed", _WARNING, "the source is declared with other columns"),
    Rule("source_changed", _WARNING, "the source has another location, format or options"),
    Rule("seed_removed", _BREAKING, "the seed is gone: whoever reads its table reads old rows"),
    Rule("seed_added", _INFO, "the seed is new: nobody reads it yet"),
    Rule("seed_data_changed", _INFO, "the seed has other rows"),
    Rule(
        "settings_changed",
        _WARNING,
        "a setting that can change rows, locations or permissions changed",
    ),
    Rule(
        "operation_changed", _INFO, "a setting of how runs are made, or of what is checked, changed"
    ),
)

RULES: Final[Mapping[str, Rule]] = {rule.name: rule for rule in _TABLE}
"""The rules by name, in the order of the page."""

_ORDER: Final = {impact: place for place, impact in enumerate(Impact)}


def change_of(
    rule: str,
    column: str | None = None,
    before: str | None = None,
    after: str | None = None,
    detail: str = "",
) -> Change:
    """A change by a rule, with the rule's impact."""
    return Change(rule, RULES[rule].impact, column, before, after, detail)


def worst_impact(changes: Iterable[Change]) -> Impact | None:
    """The worst impact among changes; None when there are none."""
    found = [change.impact for change in changes]
    return min(found, key=_ORDER.__getitem__, default=None)


Status = Literal["added", "removed", "modified", "renamed", "affected"]
"""`affected`: none of the model's own files changed, but its columns, or what reaches them, did."""


@dataclass(frozen=True, slots=True)
class TableDiff:
    """What became of one model, source or seed that is not as it was.

    `name`, `path` and `target` are those of the head, of a removed one those of the base;
    `base_name`, `base_path` and `base_target` say what they were where that differs.
    `affected_by` names the tables whose changes reach an `affected` one.
    """

    name: str
    kind: Literal["model", "source", "seed"]
    status: Status
    path: str | None = None
    target: str | None = None
    base_name: str | None = None
    base_path: str | None = None
    base_target: str | None = None
    changes: tuple[Change, ...] = ()
    affected_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MissingPlan:
    """A Python model without a declared `output` whose code was not run on a side."""

    model: str
    side: Literal["base", "head"]


@dataclass(frozen=True, slots=True)
class UncomparedModel:
    """A model of which nothing is said: of its columns, too little is known without some plans."""

    name: str
    path: str
    missing: tuple[MissingPlan, ...]


@dataclass(frozen=True, slots=True)
class ProjectDiff:
    """All that differs. `settings` are changes of `rocky.toml` that are of no single table.

    `uncompared` models are neither changed nor unchanged, and in no table: with any, nobody can say
    that nothing breaks.
    """

    tables: tuple[TableDiff, ...] = ()
    settings: tuple[Change, ...] = ()
    total_models: int = 0
    unchanged: int = 0
    uncompared: tuple[UncomparedModel, ...] = ()

    @property
    def changes(self) -> Iterator[tuple[TableDiff | None, Change]]:
        """Every change with its table."""
        for change in self.settings:
            yield None, change
        for table in self.tables:
            for change in table.changes:
                yield table, change

    @property
    def impact(self) -> Impact | None:
        """The worst of all impacts; None when nothing changed."""
        found = {change.impact for _, change in self.changes}
        return next((each for each in Impact if each in found), None)


def describe_rule(change: Change) -> str:
    """A rule's name as words."""
    return change.rule.replace("_", " ")


def describe_change(change: Change) -> str:
    """A change in one line: the rule, the column, from what to what, and the detail."""
    words = describe_rule(change)
    if change.column is not None:
        words += f" `{change.column}`"
    moved = " -> ".join(each for each in (change.before, change.after) if each is not None)
    if moved:
        words += f": {moved}"
    return f"{words} ({change.detail})" if change.detail else words


def count_reached(change: Change) -> int:
    """How many columns a change reaches."""
    return len({(each.model, each.column) for each in change.reaches})


def describe_reach(change: Change) -> str:
    """How far a change reaches, in numbers; empty when it reaches nothing."""
    if not change.reaches:
        return ""
    models = {each.model for each in change.reaches}
    return f"{counted(count_reached(change), 'column')} in {counted(len(models), 'model')}"


def group_reached(reaches: Iterable[Reached]) -> dict[str, list[Reached]]:
    """What is reached, by model."""
    groups: dict[str, list[Reached]] = {}
    for each in reaches:
        groups.setdefault(each.model, []).append(each)
    return groups


def group_kinds(reaches: Iterable[Reached]) -> dict[str, list[str]]:
    """Columns of one model by how they are reached; those of which only rows are come last."""
    groups: dict[str, list[str]] = {}
    for each in sorted(reaches, key=lambda each: each.kind == "rows"):
        kind = f"{each.kind}, before" if each.side == "base" else each.kind
        groups.setdefault(kind, []).append(each.column)
    return groups
