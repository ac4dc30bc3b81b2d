"""What is known of a frame by its plan: the plan's SQL bound, with findings in the author's files.

Nothing is run here, and PySpark is not needed: the plan was built in a process apart.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rocky.analysis.python_plans import PlanFinding, PlanNote, PlanTables, PythonPlan
from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.diagnostic import Span
from rocky.frames.column_edges import lineage_of
from rocky.language.binder.query import BoundQuery, bind_text
from rocky.language.datatypes.types import StructField
from rocky.language.ir import Edge
from rocky.language.names import bare_name
from rocky.language.tables import Tables
from rocky.project.call_places import CallPlaces


@dataclass(frozen=True, slots=True)
class PlanOutcome:
    """What is known of the frame that some code makes.

    `sql` gives its rows, None where code makes some of them. Paths of findings begin in the root.
    """

    plan: PythonPlan
    columns: tuple[StructField, ...] = ()
    known: bool = False
    sql: str | None = None
    lineage: tuple[tuple[Edge, ...], ...] = ()
    findings: tuple[Diagnostic, ...] = field(default=(), repr=False)

    @property
    def unknown(self) -> tuple[PlanNote, ...]:
        """Why something is not known, and where."""
        needs = self.plan.needs_rows
        return (*self.plan.gaps, *((needs,) if needs is not None else ()))


def bind_plan(
    plan: PythonPlan, tables: Tables, texts: Mapping[str, str], root: Path
) -> PlanOutcome:
    """The outcome of a plan over tables; `texts` are files as they were when it was built."""
    if not plan.has_sql:
        return PlanOutcome(plan)
    bound = bind_text(plan.sql, PlanTables(tables, plan))
    called = dict(bound.binding.functions) if bound.binding is not None else {}
    is_sql = not any(each.key in called for each in plan.functions)
    places = CallPlaces(dict(texts), root)
    return PlanOutcome(
        plan,
        tuple(StructField(each.name or "", each.type, each.nullable) for each in bound.columns),
        bound.known,
        plan.sql if is_sql else None,
        lineage_of(bound),
        (*(_own(each) for each in plan.findings), *_bound(plan, bound, places)),
    )


def note_span(note: PlanNote) -> Span | None:
    return Span(*note.span) if note.span is not None else None


def _own(each: PlanFinding) -> Diagnostic:
    span = Span(*each.span) if each.span is not None else None
    code = Code(each.code)
    return Diagnostic(code, each.message, span, each.path, condition=each.condition, help=each.help)


def _bound(plan: PythonPlan, bound: BoundQuery, places: CallPlaces) -> Iterator[Diagnostic]:
    for each in bound.diagnostics:
        words = plan.sql[each.span.start : each.span.end] if each.span else ""
        path, span = places.span(plan.site(each.span), f"`{bare_name(words)}`")
        yield Diagnostic(
            each.code,
            each.message,
            span,
            path or None,
            each.severity,
            each.condition,
            help=each.help,
        )
