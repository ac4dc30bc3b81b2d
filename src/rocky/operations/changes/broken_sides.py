"""What is said where a side of a comparison does not compile.

There is no verdict then, and no gate passes: a part could be mistaken for all of it. What could be
compared is told all the same, next to the models that do not compile, for this is when somebody
wants to know what a change breaks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rocky.analysis.changes.parts import BrokenModel, PartialDiff, diff_parts
from rocky.diagnostics import Diagnostic
from rocky.diagnostics.render import counted
from rocky.errors import NotComparable
from rocky.operations.changes.changed_tables import (
    ChangeReport,
    TableChanges,
    UncomparedReport,
    report_change,
    report_table,
    report_uncompared,
)
from rocky.operations.changes.revisions import Side, Sides, as_in_working_tree, select_tables
from rocky.operations.digest import Digested
from rocky.operations.findings import ErrorDetails, Finding, findings_of, note_findings
from rocky.operations.report import hidden
from rocky.project import Project


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenSide:
    """A side that does not compile. `shown` is how people read of it."""

    shown: str = hidden()
    project: Project = hidden()
    found: tuple[Diagnostic, ...] = hidden()
    side: Side
    ref: str
    diagnostics: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenModelReport:
    """A model that does not compile on a side, with its first error.

    `lost_columns` are those that the base knew and the head does not know any more, `affected_by`
    the tables whose changes reach it.
    """

    model_name: str
    side: Side
    path: str
    finding: Finding
    lost_columns: tuple[str, ...]
    affected_by: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BrokenSidesReport(Digested):
    """Why not all was compared, and what differs in the part that was.

    `compared_models` says how many models that part has: 0 where there is none. The models that are
    neither in it nor broken read one that is, and are told by what they are reached, or are
    `uncompared`: code was not run without which too little is known of them.
    """

    part: PartialDiff | None = hidden()
    error: ErrorDetails
    broken: tuple[BrokenSide, ...]
    compared_models: int
    broken_models: tuple[BrokenModelReport, ...]
    uncompared: tuple[UncomparedReport, ...]
    models: tuple[TableChanges, ...]
    inputs: tuple[TableChanges, ...]
    settings: tuple[ChangeReport, ...]


class SidesBroken(NotComparable):
    """A side of the comparison does not compile, or neither does; `report` has the findings."""

    def __init__(self, report: BrokenSidesReport) -> None:
        super().__init__(report)
        self.report = report
        for each in report.broken:
            note_findings(self, each.found, each.project)

    def __str__(self) -> str:
        return self.report.error.message


def refuse_broken(sides: Sides, models: Sequence[str]) -> None:
    """Raises SidesBroken when a side does not compile, with what differs of some models or of all.

    NothingSelected is raised for one that neither side has.
    """
    if not sides.broken:
        return
    part = diff_parts(sides.base, sides.head)
    if part is not None:
        part = _select(part, models, sides)
    described = " and ".join(sides.describe(side) for side in sides.broken)
    verb = "does not compile" if len(sides.broken) == 1 else "do not compile"
    tables = part.diff.tables if part is not None else ()
    raise SidesBroken(
        BrokenSidesReport(
            part=part,
            error=ErrorDetails(
                NotComparable.__name__, f"{described} {verb}, so {_describe_part(part)}"
            ),
            broken=tuple(_broken_side(sides, side) for side in sides.broken),
            compared_models=part.compared if part is not None else 0,
            broken_models=tuple(
                _broken_model(each, sides) for each in (part.broken if part is not None else ())
            ),
            uncompared=tuple(map(report_uncompared, part.diff.uncompared)) if part else (),
            models=tuple(report_table(each) for each in tables if each.kind == "model"),
            inputs=tuple(report_table(each) for each in tables if each.kind != "model"),
            settings=tuple(map(report_change, part.diff.settings)) if part is not None else (),
        )
    )


def _select(part: PartialDiff, models: Sequence[str], sides: Sides) -> PartialDiff:
    """The part that is about some models, all that do not compile included."""
    return replace(part, diff=select_tables(part.diff, models, sides))


def _describe_part(part: PartialDiff | None) -> str:
    if part is None or not part.compared:
        return "nothing was compared"
    return f"only {part.compared:,} of {counted(part.diff.total_models, 'model')} were compared"


def _broken_side(sides: Sides, side: Side) -> BrokenSide:
    project = _project(sides, side)
    found = sides.errors_of(side)
    for each in found:
        # Read now: the files of the base are gone when somebody looks at what it says.
        for path in (each.path, *(label.path for label in each.labels)):
            if path is not None:
                project.texts.get(path)
    return BrokenSide(
        shown=sides.describe(side),
        project=project,
        found=found,
        side=side,
        ref=sides.base_ref if side == "base" else sides.head_ref,
        diagnostics=tuple(findings_of(found, project)),
    )


def _broken_model(model: BrokenModel, sides: Sides) -> BrokenModelReport:
    (finding,) = findings_of((model.error,), _project(sides, model.side))
    return BrokenModelReport(
        model_name=model.name,
        side=model.side,
        path=model.path,
        finding=finding,
        lost_columns=model.lost,
        affected_by=model.affected_by,
    )


def _project(sides: Sides, side: Side) -> Project:
    return as_in_working_tree(sides) if side == "base" else sides.head.project
