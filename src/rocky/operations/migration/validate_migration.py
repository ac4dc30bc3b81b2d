"""Validate a migration: the rows of each model beside those of the table that dbt has built.

Rows are compared as multisets over the columns of both: equal hashes, or an exact count of the rows
that only one side has. What cannot be compared is said, and never counted as the same.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal
from uuid import uuid4

from rocky.analysis.disclosure import Disclosure, shown
from rocky.errors import ImportRefused, InputNotBuilt, RockyError
from rocky.language.datatypes.types import StructField
from rocky.language.names import quote_name
from rocky.operations.digest import Digest, Digested
from rocky.operations.findings import refuse_errors
from rocky.operations.rows.disclosure import disclosure_for
from rocky.operations.workspace import Workspace, compile_workspace
from rocky.plan.adapters import choose_adapter
from rocky.plan.arguments import Natural, Request
from rocky.plan.refusals import plan_checked
from rocky.plan.request import RunRequest
from rocky.plan.steps import Read, RunPlan
from rocky.project.configuration.strategies import Ephemeral, Snapshot
from rocky.project.models import ModelFile
from rocky.project.setting_places import placed_settings
from rocky.project.sources import SourceTable, undeclared_source
from rocky.run.prepare.pins import open_project_warehouse

if TYPE_CHECKING:
    from rocky.branches.row_diff_queries import Pair
    from rocky.dbt.values import DbtProject
    from rocky.run.checks.relations import BoundRelations
    from rocky.run.engine.protocol import Engine

Outcome = Literal["same", "differs", "not_compared"]
_SAMPLE: Final = 3
_NOT_COMPILED: Final = "it does not compile, or reads what does not: `rocky compile` says why"


@dataclass(frozen=True, slots=True)
class ValidateMigrationRequest(Request):
    """The folder of the dbt project, or its `manifest`; of which models, or all.

    `tables` is the folder of dbt's tables (`SCHEMA.db/TABLE`); without it Spark's catalogue is
    asked for them by name. With `build` the models are run first. `sample` rows of each side are
    shown where they differ.
    """

    folder: Path
    select: tuple[str, ...] = ()
    manifest: Path | None = None
    tables: Path | None = None
    build: bool = False
    sample: Natural = _SAMPLE
    adapter: str | None = None


@dataclass(frozen=True, slots=True)
class ColumnDifference:
    """A column that is not the same on both sides, by its type; None where a side has none."""

    column: str
    dbt: str | None
    rocky: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelComparison:
    """A model beside dbt's table. `only_dbt` and `only_rocky` are rows that one side has alone.

    Hashes are there where the columns of both have the same types. `reason` is why nothing was
    compared.
    """

    model: str
    relation: str | None
    outcome: Outcome
    rows_dbt: int | None = None
    rows_rocky: int | None = None
    only_dbt: int | None = None
    only_rocky: int | None = None
    hash_dbt: str | None = None
    hash_rocky: str | None = None
    columns: tuple[ColumnDifference, ...] = ()
    sample_dbt: tuple[Mapping[str, str | None], ...] = ()
    sample_rocky: tuple[Mapping[str, str | None], ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ValidateMigrationReport(Digested):
    """Every model that dbt knows, and how it compares."""

    project: str
    models: tuple[ModelComparison, ...]
    same: int
    differ: int
    not_compared: int

    @property
    def agrees(self) -> bool:
        """Whether something was compared, and nothing differs."""
        return self.same > 0 and self.differ == 0

    def digest(self) -> Digest:
        title = f"{self.same} same, {self.differ} differ, {self.not_compared} not compared"
        rows = [(each.model, each.outcome, each.reason or "") for each in self.models]
        return Digest(title, ("model", "rows", "why"), rows, len(rows))


def validate_migration(
    workspace: Workspace, request: ValidateMigrationRequest
) -> ValidateMigrationReport:
    """Compare the project's tables with dbt's. Raises ImportRefused, NothingSelected, ErrorsFound.

    What does not compile, and with `build` what could not be built, is not compared; ErrorsFound is
    raised when that is everything.
    """
    theirs = _load(request)
    compilation = compile_workspace(workspace)
    asked = RunRequest(select=request.select, adapter=request.adapter, keep_going=True)
    plan, findings = plan_checked(compilation, asked)
    refuse_errors(compilation, findings, undone="nothing was compared")
    unfit = {each.step.key: _NOT_COMPILED for each in plan.left_out}
    if request.build:
        unfit |= _build(workspace, asked)
    relations = _relations(theirs)
    # Views that must be empty, which tests became, have nothing beside them.
    keys = [step.key for step in (*plan.selected, *(each.step for each in plan.left_out))]
    known = [compilation.project.models[key] for key in dict.fromkeys(keys) if key in relations]
    fit = [each for each in known if each.key not in unfit]
    found = (
        *_compare(workspace, plan, fit, relations, request),
        *(
            ModelComparison(
                model=each.name,
                relation=relations[each.key] or None,
                outcome="not_compared",
                reason=unfit[each.key],
            )
            for each in known
            if each.key in unfit
        ),
    )
    return ValidateMigrationReport(
        project=theirs.name,
        models=found,
        same=sum(each.outcome == "same" for each in found),
        differ=sum(each.outcome == "differs" for each in found),
        not_compared=sum(each.outcome == "not_compared" for each in found),
    )


def _load(request: ValidateMigrationRequest) -> "DbtProject":
    from rocky.dbt.manifest import find_manifest, load_manifest  # noqa: PLC0415 - an extra of its own
    from rocky.dbt.project_files import load_settings  # noqa: PLC0415

    if request.manifest is not None:
        return load_manifest(request.manifest, request.folder)
    settings = load_settings(request.folder)
    path = find_manifest(request.folder, settings)
    if path is None:
        where = request.folder / str(settings.get("target-path") or "target") / "manifest.json"
        raise ImportRefused(
            f"no `{where}`: `dbt run` leaves it, and it says which tables dbt has built; one that"
            " is not below the project's folder is named with `--manifest`"
        )
    return load_manifest(path, request.folder)


def _build(workspace: Workspace, request: RunRequest) -> dict[str, str]:
    """Run the models; why those that could not be built were not, by their keys."""
    from rocky.operations.execution.run import run  # noqa: PLC0415 - most comparisons run nothing
    from rocky.operations.execution.run_report import ModelsRun  # noqa: PLC0415

    done = run(workspace, request).run
    if not isinstance(done, ModelsRun):
        return {}
    failed = {each.model.lower(): f"it could not be built: {each.error}" for each in done.errors}
    for each in done.contained:
        names = ", ".join(f"`{name}`" for name in each.blocked_by)
        failed[each.model.lower()] = f"it was not built because of {names}"
    return failed


def _relations(project: "DbtProject") -> dict[str, str]:
    """The tables of dbt by the keys of models."""
    return {
        node.table.lower(): (node.relation or "").replace("`", "")
        for node in project.nodes.values()
        if node.kind in ("model", "snapshot")
    }


def _compare(
    workspace: Workspace,
    plan: RunPlan,
    models: Sequence[ModelFile],
    relations: Mapping[str, str],
    request: ValidateMigrationRequest,
) -> list[ModelComparison]:
    if not models:
        return []
    # These know pyspark.
    from rocky.run.checks.relations import BoundRelations  # noqa: PLC0415
    from rocky.run.prepare.session import open_announced_engine  # noqa: PLC0415

    project = plan.project
    adapter = choose_adapter(project, plan, request.adapter)
    warehouse = open_project_warehouse(adapter, project.root, workspace.environment)
    prefix = f"rocky_migration_{uuid4().hex[:12]}"
    with (
        placed_settings(project, adapter),
        open_announced_engine(project, adapter, workspace.listener, workspace.spark) as engine,
        BoundRelations(plan.compilation, warehouse, engine, prefix) as bound,
    ):
        looking = disclosure_for(workspace, plan.compilation)
        comparison = _Comparison(engine, bound, prefix, request, looking)
        return [comparison.compare(each, relations[each.key]) for each in models]


class _Comparison:
    """Compares models one by one over views."""

    def __init__(
        self,
        engine: "Engine",
        bound: "BoundRelations",
        prefix: str,
        request: ValidateMigrationRequest,
        looking: Disclosure,
    ) -> None:
        self._looking = looking
        self._engine, self._bound, self._prefix = engine, bound, prefix
        self._request = request

    def compare(self, model: ModelFile, relation: str) -> ModelComparison:
        from rocky.run.engine.failures import (  # noqa: PLC0415 - knows pyspark
            STEP_ERRORS,
            classify_step_failure,
            hide_words,
        )

        none = ModelComparison(model=model.name, relation=relation or None, outcome="not_compared")
        if isinstance(model.strategy, Ephemeral):
            return replace(none, relation=None, reason="it has no table: its readers show it")
        if isinstance(model.strategy, Snapshot):
            why = "a history is dated by the runs that saw it, and these are others"
            return replace(none, reason=why)
        view = f"{self._prefix}_dbt"
        try:
            source = _source(relation, self._request.tables)
            try:
                self._engine.views.bind_source(view, source)
            except STEP_ERRORS as error:
                cause = error.__cause__ if isinstance(error, RockyError) else error
                found = None if cause is None else self._engine.explain(cause)
                if found is None or found.condition not in _NOT_THERE:
                    raise
                raise InputNotBuilt(_never_built(relation, model.name)) from error
            ours = self._bound.view_of(Read("model", model.key))
            return self._without_values(self._rows(none, view, ours), model.key)
        except InputNotBuilt as error:
            return replace(none, reason=str(error))
        except STEP_ERRORS as error:
            failure = classify_step_failure(error, self._engine.explain)
            return replace(none, reason=hide_words(failure, self._looking).message)
        finally:
            with suppress(*STEP_ERRORS):
                self._engine.views.unbind([view])

    def _without_values(self, found: ModelComparison, key: str) -> ModelComparison:
        """A comparison whose samples show only what the person who asks may see."""

        def said(row: Mapping[str, str | None]) -> dict[str, str | None]:
            hides = self._looking.in_column
            return {name: shown(cell, hides(key, name)) for name, cell in row.items()}

        dbt, rocky = (tuple(map(said, each)) for each in (found.sample_dbt, found.sample_rocky))
        return replace(found, sample_dbt=dbt, sample_rocky=rocky)

    def _rows(self, none: ModelComparison, theirs: str, ours: str) -> ModelComparison:
        from rocky.branches.row_diff_queries import format_multiset, pair_columns  # noqa: PLC0415

        fields = [
            self._engine.columns(self._engine.frame(f"SELECT * FROM {view}"))  # noqa: S608 - ours
            for view in (theirs, ours)
        ]
        pairs = pair_columns(*fields)
        compared = [each for each in pairs if each.is_comparable]
        columns = _column_differences(*fields)
        counts = [self._count(view) for view in (theirs, ours)]
        found = replace(none, rows_dbt=counts[0], rows_rocky=counts[1], columns=columns)
        if len(compared) < len(pairs) or not pairs:
            return replace(found, reason="it has columns that cannot be compared")
        alike = all(each.before.type == each.after.type for each in pairs)
        if alike:
            hashes = [self._hash(theirs, pairs, 0), self._hash(ours, pairs, 1)]
            found = replace(found, hash_dbt=hashes[0], hash_rocky=hashes[1])
        missing = any(each.dbt is None or each.rocky is None for each in columns)
        if alike and found.hash_dbt == found.hash_rocky:
            outcome: Outcome = "differs" if missing else "same"
            return replace(found, outcome=outcome, only_dbt=0, only_rocky=0)
        (row,) = self._ask(format_multiset(theirs, ours, compared), 1)
        added, removed = row
        same = not (added or removed or missing)
        found = replace(
            found,
            outcome="same" if same else "differs",
            only_dbt=int(removed),
            only_rocky=int(added),
        )
        if not (added or removed) or not self._request.sample:
            return found
        return replace(
            found,
            sample_dbt=self._sample(theirs, ours, compared, 0),
            sample_rocky=self._sample(theirs, ours, compared, 1),
        )

    def _count(self, view: str) -> int:
        (row,) = self._ask(f"SELECT count(*) FROM {view}", 1)  # noqa: S608 - a view of ours
        return int(row[0])

    def _hash(self, view: str, pairs: "Sequence[Pair]", side: int) -> str:
        names = ", ".join(
            f"{quote_name((each.before, each.after)[side].name)} AS c{at}"
            for at, each in enumerate(pairs)
        )
        return self._engine.rows_hash(self._engine.frame(f"SELECT {names} FROM {view}"))  # noqa: S608 - quoted

    def _sample(
        self, theirs: str, ours: str, pairs: "Sequence[Pair]", side: int
    ) -> tuple[dict[str, str | None], ...]:
        """Rows that one side has alone, as texts."""
        sides = []
        for at, view in enumerate((f"{theirs} b", f"{ours} a")):
            names = ", ".join(f"{each.texts[at]} AS c{n}" for n, each in enumerate(pairs))
            sides.append(f"SELECT {names} FROM {view}")  # noqa: S608 - names are quoted
        first, second = (sides[side], sides[1 - side])
        rows = self._ask(f"{first} EXCEPT ALL {second} LIMIT {self._request.sample}", _MOST)
        return tuple(
            {each.name: cell for each, cell in zip(pairs, row, strict=True)} for row in rows
        )

    def _ask(self, sql: str, limit: int) -> list[tuple[Any, ...]]:
        return self._engine.rows(self._engine.frame(sql), limit)


_MOST: Final = 1_000
_NO_NAME: Final = ("/", "\\", "\0", ":")
_NOT_THERE: Final = frozenset({"TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND"})


def _never_built(relation: str, model: str) -> str:
    return (
        f"Spark's catalogue has no `{relation}`: dbt has not built it (`dbt run --select {model}`),"
        " or this Spark has another metastore than dbt's: name that in `[adapter.conf]`, or the"
        " folder of dbt's tables with `--tables`"
    )


def _column_differences(
    theirs: Sequence[StructField], ours: Sequence[StructField]
) -> tuple[ColumnDifference, ...]:
    dbt = {each.name.lower(): each for each in theirs}
    rocky = {each.name.lower(): each for each in ours}
    return tuple(
        ColumnDifference((rocky.get(key) or dbt[key]).name, before, after)
        for key in dict.fromkeys((*rocky, *dbt))
        if (before := _type(dbt.get(key))) != (after := _type(rocky.get(key)))
    )


def _type(field: StructField | None) -> str | None:
    return None if field is None else field.type.text


def _source(relation: str, tables: Path | None) -> SourceTable:
    """The table of dbt: by its name in Spark's catalogue, or by its folder."""
    if any(each in relation for each in _NO_NAME):
        # Spark reads `parquet./a/path` as files, wherever they are.
        raise InputNotBuilt(f"`{relation}` is no name of a table")
    named = undeclared_source(relation, "manifest.json")
    if tables is None:
        return named
    schema, _, table = relation.rpartition(".")
    folder = tables / f"{schema.rpartition('.')[2]}.db".lower() / table.lower()
    if not folder.resolve().is_relative_to(tables.resolve()):
        raise InputNotBuilt(f"`{folder}` leads out of `{tables}`")
    if not folder.is_dir():
        raise InputNotBuilt(f"dbt has no table at `{folder}`: it is a view, or was not built")
    kind = "delta" if (folder / "_delta_log").is_dir() else "parquet"
    return replace(named, format=kind, path=str(folder.resolve()))
