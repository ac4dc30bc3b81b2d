"""Plain code: Python whose result is decided by its text and its arguments, as its text shows.

A plan that such code builds is the same whenever it is built, so the plan may stand for the code in
a fingerprint, and several such models may be built in one process. What reads the clock, chance,
files, settings or the session, what reaches into other modules, and the order of sets of texts is
not plain. In doubt nothing is.
"""

import ast
from collections.abc import Iterator, Sequence
from typing import Final

PLAIN_MODULES: Final = frozenset(
    {
        "__future__",
        "abc",
        "collections",
        "contextlib",
        "dataclasses",
        "datetime",
        "decimal",
        "enum",
        "fractions",
        "functools",
        "itertools",
        "json",
        "math",
        "numbers",
        "numpy",
        "operator",
        "pandas",
        "pyarrow",
        "pyspark",
        "re",
        "string",
        "textwrap",
        "typing",
        "typing_extensions",
    }
)
"""What may be imported; other modules may do anything."""

_NAMES: Final = frozenset(
    {
        "__builtins__",
        "__import__",
        "breakpoint",
        "compile",
        "delattr",
        "eval",
        "exec",
        "frozenset",
        "getattr",
        "globals",
        "hash",
        "help",
        "id",
        "input",
        "locals",
        "object",
        "open",
        "set",
        "setattr",
        "vars",
    }
)
_ATTRIBUTES: Final = frozenset(
    {
        "active",
        "builder",
        "cache_clear",
        "catalog",
        "conf",
        "environ",
        "fromfile",
        "genfromtxt",
        "getActiveSession",
        "getOrCreate",
        "load",
        "loadtxt",
        "memmap",
        "newSession",
        "now",
        "options",
        "random",
        "rdd",
        "read",
        "readStream",
        "set_option",
        "sparkContext",
        "sparkSession",
        "sql_ctx",
        "today",
        "utcnow",
    }
)
_READS: Final = ("read_", "_", "from_file")


_LOOKED_AT: Final = frozenset(
    {
        ast.Name,
        ast.Attribute,
        ast.ImportFrom,
        ast.Set,
        ast.SetComp,
        ast.Global,
        ast.AsyncFunctionDef,
        ast.Await,
    }
)


def find_irregularity(nodes: Sequence[ast.AST]) -> str | None:
    """The first thing in a file that is not plain, in words; imports are looked at elsewhere."""
    return next(_irregularities(nodes), None)


def _irregularities(nodes: Sequence[ast.AST]) -> Iterator[str]:
    compared = {
        id(each)
        for node in nodes
        if isinstance(node, ast.Compare)
        for operator, each in zip(node.ops, node.comparators, strict=True)
        if isinstance(operator, ast.In | ast.NotIn)
    }
    for node in nodes:
        if node.__class__ not in _LOOKED_AT:
            continue
        match node:
            case ast.Name(id=name) if name in _NAMES:
                yield f"`{name}`"
            case ast.Attribute(attr=name) if not isinstance(node.ctx, ast.Load):
                yield f"`.{name}` is assigned to"
            case ast.Attribute(attr=name) if name in _ATTRIBUTES or name.startswith(_READS):
                yield f"`.{name}`"
            case ast.ImportFrom(names=names):
                yield from (
                    f"`{each.name}`"
                    for each in names
                    if each.name in _ATTRIBUTES or each.name.startswith("read_") or each.name == "*"
                )
            case ast.Set() | ast.SetComp() if id(node) not in compared:
                yield "a set, whose order is another in each process"
            case ast.Global():
                yield "`global`"
            case ast.AsyncFunctionDef() | ast.Await():
                yield "`async`"
            case _:
                pass
