"""Secrets that a connection is made with, kept out of every text that leaves this package."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote, unquote

_HIDDEN: Final = "***"


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
            text = text.replace(secret, _HIDDEN)
        return text

    def __repr__(self) -> str:
        return f"Secrets({_HIDDEN})"
