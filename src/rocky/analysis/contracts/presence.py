"""Presence: columns a contract asks for that are not there, and columns it does not list.

Each promise is judged on its own: a column that is both required and protected and is gone breaks
two of them, at two lines. A model whose columns are not all known proves nothing by lacking one.
"""

from collections.abc import Iterator

from rocky.analysis.contracts.findings import column_place, finding_at_column, finding_at_promise
from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.suggestion import closest
from rocky.language.ir import ModelIr
from rocky.project.contracts import Contract, ContractRule
from rocky.project.models import ModelFile

_SHOWN = 8
_MISSING = "model `{model}` does not produce column `{column}`, which its contract requires"
_GONE = "model `{model}` no longer produces column `{column}`, which its contract protects"
_ABSENT = "model `{model}` does not produce column `{column}`, which its contract describes"


def missing_columns(contract: Contract, model: ModelFile, ir: ModelIr) -> Iterator[Diagnostic]:
    """E010, E013 and W010: promised columns that the model does not produce."""
    if not ir.known:
        return
    produced = {column.name.lower() for column in ir.columns}
    ruled: set[str] = set()
    for rules, code, message, key in (
        (contract.required, Code.CONTRACT_COLUMN_MISSING, _MISSING, "required"),
        (contract.protected, Code.CONTRACT_PROTECTED_REMOVED, _GONE, "protected"),
    ):
        seen: set[str] = set()
        for rule in rules:
            name = rule.column.lower()
            if name in produced or name in seen:
                continue
            seen.add(name)
            text = message.format(model=model.name, column=rule.column)
            advice = f"produce the column, or take it out of `{key}` if its readers agree"
            yield _absent(code, text, rule, contract, model, ir, advice)
        ruled |= seen
    for column in contract.columns:
        if column.name.lower() not in produced and column.name.lower() not in ruled:
            text = _ABSENT.format(model=model.name, column=column.name)
            advice = "produce the column, or take it out of the contract"
            code = Code.CONTRACT_COLUMN_ABSENT
            rule = ContractRule(column.name, column.span)
            yield _absent(code, text, rule, contract, model, ir, advice)


def _absent(
    code: Code,
    message: str,
    promise: ContractRule,
    contract: Contract,
    model: ModelFile,
    ir: ModelIr,
    advice: str,
) -> Diagnostic:
    name, place = promise.column, promise.span
    near = closest(name, [column.name for column in ir.columns])
    column = ir.column(near) if near else None
    if column is None:
        label = Label(None, f"it produces {_listed(ir)}", model.path)
        return finding_at_promise(code, message, place, contract, model, advice, label)
    label = Label(column_place(model, ir, column), f"it produces `{near}`", model.path)
    advice = f"if `{near}` is the same column, name it `{name}` with `AS`; otherwise {advice}"
    return finding_at_promise(code, message, place, contract, model, advice, label)


def _listed(ir: ModelIr) -> str:
    names = [f"`{column.name}`" for column in ir.columns]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more if names else "no columns"


def extra_columns(contract: Contract, model: ModelFile, ir: ModelIr) -> Iterator[Diagnostic]:
    """E037: columns that a strict contract does not name."""
    if not contract.strict:
        return
    named = {column.name.lower() for column in contract.columns}
    named.update(rule.column.lower() for rule in (*contract.required, *contract.protected))
    label = Label(contract.strict_span, "the contract is strict", contract.path)
    for column in ir.columns:
        if column.name.lower() in named:
            continue
        named.add(column.name.lower())
        yield finding_at_column(
            Code.CONTRACT_EXTRA_COLUMN,
            f"model `{model.name}` produces column `{column.name}` of type `{column.type}`,"
            " which its strict contract does not list",
            column_place(model, ir, column),
            model,
            (label,),
            f"add a `[[columns]]` entry for `{column.name}` to the contract,"
            " or leave the column out of the model",
        )
