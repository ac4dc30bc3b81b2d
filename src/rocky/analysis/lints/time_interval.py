"""E020-E026, W003: models that are filled interval by interval; E009: one that is not.

An interval model needs a time column it can rely on, and a query that keeps to its interval;
in any other model nothing fills in the placeholders. They count only as SQL: one in a comment
or a quoted text is never replaced.
"""

import re
from collections.abc import Iterator
from datetime import date
from typing import Final, NamedTuple

from rocky.analysis.lints.settings import ColumnSetting, Texts, is_missing, missing_column
from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.codes import severity_of
from rocky.diagnostics.diagnostic import Span
from rocky.language.datatypes.types import DATETIME_KINDS, UNKNOWN
from rocky.language.ir import ModelIr, OutputColumn
from rocky.language.placeholders import find_placeholders
from rocky.project.configuration.strategies import Microbatch, TimeInterval
from rocky.project.models import ModelFile, setting_place
from rocky.project.toml.variables import Keys

_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_]+")
_FIRST_PARTITIONS: Final = {
    "hour": (re.compile(r"(\d{4})-(\d{2})-(\d{2})T(?:[01]\d|2[0-3])"), "2024-05-01T13"),
    "day": (re.compile(r"(\d{4})-(\d{2})-(\d{2})"), "2024-05-01"),
    "month": (re.compile(r"(\d{4})-(\d{2})"), "2024-05"),
    "year": (re.compile(r"(\d{4})"), "2024"),
}
_FALLBACKS: Final = {
    "date": "DATE '1970-01-01'",
    "timestamp": "TIMESTAMP '1970-01-01 00:00:00'",
    "timestamp_ntz": "TIMESTAMP_NTZ '1970-01-01 00:00:00'",
}


class _Interval(NamedTuple):
    """What the two strategies have in common, and the model they are about."""

    key: str
    column: str
    granularity: str
    first_partition: str | None
    model: ModelFile
    ir: ModelIr
    texts: Texts

    @property
    def shown(self) -> str:
        return f"the time column `{self.column}` of model `{self.model.name}`"


def time_interval(model: ModelFile, ir: ModelIr, texts: Texts) -> Iterator[Diagnostic]:
    """Everything wrong with a model's intervals."""
    match model.strategy:
        case TimeInterval(column, grain, first_partition=first):
            interval = _Interval("time_column", column, grain, first, model, ir, texts)
        case Microbatch(column, grain):
            interval = _Interval("timestamp_column", column, grain, None, model, ir, texts)
        case _:
            yield from _unfilled_findings(model)
            return
    yield from _column_findings(interval)
    yield from _range_findings(interval)
    yield from _first_partition_findings(interval)


def _column_findings(interval: _Interval) -> Iterator[Diagnostic]:
    keys = ("strategy", interval.key)
    if not _PLAIN_NAME.fullmatch(interval.column):
        message = f"{interval.shown} is not a plain name"
        advice = "use letters, digits and underscores only, and name the column so with `AS`"
        yield _at_setting(Code.TIME_COLUMN_NAME, message, keys, interval, advice)
        return
    ir = interval.ir
    setting = ColumnSetting(keys, interval.column, "the time column")
    if is_missing(setting, ir):
        code = Code.TIME_COLUMN_MISSING
        yield missing_column(code, setting, interval.model, ir, interval.texts)
    column = ir.column(interval.column)
    if column is None or column.type is UNKNOWN:
        return
    kind = column.type.kind
    if kind not in DATETIME_KINDS:
        message = f"{interval.shown} is `{column.type}`, not a date or a timestamp"
        advice = f"produce it as a timestamp: `CAST(... AS TIMESTAMP) AS {column.name}`"
        yield _at_column(Code.TIME_COLUMN_TYPE, message, column, keys, interval, advice)
        return
    if column.nullable and ir.known:
        message = f"{interval.shown} can be null, and a row without a time is in no interval"
        advice = _advice_on_nulls(column)
        yield _at_column(Code.TIME_COLUMN_NULLABLE, message, column, keys, interval, advice)
    if kind == "date" and interval.granularity == "hour":
        message = f"{interval.shown} is a `date`, which hourly intervals cannot divide"
        advice = 'set `granularity = "day"`, or produce the column as a timestamp'
        keys = ("strategy", "granularity")
        yield _at_column(Code.TIME_GRAIN_TOO_FINE, message, column, keys, interval, advice)


def _advice_on_nulls(column: OutputColumn) -> str:
    """How to make it never null: a declaration helps only where the column is read as it is.

    Spark calls many expressions nullable whatever they read, a cast of `timestamp_ntz` to `date`
    and every `date_trunc` among them.
    """
    wrapped = f"`coalesce(..., {_FALLBACKS[column.type.kind]}) AS {column.name}`"
    if all(edge.kind == "direct" for edge in column.edges):
        return (
            f"give nulls a time: {wrapped},"
            " or declare the source column `nullable = false` if it is never null"
        )
    return (
        f"write {wrapped}: Spark calls this expression nullable even where the columns that it"
        " reads never are, and there the second value is never used"
    )


def _placeholders(sql: str) -> dict[str, Span]:
    """The placeholders a query uses, each where it stands first."""
    used: dict[str, Span] = {}
    for name, span in find_placeholders(sql):
        used.setdefault(name, span)
    return used


def _unfilled_findings(model: ModelFile) -> Iterator[Diagnostic]:
    for name, span in ({} if model.is_python else _placeholders(model.sql)).items():
        yield Diagnostic(
            Code.SYNTAX_ERROR,
            f"nothing fills in `@{name}` here: the strategy of model `{model.name}` is"
            f" `{model.strategy.type}`",
            model.place_in_file(span),
            model.path,
            help="use the strategy `time_interval` or `microbatch`, or write the value",
            model=model.name,
        )


def _range_findings(interval: _Interval) -> Iterator[Diagnostic]:
    model = interval.model
    used = _placeholders(model.sql)
    where = f"`WHERE {interval.column} >= @start_date AND {interval.column} < @end_date`"
    if not used:
        yield _at_setting(
            Code.TIME_RANGE_MISSING,
            f"model `{model.name}` is filled by intervals, but its query uses neither"
            " `@start_date` nor `@end_date`",
            ("strategy", "type"),
            interval,
            f"restrict the query to its interval, for instance {where}",
        )
    elif len(used) == 1:
        (name, span), *_ = used.items()
        other = "end_date" if name == "start_date" else "start_date"
        yield Diagnostic(
            Code.TIME_RANGE_HALF,
            f"model `{model.name}` uses `@{name}` but not `@{other}`,"
            " so an interval holds rows of its neighbours",
            model.place_in_file(span),
            model.path,
            severity_of(Code.TIME_RANGE_HALF),
            help=f"use both ends, for instance {where}",
            model=model.name,
        )


def _first_partition_findings(interval: _Interval) -> Iterator[Diagnostic]:
    first, grain = interval.first_partition, interval.granularity
    if first is None or _is_partition(first, grain):
        return
    yield _at_setting(
        Code.FIRST_PARTITION_FORMAT,
        f"the first partition `{first}` of model `{interval.model.name}`"
        f" is not written as a partition of one {grain}",
        ("strategy", "first_partition"),
        interval,
        f"write it like `{_FIRST_PARTITIONS[grain][1]}`",
    )


def _is_partition(text: str, grain: str) -> bool:
    found = _FIRST_PARTITIONS[grain][0].fullmatch(text)
    if found is None or not text.isascii():
        return False
    parts = [int(part) for part in found.groups()]
    try:
        date(*[*parts, 1, 1][:3])
    except ValueError:
        return False
    return True


def _at_setting(
    code: Code, message: str, keys: Keys, interval: _Interval, advice: str
) -> Diagnostic:
    model = interval.model
    path, span = setting_place(model, interval.texts, keys)
    labels = () if path == model.path else (Label(None, "the model", model.path),)
    return Diagnostic(
        code,
        message,
        span,
        path,
        severity_of(code),
        labels=labels,
        help=advice,
        model=model.name,
    )


def _at_column(
    code: Code, message: str, column: OutputColumn, keys: Keys, interval: _Interval, advice: str
) -> Diagnostic:
    """A finding at the column in the SQL, with the setting as its other place."""
    model, stars = interval.model, interval.ir.stars
    span = column.span or (stars[0] if len(stars) == 1 else None)
    if span is None:
        return _at_setting(code, message, keys, interval, advice)
    path, place = setting_place(model, interval.texts, keys)
    return Diagnostic(
        code,
        message,
        model.place_in_file(span),
        model.path,
        severity_of(code),
        labels=(Label(place, "named here", path),) if place else (),
        help=advice,
        model=model.name,
    )
