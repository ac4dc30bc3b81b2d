"""Redaction: commits of a log that say no more of some files than their name, size and rows.

Statistics are values: the lowest and highest of a column stand in the log as they are in the file;
and so is the partition of a file, which is said again when the file is removed. Where a file was
removed because of whose rows it held, both go as well. What the log says of which files the table
had at which version stays, so that every version can still be accounted for. Redacting twice is
redacting once.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from rocky.store.data_file import DataFile, name_of
from rocky.store.delta.actions import parse_add, parse_path

IsErased = Callable[[str], bool]
"""Whether nothing may be said of the values in a file, by its name."""


def redact_commit(data: bytes, is_erased: IsErased) -> bytes:
    """The bytes of a commit without what it says of the values in some files.

    Other lines stay as they are to the byte. Raises ValueError for what is no commit.
    """
    return b"\n".join(_redact_line(line, is_erased) for line in data.split(b"\n"))


def _redact_line(line: bytes, is_erased: IsErased) -> bytes:
    if not line.strip():
        return line
    action = json.loads(line)
    kind = "add" if action.get("add") else "remove"
    said = action.get(kind)
    if not said or not is_erased(name_of(parse_path(said))):
        return line
    redacted = {key: value for key, value in said.items() if key != "tags"}
    if redacted.get("partitionValues"):
        redacted["partitionValues"] = dict.fromkeys(redacted["partitionValues"])
    if redacted.get("stats"):
        rows = json.loads(redacted["stats"]).get("numRecords")
        kept = {} if rows is None else {"numRecords": rows}
        redacted["stats"] = json.dumps(kept, separators=(",", ":"))
    if redacted == said:
        return line
    return json.dumps({**action, kind: redacted}, separators=(",", ":")).encode()


def names_added(data: bytes) -> Mapping[str, DataFile]:
    """The files that a commit adds, by name. Raises ValueError."""
    found: dict[str, DataFile] = {}
    for line in data.split(b"\n"):
        action: dict[str, Any] = json.loads(line) if line.strip() else {}
        if action.get("add"):
            found[name_of(parse_path(action["add"]))] = parse_add(action["add"])
    return found
