"""Contracts against the typed output of their models: one contract, or all of a project.

`check_contract` is pure: the baseline is loaded by the caller. Nothing is claimed that is not
known: a model whose columns are not all known cannot lack one, and an unknown type breaks no
promise.
"""

from collections.abc import Mapping

from rocky.analysis.contracts.baseline import Baseline, load_baseline, write_baseline
from rocky.analysis.contracts.nullability import (
    SourceNullable,
    newly_nullable_columns,
    nullable_columns,
)
from rocky.analysis.contracts.presence import extra_columns, missing_columns
from rocky.analysis.contracts.types import mistyped_columns
from rocky.diagnostics import Diagnostic
from rocky.language.ir import ModelIr
from rocky.project import Project
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


def check_contracts(project: Project, models: Mapping[str, ModelIr]) -> list[Diagnostic]:
    """What the models' contracts find; `models` are by lower-case name, as the project's are."""
    source_nullable = _source_nullability(project, models)
    found: list[Diagnostic] = []
    for key, contract in sorted(project.contracts.items()):
        model, ir = project.models.get(key), models.get(key)
        if model is None or ir is None:
            continue
        baseline = load_baseline(project.root, contract) if contract.no_new_nullable else None
        found += check_contract(contract, model, ir, baseline, source_nullable)
    return found


def record_baselines(project: Project, models: Mapping[str, ModelIr]) -> list[str]:
    """Write the baseline of every contract with `no_new_nullable`; the files' paths come back.

    A model whose columns are not all known keeps the baseline it has. Raises OSError.
    """
    written: list[str] = []
    for key, contract in sorted(project.contracts.items()):
        ir = models.get(key)
        if contract.no_new_nullable and ir is not None and ir.known:
            written.append(write_baseline(project.root, contract, ir))
    return written


def _source_nullability(project: Project, models: Mapping[str, ModelIr]) -> SourceNullable:
    def ask(table: str, column: str) -> bool | None:
        key, name = table.lower(), column.lower()
        ir = models.get(key)
        if ir is not None:
            produced = ir.column(column)
            return produced.nullable if produced is not None else None
        declared = project.sources.get(key) or project.seeds.get(key)
        fields = declared.columns if declared is not None else ()
        return next((field.nullable for field in fields if field.name.lower() == name), None)

    return ask
