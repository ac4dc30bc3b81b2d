"""PySpark's own documentation as facts: its examples, run, and what the frames they make are.

The text stays in the installed package. An example is known by its name and a digest of its text;
of each frame that it makes only the schema is kept, of a statement that Spark refuses the condition.
"""

import ast
import contextlib
import doctest
import functools
import hashlib
import importlib
import inspect
import io
import random
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

MODULES = (
    "pyspark.sql.functions.builtin",
    "pyspark.sql.functions.partitioning",
    "pyspark.sql.dataframe",
    "pyspark.sql.column",
    "pyspark.sql.group",
    "pyspark.sql.window",
    "pyspark.sql.tvf",
    "pyspark.sql.tvf_argument",
    "pyspark.sql.table_arg",
    "pyspark.sql.udf",
    "pyspark.sql.udtf",
    "pyspark.sql.session",
    "pyspark.sql.types",
    "pyspark.sql.pandas.functions",
    "pyspark.sql.pandas.group_ops",
    "pyspark.sql.pandas.map_ops",
)
_SEEN = "seen__by_rocky"
_ENDS = re.compile(r"\.stop\(\)|SparkSession\.builder|addArtifact|streaming|readStream")
"""Examples about a session's own life, and about streams, are left out."""
_LONG_NUMBER = re.compile(r"-?\d{15,}")


@dataclass(frozen=True, slots=True)
class Example:
    """One docstring: its statements, in order."""

    name: str
    module: str
    statements: tuple[str, ...]

    @property
    def digest(self) -> str:
        return hashlib.sha256("\0".join(self.statements).encode()).hexdigest()[:12]


@dataclass(slots=True)
class Run:
    """What became of an example: frames by place, and the statements that raised."""

    frames: dict[str, Any] = field(default_factory=dict)
    raised: dict[int, BaseException] = field(default_factory=dict)


@functools.cache
def examples() -> tuple[Example, ...]:
    """Every docstring of the installed PySpark that has examples."""
    parser = doctest.DocTestParser()
    found: dict[str, Example] = {}
    for module in MODULES:
        for name, text in _docstrings(importlib.import_module(module)):
            try:
                statements = tuple(
                    each.source for each in parser.get_examples(inspect.cleandoc(text))
                )
            except ValueError:
                # A docstring that doctest itself cannot read is nobody's example.
                continue
            if statements and not _ENDS.search("".join(statements)):
                found[name] = Example(name, module, statements)
    return tuple(found.values())


def _docstrings(module: Any) -> Iterator[tuple[str, str]]:
    short = module.__name__.removeprefix("pyspark.sql.")
    if module.__doc__:
        yield short, module.__doc__
    for name, value in vars(module).items():
        if getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isclass(value):
            if value.__doc__:
                yield f"{short}.{name}", value.__doc__
            for key, member in vars(value).items():
                if isinstance(member, classmethod | staticmethod | property) or callable(member):
                    text = getattr(member, "__doc__", None)
                    if text and not inspect.isclass(member):
                        yield f"{short}.{name}.{key}", text
        elif callable(value) and value.__doc__:
            yield f"{short}.{name}", value.__doc__


class _Watched(ast.NodeTransformer):
    """Hands the value of every call and subscript over; what runs elsewhere stays as it is."""

    def __init__(self, statement: int) -> None:
        self._statement = statement
        self._number = 0

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            return node
        made = super().visit(node)
        if isinstance(made, ast.Call) or (
            isinstance(made, ast.Subscript) and isinstance(made.ctx, ast.Load)
        ):
            self._number += 1
            key = ast.Constant(f"{self._statement}.{self._number}")
            call = ast.Call(ast.Name(_SEEN, ast.Load()), [key, made], [])
            return ast.fix_missing_locations(ast.copy_location(call, made))
        return made


def run(example: Example, session: Any, look: Callable[[Any], Any]) -> Run:
    """Run an example; `look` describes a value, or gives None where it is no frame."""
    done = Run()

    def seen(key: str, value: Any) -> Any:
        found = look(value)
        if found is not None:
            done.frames[key] = found
        return value

    names = dict(vars(importlib.import_module(example.module)))
    names |= {_SEEN: seen, "spark": session, "__name__": "__main__"}
    random.seed(0)
    for number, source in enumerate(example.statements):
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                tree = _Watched(number).visit(ast.parse(source))
                exec(compile(tree, f"<{example.name} {number}>", "exec"), names)
            except Exception as error:  # noqa: BLE001 - what an example raises is its answer
                done.raised[number] = error
    return done


def shown(fields: list[dict[str, Any]]) -> str:
    """A schema of Spark's JSON as one text, `!` after what is never null."""
    listed = [
        f"{_name(each['name'])} {_shown(each['type'])}{_mark(each['nullable'])}" for each in fields
    ]
    return ", ".join(listed)


def _name(name: str) -> str:
    # Seeds that Spark makes up are part of the name that it prints.
    return _LONG_NUMBER.sub("#", name).replace("(#)", "()")


def _mark(nullable: bool) -> str:
    return "" if nullable else "!"


def _shown(kind: Any) -> str:
    if isinstance(kind, str):
        return kind
    if kind["type"] == "array":
        return f"array<{_shown(kind['elementType'])}{_mark(kind['containsNull'])}>"
    if kind["type"] == "map":
        value = f"{_shown(kind['valueType'])}{_mark(kind['valueContainsNull'])}"
        return f"map<{_shown(kind['keyType'])}, {value}>"
    if kind["type"] == "struct":
        return f"struct<{shown(kind['fields'])}>"
    return f"{kind['type']} {kind.get('class', '')}"
