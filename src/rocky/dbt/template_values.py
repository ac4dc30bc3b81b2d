"""Names of a template that need nothing of the project: conversions, flags, ways out."""

import json
from collections.abc import Mapping
from hashlib import md5
from types import MappingProxyType
from typing import Any, Final, NoReturn

from rocky.dbt.sandbox import Unrenderable


class MacroResult(Unrenderable):
    """What a macro returns by `return(...)`; whatever is no macro has nobody to return to."""

    def __init__(self, value: Any) -> None:
        super().__init__("`return` is called outside of a macro")
        self.value = value


def leave(value: Any = None) -> NoReturn:
    raise MacroResult(value)


def nothing(*_: Any, **__: Any) -> str:
    return ""


def _refuse(message: Any = "", *_: Any, **__: Any) -> NoReturn:
    raise Unrenderable(f"it refuses by itself: {message}")


_TYPES: Final = {"text": "string", "integer": "int", "varchar": "string"}


class FixedNames:
    """Values by name, and nothing but them."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Any:
        return self._values[name]


EXCEPTIONS: Final = FixedNames(
    MappingProxyType(
        {"raise_compiler_error": _refuse, "warn": nothing, "raise_not_implemented": _refuse}
    )
)
API: Final = FixedNames(
    MappingProxyType(
        {
            "Column": FixedNames(
                MappingProxyType(
                    {
                        "translate_type": lambda kind: _TYPES.get(str(kind).lower(), kind),
                        "string_type": lambda *_: "string",
                        "numeric_type": lambda kind, *sizes: (
                            f"{kind}({', '.join(map(str, sizes))})"
                        ),
                    }
                )
            )
        }
    )
)
FLAGS: Final = FixedNames(
    MappingProxyType({"FULL_REFRESH": False, "WHICH": "compile", "STORE_FAILURES": False})
)


def _from_json(text: str, default: Any = None) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return default


def _to_json(value: Any, sort_keys: bool = False) -> str:  # noqa: FBT001, FBT002 - as dbt has it
    return json.dumps(value, sort_keys=sort_keys, default=str)


def _set(values: Any, default: Any = None) -> Any:
    try:
        return set(values)
    except TypeError:
        return default


PURE: Final[Mapping[str, Any]] = {
    "fromjson": _from_json,
    "tojson": _to_json,
    "set": _set,
    "set_strict": set,
    "zip": lambda *lists: list(zip(*lists, strict=False)),
    "zip_strict": lambda *lists: list(zip(*lists, strict=False)),
    "local_md5": lambda text: md5(str(text).encode(), usedforsecurity=False).hexdigest(),
    "none": None,
}
