"""Deleting old rows: those that are older than `retention` in their model's settings says."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from rocky.errors import NothingSelected
from rocky.ledger.record import RunId
from rocky.operations.digest import Digested
from rocky.operations.maintenance.maintenance_run import open_tables
from rocky.operations.placement import place_tables
from rocky.operations.workspace import Workspace, model_named
from rocky.plan.arguments import Request
from rocky.project import Project
from rocky.project.configuration.kept_rows import kept_days, time_column_of

# Who only asks what would be done does not wait for pyspark.
if TYPE_CHECKING:
    from rocky.maintenance.expiry import ExpiringTable, ExpiryRule


@dataclass(frozen=True, slots=True)
class RetentionRequest(Request):
    """The models; without any, all whose settings say how long rows are kept.

    In a `dry_run` nothing is deleted; `adapter` says where the tables are.
    """

    models: tuple[str, ...] = ()
    dry_run: bool = False
    adapter: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRetention:
    """What happened to one table, or would: rows whose `column` is before `cutoff` go.

    `expired` counts the rows that went. Before that only bounds are known: at least `certain` and
    at most `possible` rows are old. `pending` is what a dry run found to do; `reason` says why a
    table was left alone.
    """

    table: str
    model: str
    status: Literal["expired", "pending", "unchanged", "left_alone"]
    column: str
    days: int
    cutoff: datetime
    rows: int
    certain: int
    possible: int
    expired: int | None = None
    from_version: int
    to_version: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class RetentionReport(Digested):
    """What was deleted, or would be in a dry run, and the run that says so, if anything was."""

    dry_run: bool
    tables: tuple[TableRetention, ...]
    run_id: RunId | None = None


def retention(workspace: Workspace, request: RetentionRequest) -> RetentionReport:
    """Delete rows that are older than their models keep them, each table in one commit.

    Raises RunRefused on a branch and when `rocky.toml` has errors, NothingSelected for a model that
    is none or keeps its rows for ever, LedgerLocked while a run writes one of the tables,
    ForeignCommit for commits that no run made, and SealRefused when it was done and is not sealed.
    """
    tables = open_tables(workspace, request.adapter, subject="old rows", verb="deleted")
    from rocky.maintenance.expiry import expire_tables, plan_expiry  # noqa: PLC0415
    from rocky.maintenance.tables import find_tables  # noqa: PLC0415

    now = datetime.now(UTC)
    project = place_tables(tables.project)
    rules = _rules(project, request.models)
    # What has not been built has no rows to lose.
    wanted = [target for target in rules if target in tables.records]
    found = find_tables(tables.records, tables.warehouse, wanted) if wanted else ()
    done = tables.carry_out(
        plan_expiry(found, rules, now),
        lambda opened: expire_tables(opened, wanted, rules, now),
        dry_run=request.dry_run,
    )
    return RetentionReport(request.dry_run, tuple(map(_table, done.tables)), done.run_id)


def _rules(project: Project, wanted: tuple[str, ...]) -> "Mapping[str, ExpiryRule]":
    """How long rows are kept, by the targets of models in lower case. Raises NothingSelected.

    A masked twin keeps what its table does, from the next run on: it is made whole of it.
    """
    from rocky.maintenance.expiry import ExpiryRule  # noqa: PLC0415

    models = [model_named(project, each) for each in wanted] or list(project.models.values())
    rules = {}
    for model in models:
        kept, column = model.settings.retention, time_column_of(model.strategy)
        if kept is not None and column is not None:
            rules[model.target.full_name.lower()] = ExpiryRule(column, kept_days(kept))
        elif wanted:
            raise NothingSelected(
                f"model `{model.name}` keeps its rows for ever; `retention` in its settings says"
                ' for how long, as `retention = "90d"`'
            )
    return rules


def _table(each: "ExpiringTable") -> TableRetention:
    certain = sum(file.rows for file in each.whole)
    return TableRetention(
        table=each.table,
        model=each.model,
        status=each.status,
        column=each.rule.column,
        days=each.rule.days,
        cutoff=each.cutoff,
        rows=each.before.rows,
        certain=certain,
        possible=certain + sum(file.rows for file in each.across),
        expired=each.expired,
        from_version=each.before.version,
        to_version=None if each.after is None else each.after.version,
        reason=each.reason,
    )
