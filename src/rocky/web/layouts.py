"""Layouts: where a page put the boxes of a large graph, kept for the next page and the next start.

A page works a layout out, which takes a browser longer than anything else it does. Here they are
numbers that nothing is decided by: kept in the user's cache, under a name that has the hash of the
script that made them, and handed back as they came.
"""

import json
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, Final

from blake3 import blake3

from rocky.errors import InvalidRequest
from rocky.operations.workspace import Workspace, project_location
from rocky.project.user_cache import read_cache, write_cache
from rocky.version import __version__

_MOST: Final = 4
_LONGEST_KEY: Final = 100
_FARTHEST: Final = 2**40


class Layouts:
    """The layouts of a project.

    `keeps` says whether pages may hand in new ones, and `largest` of how many bytes: that of
    100,000 tables.
    """

    largest: ClassVar = 8 * 1024 * 1024

    def __init__(self, workspace: Workspace, script: bytes, *, keeps: bool) -> None:
        self._workspace, self.keeps = workspace, keeps
        self._name = f"page-layouts-{blake3(script).hexdigest(8)}"
        self._lock = Lock()

    def answer(self) -> bytes:
        """All that are kept, as a document."""
        head = {"version": __version__, "endpoint": "layouts", "keeps": self.keeps}
        return json.dumps(head | {"layouts": self._read()}, separators=(",", ":")).encode()

    def keep(self, body: bytes) -> None:
        """Keep one more; the oldest goes. Raises InvalidRequest."""
        key, heights = _parse(body)
        with self._lock:
            found = self._read()
            found.pop(key, None)
            found[key] = heights
            for old in [*found][:-_MOST]:
                del found[old]
            text = json.dumps(found, separators=(",", ":"))
            write_cache(self._root, self._name, text.encode())

    @property
    def _root(self) -> Path:
        return project_location(self._workspace)[0]

    def _read(self) -> dict[str, list[int]]:
        kept = read_cache(self._root, self._name)
        found: dict[str, list[int]] = {} if kept is None else json.loads(bytes(kept.payload))
        return found


def _parse(body: bytes) -> tuple[str, list[int]]:
    try:
        found = json.loads(body)
        key, heights = found["key"], found["heights"]
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise InvalidRequest("a layout is an object with `key` and `heights`") from error
    is_key = isinstance(key, str) and len(key) <= _LONGEST_KEY
    if not is_key or not isinstance(heights, list) or not all(map(_is_height, heights)):
        raise InvalidRequest("a layout has a short `key`, and `heights` that are whole numbers")
    return key, heights


def _is_height(value: Any) -> bool:
    return type(value) is int and abs(value) < _FARTHEST
