"""`[mask]`: how values of classified columns are hidden, tag by tag, and otherwise in `[mask.ENV]`.

A text under `[mask]` is the strategy of a tag everywhere; a table under it is named after an
environment and says what is different there. Which column has which tag is not said here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from rocky.diagnostics.suggestion import suggestion
from rocky.project.toml.documents import Problem, Problems, ReadBy
from rocky.project.toml.records import INVALID, wrong_type
from rocky.project.toml.variables import Keys, Substituted

PLAIN: Final = ("none", "redact", "partial", "hash", "sha2", "null")
DATE_UNITS: Final = ("year", "quarter", "month", "week")
TIME_UNITS: Final = (*DATE_UNITS, "day", "hour", "minute")
STRATEGIES: Final = (*PLAIN, "truncate(n)", "date_trunc(unit)", "bucket(n)", "sql(expression)")
_CALL: Final = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*(?:\((.*)\))?\s*", re.DOTALL)
_NUMBER: Final = re.compile(r"\s*[0-9]{1,18}\s*")
_EXAMPLES: Final = {"truncate": "truncate(4)", "bucket": "bucket(10)"}


@dataclass(frozen=True, slots=True)
class MaskStrategy:
    """One way to hide a value: its name, and what stands in its parentheses."""

    name: str
    argument: str = ""

    def __str__(self) -> str:
        return f"{self.name}({self.argument})" if self.argument else self.name

    @property
    def idempotent(self) -> bool:
        """Whether a value that is masked already stays as it is when it is masked again."""
        return self.name in ("none", "redact", "null", "truncate", "date_trunc", "bucket")

    @property
    def distinct(self) -> bool:
        """Whether different values stay different, so that a masked column is still a key."""
        return self.name in ("none", "hash", "sha2")


class MaskError(ValueError):
    """A text that is no strategy. `help` says what would be one."""

    def __init__(self, message: str, help: str | None = None) -> None:  # noqa: A002 - as in diagnostics
        super().__init__(message)
        self.help = help


def parse_strategy(text: str) -> MaskStrategy:
    """The strategy that a text means. Raises MaskError."""
    found = _CALL.fullmatch(text)
    name = found[1].lower() if found is not None else ""
    inside = found[2] if found is not None else None
    if name in PLAIN:
        if inside is not None:
            raise MaskError(f"`{name}` takes nothing in parentheses", f"write `{name}`")
        return MaskStrategy(name)
    argument = (inside or "").strip()
    match name:
        case "truncate" | "bucket":
            example = _EXAMPLES[name]
            if not _NUMBER.fullmatch(argument) or (name == "bucket" and int(argument) == 0):
                raise MaskError(f"`{name}` needs a number, as in `{example}`")
            return MaskStrategy(name, str(int(argument)))
        case "date_trunc":
            unit = argument.strip("'\"").lower()
            if unit not in TIME_UNITS:
                listed = ", ".join(f"`{each}`" for each in TIME_UNITS)
                raise MaskError("`date_trunc` needs a unit, as in `date_trunc(year)`", listed)
            return MaskStrategy(name, unit)
        case "sql":
            if not argument:
                raise MaskError(
                    "`sql` needs an expression over `value`, as in `sql(left(value, 1))`"
                )
            return MaskStrategy(name, argument)
        case _:
            pass
    known = "strategies: " + ", ".join(f"`{each}`" for each in STRATEGIES)
    names = (*PLAIN, "truncate", "date_trunc", "bucket", "sql")
    raise MaskError(f"no mask `{text}`", suggestion(name, names) or known)


@dataclass(frozen=True, slots=True)
class Masks:
    """The strategies by tag: those that hold everywhere, and those of each environment."""

    everywhere: Mapping[str, MaskStrategy] = field(default_factory=dict)
    environments: Mapping[str, Mapping[str, MaskStrategy]] = field(default_factory=dict)

    def of(self, env: str | None) -> Mapping[str, MaskStrategy]:
        """The strategies in an environment; what it does not say is as it is everywhere."""
        said = self.environments.get(env, {}) if env is not None else {}
        return {**self.everywhere, **said}


NO_MASKS: Final = Masks()


def read_strategy(value: Any, at: Keys, problems: Problems) -> Any:
    """A strategy out of a TOML value; `INVALID`, and a problem, for what is none."""
    if not isinstance(value, str):
        return wrong_type("a strategy such as `hash`", value, at, problems)
    if isinstance(value, Substituted):
        said = "a mask is written here, not taken from the environment"
        problems.append(Problem(at, said, "write the strategy itself; `[mask.ENV]` has others"))
        return INVALID
    try:
        return parse_strategy(value)
    except MaskError as error:
        problems.append(Problem(at, str(error), error.help))
        return INVALID


def _read_masks(value: Any, at: Keys, problems: Problems) -> Any:
    if not isinstance(value, dict):
        return wrong_type('a table with `tag = "strategy"`', value, at, problems)
    everywhere: dict[str, MaskStrategy] = {}
    environments: dict[str, Mapping[str, MaskStrategy]] = {}
    for name, said in value.items():
        here = (*at, name)
        if isinstance(said, dict):
            environments[name] = _read_tags(said, here, problems)
        else:
            everywhere |= _read_tags({name: said}, at, problems)
    return Masks(everywhere, environments)


def _read_tags(
    table: Mapping[str, Any], at: Keys, problems: Problems
) -> Mapping[str, MaskStrategy]:
    found = {tag: read_strategy(said, (*at, tag), problems) for tag, said in table.items()}
    return {tag: strategy for tag, strategy in found.items() if strategy is not INVALID}


MaskSettings = Annotated[Masks, ReadBy(_read_masks)]
StrategyText = Annotated[MaskStrategy, ReadBy(read_strategy)]
