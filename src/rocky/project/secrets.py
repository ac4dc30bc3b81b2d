"""What may be a secret, and what stands in its place: stars for people, a hash in records.

Secrets go to Spark and to stores and nowhere else. Three rules tell one, because what they leave in
place of a value is hashed and recorded, so none of them may take more or fewer names than it did:
by the name of a setting, by the name of a source's option, and by its place in an address.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import quote, unquote

from rocky.canonical import text_hash
from rocky.project.toml.variables import Substituted, written

STARS: Final = "***"
HASHED: Final = "blake3:"
"""How a value begins that is not shown but hashed."""

_HASH_SHOWN: Final = 16
_WORD: Final = 6
"""A value of a variable that is shorter, such as `true` or `200`, stands in every text."""
_SETTING: Final = re.compile(r"(?i:password|passwd|secret|token|credential)|(?i:key|keyid)\b")
_OPTION: Final = re.compile(
    r"password|passwd|secret|token|credential|access[._]?key|private[._]?key", re.IGNORECASE
)
_IN_URL: Final = re.compile(
    r"(://[^/@\s:]*:)[^/@\s]+(?=@)|((?:password|passwd|secret|token)=)[^&;\s]*", re.IGNORECASE
)


class Secrets:
    """Texts that must not be seen; not even by printing this."""

    __slots__ = ("_texts",)

    def __init__(self, texts: Iterable[str | None]) -> None:
        known = [text for text in texts if text]
        spelt = {form for text in known for form in (text, quote(text, safe=""), unquote(text))}
        self._texts = tuple(sorted(spelt, key=len, reverse=True))

    def scrub(self, text: str) -> str:
        """The text with every secret blotted out."""
        for secret in self._texts:
            text = text.replace(secret, STARS)
        return text

    def __repr__(self) -> str:
        return f"Secrets({STARS})"


def conf_secrets(conf: Mapping[str, str]) -> Secrets:
    """The values among an adapter's settings that may be secrets, and are more than a word."""
    return Secrets(
        value
        for name, value in conf.items()
        if is_secret_name(name) or (isinstance(value, Substituted) and len(value) >= _WORD)
    )


def is_secret(name: str, value: str) -> bool:
    """Whether the value of a setting may be a secret: by its name, or by where it came from."""
    return isinstance(value, Substituted) or is_secret_name(name)


def is_secret_name(name: str) -> bool:
    """Whether a setting is named like a secret."""
    return _SETTING.search(name) is not None


def hide(value: str) -> str:
    """The short hash of a value that may be a secret, so that it can be told from another."""
    return hide_hash(text_hash(value))


def hide_hash(digest: str) -> str:
    """What `hide` makes of a value that has this hash."""
    return HASHED + digest[:_HASH_SHOWN]


def hide_option(key: str, value: str) -> str:
    """An option's value, which shows itself to nobody but Spark when it looks like a secret."""
    if isinstance(value, Substituted):
        return value
    return Substituted(value, STARS) if _OPTION.search(key) else hide_password(value)


def hide_password(url: str) -> str:
    """An address; one with a password in it shows itself without."""
    if isinstance(url, Substituted) or url_without_password(url) == url:
        return url
    return Substituted(url, url_without_password(url))


def url_without_password(url: str) -> str:
    """An address without its password, as people may see it."""
    return _star_passwords(written(url))


def text_without_secrets(message: str, values: Iterable[str]) -> str:
    """A message without what came from variables, and without passwords."""
    for value in values:
        if isinstance(value, Substituted) and value:
            message = message.replace(str(value), value.written)
    return _star_passwords(message)


def _star_passwords(text: str) -> str:
    return _IN_URL.sub(lambda found: f"{found[1] or found[2]}{STARS}", text)
