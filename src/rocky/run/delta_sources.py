"""Delta tables of others as sources: read by their log, so that plain Spark is enough."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rocky.errors import SourceUnreadable
from rocky.project.sources import SourceTable
from rocky.run.delta_versions import NotPlain, find_delta_source
from rocky.spark.readers import SourceRead, read_lake_files, read_source
from rocky.spark.registration import CONNECTOR_HELP, has_connector
from rocky.spark.source_files import PinnedFile, named


def read_delta_source(
    session: Any,
    source: SourceTable,
    root: Path,
    options: Mapping[str, str],
    version: str | None = None,
) -> SourceRead:
    """A Delta table at a version that was found before, or as it is now. Raises SourceUnreadable.

    What plain Spark cannot read is left to Delta's connector, if there is one.
    """
    try:
        found = find_delta_source(source, root, options, version)
    except NotPlain as error:
        if has_connector(session):
            return read_source(session, source, root)
        raise SourceUnreadable(
            f"{named(source)} cannot be read: {error}; {CONNECTOR_HELP}"
        ) from error
    files = tuple(
        PinnedFile(found.file_uri(file), file.size, file.modified_ms)
        for file in found.snapshot.files
    )
    base = found.base if found.has_folders else None
    frame = read_lake_files(session, source, found.snapshot.schema, files, base=base)
    return SourceRead(frame, files, found.version)
