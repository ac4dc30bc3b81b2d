"""Names in a lake: what the name of a file or folder tells of the table that lies there."""

from typing import Final

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
