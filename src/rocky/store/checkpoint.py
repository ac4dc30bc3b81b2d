"""Checkpoints: every tenth version, what the log says so far as one file.

They keep logs short to read and change nothing, so a failed one does not fail the commit it
follows. `deltalake` writes them: an independent reading of our log each time.
"""

from typing import Final

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from rocky.store.log import Log

INTERVAL: Final = 10
FAILED: Final = "no checkpoint"
"""How the warning of a failed one begins. It is recorded: the file may be there all the same."""


def is_due(version: int) -> bool:
    return version > 0 and version % INTERVAL == 0


def write_checkpoint(log: Log, version: int) -> str | None:
    """Write the checkpoint of a version; what went wrong, or None."""
    location = log.objects.location
    try:
        table = DeltaTable(
            location.place(log.prefix),
            version=version,
            storage_options=location.delta_options or None,
        )
        table.create_checkpoint()
    except (DeltaError, OSError, ValueError) as error:
        first_line = str(error).split("\n", 1)[0]
        return f"{FAILED} of table `{log.table}` at version {version}: {first_line}"
    return None
