"""File groups: which small files of a table become one larger file. Pure.

Files are taken in the order in which they were written, so that rows of one time stay together and
a reader that asks for a few days still opens few files. A group never crosses a partition.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from rocky.store.data_file import DataFile

MOST_ROWS: Final = 8_000_000
"""Rows that the writer puts into one file: a group of more would not become one."""


@dataclass(frozen=True, slots=True)
class FileGroup:
    """Files that become one."""

    files: tuple[DataFile, ...]

    @property
    def rows(self) -> int:
        return sum(each.rows for each in self.files)

    @property
    def bytes(self) -> int:
        return sum(each.size for each in self.files)


def group_small_files(files: Iterable[DataFile], target_bytes: int) -> tuple[FileGroup, ...]:
    """The groups of files to be rewritten, each of `target_bytes` at most; none of one file.

    Small is a file of less than half the target. What came out of a group is not taken again unless
    it found more company, so asking twice rewrites nothing twice.
    """
    by_partition: dict[tuple[tuple[str, str | None], ...], list[DataFile]] = {}
    for each in sorted(files, key=lambda file: (file.modified_ms, file.name)):
        if each.size < target_bytes // 2:
            key = tuple(sorted(each.partition_values.items()))
            by_partition.setdefault(key, []).append(each)
    found = (group for small in by_partition.values() for group in _fill(small, target_bytes))
    return tuple(group for group in found if len(group.files) > 1)


def _fill(files: list[DataFile], target_bytes: int) -> Iterator[FileGroup]:
    """The files in their order, cut where one more would be too much."""
    taken: list[DataFile] = []
    for each in files:
        full = FileGroup((*taken, each))
        if taken and (full.bytes > target_bytes or full.rows > MOST_ROWS):
            yield FileGroup(tuple(taken))
            taken = []
        taken.append(each)
    if taken:
        yield FileGroup(tuple(taken))
