"""The cell of a CSV file of a source that Spark could not read: its line and column in the file.

Spark names the file and the value and not the place, so the file is looked at once more. What is
not plain (another quote, an encoding, a file that is large or elsewhere) has no place.
"""

import re
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from rocky.diagnostics.diagnostic import SourceText, format_place
from rocky.language.datatypes.types import StructField
from rocky.project.seed_cells import cell_places
from rocky.project.seed_values import fits_of
from rocky.project.sources import SourceTable
from rocky.spark.interface import Failure

_FILE: Final = re.compile(r"reading file (?P<file>\S+?)\.(?:\s|$)")
_PLAIN: Final = frozenset({"header", "sep", "delimiter"})
_DELIMITERS: Final = ("delimiter", "sep")
_LARGEST: Final = 32 * 1024 * 1024


class UnfitCell(NamedTuple):
    """Where a cell stands, as `data/orders.csv:4:3`, and the column that it is no value of."""

    place: str
    column: StructField


def find_file(failure: Failure) -> Path | None:
    """The local file that Spark was reading; None where it names none."""
    found = _FILE.search(failure.message) or _FILE.search(failure.trace)
    if found is None:
        return None
    parts = urlsplit(found["file"])
    return Path(unquote(parts.path)) if parts.scheme in ("", "file") else None


def find_unfit_cell(failure: Failure, source: SourceTable, root: Path) -> UnfitCell | None:
    """The first cell that is no value of its column and whose text Spark tells."""
    options = {name.lower(): value for name, value in source.options.items()}
    path = find_file(failure)
    if source.format != "csv" or path is None or not options.keys() <= _PLAIN:
        return None
    delimiter = next((options[each] for each in _DELIMITERS if each in options), ",")
    try:
        if len(delimiter) != 1 or path.stat().st_size > _LARGEST:
            return None
        text = path.read_bytes().decode()
    except (OSError, ValueError):
        return None
    has_header = options.get("header", "true").lower() == "true"
    own = path.relative_to(root) if path.is_relative_to(root) else path
    file = SourceText(own.as_posix(), text)
    checks = [(each, fits_of(each.type)) for each in source.columns]
    for spans in islice(cell_places(text, delimiter), int(has_header), None):
        for span, (column, fits) in zip(spans, checks, strict=False):
            cell = text[span.start : span.end]
            if fits is None or not cell or cell.startswith('"') or fits(cell):
                continue
            if cell in failure.message:
                return UnfitCell(format_place(file.path, file, span), column)
    return None
