"""Diff: what a change does to tables, judged, before it is merged.

`reach` asks for each change with every column it reaches; what a removed column reached is read
from the base. Where a side does not compile there is no report but a refusal, which has what could
be compared: a part would pass as all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rocky.analysis.changes.change import Change, Impact, Reached, TableDiff
from rocky.analysis.changes.diff import diff_compilations
from rocky.operations.changes.broken_sides import refuse_broken
from rocky.operations.changes.changed_tables import (
    ChangedTable,
    ChangeReport,
    TableChanges,
    UncomparedReport,
    name_table,
    report_change,
    report_table,
    report_uncompared,
    sort_out,
)
from rocky.operations.changes.diff_comment import render_comment
from rocky.operations.changes.revisions import (
    STATUSES,
    Difference,
    Verdict,
    open_sides,
    select_tables,
)
from rocky.operations.digest import Digest, Digested, counts
from rocky.operations.report import OnDemand, flat, hidden
from rocky.operations.workspace import Workspace, known_branch
from rocky.plan.arguments import Request
from rocky.project.git import ChangedFile

FailOn = Literal["breaking", "any"]


@dataclass(frozen=True, slots=True)
class DiffRequest(Request):
    """What to compare the working tree with, and which models to report on (all without any).

    Without a `base` it is the branch that a pull request goes to, else main, master or the
    remote's; unless `exact`, where the two went apart. `fail_on` is the gate: what breaks readers,
    or whatever differs.
    """

    base: str | None = None
    exact: bool = False
    models: tuple[str, ...] = ()
    fail_on: FailOn | None = None
    reach: bool = False


@dataclass(frozen=True, slots=True)
class DiffSummary:
    """How many models there are of each status, and how many changes of each impact."""

    total_models: int
    unchanged: int
    uncompared: int
    modified: int
    added: int
    removed: int
    affected: int
    renamed: int
    breaking: int
    warning: int
    info: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachingChange:
    """One difference with every column it reaches."""

    change: ChangeReport = flat()
    downstream_consumers: tuple[Reached, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachingTable:
    """A table with its changes and all that they reach."""

    table: ChangedTable = flat()
    column_changes: tuple[ReachingChange, ...]
    table_changes: tuple[ReachingChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakingFinding:
    """A change that breaks readers; one of the settings has no model."""

    model_name: str | None
    change: ChangeReport = flat()


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffHead:
    """The sides, the verdict and the numbers. `notes` is what could not be looked at.

    `uncompared` are models of which too little is known without the plans of Python models whose
    code was not run.
    """

    difference: Difference = hidden()
    fail_on: FailOn | None = hidden()
    base_ref: str
    base_commit: str
    head_ref: str
    head_commit: str
    uncommitted: bool
    verdict: Verdict
    summary: DiffSummary
    changed_files: tuple[ChangedFile, ...]
    notes: tuple[str, ...]
    uncompared: tuple[UncomparedReport, ...]

    def digest(self) -> Digest:
        """The verdict in a line."""
        sides = f"{self.base_ref} and {self.head_ref}"
        return Digest(f"{self.verdict}: {sides}, {counts(file=len(self.changed_files))} changed")

    @property
    def unseen(self) -> bool:
        """Whether the gate stays shut because something could not be looked at."""
        return self.fail_on is not None and bool(self.notes)

    @property
    def failed(self) -> bool:
        """What the build is told."""
        if self.fail_on == "any":
            return self.unseen or self.verdict != "unchanged"
        return self.unseen or (self.fail_on == "breaking" and self.verdict == "breaking")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DiffReport(Digested):
    """What differs, table by table. `markdown` is a comment for a pull request."""

    head: DiffHead = flat()
    models: Sequence[TableChanges]
    inputs: Sequence[TableChanges]
    settings: tuple[ChangeReport, ...]
    breaking_findings: Sequence[BreakingFinding]
    markdown: str

    def digest(self) -> Digest:
        return self.head.digest()

    def _repr_markdown_(self) -> str:
        return self.markdown

    def _repr_html_(self) -> None:
        """A notebook shows the comment, which is Markdown."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReachReport(Digested):
    """What differs, each change with all it reaches. `markdown` is a comment for a pull request."""

    head: DiffHead = flat()
    results: Sequence[ReachingTable]
    settings: tuple[ReachingChange, ...]
    markdown: str

    def digest(self) -> Digest:
        return self.head.digest()

    def _repr_markdown_(self) -> str:
        return self.markdown

    def _repr_html_(self) -> None:
        """A notebook shows the comment, which is Markdown."""


def diff(workspace: Workspace, request: DiffRequest) -> DiffReport | ReachReport:
    """What differs between a base and the working tree.

    Raises InvalidRequest, SidesBroken, NothingSelected, and what `open_sides` raises.
    """
    workspace = known_branch(workspace)
    with open_sides(workspace, request.base, exact=request.exact) as sides:
        refuse_broken(sides, request.models)
        whole = diff_compilations(sides.base, sides.head)
        shown = select_tables(whole, request.models, sides)
        return report_difference(
            Difference(whole, shown, sides), fail_on=request.fail_on, reach=request.reach
        )


def report_difference(
    difference: Difference, *, fail_on: FailOn | None = None, reach: bool = False
) -> DiffReport | ReachReport:
    """A difference as programs get it, and the gate it is held to."""
    sides, shown = difference.sides, difference.shown
    head = DiffHead(
        difference=difference,
        fail_on=fail_on,
        base_ref=sides.base_ref,
        base_commit=sides.base_commit,
        head_ref=sides.head_ref,
        head_commit=sides.head_commit,
        uncommitted=sides.dirty,
        verdict=difference.verdict,
        summary=_summarise(difference),
        changed_files=sides.files,
        notes=difference.notes,
        uncompared=tuple(map(report_uncompared, shown.uncompared)),
    )
    comment = render_comment(difference, "lineage-diff" if reach else "ci-diff", with_reached=reach)
    if reach:
        return ReachReport(
            head=head,
            results=OnDemand(shown.tables, _reaching_table),
            settings=tuple(map(_reaching, shown.settings)),
            markdown=comment,
        )
    models = [each for each in shown.tables if each.kind == "model"]
    inputs = [each for each in shown.tables if each.kind != "model"]
    return DiffReport(
        head=head,
        models=OnDemand(models, report_table),
        inputs=OnDemand(inputs, report_table),
        settings=tuple(map(report_change, shown.settings)),
        breaking_findings=OnDemand(difference.breaking, _breaking),
        markdown=comment,
    )


def _summarise(difference: Difference) -> DiffSummary:
    statuses, impacts = difference.statuses, difference.impacts
    return DiffSummary(
        difference.whole.total_models,
        difference.whole.unchanged,
        len(difference.shown.uncompared),
        *(statuses[status] for status in STATUSES),
        *(impacts[impact] for impact in Impact),
    )


def _reaching_table(table: TableDiff) -> ReachingTable:
    of_columns, of_table = sort_out(table)
    return ReachingTable(
        table=name_table(table),
        column_changes=tuple(map(_reaching, of_columns)),
        table_changes=tuple(map(_reaching, of_table)),
    )


def _reaching(change: Change) -> ReachingChange:
    return ReachingChange(change=report_change(change), downstream_consumers=change.reaches)


def _breaking(found: tuple[TableDiff | None, Change]) -> BreakingFinding:
    table, change = found
    return BreakingFinding(
        model_name=table.name if table is not None else None, change=report_change(change)
    )
