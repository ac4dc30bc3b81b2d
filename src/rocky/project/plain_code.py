"""Plain code: Python whose result is decided by its text and its arguments, as its text shows.

A plan that such code builds is the same whenever it is built, so the plan may stand for the code in
a fingerprint, and several such models may be built in one process. What reads the clock, chance,
files, settings or the session, what reaches into other modules, and the order of sets of texts is
not plain. In doubt nothing is.
"""

import ast
from collections.abc import Iterator, Sequence
from typing import Final

from rocky.project.plain_libraries import PLAIN_NAMES, PLAIN_PARTS

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
        "astimezone",
        "builder",
        "cache_clear",
        "catalog",
        "conf",
        "environ",
        "fromfile",
        "fromtimestamp",
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
        "sample",
        "set_option",
        "sparkContext",
        "sparkSession",
        "sql_ctx",
        "today",
        "utcnow",
    }
)
_MODULES: Final = frozenset(
    """
    builtins codecs ctypes gc glob importlib inspect io locale os pathlib platform posix secrets
    shutil socket subprocess sys tempfile threading uuid warnings
    """.split()
)
"""Modules that others have as names of their own: `json.codecs` opens files."""
_MOMENTS: Final = frozenset({"now", "today"})
"""Texts that libraries for tables read as the time it is."""


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
        ast.BinOp,
        ast.Constant,
        ast.Import,
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
    libraries = _libraries(nodes)
    bases = {id(each.value) for each in nodes if libraries and isinstance(each, ast.Attribute)}
    for node in nodes:
        if node.__class__ not in _LOOKED_AT:
            continue
        yield from _of_libraries(node, libraries)
        match node:
            case ast.Name(id=name) if name in _NAMES:
                yield f"`{name}`"
            case ast.Name(id=name) if name in libraries and id(node) not in bases:
                yield f"`{name}` as a value"
            case ast.Attribute(attr=name) if not isinstance(node.ctx, ast.Load):
                yield f"`.{name}` is assigned to"
            case ast.Attribute(attr=name) if _is_irregular(name) or name.startswith("_"):
                yield f"`.{name}`"
            case ast.ImportFrom(names=names):
                yield from (
                    f"`{each.name}`"
                    for each in names
                    if _is_irregular(each.name) or each.name == "*"
                )
            case ast.BinOp() if _is_of_keys(node.left) or _is_of_keys(node.right):
                yield "a set of keys, whose order is another in each process"
            case ast.Set() | ast.SetComp() if id(node) not in compared:
                yield "a set, whose order is another in each process"
            case ast.Global():
                yield "`global`"
            case ast.AsyncFunctionDef() | ast.Await():
                yield "`async`"
            case _:
                pass


def _is_irregular(name: str) -> bool:
    return name in _ATTRIBUTES or name in _MODULES or name.startswith(("read_", "from_file"))


def _is_of_keys(node: ast.expr) -> bool:
    """Whether an operand is a view of keys or items, of which an operator makes a set."""
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr in ("keys", "items")


def _libraries(nodes: Sequence[ast.AST]) -> dict[str, str]:
    """What a file calls the libraries for numbers and tables, and parts of them."""
    return {
        each.asname or each.name.partition(".")[0]: each.name
        if each.asname
        else each.name.partition(".")[0]
        for node in nodes
        if isinstance(node, ast.Import)
        for each in node.names
        if each.name.partition(".")[0] in PLAIN_NAMES
    }


def _of_libraries(node: ast.AST, libraries: dict[str, str]) -> Iterator[str]:
    """What of them is more than computing."""
    match node:
        case ast.Import(names=names):
            for each in names:
                if each.name.partition(".")[0] in PLAIN_NAMES and each.name not in PLAIN_PARTS:
                    yield f"`{each.name}`"
        case ast.ImportFrom(module=str(module), names=names, level=0):
            library = module.partition(".")[0]
            allowed = PLAIN_NAMES.get(library)
            if allowed is not None and module not in PLAIN_PARTS:
                yield f"`{module}`"
            elif allowed is not None and module == library:
                yield from (f"`{each.name}`" for each in names if each.name not in allowed)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in libraries:
            # Of a part, such as `pyarrow.compute`, what it has are functions over values.
            allowed = PLAIN_NAMES.get(libraries[name])
            if allowed is not None and attribute not in allowed:
                yield f"`{name}.{attribute}`"
        case ast.Constant(value=str(text)) if libraries and text.strip().lower() in _MOMENTS:
            yield f"the text `{text}`"
        case _:
            return
