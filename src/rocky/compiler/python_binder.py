"""Binding a Python model: the plan that its code builds is bound as a query is.

Where there is no plan, any column that it reads may be in any column that it declares: its lineage
is `opaque`. What is declared is believed where the plan does not say otherwise, and is what readers
see. Findings and columns have their places in Python files.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from rocky.analysis.compilation import Body, Record, Schema
from rocky.analysis.lints.settings import names_columns
from rocky.analysis.python_plans import (
    PASSING,
    PLANNED,
    UNPLANNED,
    PlanFinding,
    PlanNote,
    PlanRequest,
    Plans,
    PlanTables,
    PythonPlan,
    pack_plan,
)
from rocky.compiler.model_records import (
    NotedTables,
    body_of,
    history_fields,
    lint_columns,
    logic_hash,
    pack_findings,
    with_functions,
    with_history,
)
from rocky.compiler.python_outputs import compare_output, unknown_output
from rocky.compiler.setting_binder import SettingFinding, Subject, bind_tests
from rocky.compiler.validity import face_of
from rocky.diagnostics import Code, Diagnostic, Label, Severity
from rocky.diagnostics.diagnostic import Span
from rocky.diagnostics.suggestion import NameIndex
from rocky.language.binder.query import BoundQuery, bind_text
from rocky.language.binder.usage import find_usage
from rocky.language.datatypes import types as t
from rocky.language.datatypes.text import encode_type
from rocky.language.datatypes.types import StructField
from rocky.language.ir import LINEAGE_KINDS
from rocky.language.names import bare_name, split_name
from rocky.language.tables import Table, Tables
from rocky.project import ModelFile
from rocky.project.cache import pack
from rocky.project.call_places import CallPlaces
from rocky.project.python_models import VOLATILE, Input, content_hash, inputs_of, output_of

_WORD: Final = re.compile(r"\w+")
_OPAQUE: Final = LINEAGE_KINDS.index("opaque")

Detail = tuple[bool, int, int, tuple[int, ...]]


class _Facts(NamedTuple):
    """What is known of a model, by its plan or without one."""

    columns: Sequence[StructField]
    known: bool
    details: list[Detail]
    body: Body
    volatile: tuple[str, ...]
    findings: list[Diagnostic]
    settings: list[SettingFinding]
    usage: bytes = b""


def plan_request(model: ModelFile, tables: NotedTables) -> PlanRequest | None:
    """What is asked for a model; None where a table that it reads is not known.

    Raises NotReady when it reads a model that is not bound yet.
    """
    schemas: dict[str, Sequence[StructField]] = {}
    for each in inputs_of(model):
        table = tables.find(each.parts)
        if table is None or not table.known:
            return None
        schemas[each.table] = table.fields
    called = _mentioned(model, tables)
    if not called:
        return PlanRequest(model, schemas)
    # One that it names may call any other.
    found = (tables.function(split_name(name.lower())) for name in tables.function_names())
    return PlanRequest(model, schemas, tuple(each for each in found if each is not None))


def bind_python(model: ModelFile, key: bytes, tables: NotedTables, plans: Plans) -> Record:
    """The record of a Python model. Raises NotReady when it reads one that is not bound yet."""
    reads: dict[str, None] = {}
    origins: dict[tuple[str, str], None] = {}
    unknown: list[Diagnostic] = []
    for each in inputs_of(model):
        table = tables.find(each.parts) or _undeclared(each, tables)
        if table is None:
            unknown.append(_unknown(each, tables))
            continue
        reads[table.name] = None
        origins.update(dict.fromkeys((table.name, field.name) for field in table.fields))
    functions = _mentioned(model, tables)
    request = plan_request(model, tables) if plans.use != "off" else None
    plan = plans.find(request) if request is not None else None
    if plan is not None and plan.has_sql:
        facts = _planned(model, plan, tables, list(origins))
    else:
        asked = request is not None or plans.use == "off"
        facts = _opaque(model, plan, list(origins), plans, asked=asked)
    normal = facts.body.normal or with_functions(content_hash(model), functions)
    own = {each.key for each in plan.functions} if plan is not None else set()
    called = {**functions, **{k: v for k, v in facts.body.functions if k not in own}}
    body = facts.body._replace(
        details=facts.details, normal=normal, functions=sorted(called.items())
    )
    schema = Schema(
        [(each.name, encode_type(each.type), each.nullable) for each in facts.columns], facts.known
    )
    packed = pack(tuple(schema))
    in_tests = bind_tests(model, Subject(model.name, facts.columns, facts.known), tables)
    skip = model.settings.skip
    return Record(
        key,
        tuple(tables.lookups.items()),
        tuple(reads),
        face_of(model, packed),
        len(facts.columns),
        sum(each.type is t.UNKNOWN for each in facts.columns),
        None,
        names_columns(model),
        () if skip is not None and skip.deterministic else facts.volatile,
        pack_findings([*unknown, *facts.findings], [*facts.settings, *in_tests]),
        packed,
        pack(tuple(body)),
        facts.usage,
        _kept(plan, request, plans),
    )


def _kept(plan: PythonPlan | None, request: PlanRequest | None, plans: Plans) -> bytes:
    """What the record says of the plan it was made from."""
    if plan is None:
        # Where its tables are unknown there is none to come.
        return UNPLANNED if request is not None or plans.use == "off" else PLANNED
    return (PASSING if plan.passing else PLANNED) + pack_plan(plan)


# ------------------------------------------------------------------ without a plan


def _opaque(
    model: ModelFile,
    plan: PythonPlan | None,
    origins: list[tuple[str, str]],
    plans: Plans,
    *,
    asked: bool,
) -> _Facts:
    """What is declared, each column made of all that is read."""
    declared = output_of(model)
    findings = _said_of_failure(model, plan, declared) if plan is not None else []
    if not declared and plan is None and asked:
        findings.append(unknown_output(model, plans.use, plans.hindrance))
    columns = (*declared, *history_fields(model.strategy)) if declared else ()
    sources = tuple(index << 3 | _OPAQUE for index in range(len(origins)))
    body = Body([], origins, [], [], b"")
    details: list[Detail] = [(True, -1, -1, sources)] * len(columns)
    return _Facts(columns, bool(declared), details, body, (VOLATILE,), findings, [])


def _said_of_failure(
    model: ModelFile, plan: PythonPlan, declared: Sequence[StructField]
) -> list[Diagnostic]:
    if plan.needs_rows is not None:
        if declared:
            return [_not_worked_out(model, plan.needs_rows)]
        note = plan.needs_rows
        return [
            _at(
                note,
                Code.UNUSABLE_FILE,
                f"what `{model.name}` gives depends on rows, and it declares no `output`:"
                f" {note.text}",
                "keep to transformations and return the frame, or declare its `output`",
            )
        ]
    assert plan.failure is not None
    # Other code may fail for what it is not given here, and run well.
    if declared and (plan.passing or model.imports.irregularity is not None):
        return [_not_worked_out(model, plan.failure)]
    message = f"the code of `{model.name}` fails while its plan is built: {plan.failure.text}"
    return [_at(plan.failure, Code.CODE_RAISED, message, None)]


def _not_worked_out(model: ModelFile, note: PlanNote) -> Diagnostic:
    declared = bool(model.settings.output)
    return _at(
        note,
        Code.QUERY_NOT_UNDERSTOOD,
        f"what `{model.name}` gives cannot be worked out: {note.text}",
        f"{'its declared' if declared else 'a declared'} `output` is believed",
        Severity.WARNING,
    )


def _at(
    note: PlanNote,
    code: Code,
    message: str,
    advice: str | None,
    severity: Severity = Severity.ERROR,
) -> Diagnostic:
    span = Span(*note.span) if note.span is not None else None
    return Diagnostic(code, message, span, note.path, severity, help=advice)


# ------------------------------------------------------------------ with a plan


def _planned(
    model: ModelFile, plan: PythonPlan, tables: Tables, origins: list[tuple[str, str]]
) -> _Facts:
    bound = with_history(bind_text(plan.sql, PlanTables(tables, plan)), model.strategy)
    places = _Places(model, plan)
    findings = [_own_finding(each) for each in plan.findings]
    findings += [_not_worked_out(model, each) for each in plan.gaps]
    findings += [places.moved(each) for each in (*bound.diagnostics, *lint_columns(bound))]
    body = body_of(bound)
    wrong = any(each.severity is Severity.ERROR for each in findings)
    whole = bound.known and not plan.gaps and not plan.unknown and not wrong
    declared = output_of(model)
    given = [StructField(each.name or "", each.type, each.nullable) for each in bound.columns]
    details = [places.detail(each) for each in body.details]
    settings: list[SettingFinding] = []
    columns: Sequence[StructField] = given
    if declared:
        own = len(given) - len(history_fields(model.strategy))
        settings = compare_output(declared, given[:own]) if whole else []
        columns, details = _as_declared(declared, given, details, own, len(body.origins))
    elif plan.gaps and not wrong:
        body = body._replace(unknowns=_with_gaps(body.unknowns, given))
    plain = plan.doubt is None and model.imports.irregularity is None
    if not plain or plan.unknown:
        # Another time the code may build another plan, and what is in a frame of unknown columns
        # nobody can say: whatever it reads may be anywhere.
        body = Body([], origins, [], body.unknowns, b"", body.functions)
        every = tuple(index << 3 | _OPAQUE for index in range(len(origins)))
        details = [(*each[:3], every) for each in details]
    sure = whole and plain
    binding = bound.binding
    volatile = tuple(sorted(binding.volatile)) if binding is not None else ()
    return _Facts(
        columns,
        bool(declared) or bound.known,
        details,
        body._replace(normal=_normal(model, plan, bound) if sure else b""),
        volatile if sure else tuple(sorted({*volatile, VOLATILE})),
        findings,
        settings,
        pack([places.use(each) for each in find_usage(bound)]),
    )


def _normal(model: ModelFile, plan: PythonPlan, bound: BoundQuery) -> bytes:
    """The hash of the query that the code is, with the code that it calls for rows or values."""
    if bound.parsed is None or bound.binding is None:
        return b""
    called = dict(bound.binding.functions)
    if any(each.key in called for each in plan.functions):
        # What such code imports counts by its version.
        called["\0installed"] = model.imports.outside.encode()
    return with_functions(logic_hash(bound.parsed, bound.binding), called)


def _with_gaps(
    reasons: list[tuple[str, int]], given: Sequence[StructField]
) -> list[tuple[str, int]]:
    """Why columns are unknown: those that nothing else explains are of what has no SQL."""
    rest = sum(each.type is t.UNKNOWN for each in given) - sum(count for _, count in reasons)
    return [*reasons, ("code that could not be worked out", rest)] if rest > 0 else reasons


def _as_declared(
    declared: Sequence[StructField],
    given: Sequence[StructField],
    details: list[Detail],
    own: int,
    origins: int,
) -> tuple[Sequence[StructField], list[Detail]]:
    """The declared columns, each made of what the column of its name is made of."""
    by_name = {each.name.lower(): at for at, each in enumerate(given[:own])}
    nobody: Detail = (True, -1, -1, tuple(index << 3 | _OPAQUE for index in range(origins)))
    found = [
        details[by_name[each.name.lower()]] if each.name.lower() in by_name else nobody
        for each in declared
    ]
    return [*declared, *given[own:]], [*found, *details[own:]]


class _Places:
    """Spans of a plan's SQL as spans of Python files."""

    def __init__(self, model: ModelFile, plan: PythonPlan) -> None:
        self._model = model
        self._plan = plan
        # A helper's file is looked at where the plan was built; here its whole call will do.
        self._calls = CallPlaces({model.path: model.text}, model.root)

    def moved(self, found: Diagnostic) -> Diagnostic:
        """A finding in the SQL as one at the call that the SQL there stands for."""
        words = self._plan.sql[found.span.start : found.span.end] if found.span else ""
        path, span = self._calls.span(self._plan.site(found.span), f"`{bare_name(words)}`")
        labels = tuple(self._label(each) for each in found.labels)
        return replace(found, path=path or self._model.path, span=span, labels=labels)

    def detail(self, detail: Detail) -> Detail:
        named, start, end, sources = detail
        start, end = self._own(start, end) if start >= 0 else (-1, -1)
        return named, start, end, sources

    def use(self, use: tuple[str, int, int, int]) -> tuple[str, int, int, int]:
        name, arguments, start, end = use
        start, end = self._own(start, end)
        return name, arguments, max(start, 0), max(end, 0)

    def _own(self, start: int, end: int) -> tuple[int, int]:
        """A span in the model's own file; (-1, -1) for one in another."""
        words = self._plan.sql[start:end]
        path, span = self._calls.span(self._plan.site(Span(start, end)), f"`{bare_name(words)}`")
        if path != self._model.path or span is None:
            return -1, -1
        return span.start, span.end

    def _label(self, label: Label) -> Label:
        if label.column is not None or label.span is None or label.path is not None:
            return label
        path, span = self._calls.span(self._plan.site(label.span), "")
        return replace(label, span=span, path=path or self._model.path)


def _own_finding(each: PlanFinding) -> Diagnostic:
    span = Span(*each.span) if each.span is not None else None
    return Diagnostic(
        Code(each.code), each.message, span, each.path, condition=each.condition, help=each.help
    )


# ------------------------------------------------------------------ what it reads and calls


def _mentioned(model: ModelFile, tables: Tables) -> dict[str, bytes]:
    """The declared functions whose names stand in the code of a Python model, which may call them.

    What it calls cannot be told without running it, so a name is enough.
    """
    words = set(_WORD.findall(model.text.lower())) if tables.declares_functions else set()
    found = {}
    for name in tables.function_names() if words else ():
        parts = split_name(name.lower())
        function = tables.function(parts) if parts[-1] in words else None
        if function is not None:
            found[name.lower()] = function.digest
    return found


def _undeclared(wanted: Input, tables: Tables) -> Table | None:
    """One that is named in full: a parameter alone is the name of a model, or a mistake."""
    return tables.undeclared(wanted.parts) if len(wanted.parts) > 1 else None


def _unknown(wanted: Input, tables: Tables) -> Diagnostic:
    near = NameIndex(tables.names()).closest(wanted.table)
    return Diagnostic(
        Code.UNKNOWN_TABLE,
        f"no table `{wanted.table}`",
        wanted.span,
        help=f"there is `{near}`"
        if near
        else f'say which table it is: `inputs = {{ {wanted.parameter} = "raw.orders" }}`',
    )
