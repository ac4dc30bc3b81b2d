"""Dropped tables: one that was removed as a whole and made anew is another table of the same name.

Only as a whole: where a commit or a file of the former table is still there, its log was tampered
with, and all that was recorded of it is still expected.
"""

from collections.abc import Mapping

from blake3 import blake3

from rocky.evidence.findings import Findings
from rocky.evidence.places import TablePlace
from rocky.evidence.recorded import Maker, Recorded
from rocky.evidence.tables import ExpectedTable


class Drops:
    """Finds out which tables were dropped, and what of them is no longer expected."""

    def __init__(self, recorded: Recorded, findings: Findings) -> None:
        self._recorded = recorded
        self._findings = findings
        self._gone: dict[TablePlace, frozenset[Maker]] = {}
        self._lost: set[str] = set()

    def settle(
        self, place: TablePlace, expected: ExpectedTable, files: Mapping[str, bytes]
    ) -> tuple[ExpectedTable, str]:
        """What to expect of a table, by the files of its log, and the run that made it anew."""
        if not expected.former:
            return expected, ""
        makers = frozenset(maker for each in expected.former for maker in each.makers)
        makers -= frozenset(maker for maker, _ in expected.executions)
        lost = self._files_of(place, makers)
        if self._has_commits(expected, files) or self._has_files(place, lost):
            return expected.with_former(), ""
        since = expected.former[-1].since
        self._findings.note(
            f"{place.root}/{place.prefix}: it was dropped, and made anew by `{since}`;"
            " of the former table only the records are left"
        )
        self._gone[place] = makers
        self._lost |= lost
        return expected, since

    def has_dropped(self, path: str) -> bool:
        """Whether a file was one of a table that is no more, and not one of its successor's."""
        return path in self._lost

    def is_former(self, place: TablePlace, maker: Maker) -> bool:
        """Whether what a run did was done to a table that is no more."""
        return maker in self._gone.get(place, frozenset())

    def _has_commits(self, expected: ExpectedTable, files: Mapping[str, bytes]) -> bool:
        now = {each.record.blake3_hash for each in expected.commits.values()}
        former = {
            commit.record.blake3_hash
            for each in expected.former
            for commit in each.commits.values()
        }
        found = {blake3(data).hexdigest() for data in files.values()}
        return bool(found & (former - now))

    def _has_files(self, place: TablePlace, paths: set[str]) -> bool:
        objects = self._recorded.places.warehouse(place.root).objects
        below = len(place.root) + 1
        return any(objects.info(path[below:]) is not None for path in paths)

    def _files_of(self, place: TablePlace, former: frozenset[Maker]) -> set[str]:
        """The files of a former table; what its successor has recorded too is that one's."""
        start = place.place("")
        found: tuple[set[str], set[str]] = (set(), set())
        for maker, files in self._recorded.files.items():
            found[maker in former].update(path for path in files if path.startswith(start))
        kept, lost = found
        return lost - kept
