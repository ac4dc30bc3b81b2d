"""Overlays: what one kind of trust says of every table of the page, each state also in words.

Drift is what was recorded of sources last, Breaking what changed since the base of git, Replay
whether what is recorded could be built again to the same rows, Governance what becomes of
classified columns. None starts Spark.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from rocky.analysis.changes.change import Impact
from rocky.diagnostics.render import counted
from rocky.errors import RockyError, UnknownRevision, describe_failure
from rocky.ledger import open_lookup_reader
from rocky.ledger.pipeline_records import DriftRecord
from rocky.operations.changes.broken_sides import BrokenModelReport, BrokenSidesReport, SidesBroken
from rocky.operations.changes.changed_tables import TableChanges, UncomparedReport
from rocky.operations.changes.diff import DiffReport, DiffRequest, diff
from rocky.operations.digest import Digested
from rocky.operations.governance.compliance import (
    ColumnCompliance,
    ComplianceRequest,
    compliance,
)
from rocky.operations.page.project_page import ProjectPage
from rocky.operations.page.records import PageExecution
from rocky.operations.workspace import Workspace, open_history
from rocky.plan.arguments import Request

OverlayName = Literal["drift", "breaking", "replay", "governance"]
Tone = Literal["good", "notice", "bad", "plain"]
_SHOWN: Final = 3
"""So many columns are named in the words of a state."""


@dataclass(frozen=True, slots=True)
class OverlayRequest(Request):
    """Which overlay; `base` is what Breaking compares with, as `rocky ci-diff` does."""

    name: OverlayName
    base: str | None = None


@dataclass(frozen=True, slots=True)
class OverlayState:
    """What a table may be, how that is coloured, and how many are so."""

    name: str
    tone: Tone
    count: int


class TableSignal(NamedTuple):
    """A table, its state as a place in `states`, why in words, and the columns that these name."""

    table: int
    state: int
    words: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OverlayReport(Digested):
    """What an overlay says of each table that it can judge.

    `command` is what says more. Where not all could be looked at, `partial` says what; where
    nothing could, `unavailable` is why.
    """

    name: OverlayName
    title: str
    command: str
    states: tuple[OverlayState, ...] = ()
    tables: tuple[TableSignal, ...] = ()
    partial: str | None = None
    unavailable: str | None = None


class _Overlay(NamedTuple):
    title: str
    command: str
    states: tuple[tuple[str, Tone], ...]
    judge: "Callable[[Workspace, ProjectPage, OverlayRequest], Iterable[TableSignal | str]]"
    """What it says of tables; a text is why it could not look at all of them."""


def overlay(workspace: Workspace, page: ProjectPage, request: OverlayRequest) -> OverlayReport:
    """What one overlay says. What cannot be looked at is said, and not raised."""
    kind = OVERLAYS[request.name]
    try:
        told = list(kind.judge(workspace, page, request))
    except RockyError as failure:
        return OverlayReport(
            name=request.name,
            title=kind.title,
            command=kind.command,
            unavailable=describe_failure(failure),
        )
    found = sorted(each for each in told if isinstance(each, TableSignal))
    counts = Counter(each.state for each in found)
    return OverlayReport(
        name=request.name,
        title=kind.title,
        command=kind.command,
        states=tuple(
            OverlayState(name, tone, counts[place])
            for place, (name, tone) in enumerate(kind.states)
        ),
        tables=tuple(found),
        partial=next((each for each in told if isinstance(each, str)), None),
    )


def _places(page: ProjectPage) -> dict[str, int]:
    """The places of tables, by name and by target in lower case."""
    found: dict[str, int] = {}
    for place, table in enumerate(page.index.tables):
        for name in (table.target, table.name):
            if name is not None:
                found[name.lower()] = place
    return found


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    rest = len(names) - _SHOWN
    return f"{shown} and {rest} more" if rest > 0 else shown


# ------------------------------------------------------------------ drift

_DRIFT: Final[tuple[tuple[str, Tone], ...]] = (
    ("as copied", "good"),
    ("changed at its source", "notice"),
    ("kept on notice", "bad"),
    ("reached by a change", "notice"),
    ("never copied", "plain"),
)


def _judge_drift(
    workspace: Workspace, page: ProjectPage, _: OverlayRequest
) -> Iterator[TableSignal]:
    places = _places(page)
    copies = {each.name: at for at, each in enumerate(page.index.tables) if each.kind == "table"}
    recorded = _recorded_drift(workspace, copies)
    reached: dict[int, list[str]] = {}
    for name, place in copies.items():
        drift = recorded.get(name)
        if drift is None:
            yield TableSignal(place, 4, "no run of its pipeline is recorded")
            continue
        for each in drift:
            for column in each.reaches:
                at = places.get(column.rpartition(".")[0].lower())
                if at is not None:
                    reached.setdefault(at, []).append(f"{name}.{each.column}")
        yield _drift_signal(place, drift)
    for place, columns in reached.items():
        if place not in copies.values():
            yield TableSignal(place, 3, f"reads {_named(sorted(set(columns)))}")


def _drift_signal(place: int, drift: Sequence[DriftRecord]) -> TableSignal:
    told = [each for each in drift if each.grade != "ignore"]
    if not told:
        return TableSignal(place, 0, "no difference when it was last copied")
    noticed = any(each.grade == "grace" for each in drift)
    words = _named([f"{each.column}: {each.action.replace('_', ' ')}" for each in told])
    columns = tuple(each.column for each in told[:_SHOWN])
    return TableSignal(place, 2 if noticed else 1, words, columns)


def _recorded_drift(
    workspace: Workspace, names: Iterable[str]
) -> Mapping[str, tuple[DriftRecord, ...]]:
    with open_history(workspace) as history:
        lookup = None if history is None else open_lookup_reader(history.path)
    if lookup is None:
        return {}
    with lookup:
        found = lookup.last_executions(names)
    return {name: each.execution.drift for name, each in found.items()}


# ------------------------------------------------------------------ what breaks readers

_BREAKING: Final[tuple[tuple[str, Tone], ...]] = (
    ("unchanged", "plain"),
    ("affected", "notice"),
    ("changed", "notice"),
    ("breaks readers", "bad"),
    ("does not compile", "bad"),
    ("not compared", "bad"),
)


def _judge_breaking(
    workspace: Workspace, page: ProjectPage, request: OverlayRequest
) -> Iterator[TableSignal | str]:
    places = _places(page)
    signals = {place: TableSignal(place, 0, "as in the base") for place in places.values()}
    report = _difference(workspace, request.base)
    broken: tuple[BrokenModelReport, ...] = ()
    if isinstance(report, BrokenSidesReport):
        yield report.error.message
        broken, uncompared = report.broken_models, report.uncompared
    else:
        uncompared = report.head.uncompared
        if uncompared:
            yield "; ".join(report.head.notes)
    for each in (*report.models, *report.inputs):
        place = places.get(each.table.model_name.lower())
        if place is not None:
            signals[place] = _breaking_signal(place, each)
    for model in broken:
        place = places.get(model.model_name.lower())
        if place is not None:
            signals[place] = _broken_signal(place, model)
    for other in uncompared:
        place = places.get(other.model_name.lower())
        if place is not None:
            signals[place] = TableSignal(place, 5, _why_uncompared(other))
    yield from signals.values()


def _difference(workspace: Workspace, base: str | None) -> DiffReport | BrokenSidesReport:
    """What differs, or what of it could be compared. Raises SidesBroken where nothing could."""
    try:
        return _compare(workspace, DiffRequest(base))
    except UnknownRevision:
        if base is not None:
            raise
        # On the main line itself: what is not committed.
        return _compare(workspace, DiffRequest("HEAD", exact=True))


def _compare(workspace: Workspace, request: DiffRequest) -> DiffReport | BrokenSidesReport:
    try:
        report = diff(workspace, request)
    except SidesBroken as refused:
        if not refused.report.compared_models:
            raise
        return refused.report
    assert isinstance(report, DiffReport)
    return report


def _broken_signal(place: int, model: BrokenModelReport) -> TableSignal:
    where = " in the base" if model.side == "base" else ""
    words = f"{model.finding.code}{where}: {model.finding.message}"
    if model.lost_columns:
        words += f"; lost {_named(model.lost_columns)}"
    if model.affected_by:
        words += f"; by {_named(model.affected_by)}"
    return TableSignal(place, 4, words, model.lost_columns[:_SHOWN])


def _why_uncompared(model: UncomparedReport) -> str:
    names = sorted({each.model_name for each in model.missing_plans})
    return f"the code of {_named(names)} was not run"


def _breaking_signal(place: int, found: TableChanges) -> TableSignal:
    changes = (*found.column_changes, *found.table_changes)
    words = [
        " ".join(filter(None, (each.column_name, each.change_type.replace("_", " "))))
        for each in changes
    ]
    columns = tuple(each.column_name for each in changes[:_SHOWN] if each.column_name)
    if any(each.impact is Impact.BREAKING for each in changes):
        return TableSignal(place, 3, _named(words), columns)
    if found.table.status == "affected" or (found.table.affected_by and not changes):
        return TableSignal(place, 1, f"by {_named(found.table.affected_by)}")
    return TableSignal(place, 2, _named(words) or found.table.status, columns)


# ------------------------------------------------------------------ replay

_REPLAY: Final[tuple[tuple[str, Tone], ...]] = (
    ("can be built again", "good"),
    ("may come out differently", "notice"),
    ("failed", "bad"),
    ("not recorded", "plain"),
    ("not built by its last run", "plain"),
)
_MADE: Final = frozenset(("built", "reused", "resumed"))
"""What `rocky replay` finds a build of: nothing is recorded of how any other outcome was made."""


def _judge_replay(_: Workspace, page: ProjectPage, __: OverlayRequest) -> Iterator[TableSignal]:
    for place, table in enumerate(page.index.tables):
        if table.kind != "model":
            continue
        key = table.name.lower()
        last = page.past.last.get(key)
        if last is None:
            yield TableSignal(place, 3, "no run of it is recorded")
            continue
        if last.outcome == "failed":
            yield TableSignal(place, 2, f"in {last.run_id}")
            continue
        if last.outcome not in _MADE:
            yield TableSignal(place, 4, _not_built(page, key, last))
            continue
        models = page.compilation.models
        causes = models.record(key).determinism if key in models else ()
        made = page.past.built.get(key, last)
        if causes:
            yield TableSignal(place, 1, _named(causes))
        else:
            yield TableSignal(place, 0, f"{last.outcome}, recorded by {made.run_id}")


def _not_built(page: ProjectPage, key: str, last: PageExecution) -> str:
    """What the last run did, and the last that built the table: that one can be replayed."""
    runs = page.index.runs
    earlier = (
        runs[each.run].run_id for each in page.past.recent.get(key, ()) if each.outcome == "built"
    )
    built = next(earlier, None)
    told = f"{last.outcome} in {last.run_id}"
    return told if built is None else f"{told}, built by {built}"


# ------------------------------------------------------------------ governance

_GOVERNANCE: Final[tuple[tuple[str, Tone], ...]] = (
    ("masked", "good"),
    ("clear by decision", "notice"),
    ("exposed", "bad"),
    ("nothing classified", "plain"),
    ("classified at its source", "notice"),
)
_PROTECTION: Final = {
    "masked": 0,
    "not_stored": 0,
    "clear_by_decision": 1,
    "allowed": 1,
    "exposed": 2,
}


def _judge_governance(
    workspace: Workspace, page: ProjectPage, _: OverlayRequest
) -> Iterator[TableSignal]:
    places = _places(page)
    columns: dict[int, list[ColumnCompliance]] = {}
    for each in compliance(workspace, ComplianceRequest()).per_column:
        place = places.get(each.model.lower())
        if place is not None:
            columns.setdefault(place, []).append(each)
    for place, table in enumerate(page.index.tables):
        found = columns.get(place)
        if found is not None:
            worst = {each: max(_PROTECTION[env.state] for env in each.envs) for each in found}
            state = max(worst.values())
            named = sorted(found, key=lambda each: (each.column, each.classification))
            told = [f"{each.column} ({each.classification})" for each in named]
            shown = tuple(each.column for each in named[:_SHOWN])
            yield TableSignal(place, state, _named(told), shown)
        elif table.classified:
            tagged = [f"{column} ({tag})" for column, tag in table.classified.items()]
            words = f"a {table.kind} with {_named(tagged)}"
            yield TableSignal(place, 4, words, tuple(table.classified)[:_SHOWN])
        elif table.kind == "model":
            known = counted(len(table.columns), "column")
            yield TableSignal(place, 3, f"none of {known} has a tag")


OVERLAYS: Final[Mapping[OverlayName, _Overlay]] = {
    "drift": _Overlay("Drift", "rocky drift", _DRIFT, _judge_drift),
    "breaking": _Overlay("Breaking", "rocky ci-diff", _BREAKING, _judge_breaking),
    "replay": _Overlay("Replay", "rocky replay", _REPLAY, _judge_replay),
    "governance": _Overlay("Governance", "rocky compliance", _GOVERNANCE, _judge_governance),
}
"""In the order in which they are shown."""
