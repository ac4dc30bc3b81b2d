"""The contracts of a whole project, each with its baseline, in the order of their models' names."""

from collections.abc import Mapping

from rocky.contracts.baseline import load_baseline, write_baseline
from rocky.contracts.check import check_contract
from rocky.contracts.nullability import SourceNullable
from rocky.diagnostics import Diagnostic
from rocky.ir.model import ModelIr
from rocky.project import Project


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
