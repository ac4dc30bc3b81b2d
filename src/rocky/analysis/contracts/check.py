"""Contracts checked: one against the typed output of its model, and all of a project's.

A contract asks which columns are there, of which types, and which can be null; each breach is a
finding at the promise. What is nullable today may be recorded as the baseline of tomorrow.
"""

from collections.abc import Callable, Iterator, Mapping

from rocky.analysis.contracts.baseline import Baseline, load_baseline, write_baseline
from rocky.analysis.contracts.findings import (
    column_place,
    fallback_for,
    finding_at_column,
    finding_at_promise,
    first_difference,
    first_null,
    mistyped_columns,
)
from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.codes import severity_of
from rocky.diagnostics.suggestion import closest
from rocky.language.datatypes.types import UNKNOWN, DataType
from rocky.language.ir import ModelIr, OutputColumn
from rocky.language.names import quote_if_needed
from rocky.project import Project
from rocky.project.contracts import Contract, ContractColumn, ContractRule
from rocky.project.models import ModelFile

_SHOWN = 8
_MISSING = "model `{model}` does not produce column `{column}`, which its contract requires"
_GONE = "model `{model}` no longer produces column `{column}`, which its contract protects"
_ABSENT = "model `{model}` does not produce column `{column}`, which its contract describes"


def missing_columns(contract: Contract, model: ModelFile, ir: ModelIr) -> Iterator[Diagnostic]:
    """E010, E013 and W010: promised columns that the model does not produce.

    One that is only described may be absent where the contract says that it is optional.
    """
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
            if not column.optional:
                code = Code.CONTRACT_COLUMN_MISSING
                advice = "produce the column, promise it with `optional = true`, or not at all"
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


SourceNullable = Callable[[str, str], bool | None]
"""Whether a column of a table can be null where it comes from; None when nobody knows."""

_FILTERS = "a filter such as `WHERE ... IS NOT NULL` does not change what Spark calls nullable"


def nullable_columns(
    contract: Contract, model: ModelFile, ir: ModelIr, source_nullable: SourceNullable
) -> Iterator[Diagnostic]:
    """E012: columns, and parts of them, that are promised never null and can be null."""
    if not ir.known:
        return
    for promise in contract.columns:
        column = ir.column(promise.name)
        if column is None or column.type is UNKNOWN:
            continue
        if promise.nullable is False and column.nullable:
            label = Label(promise.nullable_span, "promised never null", contract.path)
            yield finding_at_column(
                Code.CONTRACT_NULLABLE,
                f"column `{column.name}` of model `{model.name}` can be null,"
                " its contract promises it never is",
                column_place(model, ir, column),
                model,
                (label,),
                f"{null_advice(column, source_nullable, promise.type)},"
                " or promise `nullable = true`",
                (_FILTERS,),
            )
        if promise.type is not None:
            yield from _nullable_parts(promise, column, contract, model, ir)


def _nullable_parts(
    promise: ContractColumn,
    column: OutputColumn,
    contract: Contract,
    model: ModelFile,
    ir: ModelIr,
) -> Iterator[Diagnostic]:
    promised = promise.type
    if promised is None or first_difference(promised, column.type, column.name) is not None:
        return
    path = first_null(promised, column.type, column.name)
    if path is None:
        return
    yield finding_at_column(
        Code.CONTRACT_NULLABLE,
        f"`{path}` in column `{column.name}` of model `{model.name}` can be null,"
        " its contract promises it `NOT NULL`",
        column_place(model, ir, column),
        model,
        (Label(promise.type_span, "promised `NOT NULL` in this type", contract.path),),
        f"build `{path}` from a value that is never null, such as `coalesce(..., ...)`,"
        " or promise it without `NOT NULL`",
    )


def newly_nullable_columns(
    contract: Contract,
    model: ModelFile,
    ir: ModelIr,
    baseline: Baseline | Diagnostic | None,
    source_nullable: SourceNullable,
) -> Iterator[Diagnostic]:
    """E038: columns the baseline knows as never null; W024: a baseline nobody recorded."""
    if not contract.no_new_nullable:
        return
    if isinstance(baseline, Diagnostic):
        yield baseline
        return
    if baseline is None:
        yield _without_baseline(contract, model)
        return
    if not ir.known:
        return
    promised = {column.name.lower() for column in contract.columns if column.nullable is False}
    for column in ir.columns:
        name = column.name.lower()
        # A column that is promised never null is reported as that, once.
        if not column.nullable or column.type is UNKNOWN or name in promised:
            continue
        if baseline.nullable.get(name, True):
            continue
        yield finding_at_column(
            Code.CONTRACT_NEW_NULLABLE,
            f"column `{column.name}` of model `{model.name}` can be null now;"
            " when its baseline was recorded it never was",
            column_place(model, ir, column),
            model,
            (
                Label(contract.no_new_nullable_span, "nothing may become nullable", contract.path),
                Label(baseline.places.get(name), "recorded as never null", baseline.path),
            ),
            f"{null_advice(column, source_nullable)}, or run `rocky compile --record-baselines`"
            " once its readers have agreed to nulls",
            (_FILTERS,),
        )


def _without_baseline(contract: Contract, model: ModelFile) -> Diagnostic:
    return Diagnostic(
        Code.BASELINE_MISSING,
        f"model `{model.name}` has no recorded baseline, so `no_new_nullable` holds nothing yet",
        contract.no_new_nullable_span,
        contract.path,
        severity_of(Code.BASELINE_MISSING),
        help="run `rocky compile --record-baselines` and commit the file it writes",
        model=model.name,
    )


def null_advice(
    column: OutputColumn, source_nullable: SourceNullable, promised: DataType | None = None
) -> str:
    """The change to the query that makes this column never null, in the type it should have."""
    name, fallback = quote_if_needed(column.name), fallback_for(promised or column.type)
    edge = column.edges[0] if len(column.edges) == 1 else None
    if edge is None or edge.kind != "direct":
        return f"{_cause(column)}: write `coalesce(..., {fallback}) AS {name}`"
    write = f"write `coalesce({quote_if_needed(edge.column)}, {fallback}) AS {name}`"
    match source_nullable(edge.table, edge.column):
        case True:
            return (
                f"`{edge.table}.{edge.column}` can be null: {write},"
                f" or make it never null in `{edge.table}`"
            )
        case False:
            return (
                f"`{edge.table}.{edge.column}` is never null, but an outer join or a grouping set"
                f" leaves rows without it: use an inner join, or {write}"
            )
        case _:
            return f"{write}; if the null is from an outer join, an inner join clears it too"


_CAUSES = (
    ("opaque", "the Python model declares it nullable"),
    ("aggregate", "an aggregate of no rows is null"),
    ("window", "a window function can find nothing to take a value from"),
    ("conditional", "a branch can be null or is missing"),
    ("expression", "a part of the expression can be null, or its result can"),
    ("cast", "the value can be null, or Spark counts the cast as able to give null"),
)


def _cause(column: OutputColumn) -> str:
    kinds = {edge.kind for edge in column.edges}
    return next((cause for kind, cause in _CAUSES if kind in kinds), "the value can be null")


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


def check_model_contract(
    key: str, project: Project, models: Mapping[str, ModelIr]
) -> list[Diagnostic]:
    """What the contract of a model finds; `models` are by lower-case name, as the project's are."""
    contract = project.contracts[key]
    baseline = load_baseline(project.root, contract) if contract.no_new_nullable else None
    asked = _source_nullability(project, models)
    return check_contract(contract, project.models[key], models[key], baseline, asked)


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
