"""Pieces of an input: its files in groups, each of which is read by one task.

What a row-wise query (`rocky.language.syntax.row_wise`) makes of a piece is a file of its table, so
that no row is handed from one task to another. Which files are a piece follows from their names
and sizes alone, so that it is the same on every machine. Tables in which rows are looked up are
sent to each of these tasks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from os.path import commonprefix
from typing import Final

from rocky.project.sources import SourceTable
from rocky.run.engine.protocol import Engine, SourcePin
from rocky.spark.interface import TARGET_FILE_BYTES
from rocky.store.delta.snapshot import Snapshot
from rocky.store.warehouse import Table

PIECE_BYTES: Final = 64 << 20
"""What a piece is to have. Rows are several times as large in memory as in files, and a task that
sorts more of them than its memory takes writes them to disk and reads them again."""

_MOST_PIECES: Final = 64
"""Each piece is a branch of the query's plan, which takes Spark some milliseconds."""

_MOST_BYTES: Final = 2 * TARGET_FILE_BYTES
"""A file that is larger cannot be cut, and one task would do the work of many."""

_FORMATS: Final = ("csv", "json", "orc", "parquet")

SizedFile = tuple[str, int]
"""What a file is called wherever its input lies, and its bytes."""


def table_files(snapshot: Snapshot) -> tuple[SizedFile, ...]:
    """The files of a table."""
    return tuple((each.name, each.size) for each in snapshot.files)


def source_files(source: SourceTable, pin: SourcePin) -> tuple[SizedFile, ...]:
    """The files of a source; none of one that is not read as a list of files."""
    if source.format not in _FORMATS:
        return ()
    paths = [path for path, _, _ in pin.files]
    # Of a path only what may not differ between two machines: not the folder of the source.
    shared = commonprefix(paths).rpartition("/")[0]  # noqa: RUF071 - URIs, whose slashes count
    return tuple((path.removeprefix(shared), size) for path, size, _ in pin.files)


def count_pieces(files: Sequence[SizedFile]) -> int:
    """In how many pieces an input is to be read; none if it is no list of files.

    A piece has as many files as are of its size on average: a remainder of few files would make
    some pieces twice as large as others.
    """
    if not files:
        return 0
    size = sum(each for _, each in files)
    most = max(1, len(files) * PIECE_BYTES // max(1, size), -(-len(files) // _MOST_PIECES))
    return -(-len(files) // most)


def split_files(files: Sequence[SizedFile], pieces: int) -> tuple[tuple[int, ...], ...] | None:
    """The files of each piece by their places, about as many bytes each; None if they do not fit.

    The largest files are placed first, each where the least is.
    """
    if not 1 < pieces <= min(_MOST_PIECES, len(files)):
        return None
    groups: list[list[int]] = [[] for _ in range(pieces)]
    filled = [0] * pieces
    for place in sorted(range(len(files)), key=lambda at: (-files[at][1], files[at][0])):
        least = filled.index(min(filled))
        groups[least].append(place)
        filled[least] += files[place][1]
    if max(filled) > _MOST_BYTES:
        return None
    return tuple(tuple(sorted(group)) for group in groups)


def bind_table_pieces(
    engine: Engine, view: str, table: Table, snapshot: Snapshot, pieces: int
) -> list[str]:
    """A view over a table in pieces; the names of all views that this took."""
    names = []
    for name, group in _named_groups(view, table_files(snapshot), pieces):
        part = replace(snapshot, files=tuple(snapshot.files[at] for at in group))
        engine.views.bind_table(name, table, part)
        names.append(name)
    return [*names, _bind_together(engine, view, names)]


def bind_source_pieces(
    engine: Engine, view: str, source: SourceTable, pin: SourcePin, pieces: int
) -> list[str]:
    """The same over a source."""
    names = []
    for name, group in _named_groups(view, source_files(source, pin), pieces):
        part = replace(pin, files=tuple(pin.files[at] for at in group))
        engine.views.bind_source(name, source, part)
        names.append(name)
    return [*names, _bind_together(engine, view, names)]


def _named_groups(
    view: str, files: Sequence[SizedFile], pieces: int
) -> Iterator[tuple[str, tuple[int, ...]]]:
    # Files that no longer fit are not those that were recorded: then each is a piece.
    groups = split_files(files, pieces) or tuple((at,) for at in range(len(files)))
    return zip((f"{view}_{number}" for number in count()), groups, strict=False)


def bind_lookup(engine: Engine, view: str, whole: str) -> None:
    """A view over the view of a small table: joined with any other, it is sent to its tasks."""
    query = f"SELECT /*+ BROADCAST({whole}) */ * FROM {whole}"  # noqa: S608 - ours
    engine.views.bind_frame(view, engine.frame(query))


def _bind_together(engine: Engine, view: str, names: Sequence[str]) -> str:
    engine.views.bind_frame(view, engine.frame(pieces_together(names)))
    return view


def pieces_together(views: Sequence[str]) -> str:
    """The query over some views that reads each of them in one task of its own."""
    # Left to itself, Spark would read all of them in one: `spark.sql.unionOutputPartitioning` is
    # held off for this.
    parts = [f"SELECT /*+ COALESCE(1) */ * FROM {view}" for view in views]  # noqa: S608 - ours
    return " UNION ALL ".join(parts)
