"""The plain part of TOML, read at several times the speed of the full parser.

Most sidecars are a dozen lines of `key = "text"`, numbers, flags, one-line lists of texts
and `[table]` headers. `parse_plain` reads exactly those and gives up (None) on anything
else, also on anything wrong: the full parser then decides and owns every error message.
"""

import re
from typing import Any, Final

_TEXT: Final = r'"[^"\\\x00-\x08\x0a-\x1f\x7f]*"'
_LINES: Final = re.compile(
    r"[ \t]*(?:"
    r"([A-Za-z0-9_-]+)[ \t]*=[ \t]*("  # key, value
    rf"{_TEXT}|true|false|0|[1-9][0-9]{{0,17}}"
    rf"|\[[ \t]*(?:{_TEXT}[ \t]*,[ \t]*)*(?:{_TEXT})?[ \t]*\]"
    r")"
    r"|\[([A-Za-z0-9_-]+)\]"  # header
    r")?[ \t]*(?:\#[^\x00-\x08\x0a-\x1f\x7f]*)?(?:\n|\Z)"
    r"|([^\n]*\n?)"  # a line that is not plain
)
_ITEM: Final = re.compile(_TEXT)


def parse_plain(text: str) -> dict[str, Any] | None:
    """What the full parser would return, or None when it has to be asked."""
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    root: dict[str, Any] = {}
    table = root
    for key, value, header, rest in _LINES.findall(text):
        if key:
            if key in table:
                return None
            first = value[0]
            if first == '"':
                table[key] = value[1:-1]
            elif first == "[":
                table[key] = [item[1:-1] for item in _ITEM.findall(value)]
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
