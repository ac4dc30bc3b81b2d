"""Spark's own settings: their types, so that a wrong value is found where it is written.

Spark looks at a value when it is first used: at the start, in the middle of a run, or while it
makes the text of an error, which never ends. What it takes was asked of Spark itself
(`tools/record_spark_settings.py`). A setting that is not in the list is not judged: Hadoop's and
other libraries' are theirs.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple
from urllib.parse import urlsplit

from rocky.project.toml.documents import Parsed, Problem, Problems, ReadBy
from rocky.project.toml.records import wrong_type
from rocky.project.toml.variables import Keys, Substituted, Unset

DATA: Final = Path(__file__).with_name("spark_settings.txt")

_INT: Final = 2**31 - 1
_LONG: Final = 2**63 - 1
_WHOLE: Final = re.compile(r"[+-]?[0-9]+")
_DECIMAL: Final = re.compile(
    r"[+-]?(NaN|Infinity|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?)"
)
_BYTES: Final = re.compile(r"(-?[0-9]+)(b|kb?|mb?|gb?|tb?|pb?)?")
_TIME: Final = re.compile(r"(-?[0-9]+)(us|ms|s|min|m|h|d)?")
_WANTED: Final = {
    "boolean": ("`true` or `false`", "write `true` or `false`"),
    "int": ("a whole number", "write a number such as `200`"),
    "long": ("a whole number", "write a number such as `200`"),
    "decimal": ("a number", "write a number such as `0.6`"),
    "bytes": ("a size", "write a size such as `512m` or `2g`: units are k, m, g, t and p"),
    "time": ("a time", "write a time such as `30s` or `5min`: units are us, ms, s, min, h and d"),
}


class SettingType(NamedTuple):
    """What a setting takes. `bounds` are its choices, or the least number.

    Of a `choice` the case does not matter, of an `exact` one it does.
    """

    kind: str
    bounds: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((self.kind, *self.bounds))


class Misfit(NamedTuple):
    """What a setting wants instead of the value it was given, and what to write."""

    wanted: str
    help: str


@cache
def setting_types() -> dict[str, SettingType]:
    """Spark's settings with a type, by name."""
    types: dict[str, SettingType] = {}
    for line in DATA.read_text(encoding="utf-8").splitlines():
        name, kind, *bounds = line.split(" ")
        types[name] = SettingType(kind, tuple(bounds))
    return types


def misfit_of(name: str, value: str) -> Misfit | None:
    """Why Spark would refuse a setting's value; None when it would not, or nobody knows."""
    type_ = setting_types().get(name)
    return None if type_ is None else judge(type_, value)


def judge(type_: SettingType, value: str) -> Misfit | None:
    """Why a value is not of a type; None when it is."""
    if type_.kind in ("choice", "exact"):
        any_case = type_.kind == "choice" and {each.upper() for each in type_.bounds}
        if value.strip() in type_.bounds or (any_case and value.strip().upper() in any_case):
            return None
        listed = ", ".join(f"`{each}`" for each in type_.bounds)
        return Misfit(f"one of {listed}", "write one of these")
    wanted, way_out = _WANTED[type_.kind]
    number = _number(type_.kind, value.strip())
    if number is None:
        return Misfit(wanted, way_out)
    if type_.bounds and number < int(type_.bounds[0]):
        return Misfit(f"{wanted} of {type_.bounds[0]} or more", way_out)
    return None


def _number(kind: str, text: str) -> float | None:
    """The number in a text of a type, in whatever unit; None when Spark could not read it."""
    match kind:
        case "boolean":
            return 1 if text.lower() in ("true", "false") else None
        case "int" | "long":
            most = _INT if kind == "int" else _LONG
            if _WHOLE.fullmatch(text) and -most - 1 <= int(text) <= most:
                return int(text)
            return None
        case "decimal":
            return float(text.rstrip("fFdD")) if _DECIMAL.fullmatch(text) else None
        case _:
            found = (_BYTES if kind == "bytes" else _TIME).fullmatch(text.lower())
            return int(found[1]) if found else None


def _read_conf(value: Any, at: Keys, problems: Problems) -> Any:
    """Spark settings as texts."""
    if not isinstance(value, dict):
        return wrong_type("a table of Spark settings", value, at, problems)
    return _read_settings(value, at, problems, "")


def _read_settings(
    table: dict[str, Any], at: Keys, problems: Problems, above: str
) -> dict[str, str]:
    """The settings in a table. `spark.sql.x = 1` is nested tables in TOML: flattened here."""
    settings: dict[str, str] = {}
    for key, one in table.items():
        name = f"{above}{key}"
        if isinstance(one, dict):
            settings |= _read_settings(one, (*at, key), problems, f"{name}.")
        elif isinstance(one, bool):
            settings[name] = "true" if one else "false"
        elif isinstance(one, str | int | float):
            settings[name] = one if isinstance(one, str) else str(one)
        else:
            problems.append(Problem((*at, key), f"the Spark setting `{key}` must be one value"))
        if name in settings:
            problems.extend(_problem_of(name, settings[name], (*at, key)))
    return settings


def _problem_of(name: str, value: str, at: Keys) -> list[Problem]:
    misfit = None if isinstance(value, Unset) else misfit_of(name, value)
    if misfit is None:
        return []
    # What a variable holds may be a secret.
    shown = f"the value of `{value.written}`" if isinstance(value, Substituted) else f"`{value}`"
    message = f"the Spark setting `{name}` takes {misfit.wanted}, not {shown}"
    return [Problem(at, message, misfit.help)]


NO_CONF: Final[Mapping[str, str]] = {}
SparkConf = Annotated[Mapping[str, str], ReadBy(_read_conf)]


class _Unusable(ValueError):
    """A text that is no address of Spark, and what to write."""

    def __init__(self, message: str, way_out: str) -> None:
        super().__init__(message)
        self.help = way_out


_MASTER: Final = re.compile(
    r"local|local\[\s*([1-9][0-9]*|\*)\s*(,\s*[0-9]+\s*)?\]"
    r"|local-cluster\[\s*[0-9]+\s*,\s*[0-9]+\s*,\s*[0-9]+\s*\]|yarn|k8s://.+"
    r"|spark://{0}(,{0})*".replace("{0}", r"(\[[0-9A-Fa-f:.]+\]|[^\s,:/\[\]]+):[0-9]{1,5}")
)


def _parse_master(value: Any) -> str:
    if isinstance(value, str) and _MASTER.fullmatch(value):
        return value
    raise _Unusable(
        f"`{value}` is not a master of Spark's",
        "write `local[*]`, `local[4]`, `spark://host:7077`, `yarn` or `k8s://https://host:443`",
    )


def _parse_remote(value: Any) -> str:
    if isinstance(value, str) and value.startswith("sc://") and urlsplit(value).hostname:
        return value
    raise _Unusable(f"`{value}` is not an address of Spark Connect", "write `sc://host:15002`")


Master = Annotated[str, Parsed(_parse_master)]
Remote = Annotated[str, Parsed(_parse_remote)]
