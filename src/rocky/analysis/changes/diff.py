"""Two compilations compared: what changed, what breaks, and every column that feels it.

`diff_compilations` takes the base and the head and returns a `ProjectDiff`. What a change reaches
is followed on the graph of the side that still has it: a removed column has readers too.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final, Literal

from rocky.analysis.changes.change import Change, ProjectDiff, Reached, Status, TableDiff, change_of
from rocky.analysis.changes.declarations import compare_contracts, compare_seeds, compare_sources
from rocky.analysis.changes.missing_plans import find_uncompared
from rocky.analysis.changes.models import (
    Matching,
    Side,
    compare_models,
    has_own_changes,
    is_unchanged,
    match_models,
    other_reads,
)
from rocky.analysis.changes.protection import compare_protection
from rocky.analysis.changes.reach import Reach
from rocky.analysis.changes.settings import compare_configs
from rocky.analysis.compilation import Compilation
from rocky.analysis.lineage import reach_models
from rocky.errors import NotComparable
from rocky.language.binder.logic.digests import Renames

_ON_BASE: Final = frozenset(
    {"model_removed", "column_removed", "column_renamed", "source_removed", "seed_removed"}
)
"""Changes of what the head does not have: what they reach, only the base knows."""

_WHOLE_TABLE: Final = frozenset(
    {"model_removed", "source_removed", "seed_removed", "seed_data_changed", "source_changed"}
)
_ALL_ROWS: Final = frozenset(
    {"rows_changed", "strategy_changed", "strategy_key_changed", "strategy_setting_changed"}
)
_VALUES_ONLY: Final = frozenset(
    {
        *("classification_removed", "classification_added", "classification_changed"),
        *("declassified", "declassification_removed"),
        *("mask_removed", "mask_weakened", "mask_changed", "mask_added"),
    }
)
_NOWHERE: Final = frozenset(
    {"column_reordered", "column_exposed", "contract_weakened", "contract_tightened"}
)


def diff_compilations(base: Compilation, head: Compilation) -> ProjectDiff:
    """All that differs between two compilations, and what each difference reaches.

    Models that too little is known of without the plans of Python models are left out, and named.
    Raises NotComparable when a side has errors: what does not compile is not the same as nothing.
    """
    for compilation, which in ((base, "base"), (head, "head")):
        if compilation.has_errors:
            raise NotComparable(f"the {which} does not compile, so it cannot be compared")
    one, other = Side(base), Side(head)
    uncompared = find_uncompared(one, other)
    left_out = frozenset(each.name.lower() for each in uncompared)
    diff = Comparison(one, other, left_out).run()
    if not uncompared:
        return diff
    tables = tuple(
        each
        for each in diff.tables
        if each.status == "removed" or each.name.lower() not in left_out
    )
    listed = sum(each.kind == "model" and each.status != "removed" for each in tables)
    unchanged = diff.total_models - listed - len(uncompared)
    return replace(diff, tables=tables, unchanged=unchanged, uncompared=uncompared)


class Comparison:
    """One comparison: the tables found so far, by kind and key.

    `left_out` are keys of models that cannot be compared, on either side: nothing is said of them
    but that others reach them.
    """

    def __init__(self, base: Side, head: Side, left_out: frozenset[str] = frozenset()) -> None:
        self.base = base
        self.head = head
        self.matching: Matching = match_models(base, head)
        renamed = self.matching.renamed.items()
        self.left_out = left_out | {new for old, new in renamed if old in left_out}
        self.moved = _came_or_went(base, head)
        self.tables: list[TableDiff] = []
        self.columns: dict[tuple[str, str], str] = {}

    def run(self) -> ProjectDiff:
        self.tables += self._compare_models()
        self.tables += [self._added(key) for key in self.matching.added if key not in self.left_out]
        self.tables += [self._removed(key) for key in self.matching.removed]
        self.tables += compare_sources(self.base.project, self.head.project)
        self.tables += compare_seeds(self.base.project, self.head.project)
        self._add_protection()
        tables = self._with_affected(self._with_reach())
        listed = {each.name for each in tables if each.kind == "model" and each.status != "removed"}
        total = len(self.head.project.models)
        return ProjectDiff(
            tuple(sorted(tables, key=_place)),
            tuple(compare_configs(self.base.project.config, self.head.project.config)),
            total,
            total - len(listed),
        )

    def _compare_models(self) -> Iterable[TableDiff]:
        """The models both sides have, upstream first, with the renames met on the way."""
        old_keys = {new: old for old, new in self.matching.renamed.items()}
        tables = dict(self.matching.renamed)
        columns = self.columns
        common = set(self.matching.common)
        for name in self.head.compilation.order:
            new = name.lower()
            old = old_keys.get(new, new)
            if (old == new and new not in common) or new in self.left_out:
                continue
            found = self._compare_model(old, new, Renames(tables, columns))
            if found is not None:
                diff, renamed = found
                columns |= {(old, was): now for was, now in renamed.items()}
                yield diff

    def _compare_model(
        self, old: str, new: str, renames: Renames
    ) -> tuple[TableDiff, dict[str, str]] | None:
        base, head = self.base, self.head
        promises = tuple(
            compare_contracts(base.project.contracts.get(old), head.project.contracts.get(new))
        )
        # What a name means can only have changed where tables came or went.
        if (
            not promises
            and old == new
            and is_unchanged(base, old, head, new)
            and not (self.moved and other_reads(base, old, head, new, renames))
        ):
            return None
        found = compare_models(base, old, head, new, renames)
        changes = (*found.changes, *promises)
        if not changes:
            return None
        own = promises or has_own_changes(base, old, head, new)
        status: Status = "renamed" if old != new else "modified" if own else "affected"
        return self._table_diff(old, new, status, changes), found.renamed

    def _table_diff(
        self, old: str, new: str, status: Status, changes: tuple[Change, ...]
    ) -> TableDiff:
        before, after = self.base.model(old), self.head.model(new)
        target, was = after.target.full_name, before.target.full_name
        return TableDiff(
            after.name,
            "model",
            status,
            after.path,
            target,
            before.name if before.name != after.name else None,
            before.path if before.path != after.path else None,
            was if was != target else None,
            changes,
        )

    def _added(self, key: str) -> TableDiff:
        model = self.head.model(key)
        added = (change_of("model_added"),)
        return TableDiff(
            model.name, "model", "added", model.path, model.target.full_name, changes=added
        )

    def _removed(self, key: str) -> TableDiff:
        model = self.base.model(key)
        # That its contract is gone with it says nothing more.
        removed = (change_of("model_removed"),)
        return TableDiff(
            model.name, "model", "removed", model.path, model.target.full_name, changes=removed
        )

    def _add_protection(self) -> None:
        """Add what changed of masks, also to tables of which nothing else did."""
        renames = Renames(dict(self.matching.renamed), self.columns)
        found = compare_protection(self.base.compilation, self.head.compilation, renames)
        places = {each.name.lower(): index for index, each in enumerate(self.tables)}
        project = self.head.project
        for key, changes in found.items():
            if key in self.left_out:
                continue
            place = places.get(key)
            if place is not None:
                known = self.tables[place]
                self.tables[place] = replace(known, changes=(*known.changes, *changes))
            elif key in project.models:
                self.tables.append(self._table_diff(key, key, "affected", tuple(changes)))
            else:
                table = project.seeds.get(key) or project.sources[key]
                kind: Literal["seed", "source"] = "seed" if key in project.seeds else "source"
                diff = TableDiff(table.name, kind, "affected", table.file, changes=tuple(changes))
                self.tables.append(diff)

    def _with_reach(self) -> list[TableDiff]:
        """The tables with what each of their changes reaches."""
        names = [each.name for each in self.tables]
        old_names = [each.base_name or each.name for each in self.tables]
        base = Reach(self.base.compilation, "base", old_names)
        head = Reach(self.head.compilation, "head", names)
        return [
            replace(
                each,
                changes=tuple(
                    replace(change, reaches=_reached(change, each, base, head))
                    for change in each.changes
                ),
            )
            for each in self.tables
        ]

    def _with_affected(self, tables: list[TableDiff]) -> list[TableDiff]:
        """The tables, and every model that they reach and that is not among them."""
        own = {each.name: each for each in tables if each.kind == "model"}
        causes: dict[str, dict[str, None]] = {}
        for each in tables:
            if each.status != "affected":
                for name in _models_reached(each):
                    causes.setdefault(name, {})[each.name] = None
        found = [
            replace(each, affected_by=self._causes(each, causes, tables))
            if each.status == "affected"
            else each
            for each in tables
        ]
        for name, by in causes.items():
            key = self._head_key(name)
            if key is not None and self.head.model(key).name not in own:
                model = self.head.model(key)
                diff = TableDiff(
                    model.name, "model", "affected", model.path, model.target.full_name
                )
                found.append(replace(diff, affected_by=tuple(sorted(by))))
        return found

    def _head_key(self, name: str) -> str | None:
        """The key in the head of a model reached on either side; None when it is gone."""
        key = self.matching.renamed.get(name.lower(), name.lower())
        return key if key in self.head.project.models else None

    def _causes(
        self, table: TableDiff, causes: dict[str, dict[str, None]], tables: list[TableDiff]
    ) -> tuple[str, ...]:
        """Whose changes reach a model; by whole models where no column tells."""
        found = causes.get(table.name)
        if found:
            return tuple(sorted(found))
        above = reach_models(self.head.compilation.upstream, (table.name,))
        above |= reach_models(self.base.compilation.upstream, (table.base_name or table.name,))
        changed = {each.name for each in tables if each.status != "affected"}
        return tuple(sorted(above & changed))


def _reached(change: Change, table: TableDiff, base: Reach, head: Reach) -> tuple[Reached, ...]:
    old = change.rule in _ON_BASE or table.status == "removed"
    graph = base if old else head
    name = (table.base_name or table.name) if old else table.name
    if change.rule in _NOWHERE:
        return ()
    if change.rule in _WHOLE_TABLE:
        return graph.of_table(name)
    if change.rule in _ALL_ROWS:
        return graph.of_rows(name)
    if change.column is None:
        return ()
    if change.rule in _VALUES_ONLY:
        return graph.of_values(name, change.column)
    if change.rule == "source_column_changed" and change.after is None:
        return base.of_column(table.base_name or table.name, change.column)
    return graph.of_column(name, change.column)


def _models_reached(table: TableDiff) -> Iterable[str]:
    return dict.fromkeys(each.model for change in table.changes for each in change.reaches)


def _came_or_went(base: Side, head: Side) -> bool:
    """Whether the two sides have tables of different names."""
    old, new = base.project, head.project
    return (
        old.models.keys() != new.models.keys()
        or old.sources.keys() != new.sources.keys()
        or old.seeds.keys() != new.seeds.keys()
    )


_KINDS: Final = {"model": 0, "source": 1, "seed": 2}


def _place(table: TableDiff) -> tuple[bool, int, str]:
    """Tables that were changed before those that are affected, models first, by name."""
    return table.status == "affected", _KINDS[table.kind], table.name.lower()
