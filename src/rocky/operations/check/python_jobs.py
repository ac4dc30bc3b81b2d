"""Functions of any Python file, checked: code that builds frames and belongs to no project.

`jobs/*.py::enrich` names a function in each file of that pattern, `jobs/enrich.py` every function
that says it returns a DataFrame. A parameter gets the table of its name (`orders_df` that of
`orders`), and one called `spark` the session. A function with a parameter for which there is
neither a table nor a default cannot be called: asked for by name it is refused, else left out.
"""

import ast
import glob
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from rocky.analysis.python_plans import PlanNote, PythonPlan
from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.diagnostics.diagnostic import SourceText
from rocky.diagnostics.suggestion import closest
from rocky.errors import InvalidRequest, RockyError
from rocky.frames.plan_outcome import PlanOutcome, bind_plan, note_span
from rocky.frames.plan_process import CannotBuild, PlanProcess
from rocky.frames.plan_targets import PlanCode, SentModules, encode_code
from rocky.language.datatypes.types import StructField
from rocky.language.names import split_name
from rocky.language.tables import tables_by_name
from rocky.operations.python_plans import plan_jobs
from rocky.project.call_places import CallPlaces, Site
from rocky.project.models import Imports
from rocky.project.python_imports import find_imports

SEPARATOR: Final = "::"
_SESSION: Final = ""
"""The table that stands for the session itself."""
_SESSION_NAMES: Final = frozenset({"spark", "session", "spark_session"})

_ELSEWHERE: Final = Imports(doubt="it lies elsewhere", irregularity="it lies elsewhere")

Schemas = Mapping[str, Sequence[StructField]]


@dataclass(frozen=True, slots=True)
class JobFiles:
    """The files that were looked at, and the folder that their paths begin in."""

    root: Path
    texts: Mapping[str, SourceText]


class Job(NamedTuple):
    """A function, its file as the user wrote it, and what became of it."""

    name: str
    path: str
    outcome: PlanOutcome


class _NoArgument(Exception):
    """Nothing to give to a parameter of a function."""

    def __init__(self, function: str, parameter: ast.arg, tables: Sequence[str]) -> None:
        name, hint = parameter.arg, _hint(parameter.annotation)
        is_frame = not hint or "DataFrame" in hint
        what = "table" if is_frame else "value"
        super().__init__(f"no {what} for the parameter `{name}` of `{function}`")
        near = closest(_table_name(name), tables)
        if not is_frame:
            self.advice = "give it a default"
        elif near is not None:
            self.advice = f"there is a table `{near}`"
        else:
            example = f", such as `{tables[0]}` or `{tables[0]}_df`," if tables else ""
            self.advice = f"name it after a table{example} or declare a table `{name}`"
        self._parameter = parameter

    def site(self, path: str) -> Site:
        """Where the parameter is."""
        each = self._parameter
        end_line, end_column = each.end_lineno or each.lineno, each.end_col_offset or 0
        return Site(path, each.lineno, each.col_offset, end_line, end_column)


class CheckedJobs(NamedTuple):
    """What was looked at, and why each function that was left out was."""

    files: JobFiles
    jobs: list[Job]
    skipped: list[Diagnostic]


class _Function(NamedTuple):
    path: str
    node: ast.FunctionDef
    by_name: bool

    @property
    def name(self) -> str:
        return f"{self.path}{SEPARATOR}{self.node.name}"


def is_job(target: str) -> bool:
    """Whether a name means a Python file, and not a model."""
    return SEPARATOR in target or target.endswith(".py")


def check_jobs(targets: Sequence[str], schemas: Schemas, root: Path, seconds: int) -> CheckedJobs:
    """Run the functions and bind their plans. Raises InvalidRequest, RockyError."""
    texts: dict[str, SourceText] = {}
    found = [each for target in targets for each in _functions(target, root, texts)]
    codes: list[tuple[_Function, PlanCode]] = []
    skipped: list[Diagnostic] = []
    for each in found:
        try:
            codes.append((each, _code(each, schemas, root, texts)))
        except _NoArgument as missing:
            if each.by_name:
                raise InvalidRequest(f"{missing}; {missing.advice}") from missing
            skipped.append(_left_out(each, missing, texts[each.path].text))
    if not codes:
        raise InvalidRequest(f"nothing is checked: {skipped[0].message}; {skipped[0].help}")
    plans = _built([code for _, code in codes], root, seconds)
    tables = tables_by_name(schemas)
    given = {path: each.text for path, each in texts.items()}
    jobs = [
        Job(each.name, each.path, bind_plan(plans[each.name], tables, given, root))
        for each, _ in codes
    ]
    return CheckedJobs(JobFiles(root, texts), jobs, skipped)


def _left_out(function: _Function, missing: "_NoArgument", text: str) -> Diagnostic:
    return Diagnostic(
        Code.QUERY_NOT_UNDERSTOOD,
        f"{missing}, which is skipped",
        CallPlaces({function.path: text}).span(missing.site(function.path), "")[1],
        function.path,
        Severity.WARNING,
        help=missing.advice,
        model=function.name,
    )


def _built(codes: Sequence[PlanCode], root: Path, seconds: int) -> dict[str, PythonPlan]:
    """The plans of functions, by their names. Raises RockyError."""
    process, modules = PlanProcess(seconds, plan_jobs()), SentModules()
    try:
        targets = [encode_code(each, root.resolve(), modules) for each in codes]
        return dict(process.build(targets, modules))
    except CannotBuild as why:
        raise RockyError(f"Python cannot be checked: {why}") from why
    finally:
        process.close()


def job_findings(job: Job, files: JobFiles) -> Iterator[Diagnostic]:
    """What is wrong with a function, and what is not known of it."""
    outcome = job.outcome
    failure = outcome.plan.failure
    if failure is not None:
        message = f"the code of `{job.name}` fails while its plan is built: {failure.text}"
        yield _placed(job, files, Diagnostic(Code.CODE_RAISED, message), failure)
        return
    for each in outcome.unknown:
        message = f"what `{job.name}` gives cannot be worked out: {each.text}"
        found = Diagnostic(Code.QUERY_NOT_UNDERSTOOD, message, severity=Severity.WARNING)
        yield _placed(job, files, found, each)
    for finding in outcome.findings:
        span = finding.span
        place = PlanNote("", finding.path, (span.start, span.end) if span is not None else None)
        yield _placed(job, files, finding, place)


def _placed(job: Job, files: JobFiles, found: Diagnostic, place: PlanNote) -> Diagnostic:
    """A finding at its place, or at the function's file where it has none that can be shown."""
    path = place.path
    if path is not None and path not in files.texts and isinstance(files.texts, dict):
        # A helper that the function calls: its text is needed to show the place.
        files.texts[path] = SourceText(path, (files.root / path).read_text(encoding="utf-8"))
    span = note_span(place) if path is not None else None
    return replace(found, path=path or job.path, span=span, model=job.name)


def _functions(target: str, root: Path, texts: dict[str, SourceText]) -> list[_Function]:
    pattern, _, name = target.partition(SEPARATOR)
    paths = sorted(glob.glob(pattern, root_dir=root, recursive=True))  # noqa: PTH207 - relative ones
    if not paths:
        raise InvalidRequest(f"no file `{pattern}`")
    found: list[_Function] = []
    names: list[str] = []
    for path in paths:
        tree = _read(path, root, texts)
        every = [each for each in tree.body if isinstance(each, ast.FunctionDef)]
        names += [each.name for each in every]
        wanted = [each for each in every if (each.name == name if name else _gives_frame(each))]
        found += [_Function(path, each, by_name=bool(name)) for each in wanted]
    if not found and name:
        near = closest(name, names)
        raise InvalidRequest(
            f"no function `{name}` in `{pattern}`" + (f"; there is `{near}`" if near else "")
        )
    if not found:
        raise InvalidRequest(
            f"no function of `{pattern}` says that it returns a DataFrame: name one,"
            f" `{pattern}{SEPARATOR}FUNCTION`"
        )
    return found


def _read(path: str, root: Path, texts: dict[str, SourceText]) -> ast.Module:
    try:
        text = (root / path).read_text(encoding="utf-8")
        tree = ast.parse(text)
    except (OSError, UnicodeDecodeError, SyntaxError, ValueError) as fault:
        raise InvalidRequest(f"`{path}` cannot be read: {fault}") from fault
    texts[path] = SourceText(path, text)
    return tree


def _gives_frame(function: ast.FunctionDef) -> bool:
    return _hint(function.returns).endswith("DataFrame")


def _hint(annotation: ast.expr | None) -> str:
    """An annotation as it is written, without quotes around it."""
    return "" if annotation is None else ast.unparse(annotation).strip("'\"")


def _code(
    function: _Function, schemas: Schemas, root: Path, texts: Mapping[str, SourceText]
) -> PlanCode:
    place = (root / function.path).resolve()
    text = texts[function.path].text
    inside = place.is_relative_to(root.resolve())
    relative = place.relative_to(root.resolve()).as_posix() if inside else ""
    return PlanCode(
        function.name,
        str(place),
        text,
        function.node.name,
        find_imports(root.resolve(), relative, text) if inside else _ELSEWHERE,
        tuple(dict.fromkeys((str(place.parent), str(root.resolve())))),
        _inputs(function, schemas),
        dict(schemas),
    )


def _inputs(function: _Function, schemas: Schemas) -> dict[str, str]:
    """The table of each parameter; one with a default may go without. Raises _NoArgument."""
    given = function.node.args
    plain = [*given.posonlyargs, *given.args]
    optional = {each.arg for each in plain[len(plain) - len(given.defaults) :]}
    optional |= {
        each.arg
        for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
        if default is not None
    }
    by_name = {split_name(name)[-1].lower(): name for name in schemas}
    inputs: dict[str, str] = {}
    for each in [*plain, *given.kwonlyargs]:
        hint = _hint(each.annotation)
        table = by_name.get(each.arg.lower()) or by_name.get(_table_name(each.arg))
        if table is not None:
            inputs[each.arg] = table
        elif each.arg in _SESSION_NAMES or hint.endswith("SparkSession"):
            inputs[each.arg] = _SESSION
        elif each.arg not in optional:
            raise _NoArgument(function.name, each, list(by_name))
    return inputs


def _table_name(parameter: str) -> str:
    return parameter.lower().removesuffix("_df").removeprefix("df_")
