"""The drift decision: what is done about the differences between a live source and its copy.

A decision changes nothing: the run that carries it out commits the copy first and records the
decision with it, so a crash in between finds the same differences again. A column that the source
dropped or gave an incompatible type is put on notice, stays as it was (with nulls where the source
has nothing for it) and goes when its grace period ends, by a replacement of the whole table in one
commit. What the source had at the last copy tells its own changes from those made by hand.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import ceil

from rocky.errors import ChangeRefused, SourceUnreadable
from rocky.language.datatypes.safe_casts import is_lossless
from rocky.language.datatypes.types import (
    NULL,
    UNKNOWN,
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
    array,
    map_of,
    struct,
)
from rocky.language.names import quote_name
from rocky.ledger.pipeline_records import DriftRecord, GracePeriod
from rocky.ledger.record import RunId
from rocky.pipelines.drift.projection import (
    Projected,
    project_cast,
    project_null,
    project_unchanged,
    read_type,
)
from rocky.store.delta.schema import evolves


@dataclass(frozen=True, slots=True)
class DriftDecision:
    """What a copy selects from its source, and why that is not simply everything.

    `replace` asks for a full refresh that replaces the table in one commit. `grace` are periods to
    write; `ended` the columns, in lower case, whose period is over.
    """

    records: tuple[DriftRecord, ...]
    projection: tuple[Projected, ...]
    replace: bool = False
    grace: tuple[GracePeriod, ...] = ()
    ended: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def select_list(self) -> str:
        """The projection as a query writes it."""
        return ", ".join(f"{each.sql} AS {quote_name(each.name)}" for each in self.projection)

    @property
    def filled(self) -> frozenset[str]:
        """Columns, in lower case, that the source does not have: null in all that is copied."""
        return self._done(("fill_null", "keep_null"))

    @property
    def doubtful(self) -> frozenset[str]:
        """Columns, in lower case, that may not say what the source says: none may be a key."""
        return self._done(("fill_null", "keep_null", "try_cast"))

    def _done(self, actions: tuple[str, ...]) -> frozenset[str]:
        return frozenset(each.column.lower() for each in self.records if each.action in actions)

    def with_reached(self, reached: Mapping[str, tuple[str, ...]]) -> "DriftDecision":
        """The decision with the columns downstream of each changed column."""
        return replace(
            self,
            records=tuple(
                replace(record, reaches=reached.get(record.column, record.reaches))
                for record in self.records
            ),
        )


def grow_type(stored: DataType, live: DataType) -> DataType | None:
    """The type that holds the values of both, or None when there is none by Delta's rules.

    It is `stored` itself when that holds all that is live.
    """
    stored, live = read_type(stored), read_type(live)
    if stored is UNKNOWN or live is UNKNOWN:
        return None
    if is_lossless(live, stored):
        return stored
    if is_lossless(stored, live):
        return live
    match stored, live:
        case StructType(), StructType():
            return _grow_struct(stored, live)
        case ArrayType(), ArrayType():
            element = grow_type(stored.element, live.element)
            return None if element is None else array(element)
        case MapType(), MapType():
            key, value = grow_type(stored.key, live.key), grow_type(stored.value, live.value)
            return None if key is None or value is None else map_of(key, value)
        case _:
            return None


def is_addition(stored: DataType, grown: DataType) -> bool:
    """Whether a type grew by new fields only, so that no file has to be written again."""
    before, after = StructField("x", read_type(stored), True), StructField("x", grown, True)
    return evolves((before,), (after,)) is None


def _grow_struct(stored: StructType, live: StructType) -> StructType | None:
    given = {field.name.lower(): field for field in live.fields}
    fields: list[StructField] = []
    for field in stored.fields:
        found = given.pop(field.name.lower(), None)
        kind = grow_type(field.type, found.type) if found is not None else None
        if kind is None:
            return None
        fields.append(StructField(field.name, kind, True))
    return struct((*fields, *given.values()))


Columns = Sequence[StructField]


@dataclass(frozen=True, slots=True)
class GraceTerms:
    """How long columns on notice stay: the periods that run for a table, and what a new one gets.

    `table` is the full name of the copy.
    """

    table: str
    periods: Sequence[GracePeriod]
    now: datetime
    days: int
    run_id: RunId | None = None


class _Notices:
    """The columns on notice, old and new."""

    def __init__(self, terms: GraceTerms) -> None:
        self.terms = terms
        self.running = {period.column.lower(): period for period in terms.periods}
        self.kept: dict[str, GracePeriod] = {}

    def give(self, column: str, change: str, kind: str | None) -> GracePeriod | None:
        """The period that runs for a column; None once it is over."""
        terms = self.terms
        found = self.running.get(column.lower())
        if found is not None and found.change == change:
            period = GracePeriod(
                found.table,
                found.column,
                change,
                found.first_seen_at,
                found.expires_at,
                kind,
                found.run_id,
            )
        else:
            until = terms.now + timedelta(days=terms.days)
            period = GracePeriod(terms.table, column, change, terms.now, until, kind, terms.run_id)
        if period.expires_at <= terms.now:
            return None
        self.kept[column.lower()] = period
        return period

    def days_left(self, period: GracePeriod) -> int:
        return ceil((period.expires_at - self.terms.now) / timedelta(days=1))

    @property
    def new(self) -> tuple[GracePeriod, ...]:
        """Periods to write: those that the ledger does not have as they are."""
        return tuple(period for key, period in self.kept.items() if self.running.get(key) != period)

    @property
    def ended(self) -> tuple[str, ...]:
        return tuple(sorted(self.running.keys() - self.kept.keys()))


@dataclass(frozen=True, slots=True)
class _Graded:
    """One column of the copy: what fills it (None: it goes), what is to be told."""

    projected: Projected | None
    record: DriftRecord | None = None
    warning: str | None = None


def decide_drift(
    source: Columns,
    recorded: Columns | None,
    target: Columns | None,
    metadata: Sequence[Projected],
    terms: GraceTerms,
) -> DriftDecision:
    """What a copy takes from a source that may have changed.

    `recorded` are the source's columns at the last copy, None when nobody knows; `target` the
    copy's, None when there is none or all of it is replaced anyway. Raises SourceUnreadable for
    a source whose columns cannot be told, ChangeRefused when one is called like a metadata column.
    """
    live = _index(source, terms.table)
    _check_metadata(live, metadata, terms.table)
    notices = _Notices(terms)
    if target is None:
        columns = [project_unchanged(field) for field in source if field.type is not NULL]
        return DriftDecision((), (*columns, *metadata), ended=notices.ended)
    own = {each.name.lower(): each for each in metadata}
    before = None if recorded is None else {field.name.lower(): field for field in recorded}
    graded: list[_Graded] = []
    stored = {field.name.lower() for field in target}
    for field in target:
        key = field.name.lower()
        if key in own:
            graded.append(_Graded(own[key]))
        elif key in live:
            known = before is not None and key in before
            same = known and read_type(before[key].type) is read_type(live[key].type)  # type: ignore[index]
            graded.append(_grade_common(live[key], field, notices, by_hand=same))
        else:
            hand = before is not None and key not in before and key not in notices.running
            graded.append(_grade_gone(field, notices, by_hand=hand))
    graded += [_grade_new(field) for key, field in live.items() if key not in stored]
    graded += [_Graded(each) for each in metadata if each.name.lower() not in stored]
    return _decide(graded, notices)


def _decide(graded: Sequence[_Graded], notices: _Notices) -> DriftDecision:
    records = tuple(each.record for each in graded if each.record is not None)
    return DriftDecision(
        records,
        tuple(each.projected for each in graded if each.projected is not None),
        any(record.grade == "replace" for record in records),
        notices.new,
        notices.ended,
        tuple(
            f"`{notices.terms.table}`: {each.warning}"
            for each in graded
            if each.warning is not None
        ),
    )


def _index(source: Columns, table: str) -> dict[str, StructField]:
    """The source's columns by the names Spark compares."""
    if not source:
        raise SourceUnreadable(f"the source of `{table}` has no columns; nothing was changed")
    live: dict[str, StructField] = {}
    for field in source:
        first = live.setdefault(field.name.lower(), field)
        if first is not field:
            raise SourceUnreadable(
                f"the source of `{table}` has the columns `{first.name}` and `{field.name}`, which"
                " Spark cannot tell apart"
            )
        if field.type is UNKNOWN:
            raise SourceUnreadable(
                f"column `{field.name}` of the source of `{table}` has a type that cannot be stored"
            )
    return live


def _check_metadata(
    live: dict[str, StructField], metadata: Sequence[Projected], table: str
) -> None:
    for each in metadata:
        if each.name.lower() in live:
            raise ChangeRefused(
                f"the source of `{table}` has a column `{live[each.name.lower()].name}`, which is"
                " also a metadata column; give the metadata column another name"
            )


def _grade_new(field: StructField) -> _Graded:
    if field.type is NULL:
        record = DriftRecord(field.name, "ignore", "none", None, str(field.type))
        return _Graded(None, record, f"column `{field.name}` has no type yet and is not copied")
    made = project_unchanged(field)
    return _Graded(made, DriftRecord(field.name, "add", "add_column", None, str(made.field.type)))


def _grade_common(
    live: StructField, stored: StructField, notices: _Notices, *, by_hand: bool
) -> _Graded:
    """A column that both have. `by_hand` tells that the source's did not change."""
    old, new = read_type(stored.type), read_type(live.type)
    name, on_notice = stored.name, stored.name.lower() in notices.running
    grown = grow_type(old, new)
    if grown is None:
        return _grade_retyped(live, stored, notices, by_hand=by_hand and not on_notice)
    made = project_cast(live, name, grown)
    if grown is old:
        if on_notice:
            record = DriftRecord(name, "ignore", "notice_ended", str(old), str(new))
            return _Graded(made, record)
        if old is new:
            return _Graded(made)
        return _Graded(made, DriftRecord(name, "ignore", "cast_up", str(old), str(new)))
    grade, action = ("add", "add_column") if is_addition(old, grown) else ("widen", "widen_column")
    return _Graded(made, DriftRecord(name, grade, action, str(old), str(grown)))


def _grade_retyped(
    live: StructField, stored: StructField, notices: _Notices, *, by_hand: bool
) -> _Graded:
    name, old, new = stored.name, str(read_type(stored.type)), str(read_type(live.type))
    made = project_cast(live, name, stored.type)
    if by_hand:
        return _Graded(
            made,
            DriftRecord(name, "ignore", "try_cast", old, new),
            f"column `{name}` is still `{new}` in the source and `{old}` in the copy, where"
            " somebody changed it; values that do not fit become null",
        )
    period = notices.give(name, "retyped", new)
    if period is None:
        replaced = DriftRecord(name, "replace", "replace_table", old, new, 0)
        warning = f"column `{name}` is `{new}` now instead of `{old}`: the table is replaced"
        return _Graded(project_unchanged(live, name), replaced, warning)
    left = notices.days_left(period)
    return _Graded(
        made,
        DriftRecord(name, "grace", "try_cast", old, new, left),
        f"column `{name}` is `{new}` in the source and was `{old}`; it stays `{old}`, with null"
        f" for what does not fit, for {_days(left)}; then the table is replaced",
    )


def _grade_gone(stored: StructField, notices: _Notices, *, by_hand: bool) -> _Graded:
    name, old = stored.name, str(read_type(stored.type))
    if by_hand:
        return _Graded(
            project_null(stored),
            DriftRecord(name, "ignore", "keep_null", old),
            f"column `{name}` is in the copy and was never in its source; new rows have null in it",
        )
    period = notices.give(name, "dropped", None)
    if period is None:
        replaced = DriftRecord(name, "replace", "replace_table", old, None, 0)
        warning = f"column `{name}` is gone from the source: the table is replaced without it"
        return _Graded(None, replaced, warning)
    left = notices.days_left(period)
    return _Graded(
        project_null(stored),
        DriftRecord(name, "grace", "fill_null", old, None, left),
        f"column `{name}` is gone from the source; it is filled with null for {_days(left)}; then"
        " the table is replaced without it",
    )


def _days(count: int) -> str:
    return "1 more day" if count == 1 else f"{count} more days"
