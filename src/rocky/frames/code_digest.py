"""The digest of a function of Python: its body, its closure, and the code of the project it calls.

Where the function stands, its name, the names of its variables and its layout do not count. What is
installed counts by its name: its version is the caller's to know. A value of which nobody can tell
what it is made of has no digest, and neither has what uses it.
"""

import sys
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, Final

from blake3 import blake3
from pyspark.serializers import CloudPickleSerializer
from pyspark.sql.types import DataType

_PLAIN: Final = (int, float, complex, str, bytes, bool, type(None), type(Ellipsis))
_WRITTEN: Final = (date, datetime, time, timedelta, Decimal, Fraction, range, slice)


class _Unsure(Exception):
    """Nobody can tell what a value is made of."""


def code_digest(command: bytes) -> bytes:
    """The digest of a function as PySpark sends it; empty where there is none."""
    try:
        sent = CloudPickleSerializer().loads(command)
    except Exception:  # noqa: BLE001 - whatever an author's value raises, it has no digest
        return b""
    return value_digest(sent)


def value_digest(value: Any) -> bytes:
    """The digest of a value that code is made of; empty where there is none."""
    try:
        return blake3("\0".join(_Reading().told(value)).encode("utf-8", "surrogatepass")).digest()
    except (_Unsure, RecursionError):
        return b""


class _Reading:
    """One value, told in words; what is met again is told by its number."""

    def __init__(self) -> None:
        self._met: dict[int, int] = {}
        self._kept: list[Any] = []

    def told(self, value: Any) -> Iterable[str]:
        kind = type(value)
        if kind in _PLAIN or kind in _WRITTEN:
            return [f"{kind.__name__} {value!r}"]
        if id(value) in self._met:
            return [f"again {self._met[id(value)]}"]
        self._met[id(value)] = len(self._met)
        # While it is held, no other value has its identity.
        self._kept.append(value)
        return self._told_once(value)

    def _told_once(self, value: Any) -> Iterable[str]:
        match value:
            case tuple() | list():
                return self._several(type(value).__name__, value)
            case dict():
                return self._several("dict", [each for pair in value.items() for each in pair])
            case set() | frozenset():
                # A value in a set cannot hold the set, so each may be told by itself.
                parts = sorted("\0".join(_Reading().told(each)) for each in value)
                return ["set", *parts]
            case CodeType():
                return self._code(value)
            case FunctionType():
                return self._function(value)
            case partial():
                return self._several("partial", [value.func, value.args, value.keywords])
            case DataType():
                return [f"type {value.json()}"]
            case ModuleType() if _is_installed(value.__name__):
                return [f"module {value.__name__}"]
            case BuiltinFunctionType() | type() if _is_installed(str(value.__module__)):
                return [f"installed {value.__module__}.{value.__qualname__}"]
            case _:
                raise _Unsure

    def _several(self, name: str, values: Iterable[Any]) -> list[str]:
        found = [name]
        for each in values:
            found += self.told(each)
        return [*found, "end"]

    def _function(self, value: FunctionType) -> list[str]:
        if _is_installed(value.__module__ or ""):
            return [f"installed {value.__module__}.{value.__qualname__}"]
        try:
            cells = [each.cell_contents for each in value.__closure__ or ()]
        except ValueError as empty:
            raise _Unsure from empty
        names = sorted({name for code in _codes(value.__code__) for name in code.co_names})
        used = {name: value.__globals__[name] for name in names if name in value.__globals__}
        parts = [value.__code__, value.__defaults__, value.__kwdefaults__, cells, used]
        return self._several("function", parts)

    def _code(self, code: CodeType) -> list[str]:
        arguments = code.co_argcount + code.co_kwonlyargcount
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        table = getattr(code, "co_exceptiontable", b"")
        said = [code.co_code, table, counts, code.co_names, code.co_varnames[:arguments]]
        return self._several("code", [*said, code.co_consts])


def _codes(code: CodeType) -> Iterable[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)


def _is_installed(module: str) -> bool:
    """Whether a module is Python's own or of an installed distribution."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names:
        return top != "__main__"
    file = getattr(sys.modules.get(top), "__file__", None) or ""
    return "site-packages" in file or "dist-packages" in file
