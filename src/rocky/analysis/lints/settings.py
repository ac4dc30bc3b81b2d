"""Lints of settings that name a column the model does not produce, or one of an unfit type.

A merge key, a classification or a partition of a column that is not there would otherwise be
silently without effect, or fail only when the model runs. A mere description is a warning.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.codes import Severity, severity_of
from rocky.diagnostics.diagnostic import SourceText
from rocky.diagnostics.suggestion import suggestion
from rocky.language.datatypes.types import DATETIME_KINDS, UNKNOWN
from rocky.language.ir import ModelIr
from rocky.project.configuration.classifications import EVERY_COLUMN
from rocky.project.configuration.freshness import FreshnessRecord
from rocky.project.configuration.strategies import (
    ContentAddressed,
    DeleteInsert,
    Incremental,
    Merge,
    Microbatch,
    Snapshot,
    TimeInterval,
)
from rocky.project.models import ModelFile, setting_place
from rocky.project.toml.variables import Keys

Texts = Mapping[str, SourceText]

_SHOWN: Final = 8
_NESTED_KINDS: Final = frozenset({"array", "map", "struct", "variant"})
_NAMING_STRATEGIES: Final = frozenset(
    {Incremental, Merge, TimeInterval, Microbatch, DeleteInsert, Snapshot, ContentAddressed}
)


def names_columns(model: ModelFile) -> bool:
    """Whether the settings can be at odds with the query at all; most models' cannot.

    They name an output column, or the query may ask for an interval (`@start_date`).
    """
    settings = model.settings
    if type(settings.strategy) in _NAMING_STRATEGIES:
        return True
    if settings.classification or settings.tests or settings.columns or settings.freshness:
        return True
    if settings.surrogate_key or settings.declassify:
        return True
    return settings.format_options is not None or (not model.is_python and "@" in model.sql)


@dataclass(frozen=True, slots=True)
class ColumnSetting:
    """A column that a setting names. `role` reads well in front of the column's name."""

    keys: Keys
    column: str
    role: str
    on_key: bool = False


def is_missing(setting: ColumnSetting, ir: ModelIr) -> bool:
    """Whether the model certainly does not produce the column."""
    return ir.known and ir.column(setting.column) is None


def missing_column(
    code: Code,
    setting: ColumnSetting,
    model: ModelFile,
    ir: ModelIr,
    texts: Texts,
    severity: Severity | None = None,
) -> Diagnostic:
    """The finding about a setting whose column is not an output column."""
    path, span = setting_place(model, texts, setting.keys, on_key=setting.on_key)
    names = [column.name for column in ir.columns]
    shown = ", ".join(f"`{name}`" for name in names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    produced = f"it produces {shown}{more}" if names else "it produces no columns"
    return Diagnostic(
        code,
        f"{setting.role} `{setting.column}` is not an output column of model `{model.name}`",
        span,
        path,
        severity or severity_of(code),
        labels=() if path == model.path else (Label(None, produced, model.path),),
        help=suggestion(setting.column, names)
        or f"select `{setting.column}`, or name one of its columns: {shown}{more}",
        model=model.name,
    )


_CODE: Final = Code.SETTING_COLUMN_MISSING
_TIME_CODE: Final = Code.TIME_COLUMN_MISSING


def setting_column_missing(model: ModelFile, ir: ModelIr, texts: Texts) -> Iterator[Diagnostic]:
    """One finding a setting."""
    if not ir.known:
        return
    for code, setting in (*_strategy_columns(model), *_other_columns(model)):
        if is_missing(setting, ir):
            yield missing_column(code, setting, model, ir, texts)
    for name in own_classification(model, texts):
        if name == EVERY_COLUMN or ir.column(name) is not None:
            continue
        setting = ColumnSetting(
            ("classification", name), name.partition(".")[0], "the classified column", on_key=True
        )
        if is_missing(setting, ir):
            yield missing_column(_CODE, setting, model, ir, texts)
    for name in model.settings.columns:
        setting = ColumnSetting(("columns", name), name, "the described column", on_key=True)
        if is_missing(setting, ir):
            yield missing_column(_CODE, setting, model, ir, texts, Severity.WARNING)


def own_classification(model: ModelFile, texts: Texts) -> Iterator[str]:
    """The names that a model itself classifies.

    Those of its folder and its group are for all models there that have such a column.
    """
    for name in model.settings.classification:
        path, span = setting_place(model, texts, ("classification", name), on_key=True)
        written = texts[path].text[span.start : span.end] if span is not None else ""
        if written.strip("\"'").lower() == name.lower():
            yield name


def setting_columns(model: ModelFile, texts: Texts) -> Iterator[ColumnSetting]:
    """Every output column that the model's own settings name, whether it is there or not."""
    for _, setting in (*_strategy_columns(model), *_other_columns(model)):
        yield setting
    match model.strategy:
        case TimeInterval(time_column=name):
            yield ColumnSetting(("strategy", "time_column"), name, "the time column")
        case Microbatch(timestamp_column=name):
            yield ColumnSetting(("strategy", "timestamp_column"), name, "the time column")
        case _:
            pass
    settings = model.settings
    for name in own_classification(model, texts):
        yield ColumnSetting(("classification", name), name, "the classified column", on_key=True)
    for name in settings.columns:
        yield ColumnSetting(("columns", name), name, "the described column", on_key=True)
    for index, key in enumerate(settings.surrogate_key):
        for _, setting in _listed(("surrogate_key", index, "columns"), key.columns, "the key"):
            yield setting
    for index, each in enumerate(settings.declassify):
        yield ColumnSetting(("declassify", index, "column"), each.column, "the declassified column")


def _strategy_columns(model: ModelFile) -> Iterator[tuple[Code, ColumnSetting]]:
    match model.strategy:
        case Incremental(timestamp_column=name):
            yield (
                _TIME_CODE,
                ColumnSetting(("strategy", "timestamp_column"), name, "the time column"),
            )
        case Merge(unique_key=keys, update_columns=names):
            yield from _listed(("strategy", "unique_key"), keys, "the merge key")
            yield from _listed(("strategy", "update_columns"), names or (), "the column to update")
        case DeleteInsert(partition_by=names):
            yield from _listed(("strategy", "partition_by"), names, "the partition column")
        case Snapshot(unique_key=names, updated_at=updated):
            yield from _listed(("strategy", "unique_key"), names, "the snapshot key")
            if updated is not None:
                keys = ("strategy", "updated_at")
                yield _TIME_CODE, ColumnSetting(keys, updated, "the time of change")
        case ContentAddressed(partition_columns=names):
            yield from _listed(("strategy", "partition_columns"), names, "the partition column")
        case _:
            pass


def _other_columns(model: ModelFile) -> Iterator[tuple[Code, ColumnSetting]]:
    settings = model.settings
    options = settings.format_options
    if options is not None:
        keys = ("format_options", "partition_by")
        yield from _listed(keys, options.partition_by, "the partition column")
        keys = ("format_options", "cluster_by")
        yield from _listed(keys, options.cluster_by, "the cluster column")
    if settings.freshness is not None:
        yield _CODE, _time_column(settings.freshness)
    for index, test in enumerate(settings.tests):
        if test.table is not None:
            continue
        if test.column is not None:
            setting = ColumnSetting(("tests", index, "column"), test.column, "the tested column")
            yield _CODE, setting
        yield from _listed(("tests", index, "columns"), test.columns, "the tested column")


def _time_column(freshness: FreshnessRecord) -> ColumnSetting:
    keys = ("freshness", "time_column")
    return ColumnSetting(keys, freshness.time_column, "the freshness column")


def freshness_column_type(model: ModelFile, ir: ModelIr, texts: Texts) -> Iterator[Diagnostic]:
    """A finding about a column that holds no moments, so that no row has an age."""
    freshness = model.settings.freshness
    column = ir.column(freshness.time_column) if freshness is not None else None
    if freshness is None or column is None or column.type is UNKNOWN:
        return
    if column.type.kind not in DATETIME_KINDS:
        setting = _time_column(freshness)
        path, span = setting_place(model, texts, setting.keys)
        yield Diagnostic(
            Code.TIME_COLUMN_TYPE,
            f"{setting.role} `{column.name}` is `{column.type}`, not a date or a timestamp",
            span,
            path,
            help=f"name another, or produce it as one: `CAST(... AS TIMESTAMP) AS {column.name}`",
            model=model.name,
        )


_NESTED: Final = (
    "different values of it are written as the same text",
    "`to_json({0}) AS {0}_text`",
)
_ZONED: Final = (
    "its text, and with it the key, would change with the session's time zone",
    "`unix_micros({0}) AS {0}_micros`, or a `timestamp_ntz`",
)


def key_column_type(model: ModelFile, ir: ModelIr, texts: Texts) -> Iterator[Diagnostic]:
    """One finding a column of a surrogate key whose text does not stand for its value.

    Cast to a text, `array('a, b')` and `array('a', 'b')` are the same, and one timestamp is as
    many texts as there are time zones.
    """
    for index, key in enumerate(model.settings.surrogate_key):
        for number, name in enumerate(key.columns):
            column = ir.column(name)
            if column is None or column.type.kind not in (*_NESTED_KINDS, "timestamp"):
                continue
            zoned = column.type.kind == "timestamp"
            why, instead = _ZONED if zoned else _NESTED
            path, span = setting_place(model, texts, ("surrogate_key", index, "columns", number))
            yield Diagnostic(
                Code.TYPE_ERROR,
                f"the key column `{column.name}` is `{column.type}`: {why}",
                span,
                path,
                help=f"name a column that is made of it: {instead.format(column.name)}",
                model=model.name,
            )


def _listed(
    keys: tuple[str | int, ...], names: tuple[str, ...], role: str
) -> Iterator[tuple[Code, ColumnSetting]]:
    for index, name in enumerate(names):
        yield _CODE, ColumnSetting((*keys, index), name, role)
