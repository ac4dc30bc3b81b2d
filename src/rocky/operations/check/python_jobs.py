"""Functions of any Python file, checked: code that builds frames and belongs to no project.

`jobs/*.py::enrich` names a function in each file of that pattern, `jobs/enrich.py` every function
that says it returns a DataFrame. A parameter gets the table of its name (`orders_df` that of
`orders`), and one called `spark` the session.
"""

import ast
import glob
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.diagnostics.diagnostic import SourceText, Span
from rocky.diagnostics.suggestion import closest
from rocky.errors import InvalidRequest
from rocky.frames.sandbox import Outcome, Reason, Target, check_targets
from rocky.language.datatypes.types import StructField
from rocky.language.names import split_name

SEPARATOR: Final = "::"
_SESSION: Final = ""
"""The table that stands for the session itself."""
_SESSION_NAMES: Final = frozenset({"spark", "session", "spark_session"})

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
    outcome: Outcome


class _Function(NamedTuple):
    path: str
    node: ast.FunctionDef

    @property
    def name(self) -> str:
        return f"{self.path}{SEPARATOR}{self.node.name}"


def is_job(target: str) -> bool:
    """Whether a name means a Python file, and not a model."""
    return SEPARATOR in target or target.endswith(".py")


def check_jobs(
    targets: Sequence[str], schemas: Schemas, root: Path, seconds: int
) -> tuple[JobFiles, list[Job]]:
    """Run the functions and bind their plans. Raises InvalidRequest, RockyError."""
    texts: dict[str, SourceText] = {}
    found = [each for target in targets for each in _functions(target, root, texts)]
    asked = [_target(each, schemas, root) for each in found]
    outcomes = {each.id: each for each in check_targets(asked, seconds)}
    jobs = [Job(each.name, each.path, outcomes[each.name]) for each in found]
    return JobFiles(root, texts), jobs


def job_findings(job: Job, files: JobFiles) -> Iterator[Diagnostic]:
    """What is wrong with a function, and what is not known of it."""
    outcome = job.outcome
    if outcome.failure is not None:
        yield _failed(job, outcome.failure, files)
        return
    unknown = [*outcome.gaps, *([outcome.needs_rows] if outcome.needs_rows else [])]
    for each in unknown:
        path, span = _relative(each.place.path, files), each.place.span
        yield Diagnostic(
            Code.QUERY_NOT_UNDERSTOOD,
            f"what `{job.name}` gives cannot be worked out: {each.text}",
            span if path is not None else None,
            path or job.path,
            Severity.WARNING,
            model=job.name,
        )
    for found in outcome.findings:
        path = _relative(found.path, files)
        placed = found if path is not None else replace(found, span=None)
        yield replace(placed, path=path or job.path, model=job.name)


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
        found += [_Function(path, each) for each in wanted]
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


def _target(function: _Function, schemas: Schemas, root: Path) -> Target:
    path = root / function.path
    folders = (path.parent, root)
    return Target(
        function.name,
        path,
        function.node.name,
        root,
        folders,
        _inputs(function, schemas),
        dict(schemas),
    )


def _inputs(function: _Function, schemas: Schemas) -> dict[str, str]:
    """The table of each parameter; one with a default may go without."""
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
        plain_name = each.arg.lower().removesuffix("_df").removeprefix("df_")
        table = by_name.get(each.arg.lower()) or by_name.get(plain_name)
        if table is not None:
            inputs[each.arg] = table
        elif each.arg in _SESSION_NAMES or hint.endswith("SparkSession"):
            inputs[each.arg] = _SESSION
        elif each.arg not in optional:
            near = closest(plain_name, list(by_name))
            hint = f"; there is a table `{near}`" if near else ""
            raise InvalidRequest(
                f"no table for the parameter `{each.arg}` of `{function.name}`{hint}"
            )
    return inputs


def _failed(job: Job, failure: Reason, files: JobFiles) -> Diagnostic:
    path = _relative(failure.place.path, files)
    span = None
    if path is not None and failure.place.line:
        text = files.texts[path]
        whole = text.line_span(min(failure.place.line, len(text.line_starts)))
        line = text.text[whole.start : whole.end]
        span = Span(whole.end - len(line.lstrip()), whole.end)
    message = f"the code of `{job.name}` fails while its plan is built: {failure.text}"
    return Diagnostic(Code.CODE_RAISED, message, span, path or job.path, model=job.name)


def _relative(path: str | None, files: JobFiles) -> str | None:
    """A path as the user wrote it; None for a file that was not named."""
    if path is None:
        return None
    root = files.root.resolve()
    found = Path(path)
    shown = found.relative_to(root).as_posix() if found.is_relative_to(root) else None
    if shown is not None and shown not in files.texts and isinstance(files.texts, dict):
        # A helper that the function calls: its text is needed to show the place.
        files.texts[shown] = SourceText(shown, found.read_text(encoding="utf-8"))
    return shown
