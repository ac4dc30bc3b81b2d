"""Open documents: their texts as the editor has them, saved or not, and where files are.

A document goes by its URI as the client writes it: clients escape differently, and want to hear the
URI they know. To the project it goes by its path below the project's folder, links followed where
that is the only way it lies there; one that does not lie there is none of the project's.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from rocky.lsp.positions import TextPositions


@dataclass(frozen=True, slots=True)
class Document:
    """An open file. `path` is its path in the project, None for one outside of it."""

    uri: str
    version: int | None
    text: str
    path: str | None


def location_of(uri: str) -> str | None:
    """The path of a file; None for a document that is none, such as one that has no name yet."""
    parts = urlsplit(uri)
    if parts.scheme.lower() != "file" or parts.netloc not in ("", "localhost"):
        return None
    return unquote(parts.path) or None


def uri_of(location: str) -> str:
    return "file://" + quote(location, safe="/-._~", errors="surrogateescape")


def path_in(root: Path, location: str) -> str | None:
    """The path of a file below a project's folder, `/`-separated; None for one outside."""
    whole, top = os.path.abspath(location), os.path.abspath(root)  # noqa: PTH100 - links stay
    if whole.startswith(f"{top}/"):
        return whole[len(top) + 1 :]
    folder, name = os.path.split(whole)
    real = f"{os.path.realpath(folder)}/{name}"
    top = os.path.realpath(top)
    return real[len(top) + 1 :] if real.startswith(f"{top}/") else None


def changed_text(text: str, changes: Iterable[Mapping[str, Any]]) -> str:
    """A text after changes, each of which is told of the text that the one before left."""
    for change in changes:
        place = change.get("range")
        if place is None:
            text = str(change["text"])
            continue
        positions = TextPositions(text)
        start, end = positions.offset(place["start"]), positions.offset(place["end"])
        text = text[: min(start, end)] + str(change["text"]) + text[max(start, end) :]
    return text
