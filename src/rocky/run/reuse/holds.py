"""Holds: tables that stay as a revert left them, although the code would make something else.

Who reverts a promotion has decided about rows; the code still says what it said. Until git says
something else too, a run does not bring back what was reverted: the code is again what it was
before, or another that is committed. Whoever forces a run decides otherwise. A table that a run has
written since is held no longer.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rocky.compiler.fingerprints import Fingerprints
from rocky.errors import GitUnavailable, NotARepository
from rocky.ledger.branch_records import PROMOTED, REVERTED, PromotedTable, PromotionRecord
from rocky.ledger.branches import load_promotions
from rocky.ledger.readers.commits import open_lookup_reader
from rocky.plan.steps import RunPlan, Step
from rocky.project import Project
from rocky.project.configuration.strategies import is_inline
from rocky.project.git import changed_files, find_commit, find_repository
from rocky.run.materialize.mask_sql import mask_sql_of
from rocky.run.materialize.seeds import seed_hash, seed_target

NO_HOLDS: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True)
class _Reverted:
    """A table as a revert left it: the code that was restored with it, and what was taken back.

    `rows_only` when the same code had made all tables of the promotion, before and after.
    """

    run_id: str
    table: PromotedTable
    taken_back: frozenset[str]
    rows_only: bool


def has_reverted(state: Path) -> bool:
    """Whether some table was last moved by a revert. Raises LedgerUnreadable."""
    return bool(_reverted_tables(load_promotions(state)))


def find_holds(
    plan: RunPlan, fingerprints: Mapping[str, Fingerprints], state: Path, *, force: bool = False
) -> Mapping[str, str]:
    """The ids of the steps whose tables are held, each with why. Raises LedgerUnreadable.

    `state` is the ledger's file; without one nothing was ever reverted. With `force` nothing is
    held.
    """
    reverted = {} if force else _reverted_tables(load_promotions(state))
    steps = [step for step in plan.steps if step.kind != "inline"]
    targets = {step.id: _target_of(plan.project, step) for step in steps}
    wanted = {step.id: found for step in steps if (found := reverted.get(targets[step.id]))}
    if not wanted:
        return NO_HOLDS
    written = _written_since(
        state, [(step, wanted[step.id]) for step in steps if step.id in wanted]
    )
    holds: dict[str, str] = {}
    for step in steps:
        found = wanted.get(step.id)
        if found is None or step.id in written:
            continue
        code = _code_of(plan, step, fingerprints)
        if code is None:
            continue
        if found.rows_only and code == found.table.skip_hash:
            # Git has nothing to say: whoever reverted it did not want these rows.
            holds[step.id] = _describe(found, "no code was promoted, only other rows: change it")
        elif code == found.table.skip_hash:
            continue
        elif code in found.taken_back:
            holds[step.id] = _describe(found, "its code is still what was reverted: change it")
        elif _is_uncommitted(plan, step):
            holds[step.id] = _describe(found, "its new code is not committed: commit it")
    return holds


def find_lacking(plan: RunPlan, step: Step, held: str, columns: Collection[str]) -> str | None:
    """Why a step cannot be built on a held table that has only these columns; None if it can.

    `held` is the key of the table's model, whose code has more columns than the table.
    """
    models = plan.compilation.models
    if held not in models or step.kind != "build":
        return None
    there = {each.lower() for each in columns}
    lacking = {each.name.lower() for each in models[held].columns} - there
    for key in _with_queries(plan, step.key) if lacking else ():
        if key not in models:
            continue
        ir = models[key]
        read = {(edge.table, edge.column) for column in ir.columns for edge in column.edges}
        read |= {(each.table, each.column) for each in ir.influences}
        named = {column.lower() for table, column in read if table.lower() == held}
        # Nobody can tell what a Python model looks at.
        unsure = plan.project.models[key].is_python or not ir.known
        missing = sorted(lacking if unsure else lacking & named)
        if missing:
            name = plan.project.models[held].name
            return f"held: `{name}`, which it reads, is held and has no column `{missing[0]}`"
    return None


def _describe(found: _Reverted, why: str) -> str:
    return f"held: reverted by {found.run_id}; {why} in git, or `rocky run --force`"


def _reverted_tables(promotions: Iterable[PromotionRecord]) -> dict[str, _Reverted]:
    """The tables, by target, that were last moved by a revert."""
    known: dict[str, PromotionRecord] = {}
    found: dict[str, _Reverted] = {}
    for each in promotions:
        if each.kind not in (PROMOTED, REVERTED):
            continue
        known[each.run_id] = each
        rows_only = all(table.skip_hash == table.skip_hash_before for table in each.tables)
        for table in each.tables:
            target = table.target.lower()
            found.pop(target, None)
            if each.kind == REVERTED:
                before = _table_of(known.get(each.reverts or ""), target)
                codes = (table.skip_hash_before, before.skip_hash if before else None)
                taken_back = frozenset(filter(None, codes))
                if taken_back:
                    found[target] = _Reverted(each.run_id, table, taken_back, rows_only)
    return found


def _table_of(promotion: PromotionRecord | None, target: str) -> PromotedTable | None:
    tables = () if promotion is None else promotion.tables
    return next((each for each in tables if each.target.lower() == target), None)


def _written_since(state: Path, wanted: Collection[tuple[Step, _Reverted]]) -> frozenset[str]:
    """The ids of steps whose tables some run has left otherwise, or as they are, since."""
    lookups = open_lookup_reader(state)
    if lookups is None:
        return frozenset()
    # A model may have had another name when its table was promoted.
    names = {step.id: {step.name.lower(), found.table.model_name.lower()} for step, found in wanted}
    with lookups:
        newest = lookups.committed_copies(set[str]().union(*names.values()))
    return frozenset(
        step.id
        for step, found in wanted
        for name in names[step.id]
        if name in newest
        and (newest[name].copy.target or "").lower() == found.table.target.lower()
        and newest[name].run_id > found.run_id
    )


def _target_of(project: Project, step: Step) -> str:
    if step.kind == "seed":
        return seed_target(project.seeds[step.key], project.config).full_name.lower()
    return project.models[step.key].target.full_name.lower()


def _code_of(plan: RunPlan, step: Step, fingerprints: Mapping[str, Fingerprints]) -> str | None:
    """What tells the code of a step from another; for a seed that is its file."""
    if step.kind == "seed":
        masks = mask_sql_of(plan.compilation, step.key)
        return seed_hash(plan.project.seeds[step.key], masks)
    found = fingerprints.get(step.key)
    return None if found is None else found.skip_hash


def _is_uncommitted(plan: RunPlan, step: Step) -> bool:
    """Whether a file that a step is made of differs from the commit that is checked out."""
    project = plan.project
    try:
        repository = find_repository(project.root)
        if find_commit(repository, "HEAD") is None:
            return False
        changed = {each.path for each in changed_files(repository, "HEAD")}
    except (GitUnavailable, NotARepository):
        # There is nobody else to ask.
        return False
    return not changed.isdisjoint(_files_of(plan, step))


def _files_of(plan: RunPlan, step: Step) -> set[str]:
    """The files of a step and of the queries that it reads in place of tables, with sidecars."""
    project = plan.project
    if step.kind == "seed":
        return _with_sidecar(project.seeds[step.key].path)
    keys = _with_queries(plan, step.key)
    return {path for key in keys for path in _with_sidecar(project.models[key].path)}


def _with_queries(plan: RunPlan, key: str) -> list[str]:
    """A model, and the queries that it reads in place of tables."""
    models = plan.project.models
    keys = [key]
    for each in keys:
        for name in plan.compilation.upstream.get(models[each].name, ()):
            model = models.get(name.lower())
            if model is not None and model.key not in keys and is_inline(model.strategy):
                keys.append(model.key)
    return keys


def _with_sidecar(path: str) -> set[str]:
    return {path, f"{path.rpartition('.')[0]}.toml"}
