"""Sources: tables that models read and the project does not make (`sources/*.toml`).

A source's columns are a declaration: the compiler believes them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple

from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.diagnostic import Span
from rocky.diagnostics.suggestion import suggestion
from rocky.language.datatypes.types import DATETIME_KINDS, UNKNOWN, StructField
from rocky.project.columns import (
    column_places,
    read_classifications,
    read_columns,
    read_descriptions,
)
from rocky.project.configuration.classifications import NO_COLUMN_TAGS, ColumnTags
from rocky.project.configuration.freshness import Freshness, FreshnessRecord
from rocky.project.configuration.labels import NO_META, NO_TAGS, Meta, Tags
from rocky.project.files import Report, child_path, read_text, scan_folders, show_text
from rocky.project.toml.documents import (
    Document,
    Problem,
    Problems,
    parse_document,
)
from rocky.project.toml.parser import locate_keys
from rocky.project.toml.records import INVALID, misspelt, reader_for, unknown_key, wrong_type
from rocky.project.toml.variables import Keys, written

Format = Literal["csv", "json", "parquet", "delta", "iceberg", "orc", "jdbc", "table"]
FOLDER: Final = "sources"
_NAME_DEPTH: Final = 3
_FILE_FORMATS: Final = frozenset({"csv", "json", "parquet", "orc"})


@dataclass(frozen=True, slots=True)
class SourceTable:
    """A declared table; one whose columns are not declared, or could not be read, has none.

    Its places are looked up in its document when a finding needs one. `files`, where there are
    any, are all that is read below its path; only pipelines choose them. `described` is what is
    said of its columns. `discovered_ms` is when they were found, where a cache has them and no file
    declares any: a compile takes its types from them, and a run reads what is there.
    """

    name: str
    columns: tuple[StructField, ...]
    format: str
    path: str | None
    options: Mapping[str, str]
    document: Document
    index: int
    description: str | None = None
    classification: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    owner: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    described: Mapping[str, str] = field(default_factory=dict)
    discovered_ms: int = 0
    freshness: FreshnessRecord | None = None

    @property
    def key(self) -> str:
        """The name as Spark compares it."""
        return self.name.lower()

    def as_read(self) -> "SourceTable":
        """It as a run reads it: a cached column is nobody's declaration."""
        return replace(self, columns=(), discovered_ms=0) if self.discovered_ms else self

    @property
    def is_declared(self) -> bool:
        """Whether a file declares it, and not only a model reads it."""
        return bool(self.document.text)

    @property
    def file(self) -> str:
        """The file that declares it; the settings, which allow it, where none does."""
        return self.document.path

    @property
    def place(self) -> Span | None:
        """Where its name stands in `file`."""
        return self.document.span_of(("source", self.index, "name"))

    @property
    def column_places(self) -> tuple[Span | None, ...]:
        """Where the names of its columns stand in `file`, in the columns' order.

        Those of a copy, and those that were discovered, stand nowhere.
        """
        if not self.is_declared or self.discovered_ms:
            return tuple(None for _ in self.columns)
        return column_places(self.columns, self.document, ("source", self.index, "columns"))


class SourceRecord(NamedTuple):
    """A `[[source]]` block."""

    name: str
    columns: tuple[Any, ...] = ()
    format: Format = "table"
    path: str | None = None
    table: str | None = None
    options: Mapping[str, str | bool | int | float] = {}
    description: str | None = None
    owner: str | None = None
    tags: Tags = NO_TAGS
    meta: Meta = NO_META
    freshness: Freshness | None = None
    classification: ColumnTags = NO_COLUMN_TAGS


def load_sources(
    root: str, env: Mapping[str, str], report: Report, *, needs_columns: bool = True
) -> dict[str, SourceTable]:
    """The sources below `sources/`, by lower-case name; of two with one name, the first.

    Without `needs_columns` one may leave them out: they are unknown then.
    """
    sources: dict[str, SourceTable] = {}
    for folder in scan_folders(root, FOLDER, report):
        for name in folder.names:
            if not name.endswith(".toml"):
                continue
            path = child_path(folder.path, name)
            read = read_text(root, path, report)
            document = parse_document(path, read[0], env, report) if read else None
            found = (
                read_sources(document, report, needs_columns=needs_columns)
                if document
                else _recover(root, path)
            )
            for source in found:
                first = sources.setdefault(source.key, source)
                if first is not source:
                    report(_declared_twice(source, first))
    return sources


def _recover(root: str, path: str) -> list[SourceTable]:
    """The sources an unusable file seems to declare, without columns.

    The file is reported already; models that read its sources must not be told that these
    are unknown.
    """
    text = show_text(root, path)
    document = Document(path, text, {})
    found: list[SourceTable] = []
    for keys, place in locate_keys(text).items():
        if len(keys) == _NAME_DEPTH and keys[0] == "source" and keys[2] == "name":
            name = text[place.value.start : place.value.end].strip("\"'")
            if name:
                found.append(SourceTable(name, (), "table", None, {}, document, int(keys[1])))
    return found


def undeclared_source(name: str, config_path: str) -> SourceTable:
    """A table of Spark's catalogue that models read and nobody declares."""
    return SourceTable(name, (), "table", None, {}, Document(config_path, "", {}), 0)


def read_sources(
    document: Document, report: Report, *, needs_columns: bool = True
) -> list[SourceTable]:
    """The sources a file declares; what is wrong with them is reported."""
    problems: Problems = []
    found: list[SourceTable] = []
    for key, value in document.data.items():
        if key != "source":
            problems.append(unknown_key(key, ("source",), (key,)))
        elif not isinstance(value, list):
            wrong_type("written `[[source]]`", value, (key,), problems)
        else:
            for index, block in enumerate(value):
                source = _read_source(block, index, document, problems, needs_columns=needs_columns)
                if source:
                    found.append(source)
    for problem in problems:
        report(document.diagnose(problem))
    return found


def _read_source(
    block: Any, index: int, document: Document, problems: Problems, *, needs_columns: bool
) -> SourceTable | None:
    at = ("source", index)
    record = reader_for(SourceRecord)(block, at, problems)
    if record is INVALID:
        return None
    if not all(record.name.split(".")) or record.name.count(".") > 2:
        message = "a source's name is `table`, `schema.table` or `catalog.schema.table`"
        problems.append(Problem((*at, "name"), message))
        return None
    given = block.keys() | misspelt(block, SourceRecord._fields)
    if record.format in _FILE_FORMATS and record.path is None and "path" not in given:
        problems.append(
            Problem((*at, "format"), f"a source of format `{record.format}` needs `path`")
        )
    columns: tuple[StructField, ...] = ()
    if record.columns:
        columns = read_columns(record.columns, (*at, "columns"), problems)
    elif "columns" not in given and needs_columns:
        problems.append(
            Problem(
                at,
                f"source `{written(record.name)}` declares no `columns`",
                'list them: `columns = [ { name = "id", type = "bigint" } ]`, or let'
                " `rocky discover --write` do it",
            )
        )
    if record.freshness is not None:
        problems += _freshness_problems(record.freshness, columns, (*at, "freshness"))
    return SourceTable(
        record.name,
        columns,
        record.format,
        record.path if record.path is not None else record.table,
        {key: _option(value) for key, value in record.options.items()},
        document,
        index,
        record.description,
        read_classifications(record.columns, record.classification),
        owner=record.owner,
        tags=record.tags,
        meta=record.meta,
        described=read_descriptions(record.columns),
        freshness=record.freshness,
    )


def _freshness_problems(
    freshness: FreshnessRecord, columns: tuple[StructField, ...], at: Keys
) -> Problems:
    """What keeps the time column of a source from telling the age of its rows."""
    name = freshness.time_column
    names = [each.name for each in columns]
    column = next((each for each in columns if each.name.lower() == name.lower()), None)
    here = (*at, "time_column")
    if columns and column is None:
        said = f"the source declares no column `{written(name)}`"
        return [Problem(here, said, suggestion(name, names) or "name one that it declares")]
    if column is None or column.type is UNKNOWN or column.type.kind in DATETIME_KINDS:
        return []
    said = f"`{written(column.name)}` is `{column.type}`, not a date or a timestamp"
    return [Problem(here, said, "name a column of dates or timestamps")]


def _option(value: str | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def _declared_twice(source: SourceTable, first: SourceTable) -> Diagnostic:
    return Diagnostic(
        Code.UNUSABLE_FILE,
        f"source `{written(source.name)}` is declared twice",
        source.place,
        source.file,
        labels=(Label(first.place, "first declared here", first.file),),
        help="keep one of the two",
    )
