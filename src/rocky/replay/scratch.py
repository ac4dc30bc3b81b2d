"""The scratch area: a warehouse beside the real one, in which a run is built again.

It lies beside the warehouse because Spark can reach that place, wherever its executors are, and
because files can be linked there instead of copied. It is gone afterwards unless it is to be kept.
"""

import logging
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from rocky.errors import StoreUnwritable
from rocky.store.locations import Location
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
        scratch = Warehouse(open_objects(_beside(location)))
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
    place = beside if os.access(beside, os.W_OK) else None
    made = Path(tempfile.mkdtemp(prefix=f"{folder.name}-replay-", dir=place)).resolve()
    try:
        yield made
    finally:
        try:
            shutil.rmtree(made)
        except OSError as error:
            # The verdicts stand all the same.
            logger.warning("scratch area not removed: folder=%s error=%s", made, error)


def _beside(location: Location) -> Location:
    name = f"replay-{uuid.uuid4().hex[:12]}"
    prefix = f"{location.prefix}-{name}" if location.prefix else name
    below = f"{location.bucket}/{prefix}"
    return replace(location, uri=f"s3://{below}", spark_uri=f"s3a://{below}", prefix=prefix)
