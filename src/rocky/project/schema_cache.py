"""Cached schemas: live columns that `rocky discover --cache` found, one file a table.

They give types to what nobody declares, and never take the place of a declaration. The folder is
disposable and kept out of git. A file that cannot be read, that git has (somebody sent it: no
discovery here wrote it), or that is of another place than what now goes by its name, is not
believed, and that is said.
"""

import json
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from rocky.canonical import text_hash
from rocky.errors import GitUnavailable
from rocky.language.datatypes.text import TypeSyntaxError, format_type, parse_type
from rocky.language.datatypes.types import StructField
from rocky.project.configuration.pipelines import ReplicationSource
from rocky.project.files import write_atomically
from rocky.project.git.program import ask_git, split_names
from rocky.project.secrets import url_without_password
from rocky.project.sources import SourceTable
from rocky.project.toml.variables import written

SCHEMAS_FOLDER: Final = ".rocky/schemas"
_STATE_FOLDER: Final = ".rocky"
_FORMAT: Final = 1
_YEARS: Final = range(2000, 3000)
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
    sent = _in_git(root) if paths else frozenset()
    for path in paths:
        file = f"{SCHEMAS_FOLDER}/{path.name}"
        if sent & {file, SCHEMAS_FOLDER, _STATE_FOLDER}:
            unused.append(UnusedSchema(file, "it is in git: what this machine found never is"))
            continue
        try:
            if not _is_own_file(root, path):
                unused.append(UnusedSchema(file, "it is no regular file of this folder"))
                continue
            read = _parse(json.loads(path.read_text(encoding="utf-8")))
        except OSError as error:
            unused.append(UnusedSchema(file, f"it cannot be read: {error.strerror or error}"))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError):
            unused.append(UnusedSchema(file, "it is not a schema that this version wrote"))
        else:
            found[read.key] = read
    return found, unused


def _in_git(root: Path) -> frozenset[str]:
    """What git has below the folder of Rocky's state, from the project's folder on."""
    try:
        answer = ask_git(root, "ls-files", "-z", "--", _STATE_FOLDER)
    except GitUnavailable:
        return frozenset()
    return frozenset(split_names(answer.out)) if answer.code == 0 else frozenset()


def _is_own_file(root: Path, path: Path) -> bool:
    """Whether it can be read and lies here: no link on the way, no pipe. Raises OSError."""
    folders = (root / _STATE_FOLDER, root / SCHEMAS_FOLDER)
    return stat.S_ISREG(path.lstat().st_mode) and not any(each.is_symlink() for each in folders)


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
        _moment(document["discovered_at"]),
        _text(document["place"]),
        None if pipeline is None else _text(pipeline),
        tuple(None if each is None else _text(each) for each in parts),
    )


def _moment(value: Any) -> datetime:
    """When it was found. Raises ValueError or OverflowError for what no clock can have said."""
    at = datetime.fromisoformat(_text(value)).astimezone(UTC)
    if at.year not in _YEARS:
        raise ValueError("not a time of a discovery")
    return at


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
