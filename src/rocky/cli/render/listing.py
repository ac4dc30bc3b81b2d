"""A listing: a line for each thing of a project, what is said of it last.

Columns in which nothing stands are left out. On a narrow terminal descriptions end after a whole
word and paths lose folders from their middle; then whole columns go.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from rocky.cli.render.tables import Fitted, Room, elide, render_table
from rocky.diagnostics.render.terminal import lay_out

_ELLIPSIS: Final = "..."


class ListingRow(NamedTuple):
    """A thing by its texts; those it does not have are empty."""

    name: str
    kind: str
    strategy: str = ""
    owner: str = ""
    tags: str = ""
    columns: str = ""
    upstream: str = ""
    downstream: str = ""
    file: str = ""
    description: str = ""
    models: str = ""
    after: str = ""


_ORDER: Final = (
    *("name", "kind", "strategy", "models", "after", "owner", "tags", "columns", "upstream"),
    *("downstream", "file", "description"),
)
_NUMBERS: Final = frozenset({"columns", "upstream", "downstream", "models"})
_ALWAYS: Final = frozenset({"name", "kind"})
_COUNTS: Final = ("upstream", "downstream", "columns")
_EXPENDABLE: Final = (*_COUNTS, "file", "after", "strategy", "tags")
"""What goes, in this order."""


def shorten_text(text: str, width: int) -> str:
    """At most `width` characters of a text, ended after a whole word; of a huge word its ends."""
    if len(text) <= width:
        return text
    kept = ""
    for word in text.split(" "):
        if len(kept) + len(word) + len(f" {_ELLIPSIS}") > width:
            break
        kept += f"{word} "
    return f"{kept}{_ELLIPSIS}" if kept else elide(text, width, blocks=False)


def _shortest(path: str) -> int:
    """The length of a path that has lost all its folders and says so."""
    return min(len(path), len(f"{_ELLIPSIS}/") + len(path.rpartition("/")[2]))


def shorten_path(path: str, width: int) -> str:
    """At most `width` characters of a path: folders go from its middle, then from its start."""
    if len(path) <= width:
        return path
    first, *rest = path.split("/")
    for start in range(1, len(rest)):
        for begin in (f"{first}/{_ELLIPSIS}/", f"{_ELLIPSIS}/"):
            short = begin + "/".join(rest[start:])
            if len(short) <= width:
                return short
    last = rest[-1] if rest else first
    return last if len(last) <= width else elide(last, width, blocks=False)


_COMFORT: Final[Mapping[str, int]] = {"description": 40}
"""So much of a text is worth more than counts of neighbours."""
_LEAST: Final[Mapping[str, int]] = {"description": 16, "tags": 10}
_SHORTEN: Final[Mapping[str, Callable[[str, int], str]]] = {
    "file": shorten_path,
    "description": shorten_text,
    "tags": shorten_text,
}


def render_listing(rows: Sequence[ListingRow], width: int | None) -> Fitted:
    """The table, and the heads of the columns that a terminal of this width has no room for."""
    shown = [_visible(row) for row in rows]
    kept = [name for name in _ORDER if name in _ALWAYS or any(getattr(row, name) for row in shown)]
    sizes = {name: max(len(name), *(len(getattr(row, name)) for row in shown), 0) for name in kept}
    least = {name: min(size, _LEAST.get(name, size)) for name, size in sizes.items()}
    least["file"] = max(len("file"), *(_shortest(row.file) for row in shown), 0)
    room = Room(width)
    dropped: list[str] = []
    comfort = {**least, **{k: min(v, sizes.get(k, 0)) for k, v in _COMFORT.items()}}
    for wanted, expendable in ((comfort, _COUNTS), (least, _EXPENDABLE)):
        for name in expendable:
            if room.spare(wanted[each] for each in kept) >= 0:
                break
            if name in kept:
                kept.remove(name)
                dropped.append(name.upper())
    spare = max(0, room.spare(least[each] for each in kept))
    for name, up_to in (
        ("tags", sizes),
        ("description", comfort),
        ("file", sizes),
        ("description", sizes),
    ):
        if name in kept:
            more = min(spare, max(0, up_to[name] - least[name]))
            least[name] += more
            spare -= more
    body = [[_fit(name, getattr(row, name), least[name]) for name in kept] for row in shown]
    right = {place for place, name in enumerate(kept) if name in _NUMBERS}
    return Fitted(render_table([name.upper() for name in kept], body, right), tuple(dropped))


def _visible(row: ListingRow) -> ListingRow:
    """A row on one line, control characters made visible."""
    return ListingRow(*(lay_out(" ".join(text.split())).shown for text in row))


def _fit(name: str, text: str, width: int) -> str:
    shorten = _SHORTEN.get(name)
    return text if shorten is None else shorten(text, width)
