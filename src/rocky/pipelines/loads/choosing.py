"""Choosing: which files of a table are to be loaded, decided without looking into them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rocky.errors import RunRefused, SourceUnreadable
from rocky.evidence.hashes import canonical_json, text_hash
from rocky.pipelines.loads.files import ALREADY_LOADED, FoundFile, FoundTable, new_files
from rocky.pipelines.loads.ground import LoadGround
from rocky.pipelines.loads.history import NOTHING_HELD, Held, LoadHistory, find_held
from rocky.pipelines.report import Excluded
from rocky.project.pipelines import LoadPipeline
from rocky.store.snapshot import Snapshot

_LOADED_AS: Final = 1
"""Raised when files come to be loaded differently, so that whole folders are loaded once more."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A table with files to load, or with some that are loaded and not recorded (`held`).

    `marker` says what the folder has for the table, and how it is read.
    """

    table: FoundTable
    files: tuple[FoundFile, ...]
    snapshot: Snapshot | None
    marker: str
    held: Held = NOTHING_HELD


class Chooser:
    """Chooses for the tables of one run, and remembers what is left alone."""

    def __init__(self, ground: LoadGround, history: LoadHistory) -> None:
        self._ground = ground
        self._history = history
        self.unchanged: list[FoundTable] = []
        self.excluded: list[Excluded] = []

    def choose(self, table: FoundTable) -> Chosen | None:
        """What is to be loaded; None when nothing is. Raises RockyError for this table."""
        key = table.target.key
        if key in self._ground.done:
            self._exclude(table, table.files, self._ground.done[key])
            return None
        owner = self._ground.owners.of(table.target)
        if owner is not None:
            raise RunRefused(
                f"the files of `{table.target.full_name}` would go where {owner} writes; set"
                " another `schema` or `table` in the pipeline's `target`"
            )
        if table.unreadable is not None:
            raise SourceUnreadable(table.unreadable)
        place = self._ground.warehouse.table(table.target)
        snapshot = place.snapshot()
        if snapshot is None and not self._ground.pipeline.options.create_table:
            raise SourceUnreadable(
                f"there is no table `{table.target.full_name}`, and `create_table` is false:"
                " create it, or let Rocky do so"
            )
        marker = _marker(self._ground.pipeline, table)
        if self._ground.replaces:
            return self._choose_all(table, snapshot, marker)
        held = find_held(place, snapshot, key, self._history)
        new, old = new_files(table.files, held.known)
        self._exclude(table, old, ALREADY_LOADED)
        if not new and not held.unrecorded:
            self.unchanged.append(table)
            return None
        return Chosen(table, tuple(new), snapshot, marker, held)

    def _choose_all(
        self, table: FoundTable, snapshot: Snapshot | None, marker: str
    ) -> Chosen | None:
        """All files of a table, unless the table is just what they are."""
        last = self._history.find_last(table.target.key)
        if (
            not self._ground.whole
            and last is not None
            and snapshot is not None
            and (last.commit_version, last.source_marker) == (snapshot.version, marker)
        ):
            self._exclude(table, table.files, ALREADY_LOADED)
            self.unchanged.append(table)
            return None
        files, copies = new_files(table.files, frozenset())
        self._exclude(table, copies, ALREADY_LOADED)
        return Chosen(table, tuple(files), snapshot, marker)

    def _exclude(self, table: FoundTable, files: Sequence[FoundFile], why: str) -> None:
        name = table.target.full_name
        self.excluded += [Excluded(each.shown, name, why) for each in files]


def _marker(pipeline: LoadPipeline, table: FoundTable) -> str:
    """A hash of the files of a table and of how they are read."""
    options = pipeline.options
    said = {
        "loaded_as": _LOADED_AS,
        "files": sorted({each.digest for each in table.files}),
        "delimiter": options.csv_delimiter,
        "header": options.csv_has_header,
        "contract": pipeline.contract,
        "replaces": options.truncate_first,
    }
    return text_hash(canonical_json(said))
