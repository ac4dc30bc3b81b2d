"""Redaction: the text of a settings file as an excerpt may show it, without its secrets.

A secret is told by its key or by its place in an address, and never by whether the file is right:
the line with the mistake is the one that is shown, so the text need not be TOML. Every character of
a secret becomes one star, so that places in the text stay what they were. What only refers to a
variable is no secret.
"""

import re
from functools import lru_cache
from typing import Final

from rocky.diagnostics.suggestion import closest
from rocky.diagnostics.text import SourceText

_WORDS: Final = ("password", "passwd", "secret", "token", "credential")
_SECRET_KEY: Final = re.compile(
    r"passw|passphrase|pwd|secret|token|credential|(?:access|private|api|account)[._-]?key",
    re.IGNORECASE,
)
_PART_OF_KEY: Final = re.compile(r"[A-Za-z]+")
_NAME: Final = r"(?:\"[^\"\n]*\"|'[^'\n]*'|(?<![A-Za-z0-9_-])[A-Za-z0-9_-]++)"
_KEY: Final = re.compile(rf"({_NAME}(?:[ \t]*\.[ \t]*{_NAME})*)[ \t]*=[ \t]*")
_LONG: Final = r"\"\"\"(?:[^\\]|\\.)*?(?:\"{3,5}|\Z)|'''.*?(?:'{3,5}|\Z)"
_STRING: Final = re.compile(rf"{_LONG}|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'", re.DOTALL)
# A value that is not what it should be, as one with a quote too many, is secret to the line's end.
_VALUE: Final = re.compile(
    rf"{_LONG}"
    r"|(?:\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|\[[^\]]*\]|\{[^}]*\}|\$\{\w+\})"
    r"(?=[ \t]*(?:[,}\]#\r\n]|\Z))"
    r"|[^\n]*",
    re.DOTALL,
)
_REFERENCE: Final = re.compile(r"(\"\"\"|'''|\"|'|)\$\{\w+\}\1")
_IN_ADDRESS: Final = (
    re.compile(r"(://[^/@\s:]*:|jdbc:oracle:\w+:[^/@\s]*/)(\S+)(?=@)"),
    re.compile(r"((?:passw(?:or)?d|pwd|secret|token|key)=)(?!')([^&;\s\"]+)", re.IGNORECASE),
)
_EVERY_CHARACTER: Final = re.compile(r"[^\r\n]")


def redact_secrets(text: SourceText) -> SourceText:
    """The text to cut excerpts from; only what is in TOML is known to be a setting."""
    return SourceText(text.path, _redact(text.text)) if text.path.endswith(".toml") else text


@lru_cache(maxsize=8)
def _redact(text: str) -> str:
    shown: list[str] = []
    done = 0
    while key := _KEY.search(text, done):
        value = (_VALUE if _is_secret(key[1]) else _STRING).match(text, key.end())
        shown.append(text[done : key.end()])
        done = key.end()
        if value is not None:
            shown.append(_starred(value[0]) if _is_secret(key[1]) else value[0])
            done = value.end()
    shown.append(text[done:])
    concealed = "".join(shown)
    for pattern in _IN_ADDRESS:
        concealed = pattern.sub(lambda found: found[1] + _starred(found[2]), concealed)
    return concealed


def _is_secret(key: str) -> bool:
    """Whether a key means a secret; one that is misspelt does too."""
    return _SECRET_KEY.search(key) is not None or any(
        closest(part, _WORDS) for part in _PART_OF_KEY.findall(key)
    )


def _starred(value: str) -> str:
    """The value in stars, inside the quotes that it has."""
    if _REFERENCE.fullmatch(value):
        return value
    quote = value[:1] if value[:1] in ("'", '"') and len(value) > 1 else ""
    if not quote or value[-1] != quote:
        return _EVERY_CHARACTER.sub("*", value)
    return f"{quote}{_EVERY_CHARACTER.sub('*', value[1:-1])}{quote}"
