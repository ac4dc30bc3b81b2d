"""Readiness: a candidate for promotion, and whether its tables are what the present code makes.

An approval of code and tables that do not belong together would approve nothing. Only the branch's
own records are asked: the newest execution of each model, what it left and what it read.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rocky.analysis.changes.change import ProjectDiff
from rocky.analysis.compilation import Compilation
from rocky.branches.approvals.validity import ApprovalScope
from rocky.branches.tables import BranchTable, BranchView, read_inputs
from rocky.compiler.fingerprints import fingerprints_of
from rocky.ledger.branch_records import BranchRecord
from rocky.ledger.provenance import ReadRecord
from rocky.ledger.readers.history import RecordedExecution
from rocky.ledger.readers.lookup import LookupReader
from rocky.ledger.run_records import InputRecord, ModelStatus
from rocky.plan.adapters import adapter_of
from rocky.project import ModelFile, Project
from rocky.project.configuration.strategies import is_inline
from rocky.project.git import Repository
from rocky.run.materialize.mask_sql import mask_sql_of
from rocky.run.materialize.seeds import SEED_HASH, seed_hash, seed_target


@dataclass(frozen=True, slots=True)
class Candidate:
    """A branch and the code beside it, looked at once: what is approved, judged and promoted.

    `diff` is absent without a commit to compare with. `unready` says, a line a model, why the
    tables are not what the code makes. `repository` is absent outside git.
    """

    compilation: Compilation
    view: BranchView
    diff: ProjectDiff | None
    question: ApprovalScope
    unready: tuple[str, ...]
    repository: Repository | None
    git_commit: str | None
    git_dirty: bool | None

    @property
    def root(self) -> Path:
        return self.compilation.project.root

    @property
    def record(self) -> BranchRecord:
        return self.question.record


def find_outdated_tables(
    compilation: Compilation, view: BranchView, lookups: LookupReader
) -> tuple[str, ...]:
    """A line for each model or seed whose table on the branch is not what the code makes now."""
    project = compilation.project
    stored = {
        key: each
        for key, each in project.models.items()
        if not is_inline(each.strategy) and _has_place(project, view, each)
    }
    recipes = fingerprints_of(compilation, stored)
    last = lookups.last_executions(each.name for each in stored.values())
    found = []
    for key, model in stored.items():
        recipe = recipes[key].recipe if key in recipes else None
        recorded, table = last.get(model.name), view.tables.get(model.target.key)
        why = _why_unbuilt(recorded, recipe, table)
        if why is None and recorded is not None:
            moved = next(_moved_inputs(_inputs(recorded, lookups), view), None)
            why = f"was built from an older version of `{moved}`" if moved is not None else None
        if why is not None:
            found.append(f"`{model.name}` {why}")
    return (*found, *_stale_seeds(compilation, view))


def _has_place(project: Project, view: BranchView, model: ModelFile | None) -> bool:
    """Whether a model runs where the branch has tables; without a model, whether the seeds do."""
    adapters = project.config.adapter
    own, other = adapters.get(view.record.adapter), adapters.get(adapter_of(project, model))
    # One that no adapter is named for runs on the only one.
    return own is None or other is None or own.warehouse == other.warehouse


def _stale_seeds(compilation: Compilation, view: BranchView) -> Iterator[str]:
    """Seeds that were loaded from another file. One that was never loaded, no table was made of."""
    project = compilation.project
    seeds = project.seeds if _has_place(project, view, None) else {}
    for key, seed in seeds.items():
        table = view.tables.get(seed_target(seed, project.config).key)
        if table is None or table.branch is None:
            continue
        masks = mask_sql_of(compilation, key)
        if table.branch.configuration.get(SEED_HASH) != seed_hash(seed, masks):
            yield f"`{seed.name}` has changed since it was loaded on the branch"


def _why_unbuilt(
    recorded: RecordedExecution | None, recipe: str | None, table: BranchTable | None
) -> str | None:
    if recipe is None:
        return "does not compile"
    if recorded is None or table is None or table.branch is None:
        return "was never built on the branch"
    execution = recorded.execution
    resumed = execution.status is ModelStatus.SKIPPED and execution.recipe_hash is not None
    if execution.status not in (ModelStatus.SUCCESS, ModelStatus.REUSED) and not resumed:
        return f"was {execution.status.value} when it was last run on the branch"
    if execution.recipe_hash is None:
        return "has a table on the branch that no recorded build made"
    if execution.recipe_hash != recipe:
        return "has changed since it was built on the branch"
    if execution.commit_version not in (None, table.branch.version):
        return "has a table on the branch that was changed after its last run"
    return None


def _inputs(
    recorded: RecordedExecution, lookups: LookupReader
) -> Iterable[InputRecord] | Iterable[ReadRecord]:
    """What was read; of a table that the branch was made with, what its build had read."""
    made = None
    if not recorded.execution.inputs:
        made = lookups.provenance(recorded.run_id, recorded.execution.model_name)
    return read_inputs(recorded.execution, made)


def _moved_inputs(
    inputs: Iterable[InputRecord] | Iterable[ReadRecord], view: BranchView
) -> Iterator[str]:
    for each in inputs:
        table = view.tables.get(each.target.lower()) if each.target is not None else None
        if table is not None and each.identity is not None and each.identity != table.content:
            yield each.name
