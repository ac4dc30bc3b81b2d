"""The scratch area: where a run is built again, and the views of recorded inputs that it reads.

It lies beside the warehouse because Spark can reach that place, wherever its executors are, and
because files can be linked there instead of copied. It is gone afterwards unless it is to be kept.
A name means one thing in one run; in two runs it may be two versions of a table, so models that
would disagree about a view are built in different batches.
"""

import logging
import shutil
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from rocky.errors import StoreUnwritable
from rocky.ledger.provenance import ReadRecord
from rocky.project.writable_folder import write_problem
from rocky.replay.candidates import FoundInput
from rocky.run.engine.input_pieces import bind_lookup, bind_source_pieces, bind_table_pieces
from rocky.run.engine.protocol import Engine
from rocky.store.location import Location
from rocky.store.objects import open_objects
from rocky.store.warehouse import Warehouse, open_warehouse

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Scratch:
    """Where a run is built again."""

    warehouse: Warehouse


@contextmanager
def open_scratch(warehouse: Warehouse, keep: Path | None = None) -> Iterator[Scratch]:
    """A scratch area for the tables of a warehouse, or the folder that is to be kept.

    Raises StoreUnwritable when the folder to be kept holds something already.
    """
    location = warehouse.objects.location
    if keep is not None:
        _refuse_used(keep)
        yield Scratch(open_warehouse(str(keep.absolute()), base=keep))
    elif location.folder is not None:
        with _folder_beside(location.folder) as folder:
            yield Scratch(open_warehouse(str(folder), base=folder))
    else:
        scratch = Warehouse(open_objects(_location_beside(location)))
        try:
            yield Scratch(scratch)
        finally:
            scratch.objects.delete([each.path for each in scratch.objects.list("")])


def _refuse_used(keep: Path) -> None:
    if keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
        raise StoreUnwritable(f"`{keep}` is not empty: name a new folder to keep the replay in")


@contextmanager
def _folder_beside(folder: Path) -> Iterator[Path]:
    """A new folder beside the warehouse, or where temporary files go if nobody may write there."""
    beside = folder.parent
    place = beside if write_problem(beside) is None else None
    made = Path(tempfile.mkdtemp(prefix=f"{folder.name}-replay-", dir=place)).resolve()
    try:
        yield made
    finally:
        try:
            shutil.rmtree(made)
        except OSError as error:
            # The verdicts stand all the same.
            logger.warning("scratch area not removed: folder=%s error=%s", made, error)


def _location_beside(location: Location) -> Location:
    name = f"replay-{uuid.uuid4().hex[:12]}"
    prefix = f"{location.prefix}-{name}" if location.prefix else name
    below = f"{location.bucket}/{prefix}"
    return replace(location, uri=f"s3://{below}", spark_uri=f"s3a://{below}", prefix=prefix)


T = TypeVar("T")


class InputViews:
    """Makes the views of one batch, each once. Threads may share it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._bound: dict[str, None] = {}
        self._lock = Lock()

    def bind(self, reads: Iterable[FoundInput], pieces: int = 0) -> None:
        """Make views of inputs that are not views yet.

        With `pieces` the one that is recorded as cut is read in so many, the others are looked up.
        """
        found = tuple(reads)
        with self._lock:
            for each in found:
                if pieces and len(found) > 1 and each.record.pieces is None:
                    self._bind_lookup(each)
                else:
                    self._bind(each, pieces)

    def close(self) -> None:
        """Drop every view."""
        self._engine.views.unbind(list(self._bound))

    def _bind_lookup(self, found: FoundInput) -> None:
        view = found.record.view
        if view not in self._bound:
            whole = replace(found.record, view=f"{view}_whole")
            self._bind(replace(found, record=whole))
            bind_lookup(self._engine, view, whole.view)
            self._bound[view] = None

    def _bind(self, found: FoundInput, pieces: int = 0) -> None:
        view, views = found.record.view, self._engine.views
        if view in self._bound:
            return
        if pieces and found.pinned is not None:
            table, snapshot = found.pinned.table, found.pinned.snapshot
            made = bind_table_pieces(self._engine, view, table, snapshot, pieces)
            self._bound |= dict.fromkeys(made)
        elif pieces and found.source is not None and found.pin is not None:
            made = bind_source_pieces(self._engine, view, found.source, found.pin, pieces)
            self._bound |= dict.fromkeys(made)
        elif found.pinned is not None:
            views.bind_table(view, found.pinned.table, found.pinned.snapshot)
        elif found.source is not None:
            views.bind_source(view, found.source, found.pin)
        else:
            for each in found.below:
                self._bind(each)
            views.bind_frame(view, self._engine.frame(found.record.sql or ""))
        self._bound[view] = None


class ViewBatch(Generic[T]):
    """Things whose inputs agree about every view."""

    def __init__(self) -> None:
        self.members: list[T] = []
        self._views: dict[str, ReadRecord] = {}

    def take(self, member: T, reads: Sequence[FoundInput]) -> bool:
        """Whether a member fits in; then it is in."""
        records = list(_all_records(reads))
        if any(self._views.get(each.view, each) != each for each in records):
            return False
        self._views.update({each.view: each for each in records})
        self.members.append(member)
        return True


def split_batches(members: Iterable[tuple[T, Sequence[FoundInput]]]) -> list[ViewBatch[T]]:
    """Members in as many batches as their views ask for, nearly always one."""
    found: list[ViewBatch[T]] = []
    for member, reads in members:
        if not any(batch.take(member, reads) for batch in found):
            batch: ViewBatch[T] = ViewBatch()
            batch.take(member, reads)
            found.append(batch)
    return found


def _all_records(reads: Iterable[FoundInput]) -> Iterator[ReadRecord]:
    for each in reads:
        yield each.record
        yield from _all_records(each.below)
