"""What the standard TOML parser lacks: the places of keys and values, and speed on plain files.

The standard parser gives values without positions, so `locate_keys` walks the text again, only when
a diagnostic needs a place. It never raises: on text it does not understand it returns the places
found so far. `parse_plain` reads most sidecars at several times the speed and gives up (None) on
anything else, also on anything wrong: the full parser then owns every error message.
"""

import re
import tomllib
from functools import lru_cache
from typing import Any, Final, NamedTuple

from rocky.diagnostics.diagnostic import Span
from rocky.project.toml.variables import Keys

_SPACE: Final = re.compile(r"[ \t]*")
_BLANK: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY: Final = re.compile(r"[A-Za-z0-9_-]+|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'")
_STRING: Final = re.compile(
    r"\"\"\"(?:[^\\]|\\.)*?\"{3,5}|'''.*?'{3,5}|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'", re.DOTALL
)
_REFERENCE: Final = re.compile(r"\$\{[^}\n]*\}")
_BARE: Final = re.compile(r"[^\s,\]}#]+(?: \d[^\s,\]}#]*)?")


class Place(NamedTuple):
    """The span of a key and of its value. A table's value is its header."""

    key: Span
    value: Span


_DEPTH: Final = 150
"""The steps of the longest path that has a place; nothing that Rocky reads goes a tenth as deep."""


@lru_cache(maxsize=8)
def locate_keys(text: str) -> dict[Keys, Place]:
    """The place of every key, by path; items of arrays are numbered from 0."""
    scanner = _Scanner(text)
    scanner.read_document()
    return scanner.places


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.places: dict[Keys, Place] = {}
        self.counts: dict[Keys, int] = {}
        self.implied: set[Keys] = set()

    def read_document(self) -> None:
        table: Keys = ()
        while self._skip(_BLANK) < len(self.text):
            if self.text[self.at] == "[":
                header = self._read_header()
                if header is None:
                    self._skip_line()
                else:
                    table = header
            elif not self._read_pair(table):
                self._skip_line()

    def _read_header(self) -> Keys | None:
        start = self.at
        double = self.text.startswith("[[", start)
        self.at += 2 if double else 1
        parts = self._read_key()
        if not parts:
            return None
        close = "]]" if double else "]"
        self._skip(_SPACE)
        if not self.text.startswith(close, self.at):
            return None
        self.at += len(close)
        whole = Span(start, self.at)
        path = self._resolve(parts[:-1], whole)
        name, span = parts[-1]
        path = (*path, name)
        if path in self.implied or path not in self.places:
            self.places[path] = Place(span, whole)
            self.implied.discard(path)
        if double:
            index = self.counts[path] = self.counts.get(path, -1) + 1
            path = (*path, index)
            self.places[path] = Place(span, whole)
        return path

    def _resolve(self, parts: list[tuple[str, Span]], header: Span) -> Keys:
        """The path of names, going into the last item of each array of tables on the way.

        A table without a header of its own has the first one that goes through it.
        """
        path: Keys = ()
        for name, span in parts:
            path = (*path, name)
            if path in self.counts:
                path = (*path, self.counts[path])
            elif path not in self.places:
                self.places[path] = Place(span, header)
                self.implied.add(path)
        return path

    def _read_pair(self, table: Keys) -> bool:
        parts = self._read_key()
        if not parts:
            return False
        self._skip(_SPACE)
        if not self.text.startswith("=", self.at):
            return False
        self.at += 1
        path = table
        for name, span in parts[:-1]:
            path = (*path, name)
            self.places.setdefault(path, Place(span, span))
        name, span = parts[-1]
        path = (*path, name)
        self._skip(_SPACE)
        value = self._read_value(path)
        self.places.setdefault(path, Place(span, value))
        return True

    def _read_key(self) -> list[tuple[str, Span]]:
        parts: list[tuple[str, Span]] = []
        while True:
            self._skip(_SPACE)
            found = _KEY.match(self.text, self.at)
            if found is None:
                return []
            name = found.group()
            if name[0] in "\"'":
                name = name[1:-1]
            parts.append((name, Span(*found.span())))
            self.at = found.end()
            self._skip(_SPACE)
            if not self.text.startswith(".", self.at):
                return parts
            self.at += 1

    def _read_value(self, path: Keys) -> Span:
        start = self.at
        first = self.text[start : start + 1]
        if len(path) > _DEPTH:
            # So deep nothing is looked up, and the stack may not bear it.
            self.at = len(self.text)
        elif first == "[":
            self._read_array(path)
        elif first == "{":
            self._read_inline_table(path)
        else:
            for pattern in (_STRING, _REFERENCE, _BARE):
                found = pattern.match(self.text, start)
                if found:
                    self.at = found.end()
                    break
        return Span(start, self.at)

    def _read_array(self, path: Keys) -> None:
        self.at += 1
        index = 0
        while self._skip(_BLANK) < len(self.text):
            if self.text[self.at] == "]":
                self.at += 1
                return
            before = self.at
            item = (*path, index)
            span = self._read_value(item)
            self.places.setdefault(item, Place(span, span))
            index += 1
            self._skip(_BLANK)
            if self.text.startswith(",", self.at):
                self.at += 1
            elif self.at == before:
                return

    def _read_inline_table(self, path: Keys) -> None:
        self.at += 1
        while self._skip(_BLANK) < len(self.text):
            if self.text[self.at] == "}":
                self.at += 1
                return
            if not self._read_pair(path):
                return
            self._skip(_BLANK)
            if self.text.startswith(",", self.at):
                self.at += 1

    def _skip(self, pattern: re.Pattern[str]) -> int:
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return self.at

    def _skip_line(self) -> None:
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end + 1


_KEY_PARTS: Final = 100
_WORD_LENGTH: Final = 1_000
_WORD: Final = r"(?:[A-Za-z0-9_-]++|\"(?:[^\"\\\n]|\\.)*+\"|'[^'\n]*+')"
_ABSURD: Final = re.compile(
    r"\"\"\"(?:[^\\]|\\.)*?\"{3,5}|'{3}.*?'{3,5}|#[^\n]*+"
    rf"|(?P<key>{_WORD}(?:[ \t]*+\.[ \t]*+{_WORD}){{{_KEY_PARTS},}}+)"
    rf"|(?P<word>[A-Za-z0-9_-]{{{_WORD_LENGTH},}}+)|{_WORD}",
    re.DOTALL,
)


def find_absurdity(text: str) -> tuple[str, Span] | None:
    """What no TOML of anybody has and the standard parser cannot bear, and where it begins.

    Its memory grows with the square of a key's parts, and Python refuses numbers of thousands of
    digits. Strings and comments may hold what they like.
    """
    longest = max(map(len, text.split()), default=0)
    if text.count(".") < _KEY_PARTS and longest < _WORD_LENGTH:
        return None
    for found in _ABSURD.finditer(text):
        start = found.start()
        if found["key"] is not None:
            first = _KEY.match(text, start)
            end = first.end() if first else start + 1
            return f"a key has more than {_KEY_PARTS} parts", Span(start, end)
        if found["word"] is not None:
            message = f"a number or bare key has {_WORD_LENGTH:,} characters or more"
            return message, Span(start, found.end())
    return None


def load_toml(text: str) -> dict[str, Any]:
    """The values of a text whose places nobody needs. Raises ValueError, RecursionError."""
    absurdity = find_absurdity(text)
    if absurdity is not None:
        raise ValueError(absurdity[0])
    return tomllib.loads(text)


_PLAIN_TEXT: Final = r'"[^"\\\x00-\x08\x0a-\x1f\x7f]*"'
_PLAIN_LINES: Final = re.compile(
    r"[ \t]*(?:"
    r"([A-Za-z0-9_-]+)[ \t]*=[ \t]*("  # key, value
    rf"{_PLAIN_TEXT}|true|false|0|[1-9][0-9]{{0,17}}"
    rf"|\[[ \t]*(?:{_PLAIN_TEXT}[ \t]*,[ \t]*)*(?:{_PLAIN_TEXT})?[ \t]*\]"
    r")"
    r"|\[([A-Za-z0-9_-]+)\]"  # header
    r")?[ \t]*(?:\#[^\x00-\x08\x0a-\x1f\x7f]*)?(?:\n|\Z)"
    r"|([^\n]*\n?)"  # a line that is not plain
)
_PLAIN_ITEM: Final = re.compile(_PLAIN_TEXT)


def parse_plain(text: str) -> dict[str, Any] | None:
    """What the full parser would return, or None when it has to be asked."""
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    root: dict[str, Any] = {}
    table = root
    for key, value, header, rest in _PLAIN_LINES.findall(text):
        if key:
            if key in table:
                return None
            first = value[0]
            if first == '"':
                table[key] = value[1:-1]
            elif first == "[":
                table[key] = [item[1:-1] for item in _PLAIN_ITEM.findall(value)]
            elif first == "t" or first == "f":
                table[key] = first == "t"
            else:
                table[key] = int(value)
        elif header:
            if header in root:
                return None
            table = root[header] = {}
        elif rest:
            return None
    return root
