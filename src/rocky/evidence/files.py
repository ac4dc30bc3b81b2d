"""Data files, checked: each is there, and its bytes hash to its name and to what was recorded."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from blake3 import blake3

from rocky.evidence.findings import FindingCode, Findings
from rocky.evidence.tables import SUFFIX
from rocky.store.objects import Objects
from rocky.store.opening import open_object

_CHUNK: Final = 8 * 1024 * 1024


class ExpectedFile(NamedTuple):
    """A file that was recorded: where it lies below the warehouse, and what it should be.

    `rows` is what the log says of it, None where no log does.
    """

    objects: Objects
    path: str
    blake3_hash: str
    size: int
    rows: int | None


class FoundFile(NamedTuple):
    """A file as it is. `rows` is None where it does not end as Parquet does."""

    size: int
    blake3_hash: str
    rows: int | None


def check_files(expected: Iterable[ExpectedFile], findings: Findings) -> None:
    """Hash every file and compare."""
    wanted = list(dict.fromkeys(expected))
    workers = 2 * (os.cpu_count() or 1)
    with ThreadPoolExecutor(workers, "rocky-verify") as pool:
        found = pool.map(lambda file: _examine(file.objects, file.path), wanted)
        for file, actual in zip(wanted, found, strict=True):
            _compare(file, actual, findings)


def _compare(file: ExpectedFile, actual: FoundFile | None, findings: Findings) -> None:
    where = file.objects.place(file.path)
    if actual is None:
        findings.add(FindingCode.FILE_MISSING, where, "it was recorded and is gone")
        return
    findings.checked["files"] += 1
    findings.checked["bytes"] += actual.size
    findings.expect(
        file.path.rpartition("/")[2] == f"{file.blake3_hash}{SUFFIX}",
        FindingCode.RECORD_INCONSISTENT,
        where,
        f"its name is not the hash that was recorded, `{file.blake3_hash}`",
    )
    same = findings.expect(
        (actual.blake3_hash, actual.size) == (file.blake3_hash, file.size),
        FindingCode.FILE_CHANGED,
        where,
        f"its {actual.size} bytes hash to `{actual.blake3_hash}`;"
        f" recorded were {file.size} bytes of `{file.blake3_hash}`",
    )
    if same and file.rows is not None:
        findings.expect(
            actual.rows == file.rows,
            FindingCode.ROWS_MISMATCH,
            where,
            f"it has {actual.rows} rows, the table's log says {file.rows}",
        )


def _examine(objects: Objects, path: str) -> FoundFile | None:
    """A file's size, hash and rows; None where there is none."""
    if objects.info(path) is None:
        return None
    hasher, size = blake3(), 0
    with open_object(objects, path) as opened:
        read: Callable[[], bytes] = lambda: opened.read(_CHUNK)  # noqa: E731 - `iter` asks for one
        for chunk in iter(read, b""):
            hasher.update(chunk)
            size += len(chunk)
        opened.seek(0)
        try:
            rows = pq.read_metadata(opened).num_rows
        except (pa.ArrowException, OSError):
            rows = None
    return FoundFile(size, hasher.hexdigest(), rows)
