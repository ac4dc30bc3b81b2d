"""A recorded schema: the columns that the newest commits of a Delta table name, and nothing else.

A compile asks for it, so neither Arrow nor a client of object stores is loaded: only the first
lines of a commit in a folder are read, where our own commits have what they say of the table.
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rocky.errors import StoreUnreadable
from rocky.language.datatypes.types import StructField
from rocky.store.delta.schema import parse_schema

LOG_FOLDER: Final = "_delta_log"
_SUFFIX: Final = ".json"
_DIGITS: Final = 20
_LOOKED_AT: Final = 16
"""Promotions, comments and what maintenance does come one at a time between runs."""


@dataclass(frozen=True, slots=True)
class RecordedSchema:
    """The columns of a table at a version. `info` is what its newest commit says of itself."""

    version: int
    columns: tuple[StructField, ...]
    info: Mapping[str, Any] = field(default_factory=dict)

    @property
    def at_ms(self) -> int:
        """When the newest commit was made, in milliseconds; 0 where it does not say."""
        said = self.info.get("timestamp")
        return said if isinstance(said, int) else 0


def read_recorded_schema(folder: Path) -> RecordedSchema | None:
    """The columns of the table in a folder; None where there is no Delta table.

    Raises StoreUnreadable where there is one that cannot be read, or whose commits with the columns
    are gone: a checkpoint is left of them, which only the reader of logs understands.
    """
    log = folder / LOG_FOLDER
    try:
        versions = sorted(_versions(log), reverse=True)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreUnreadable(f"could not read `{log}`: {error.strerror or error}") from error
    info: Mapping[str, Any] | None = None
    for version in versions:
        said, columns = _read_commit(log / f"{version:0{_DIGITS}}{_SUFFIX}")
        info = said if info is None else info
        if columns is not None:
            return RecordedSchema(versions[0], columns, info)
    if not versions and not any(log.glob("*.checkpoint*.parquet")):
        return None
    raise StoreUnreadable(f"the commits in `{log}` do not name the columns of the table")


def last_pipeline(folder: Path) -> str | None:
    """The pipeline that the newest commits of a table name: some are made by no pipeline."""
    log = folder / LOG_FOLDER
    try:
        for version in sorted(_versions(log), reverse=True)[:_LOOKED_AT]:
            said = _read_commit(log / f"{version:0{_DIGITS}}{_SUFFIX}")[0].get("pipeline")
            if isinstance(said, str):
                return said
    except (OSError, StoreUnreadable):
        return None
    return None


def _versions(log: Path) -> Iterator[int]:
    with os.scandir(log) as entries:
        for entry in entries:
            stem = entry.name.removesuffix(_SUFFIX)
            if len(stem) == _DIGITS and stem.isdigit() and entry.name.endswith(_SUFFIX):
                yield int(stem)


def _read_commit(path: Path) -> tuple[Mapping[str, Any], tuple[StructField, ...] | None]:
    """What a commit says of itself, and the columns it gives the table, if it does."""
    info: Mapping[str, Any] | None = None
    columns: tuple[StructField, ...] | None = None
    try:
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                if not line.startswith(('{"commitInfo"', '{"metaData"', '{"protocol"')):
                    if info is not None and columns is not None:
                        # Ours have both first; what follows may be a line for each of many files.
                        break
                    if '"commitInfo"' not in line and '"metaData"' not in line:
                        continue
                action = json.loads(line)
                info = action.get("commitInfo") or info
                if action.get("metaData"):
                    columns = parse_schema(action["metaData"]["schemaString"])
    except OSError as error:
        raise StoreUnreadable(f"could not read `{path}`: {error.strerror or error}") from error
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise StoreUnreadable(f"`{path}` is not a commit of a Delta table: {error}") from error
    return info or {}, columns
