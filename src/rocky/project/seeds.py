"""Seeds: small tables kept as `seeds/NAME.csv`, with a header line.

A sidecar `NAME.toml` may declare `columns`. One it does not declare is nullable and gets its type
from the texts of its cells (`rocky.project.seed_types`).
"""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from blake3 import blake3

from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.diagnostic import SourceText, Span
from rocky.diagnostics.suggestion import suggestion
from rocky.language.datatypes.text import decode_type, encode_type
from rocky.language.datatypes.types import StructField
from rocky.project.cache import (
    NO_SEED_CACHE,
    SeedRow,
    load_seed_cache,
    save_seed_cache,
)
from rocky.project.columns import read_classifications, read_columns, read_descriptions
from rocky.project.configuration.classifications import NO_COLUMN_TAGS, ColumnTags
from rocky.project.configuration.labels import NO_META, NO_TAGS, Meta, Tags
from rocky.project.configuration.model import TargetSetting
from rocky.project.configuration.paths import FolderName
from rocky.project.files import Report, Stamp, child_path, read_text, scan_folders
from rocky.project.seed_cells import SeedCells, refuse_nested
from rocky.project.seed_types import infer_types
from rocky.project.toml.documents import Document, Problem, Problems, parse_document
from rocky.project.toml.records import read_record
from rocky.project.toml.variables import written


@dataclass(frozen=True, slots=True)
class SeedTable:
    """A table from a CSV file. The places are those in `file`: the header or the sidecar.

    `described` is what is said of its columns.
    """

    name: str
    path: str
    columns: tuple[StructField, ...]
    target: TargetSetting
    delimiter: str
    file: str
    column_places: tuple[Span | None, ...]
    content_hash: bytes
    sidecar_path: str | None = None
    description: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    classification: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    owner: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    described: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The name as Spark compares it."""
        return self.name.lower()


class SeedRecord(NamedTuple):
    """What a seed's sidecar can say. Columns that are not listed are inferred from the cells."""

    name: FolderName | None = None
    columns: tuple[Any, ...] = ()
    target: TargetSetting = TargetSetting()
    delimiter: str = ","
    description: str | None = None
    owner: str | None = None
    tags: Tags = NO_TAGS
    meta: Meta = NO_META
    classification: ColumnTags = NO_COLUMN_TAGS


_LONGEST_CELL: Final = 16 * 1024 * 1024


def load_seeds(
    root: str, env: Mapping[str, str], report: Report, *, remember: bool = False
) -> dict[str, SeedTable]:
    """The seeds below `seeds/`, by lower-case name; of two with one name, the first.

    With `remember`, those that are as the last such load left them are not read again.
    """
    seeds: dict[str, SeedTable] = {}
    memory = load_seed_cache(Path(root)) if remember else NO_SEED_CACHE
    rows: dict[str, SeedRow] = {}
    for folder in scan_folders(root, "seeds", report, stamps=remember):
        stems = {name[:-4] for name in folder.names if name.endswith(".csv")}
        for name in folder.names:
            path = child_path(folder.path, name)
            if name.endswith(".toml") and name[:-5] not in stems:
                report(_lone_sidecar(path, name[:-5], stems))
            if not name.endswith(".csv"):
                continue
            sidecar = f"{name[:-4]}.toml"
            document = None
            if sidecar in folder.names:
                document = _read_sidecar(root, child_path(folder.path, sidecar), env, report)
            stamp, digest = folder.stamps.get(name), _hash_sidecar(document)
            row = memory.recall(path, stamp, digest)
            if row is not None:
                seed = load_seed(path, None, document, report, row)
            else:
                heard = _Heard(report)
                seed = load_seed(path, read_text(root, path, heard), document, heard)
                if stamp is not None and not heard.count:
                    row = _row_of(seed, stamp, digest)
            if row is not None and "${" not in (document.text if document else ""):
                rows[path] = row
            first = seeds.setdefault(seed.key, seed)
            if first is not seed:
                report(_loaded_twice(seed, first))
    if remember:
        save_seed_cache(Path(root), memory, rows)
    return seeds


class _Heard:
    """A report that counts what passes through it."""

    def __init__(self, report: Report) -> None:
        self.count = 0
        self._report = report

    def __call__(self, found: Diagnostic) -> None:
        self.count += 1
        self._report(found)


def _hash_sidecar(document: Document | None) -> bytes:
    return b"" if document is None else blake3(document.text.encode()).digest()


def _row_of(seed: SeedTable, stamp: Stamp, sidecar: bytes) -> SeedRow:
    columns = tuple((each.name, encode_type(each.type), each.nullable) for each in seed.columns)
    places = tuple(None if each is None else (each.start, each.end) for each in seed.column_places)
    return stamp, sidecar, columns, places, seed.content_hash


def _read_sidecar(root: str, path: str, env: Mapping[str, str], report: Report) -> Document | None:
    read = read_text(root, path, report)
    return parse_document(path, read[0], env, report) if read else None


def load_seed(
    path: str,
    read: tuple[str, bytes] | None,
    document: Document | None,
    report: Report,
    row: SeedRow | None = None,
) -> SeedTable:
    """The seed in a CSV file's text and bytes; an unusable one is reported, without columns.

    `row` is what is remembered of a file that need not be read.
    """
    record = SeedRecord()
    declared: tuple[StructField, ...] = ()
    problems: Problems = []
    if document:
        record = read_record(SeedRecord, document.data, (), problems) or record
        declared = read_columns(record.columns, ("columns",), problems)
        if len(record.delimiter) != 1:
            problems.append(Problem(("delimiter",), "`delimiter` must be one character"))
            record = record._replace(delimiter=",")
    fields: tuple[StructField, ...] = ()
    places: tuple[Span | None, ...] = ()
    text, data = read or ("", b"")
    rows = _read_rows(path, text, record.delimiter, report) if read else None
    content = blake3(data).digest() if row is None else row[4]
    if row is not None:
        fields = tuple(StructField(name, decode_type(kind), null) for name, kind, null in row[2])
        places = tuple(None if each is None else Span(*each) for each in row[3])
        _check_declared(declared, [each.name for each in fields], problems)
    if rows:
        header, columns = rows
        fields, places = _header_fields(header, columns, text, declared)
        _check_declared(declared, header, problems)
        cells = SeedCells(SourceText(path, text), record.delimiter, columns)
        cells.check(
            fields,
            declared,
            document,
            read_classifications(record.columns, record.classification),
            report,
        )
    refuse_nested(declared, problems)
    _report_all(problems, document, report)
    stem = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return SeedTable(
        record.name or stem,
        path,
        fields,
        record.target,
        record.delimiter,
        path,
        places,
        content,
        document.path if document else None,
        record.description,
        record.tags,
        read_classifications(record.columns, record.classification),
        record.owner,
        record.meta,
        read_descriptions(record.columns),
    )


def _report_all(problems: Problems, document: Document | None, report: Report) -> None:
    if document:
        for problem in problems:
            report(document.diagnose(problem))


def _header_fields(
    header: list[str], columns: list[list[str]], text: str, declared: tuple[StructField, ...]
) -> tuple[tuple[StructField, ...], tuple[Span | None, ...]]:
    """The columns in the file's order: as declared, or of the type their cells show."""
    by_name = {field.name.lower(): field for field in declared}
    fields: list[StructField] = []
    places: list[Span | None] = []
    at = 0
    for name, cells in zip(header, columns, strict=True):
        field = by_name.get(name.lower())
        fields.append(field or StructField(name, infer_types(cells), nullable=True))
        start = text.find(name, at)
        places.append(Span(start, start + len(name)) if start >= 0 else None)
        at = max(start, at) + len(name)
    return tuple(fields), tuple(places)


def _check_declared(
    declared: tuple[StructField, ...], header: list[str], problems: Problems
) -> None:
    known = {name.lower() for name in header}
    for index, column in enumerate(declared):
        if column.name.lower() not in known:
            problems.append(
                Problem(
                    ("columns", index, "name"),
                    f"the seed has no column `{written(column.name)}`",
                    suggestion(written(column.name), header),
                )
            )


def _read_rows(
    path: str, text: str, delimiter: str, report: Report
) -> tuple[list[str], list[list[str]]] | None:
    """The header and the cells of each column; None once the file is reported."""
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    source = SourceText(path, text)
    try:
        header = next(reader, None)
        if not header or not any(header):
            report(_unusable(path, f"seed `{path}` is empty", None, "a seed needs a header line"))
            return None
        if not _header_is_sound(header, source, report):
            return None
        rows: list[list[str]] = []
        width = len(header)
        for row in reader:
            if len(row) == width:
                rows.append(row)
            elif row:
                line = _line_of_row(source, reader.line_num, row)
                report(_ragged(source, line, len(row), width))
                return None
    except csv.Error as failure:
        line = min(max(reader.line_num, 1), len(source.line_starts))
        message = f"`{path}` is not readable as CSV: {failure}"
        report(_unusable(path, message, source.line_span(line)))
        return None
    return header, [list(cells) for cells in zip(*rows, strict=True)] or [[] for _ in header]


def _header_is_sound(header: list[str], source: SourceText, report: Report) -> bool:
    seen: dict[str, int] = {}
    span = source.line_span(1)
    for index, name in enumerate(header):
        if not name:
            message = f"column {index + 1} of seed `{source.path}` has no name"
            report(_unusable(source.path, message, span))
            return False
        if name.lower() in seen:
            message = f"column `{name}` is twice in the header"
            report(_unusable(source.path, message, span, "names are compared without case"))
            return False
        seen[name.lower()] = index
    return True


def _line_of_row(source: SourceText, last_line: int, row: list[str]) -> int:
    """The first line of a row; cells may hold line ends."""
    return min(max(last_line - sum(cell.count("\n") for cell in row), 1), len(source.line_starts))


def _ragged(source: SourceText, line: int, cells: int, width: int) -> Diagnostic:
    return Diagnostic(
        Code.UNUSABLE_FILE,
        f"line {line} of seed `{source.path}` has {cells} cells, the header has {width}",
        source.line_span(line),
        source.path,
        labels=(Label(source.line_span(1), f"{width} columns"),),
        help="quote a cell that holds the delimiter" if cells > width else None,
    )


def _lone_sidecar(path: str, stem: str, stems: set[str]) -> Diagnostic:
    near = suggestion(f"{stem}.csv", [f"{one}.csv" for one in stems])
    message = f"the sidecar `{path}` has no seed `{stem}.csv` beside it"
    return _unusable(path, message, None, near or "name the sidecar like its seed")


def _loaded_twice(seed: SeedTable, first: SeedTable) -> Diagnostic:
    return Diagnostic(
        Code.UNUSABLE_FILE,
        f"there are two seeds called `{written(seed.name)}`",
        None,
        seed.path,
        labels=(Label(None, "the other one", first.path),),
        help="rename one of the two",
    )


def _unusable(
    path: str,
    message: str,
    span: Span | None,
    help: str | None = None,  # noqa: A002 - the diagnostic's own word
) -> Diagnostic:
    return Diagnostic(Code.UNUSABLE_FILE, message, span, path, help=help)
