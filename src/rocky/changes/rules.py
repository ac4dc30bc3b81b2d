"""The written rules: what each kind of change does to those who read the table.

One row a rule. The page `docs/reference/breaking-changes.md` repeats this table and a test keeps
both equal. A rule's name is part of the output formats; its impact never depends on the project.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from rocky.changes.change import Change, Impact

_BREAKING, _WARNING, _INFO = Impact.BREAKING, Impact.WARNING, Impact.INFO


class Rule(NamedTuple):
    """One row: `sentence` says what changed and why the impact is what it is."""

    name: str
    impact: Impact
    sentence: str


_TABLE: Final = (
    Rule("model_removed", _BREAKING, "the model is gone: whoever reads its table reads old rows"),
    Rule("model_added", _INFO, "the model is new: nobody reads it yet"),
    Rule(
        "model_renamed", _INFO, "the model has another name; where its table has too, that counts"
    ),
    Rule("target_changed", _BREAKING, "the table is written under another name"),
    Rule("column_removed", _BREAKING, "the column is gone"),
    Rule("column_renamed", _BREAKING, "the column has another name: same logic, same type"),
    Rule("column_added", _INFO, "the column is new"),
    Rule(
        "column_reordered", _WARNING, "the column stands elsewhere: matters to readers by position"
    ),
    Rule("column_type_widened", _WARNING, "the type holds every value it held, and more"),
    Rule("column_type_changed", _BREAKING, "the type is another, and may not hold what it held"),
    Rule("column_nullability_loosened", _BREAKING, "the column can be null and could not before"),
    Rule("column_nullability_tightened", _INFO, "the column cannot be null any more"),
    Rule("logic_changed", _WARNING, "the column is computed in another way"),
    Rule("rows_changed", _WARNING, "which rows there are is decided in another way"),
    Rule("strategy_changed", _BREAKING, "the table is brought up to date by another strategy"),
    Rule(
        "strategy_key_changed", _BREAKING, "rows are matched, dated or replaced by something else"
    ),
    Rule("strategy_setting_changed", _WARNING, "the strategy works in other steps"),
    Rule("format_changed", _BREAKING, "the table has another format"),
    Rule("partitioning_changed", _BREAKING, "the table's files are partitioned by other columns"),
    Rule("classification_removed", _BREAKING, "the column is not marked as sensitive any more"),
    Rule("classification_added", _WARNING, "the column is marked as sensitive"),
    Rule("classification_changed", _WARNING, "the column is marked as sensitive in another way"),
    Rule("contract_weakened", _BREAKING, "a promise of the contract is withdrawn"),
    Rule("contract_tightened", _INFO, "the contract promises more"),
    Rule("source_removed", _WARNING, "the source is not declared any more"),
    Rule("source_added", _INFO, "the source is newly declared"),
    Rule("source_column_changed", _WARNING, "the source is declared with other columns"),
    Rule("source_changed", _WARNING, "the source is read from elsewhere, or in another way"),
    Rule("seed_removed", _BREAKING, "the seed is gone: whoever reads its table reads old rows"),
    Rule("seed_added", _INFO, "the seed is new: nobody reads it yet"),
    Rule("seed_data_changed", _INFO, "the rows of the seed are others"),
    Rule(
        "settings_changed", _WARNING, "a setting that can change rows, places or rights is another"
    ),
    Rule("operation_changed", _INFO, "a setting of how runs go, or of what is checked, is another"),
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
