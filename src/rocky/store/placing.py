"""Placing: the files Spark staged get the names of their bytes, and become files of the table.

Nothing is visible to readers before the commit that names the files, so a process killed here
leaves only files that nobody reads. Two files of equal bytes would share one name and lose rows:
the second one is salted, and so is one whose bytes the table already has.
"""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby
from operator import attrgetter

from obstore.exceptions import BaseError

from rocky.datatypes.types import StructField
from rocky.errors import RowsRefused, StoreUnreadable, StoreUnwritable
from rocky.store.files import Address, DataFile, name_of, path_of
from rocky.store.footers import Footer, parse_footer
from rocky.store.hashing import Examined
from rocky.store.nulls import null_violations
from rocky.store.partition_folders import parse_partition_values
from rocky.store.salt import NotParquet, salt_of
from rocky.store.staging import Staging, open_staging
from rocky.store.statistics import stats_of
from rocky.store.warehouse import Table

RunTasks = Callable[[Callable[[str], Examined], Sequence[str]], list[Examined]]
"""How a cluster maps a function over paths: on executors, where the data is."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A staged file, examined. `count` says which copy of its bytes gets the name `address`."""

    staged: str
    address: Address
    size: int
    footer: Footer
    count: int = 0


def place_files(
    table: Table,
    staging: str,
    schema: Sequence[StructField],
    partition_columns: Sequence[str],
    taken: frozenset[str],
    *,
    run_tasks: RunTasks | None = None,
) -> tuple[DataFile, ...]:
    """The files of a write under their final names, sorted by path; files without rows are dropped.

    `taken` are the paths the new files may not have: those that stay in the table beside them.
    Raises `RowsRefused` before anything is placed, and removes what was staged, when a column that
    `schema` requires holds nulls or a partition column holds what no partition can be named by.
    """
    files = open_staging(table)
    try:
        try:
            pieces = _examine(table.name, files, staging, run_tasks or _on_threads)
            _refuse_nulls(table.name, pieces, schema)
            values = {
                piece.staged: parse_partition_values(
                    table.name, piece.staged, partition_columns, piece.footer
                )
                for piece in pieces
            }
        except RowsRefused:
            files.remove(staging)
            raise
        named = _named(files, pieces, taken)
        with _pool(len(named)) as pool:
            placed = list(pool.map(partial(_place, table.name, files), named))
        files.remove(staging)
    except (OSError, BaseError) as error:
        raise StoreUnwritable(f"cannot write files of `{table.name}`: {error}") from error
    return tuple(
        sorted(
            (
                DataFile(
                    path=path_of(piece.address),
                    size=piece.size + len(salt_of(piece.count)),
                    rows=piece.footer.rows,
                    stats=stats_of(piece.footer, schema, partition_columns),
                    partition_values=values[piece.staged],
                    modified_ms=modified_ms,
                )
                for piece, modified_ms in zip(named, placed, strict=True)
            ),
            key=attrgetter("path"),
        )
    )


def _examine(name: str, files: Staging, staging: str, run_tasks: RunTasks) -> list[_Piece]:
    """The staged files that hold rows."""
    staged = files.list_staged(staging)
    threads = max(1, _cores() // max(1, len(staged)))
    pieces = []
    for path, examined in zip(staged, run_tasks(files.hasher(threads), staged), strict=True):
        digest, size, footer = examined
        try:
            piece = _Piece(path, Address(digest), size, parse_footer(footer))
        except NotParquet as error:
            raise StoreUnreadable(f"`{path}`, written for `{name}`, is damaged: {error}") from error
        if piece.footer.rows:
            pieces.append(piece)
    return pieces


def _refuse_nulls(name: str, pieces: Sequence[_Piece], schema: Sequence[StructField]) -> None:
    rows: Counter[tuple[str, ...]] = Counter()
    for piece in pieces:
        for violation in null_violations(piece.footer, schema):
            path = ".".join(violation.path)
            if violation.rows is None:
                raise RowsRefused(
                    f"`{path}` of `{name}` is NOT NULL, but its files do not count their nulls;"
                    " leave Parquet's column statistics on"
                )
            rows[violation.path] += violation.rows
    for violated, count in rows.most_common(1):
        held = "1 row holds" if count == 1 else f"{count} rows hold"
        raise RowsRefused(f"`{'.'.join(violated)}` of `{name}` is NOT NULL, but {held} null")


def _named(files: Staging, pieces: Sequence[_Piece], taken: frozenset[str]) -> list[_Piece]:
    """Every piece with an address of its own.

    Pieces of equal bytes are told apart by salt in the order of their staged names, so a build that
    is repeated gives the same names.
    """
    used = set(map(name_of, taken))
    named = []
    for address, equal in groupby(
        sorted(pieces, key=attrgetter("address", "staged")), attrgetter("address")
    ):
        waiting = list(equal)
        # Equal bytes have equal copies, whichever of the files they are made from.
        copies = chain([address], files.hash_copies(waiting[0].staged))
        for count, digest in enumerate(copies):
            path = path_of(Address(digest))
            if path not in used:
                used.add(path)
                named.append(replace(waiting.pop(0), address=Address(digest), count=count))
            if not waiting:
                break
    return named


def _place(name: str, files: Staging, piece: _Piece) -> int:
    """When the file that now has the piece's name was written, in milliseconds."""
    path = path_of(piece.address)
    size, modified_ms = files.place(piece.staged, path, piece.count)
    if size != piece.size + len(salt_of(piece.count)):
        raise StoreUnwritable(
            f"`{name}` already has a file `{path}` that is not what its name says;"
            " it is damaged and must be restored or removed"
        )
    return modified_ms


def _on_threads(function: Callable[[str], Examined], paths: Sequence[str]) -> list[Examined]:
    with _pool(len(paths)) as pool:
        return list(pool.map(function, paths))


def _pool(tasks: int) -> ThreadPoolExecutor:
    # Hashing leaves the interpreter's lock, and copies in an object store only wait.
    return ThreadPoolExecutor(min(max(tasks, 1), 2 * _cores()), "rocky-place")


def _cores() -> int:
    return os.cpu_count() or 1
