"""Settings other than keys and intervals that name a column the model does not produce.

A classification or a partition of a column that is not there would otherwise be silently without
effect, or fail only when the model runs. A mere description is a warning.
"""

from collections.abc import Iterator
from typing import Final

from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.codes import Severity
from rocky.ir.model import ModelIr
from rocky.lints.settings import ColumnSetting, Texts, is_missing, missing_column
from rocky.project.models import ModelFile
from rocky.project.strategies import (
    ContentAddressed,
    DeleteInsert,
    Incremental,
    Merge,
    Snapshot,
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
    for name in model.settings.columns:
        setting = ColumnSetting(("columns", name), name, "the described column", on_key=True)
        if is_missing(setting, ir):
            yield missing_column(_CODE, setting, model, ir, texts, Severity.WARNING)


def _strategy_columns(model: ModelFile) -> Iterator[tuple[Code, ColumnSetting]]:
    match model.strategy:
        case Incremental(timestamp_column=name):
            yield (
                _TIME_CODE,
                ColumnSetting(("strategy", "timestamp_column"), name, "the time column"),
            )
        case Merge(update_columns=names) if names is not None:
            yield from _listed(("strategy", "update_columns"), names, "the column to update")
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
    if settings.freshness is not None and settings.freshness.time_column is not None:
        keys = ("freshness", "time_column")
        name = settings.freshness.time_column
        yield _TIME_CODE, ColumnSetting(keys, name, "the freshness column")
    options = settings.format_options
    if options is not None:
        keys = ("format_options", "partition_by")
        yield from _listed(keys, options.partition_by, "the partition column")
        keys = ("format_options", "cluster_by")
        yield from _listed(keys, options.cluster_by, "the cluster column")
    for name in settings.classification:
        keys = ("classification", name)
        yield _CODE, ColumnSetting(keys, name, "the classified column", on_key=True)
    for index, test in enumerate(settings.tests):
        if test.table is not None:
            continue
        if test.column is not None:
            setting = ColumnSetting(("tests", index, "column"), test.column, "the tested column")
            yield _CODE, setting
        yield from _listed(("tests", index, "columns"), test.columns, "the tested column")


def _listed(
    keys: tuple[str | int, ...], names: tuple[str, ...], role: str
) -> Iterator[tuple[Code, ColumnSetting]]:
    for index, name in enumerate(names):
        yield _CODE, ColumnSetting((*keys, index), name, role)
