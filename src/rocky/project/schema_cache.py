"""Cached schemas: live columns that `rocky discover --cache` found, one file a table.

They give types to what nobody declares, and never take the place of a declaration. The folder is
disposable and kept out of git. A file that cannot be read, or that is of another place than what
now goes by its name, is not believed, and that is said.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from rocky.canonical import text_hash
from rocky.language.datatypes.text import TypeSyntaxError, format_type, parse_type
from rocky.language.datatypes.types import StructField
from rocky.project.configuration.pipelines import ReplicationSource
from rocky.project.files import write_atomically
from rocky.project.secrets import url_without_password
from rocky.project.sources import SourceTable
from rocky.project.toml.variables import written

SCHEMAS_FOLDER: Final = ".rocky/schemas"
_FORMAT: Final = 1
_PARTS: Final = 3
_IGNORED: Final = "*\n"
_PLACE_OPTIONS: Final = ("url", "dbtable", "query")


@dataclass(frozen=True, slots=True)
class CachedSchema:
    """The columns that a table had when it was looked at.

    `place` is a hash of where that was. `pipeline` is the one that copies it, and `parts` its
    catalogue, schema and name there, where it was found by the listing of a pipeline's source;
    without `parts` the pipeline writes it.
    """

    name: str
    columns: tuple[StructField, ...]
    at: datetime
    place: str
    pipeline: str | None = None
    parts: tuple[str | None, ...] = ()

    @property
    def key(self) -> str:
        return self.name.lower()

    @property
    def at_ms(self) -> int:
        return int(self.at.timestamp() * 1000)


@dataclass(frozen=True, slots=True)
class UnusedSchema:
    """A file of the folder that is not believed, and why."""

    file: str
    why: str


def place_of(source: SourceTable) -> str:
    """A hash of where a source is; what may be secret is not in it."""
    options = {key.lower(): str(value) for key, value in source.options.items()}
    reached = [url_without_password(written(options.get(key, ""))) for key in _PLACE_OPTIONS]
    return text_hash(repr((source.format, written(source.path or ""), *reached)))[:16]


def place_of_replication(source: ReplicationSource) -> str:
    """The same of all that a replication reads."""
    reached = (written(source.path or ""), url_without_password(written(source.url or "")))
    return text_hash(repr((source.kind, source.catalog, *reached)))[:16]


def load_schemas(root: Path) -> tuple[dict[str, CachedSchema], list[UnusedSchema]]:
    """The schemas in the folder, by lower-case name, and the files that cannot be read."""
    found: dict[str, CachedSchema] = {}
    unused: list[UnusedSchema] = []
    try:
        paths = sorted((root / SCHEMAS_FOLDER).glob("*.json"))
    except OSError:
        return found, unused
    for path in paths:
        file = f"{SCHEMAS_FOLDER}/{path.name}"
        try:
            read = _parse(json.loads(path.read_text(encoding="utf-8")))
        except OSError as error:
            unused.append(UnusedSchema(file, f"it cannot be read: {error.strerror or error}"))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            unused.append(UnusedSchema(file, "it is not a schema that this version wrote"))
        else:
            found[read.key] = read
    return found, unused


def save_schemas(root: Path, schemas: Iterable[CachedSchema]) -> tuple[str, ...]:
    """Keep schemas, each in the place of an earlier one; their files. Raises OSError."""
    folder = root / SCHEMAS_FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    ignored = folder / ".gitignore"
    if not ignored.exists():
        ignored.write_text(_IGNORED, encoding="utf-8")
    files = []
    for each in schemas:
        files.append(file_of(each.name))
        write_atomically(root / files[-1], f"{json.dumps(_document(each), indent=2)}\n")
    return tuple(files)


def file_of(name: str) -> str:
    """The file that a table's schema is kept in, from the project's folder on."""
    return f"{SCHEMAS_FOLDER}/{quote(name.lower(), safe='')}.json"


def _document(schema: CachedSchema) -> dict[str, Any]:
    return {
        "format_version": _FORMAT,
        "name": schema.name,
        "discovered_at": schema.at.isoformat(),
        "place": schema.place,
        "pipeline": schema.pipeline,
        "parts": list(schema.parts),
        "columns": [
            {"name": each.name, "type": format_type(each.type), "nullable": each.nullable}
            for each in schema.columns
        ],
    }


def _parse(document: Mapping[str, Any]) -> CachedSchema:
    if document["format_version"] != _FORMAT:
        raise ValueError("another version")
    pipeline = document["pipeline"]
    parts = document["parts"]
    if parts and (len(parts) != _PARTS or None in parts[1:]):
        raise ValueError("not a table of a listing")
    return CachedSchema(
        _text(document["name"]),
        tuple(map(_column, document["columns"])),
        datetime.fromisoformat(document["discovered_at"]).astimezone(UTC),
        _text(document["place"]),
        None if pipeline is None else _text(pipeline),
        tuple(None if each is None else _text(each) for each in parts),
    )


def _column(column: Mapping[str, Any]) -> StructField:
    try:
        kind = parse_type(_text(column["type"]))
    except TypeSyntaxError as error:
        raise ValueError("not a type") from error
    if not isinstance(column["nullable"], bool):
        raise TypeError("neither true nor false")
    return StructField(_text(column["name"]), kind, column["nullable"])


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("not a text")
    return value
