"""check_contract: one contract against the typed output of its model.

Pure: the baseline is loaded by the caller. Nothing is claimed that is not known: a model whose
columns are not all known cannot lack one, and an unknown type breaks no promise.
"""

from rocky.contracts.baseline import Baseline
from rocky.contracts.column_types import mistyped_columns
from rocky.contracts.nullability import (
    SourceNullable,
    newly_nullable_columns,
    nullable_columns,
)
from rocky.contracts.presence import extra_columns, missing_columns
from rocky.diagnostics import Diagnostic
from rocky.ir.model import ModelIr
from rocky.project.contracts import Contract
from rocky.project.models import ModelFile


def _nobody_knows(_table: str, _column: str) -> bool | None:
    return None


def check_contract(
    contract: Contract,
    model: ModelFile,
    ir: ModelIr,
    baseline: Baseline | Diagnostic | None = None,
    source_nullable: SourceNullable = _nobody_knows,
) -> list[Diagnostic]:
    """Every promise of the contract that the model breaks.

    `baseline` is what `load_baseline` gave back. `source_nullable` tells the advice about a null
    whether it was there in the table the column comes from.
    """
    return [
        *missing_columns(contract, model, ir),
        *mistyped_columns(contract, model, ir),
        *nullable_columns(contract, model, ir, source_nullable),
        *extra_columns(contract, model, ir),
        *newly_nullable_columns(contract, model, ir, baseline, source_nullable),
    ]
