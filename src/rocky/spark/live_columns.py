"""Live columns: what a source has now, whatever is declared for it.

Files of one folder may have been written at different times: a column that only some have, or that
is wider in later ones, is part of the table all the same. Files that contradict each other are an
error, because nobody can say which of them is right.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rocky.datatypes.types import StructField
from rocky.datatypes.widening import is_lossless
from rocky.errors import SourceUnreadable
from rocky.project.sources import SourceTable
from rocky.spark.failures import SPARK_ERRORS, classify_failure
from rocky.spark.readers import open_source, telling
from rocky.spark.schemas import fields_of
from rocky.spark.source_files import PinnedFile, named, pin_files

_CANNOT_MERGE: Final = "CANNOT_MERGE_SCHEMAS"
_OPTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "csv": {"header": "true", "inferSchema": "true"},
    "json": {},
    "parquet": {"mergeSchema": "true"},
    "orc": {"mergeSchema": "true"},
}


def describe_source(session: Any, source: SourceTable, root: Path) -> tuple[StructField, ...]:
    """The columns of a source as Spark finds them. Raises SourceUnreadable."""
    with telling(source):
        if source.format not in _OPTIONS:
            return fields_of(open_source(session, source, root))
        pinned = pin_files(session, source, root)
        options = {**_OPTIONS[source.format], **source.options, "__globPaths__": "false"}
        if pinned.base is not None and "recursivefilelookup" not in map(str.lower, source.options):
            options["basePath"] = pinned.base
        reader = session.read.format(source.format).options(**options)
        try:
            return fields_of(reader.load([file.path for file in pinned.files]))
        except SPARK_ERRORS as error:
            if not (classify_failure(error).condition or "").startswith(_CANNOT_MERGE):
                raise
        return _merge(source, reader, pinned.files)


def _merge(
    source: SourceTable, reader: Any, files: Sequence[PinnedFile]
) -> tuple[StructField, ...]:
    """The columns of files whose types differ: of each column the widest."""
    found: dict[str, StructField] = {}
    for file in files:
        for field in fields_of(reader.load([file.path])):
            before = found.setdefault(field.name.lower(), field)
            if is_lossless(before.type, field.type):
                found[field.name.lower()] = field
            elif not is_lossless(field.type, before.type):
                raise SourceUnreadable(
                    f"{named(source)}: its files disagree about column `{field.name}`, which is"
                    f" `{before.type}` in one and `{field.type}` in another"
                )
    return tuple(found.values())
