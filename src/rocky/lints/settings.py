"""Settings that name columns: where one stands, and what to say when the column is not there."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.codes import Severity, severity_of
from rocky.diagnostics.suggest import suggestion
from rocky.ir.model import ModelIr
from rocky.project.models import ModelFile
from rocky.project.places import setting_place
from rocky.project.strategies import (
    ContentAddressed,
    DeleteInsert,
    Incremental,
    Merge,
    Microbatch,
    Snapshot,
    TimeInterval,
)
from rocky.project.variables import Keys
from rocky.source import SourceText

Texts = Mapping[str, SourceText]

_SHOWN: Final = 8
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
    if settings.classification or settings.tests or settings.columns:
        return True
    freshness = settings.freshness
    return (
        settings.format_options is not None
        or (freshness is not None and freshness.time_column is not None)
        or (not model.is_python and "@" in model.sql)
    )


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
