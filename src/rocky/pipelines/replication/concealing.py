"""Secrets of sources: passwords in options and addresses go to Spark and nowhere else.

What came from a variable shows itself as it was written already. What looks like a secret and was
written plainly is made to show itself as stars.
"""

import re
from collections.abc import Iterable
from typing import Final

from rocky.project.variables import Substituted, written

HIDDEN: Final = "***"
_SECRET_KEY: Final = re.compile(
    r"password|passwd|secret|token|credential|access[._]?key|private[._]?key", re.IGNORECASE
)
_SECRET_IN_URL: Final = re.compile(
    r"(://[^/@\s:]*:)[^/@\s]+(?=@)|((?:password|passwd|secret|token)=)[^&;\s]*", re.IGNORECASE
)


def conceal_option(key: str, value: str) -> str:
    """An option's value, which shows itself to nobody but Spark when it looks like a secret."""
    if isinstance(value, Substituted):
        return value
    return Substituted(value, HIDDEN) if _SECRET_KEY.search(key) else conceal_url(value)


def conceal_url(url: str) -> str:
    """An address; one with a password in it shows itself without."""
    if isinstance(url, Substituted) or hide_url(url) == url:
        return url
    return Substituted(url, hide_url(url))


def hide_url(url: str) -> str:
    """An address without its password, as people may see it."""
    return _SECRET_IN_URL.sub(lambda found: f"{found[1] or found[2]}{HIDDEN}", written(url))


def hide_values(message: str, values: Iterable[str]) -> str:
    """A message without what came from variables, and without passwords."""
    for value in values:
        if isinstance(value, Substituted) and value:
            message = message.replace(str(value), value.written)
    return _SECRET_IN_URL.sub(lambda found: f"{found[1] or found[2]}{HIDDEN}", message)
