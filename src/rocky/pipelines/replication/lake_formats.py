"""Formats of tables in a lake, told by the names of their files."""

from collections.abc import Sequence
from typing import Final

LOG: Final = "_delta_log"

_BY_SUFFIX: Final = {
    "parquet": "parquet",
    "parq": "parquet",
    "csv": "csv",
    "json": "json",
    "jsonl": "json",
    "ndjson": "json",
    "orc": "orc",
}
_COMPRESSED: Final = frozenset({"gz", "bz2", "zst", "xz", "lz4", "snappy", "deflate"})


class NoTable(ValueError):
    """A folder that cannot be read as a table; the message says why."""


def format_of(name: str) -> str | None:
    """The format a file's suffix tells; one of compression is looked behind."""
    parts = name.rpartition("/")[2].lower().split(".")
    if len(parts) > 1 and parts[-1] in _COMPRESSED:
        parts.pop()
    return _BY_SUFFIX.get(parts[-1]) if len(parts) > 1 else None


def table_name(name: str) -> str:
    """What a file or folder is called as a table: without a suffix that tells its format."""
    return name if format_of(name) is None else name.partition(".")[0]


def is_hidden(name: str) -> bool:
    """Whether Spark would not see a file or folder."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def is_commit(name: str) -> bool:
    """Whether a file in a Delta log is a commit, whose name is its version."""
    return name.endswith(".json") and name[:-5].isdigit()


def choose_format(asked: str, paths: Sequence[str]) -> str:
    """The format of a table with these files. Raises NoTable when it cannot be told."""
    if not paths:
        raise NoTable("it holds no data")
    has_log = any(path.startswith(f"{LOG}/") for path in paths)
    if asked == "delta" and not has_log:
        raise NoTable(f"it has no `{LOG}`")
    if asked != "auto":
        return asked
    if has_log:
        return "delta"
    found = {format_of(path) for path in paths}
    if len(found) > 1 or None in found:
        shown = ", ".join(f"`{path}`" for path in sorted(paths)[:3])
        raise NoTable(f"its files tell no format ({shown}); set `format` of the source")
    return str(found.pop())
