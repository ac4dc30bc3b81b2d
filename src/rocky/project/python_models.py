"""Python models: what a `models/NAME.py` says about itself, read without running it.

The file defines `def model(orders, customers): ...`; each parameter is a table it reads, called by
the parameter's own name or by what `inputs` in the sidecar says. The columns it gives are those of
the plan that it builds, or those that the sidecar's `output` declares.
"""

import ast
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from blake3 import blake3

from rocky.canonical import ascii_json
from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.diagnostic import SourceText, Span
from rocky.diagnostics.suggestion import suggestion
from rocky.language.datatypes.types import StructField
from rocky.language.names import split_name
from rocky.project.columns import OutputColumn, read_columns
from rocky.project.configuration.model import ModelSettings
from rocky.project.configuration.strategies import (
    ContentAddressed,
    DeleteInsert,
    FullRefresh,
    Incremental,
    Merge,
    Snapshot,
)
from rocky.project.files import Report
from rocky.project.models import ModelFile, stem_of
from rocky.project.python_syntax import parse_python
from rocky.project.toml.documents import Document, Problem

FUNCTION: Final = "model"
VOLATILE: Final = "volatile: python"
"""Why a Python model may not repeat: nobody knows what its code does."""

_STRATEGIES: Final = (FullRefresh, Incremental, Merge, DeleteInsert, Snapshot, ContentAddressed)
OUTPUT_EXAMPLE: Final = '`output = [ { name = "id", type = "bigint", nullable = false } ]`'


class Parameter(NamedTuple):
    """A parameter of the model's function, and where it stands in the file."""

    name: str
    span: Span


class Input(NamedTuple):
    """A table a Python model reads: the parameter that gets it and the table's written name."""

    parameter: str
    table: str
    span: Span

    @property
    def parts(self) -> tuple[str, ...]:
        """The table's name as names are looked up: in lower case, without backticks."""
        return split_name(self.table.lower())


class UnusablePython(ValueError):
    """A file that defines no usable model; `span` is where, None for the whole file."""

    def __init__(self, message: str, span: Span | None, help: str | None = None) -> None:  # noqa: A002 - the diagnostic's own word
        super().__init__(message, span, help)
        self.message = message
        self.span = span
        self.help = help

    def __str__(self) -> str:
        return self.message


def read_parameters(text: str) -> tuple[Parameter, ...]:
    """The parameters of the file's `model` function. Raises UnusablePython."""
    found = _parameters(text)
    if isinstance(found, UnusablePython):
        # One of its own each time: what is raised remembers where.
        raise UnusablePython(found.message, found.span, found.help)
    return found


@lru_cache(maxsize=4096)
def _parameters(text: str) -> tuple[Parameter, ...] | UnusablePython:
    """As `read_parameters`, which is asked many times of each text."""
    try:
        return _worked_out(text)
    except UnusablePython as fault:
        return UnusablePython(fault.message, fault.span, fault.help)


def _worked_out(text: str) -> tuple[Parameter, ...]:
    source = SourceText("", text)
    tree = _parse(source)
    found = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == FUNCTION
    ]
    if not found:
        raise UnusablePython(
            f"the file defines no function `{FUNCTION}`",
            None,
            "write `def model(orders): ...`; a file that is no model starts with `_`",
        )
    function = found[-1]
    if isinstance(function, ast.AsyncFunctionDef):
        raise UnusablePython(f"`{FUNCTION}` must be a plain function", _place(source, function))
    arguments = function.args
    for extra in (*arguments.posonlyargs, arguments.vararg, arguments.kwarg):
        if extra is not None:
            message = f"the parameter `{extra.arg}` cannot be a table by its name"
            advice = "name each table the model reads: `def model(orders, customers)`"
            raise UnusablePython(message, _place(source, extra), advice)
    if arguments.defaults or any(arguments.kw_defaults):
        default = next(each for each in (*arguments.defaults, *arguments.kw_defaults) if each)
        message = f"a parameter of `{FUNCTION}` has a default, but each is a table the model reads"
        raise UnusablePython(message, _place(source, default), "remove the default")
    return tuple(
        Parameter(each.arg, _place(source, each, len(each.arg)))
        for each in (*arguments.args, *arguments.kwonlyargs)
    )


def inputs_of(model: ModelFile) -> tuple[Input, ...]:
    """The tables a Python model reads, in the order of its parameters. None when it is unusable."""
    found = _parameters(model.text)
    parameters = () if isinstance(found, UnusablePython) else found
    named = model.settings.inputs
    return tuple(
        Input(each.name, named.get(each.name, each.name), each.span) for each in parameters
    )


def output_of(model: ModelFile) -> tuple[StructField, ...]:
    """The columns a Python model is declared to give."""
    return read_columns(model.settings.output, ("output",), [], OutputColumn)


def content_hash(model: ModelFile) -> bytes:
    """A hash of the code, of what it may import, and of which table each parameter gets."""
    wired = ascii_json([each[:2] for each in inputs_of(model)])
    said = f"{wired}\0{model.text}".encode("utf-8", "surrogatepass")
    return blake3(said + b"\0" + model.modules if model.modules else said).digest()


def check_python_model(
    path: str, text: str, settings: ModelSettings, document: Document | None, report: Report
) -> bool:
    """Report what makes the file or its settings unusable as a model; True when nothing does."""
    try:
        parameters = read_parameters(text)
    except UnusablePython as failure:
        report(_unusable(path, f"`{path}`: {failure.message}", failure.span, failure.help))
        return False
    problems = list(_problems(settings, parameters))
    read_columns(settings.output, ("output",), problems, OutputColumn)
    if document is not None:
        for problem in problems:
            report(document.diagnose(problem, model=stem_of(path)))
    else:
        for problem in problems:
            report(_unusable(path, problem.message, None, problem.help))
    return not problems


def refuse_python_settings(settings: ModelSettings) -> Iterable[Problem]:
    """The settings of a SQL model that only a Python model may have."""
    for key in ("output", "inputs"):
        if getattr(settings, key):
            yield Problem(
                (key,),
                f"`{key}` is for Python models: what this query reads and gives is in its SQL",
                "remove it, or describe columns with `[columns.NAME]`",
                on_key=True,
            )
    if settings.skip is not None and settings.skip.deterministic:
        yield Problem(
            ("skip", "deterministic"),
            "Rocky works out itself whether a query is deterministic",
            "remove it; `deterministic = true` is for Python models",
        )


def _problems(settings: ModelSettings, parameters: tuple[Parameter, ...]) -> Iterable[Problem]:
    if not isinstance(settings.strategy, _STRATEGIES):
        kind = settings.strategy.type if settings.strategy else "none"
        usable = ", ".join(f"`{each._field_defaults['type']}`" for each in _STRATEGIES)
        yield Problem(
            ("strategy", "type"), f"a Python model cannot be `{kind}`", f"it can be {usable}"
        )
    names = [each.name for each in parameters]
    for name in settings.inputs:
        if name not in names:
            yield Problem(
                ("inputs", name),
                f"the function `{FUNCTION}` has no parameter `{name}`",
                suggestion(name, names),
                on_key=True,
            )


def _parse(source: SourceText) -> ast.Module:
    try:
        return parse_python(source.text)
    except SyntaxError as failure:
        line = min(max(failure.lineno or 1, 1), len(source.line_starts))
        start = min(
            source.line_starts[line - 1] + max((failure.offset or 1) - 1, 0), len(source.text)
        )
        span = Span(start, max(source.line_span(line).end, start))
        raise UnusablePython(f"not valid Python: {failure.msg}", span) from failure
    except (ValueError, RecursionError, MemoryError) as failure:
        raise UnusablePython(f"not valid Python: {failure}", None) from failure


def _place(source: SourceText, node: ast.expr | ast.stmt | ast.arg, width: int = 1) -> Span:
    """Where a node begins. The tree counts a column in bytes of UTF-8."""
    line = source.line_text(node.lineno)
    before = line.encode("utf-8", "surrogatepass")[: node.col_offset]
    start = source.line_starts[node.lineno - 1] + len(before.decode("utf-8", "surrogatepass"))
    return Span(start, start + width)


def _unusable(path: str, message: str, span: Span | None, help_text: str | None) -> Diagnostic:
    return Diagnostic(Code.UNUSABLE_FILE, message, span, path, help=help_text, model=stem_of(path))
