"""W006: a merge by a key that the query does not give."""

from collections.abc import Iterator

from rocky.diagnostics import Code, Diagnostic
from rocky.ir.model import ModelIr
from rocky.lints.settings import ColumnSetting, Texts, is_missing, missing_column
from rocky.project.models import ModelFile
from rocky.project.strategies import Merge


def merge_key_missing(model: ModelFile, ir: ModelIr, texts: Texts) -> Iterator[Diagnostic]:
    """One finding a column of `unique_key` that is not produced."""
    strategy = model.strategy
    if not isinstance(strategy, Merge):
        return
    for index, name in enumerate(strategy.unique_key):
        setting = ColumnSetting(("strategy", "unique_key", index), name, "the merge key")
        if is_missing(setting, ir):
            yield missing_column(Code.MERGE_KEY_MISSING, setting, model, ir, texts)
