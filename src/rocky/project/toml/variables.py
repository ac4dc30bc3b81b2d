"""`${VAR}` and `${VAR:-default}` in TOML values.

Substitution happens in the values after parsing, never in the text: a value cannot break
the TOML around it, a comment cannot be touched, and places stay those of the file. A value
that came from the environment remembers how it was written, because what it resolved to
may be a secret and must not be shown.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

Keys = tuple[str | int, ...]

_REFERENCE: Final = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
# A comment, a string, or a reference that stands where a value would: alternatives in the
# order in which TOML itself would see them.
_OUTSIDE: Final = re.compile(
    r"#[^\n]*"
    r"|\"\"\"(?:[^\\]|\\.)*?\"\"\""
    r"|'''.*?'''"
    r"|\"(?:[^\"\\\n]|\\.)*\""
    r"|'[^'\n]*'"
    r"|(?P<bare>\$\{[A-Za-z_][A-Za-z0-9_]*(?::-[^}\n\"\\]*)?\})",
    re.DOTALL,
)


class Substituted(str):
    """A text from the environment. Its `repr` is what the file says, never the value."""

    __slots__ = ("written",)
    written: str

    def __new__(cls, value: str, written: str) -> "Substituted":
        made = super().__new__(cls, value)
        made.written = written
        return made

    def __repr__(self) -> str:
        return repr(self.written)

    def __reduce__(self) -> tuple[type["Substituted"], tuple[str, str]]:
        return Substituted, (str(self), self.written)


class Unset(Substituted):
    """A text that refers to a variable with no value: reported once, silent afterwards."""

    __slots__ = ()


def written(value: str) -> str:
    """How a value stands in its file."""
    return value.written if isinstance(value, Substituted) else value


def spelled(value: str) -> str:
    """How a value stands in its file, or has to stand there so that nothing of it is replaced."""
    return value.written if isinstance(value, Substituted) else value.replace("${", "$${")


def unescaped(text: str) -> str:
    """A text of a file with `${` for `$${`, and references as they are."""
    return text.replace("$${", "${")


def quote_bare_references(text: str) -> str:
    """The text with `key = ${VAR}` made `key = "${VAR}"`, so that it is TOML."""
    return _OUTSIDE.sub(
        lambda found: f'"{found["bare"]}"' if found["bare"] else found.group(), text
    )


def resolve_variables(
    value: Any, env: Mapping[str, str], missing: Callable[[Keys, str], None], at: Keys = ()
) -> Any:
    """`value` with every reference replaced; `missing` hears of variables without a value."""
    if isinstance(value, str):
        return _resolve_text(value, env, missing, at) if "${" in value else value
    if isinstance(value, dict):
        return {k: resolve_variables(v, env, missing, (*at, k)) for k, v in value.items()}
    if isinstance(value, list):
        return [resolve_variables(v, env, missing, (*at, i)) for i, v in enumerate(value)]
    return value


def _resolve_text(
    text: str, env: Mapping[str, str], missing: Callable[[Keys, str], None], at: Keys
) -> str:
    unset: list[str] = []

    def replace(found: re.Match[str]) -> str:
        name, default = found[1], found[2]
        if name is None:
            return "${"
        value = env.get(name)
        if default is not None:
            # As in a shell, `:-` also covers a variable that is set to nothing.
            return value or default
        if value is None:
            unset.append(name)
            return ""
        return value

    resolved = _REFERENCE.sub(replace, text)
    for name in dict.fromkeys(unset):
        missing(at, name)
    if unset:
        return Unset(resolved, text)
    return resolved if resolved == text else Substituted(resolved, text)
