"""`[pipeline.X.classification]`: tags of the columns that a pipeline writes, by patterns of names.

A pipeline may copy a thousand tables that no file names. A key is `TABLE.COLUMN`, or a field as in
`TABLE.COLUMN.FIELD`: the name of a table without its schema, and that of a column, in which `*`
stands for any letters and `?` for one. Case makes no difference.
"""

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any, Final, NamedTuple

from rocky.project.configuration.classifications import NO_COLUMN_TAGS, ColumnTags
from rocky.project.toml.documents import Problem, Problems, ReadBy
from rocky.project.toml.records import INVALID, reader_for
from rocky.project.toml.variables import Keys

_WILD: Final = frozenset("*?[")


class ColumnPattern(NamedTuple):
    """One line of the settings, in lower case; `field` is the path inside the column, or ""."""

    written: str
    table: str
    column: str
    field: str
    tags: tuple[str, ...]

    def is_about(self, table: str) -> bool:
        """Whether it means columns of a table, by the table's name without schema."""
        return fnmatchcase(table.lower(), self.table)

    def fits(self, column: str) -> bool:
        """Whether it means a column of that name."""
        return fnmatchcase(column.lower(), self.column)

    @property
    def names_column(self) -> bool:
        """Whether it names one column, which needs no list of columns to be found."""
        return _WILD.isdisjoint(self.column)

    def at(self, column: str) -> str:
        """What it means in a column: the column, or a field of it."""
        return f"{column}.{self.field}" if self.field else column


def _read_patterns(value: Any, at: Keys, problems: Problems) -> Any:
    read = reader_for(ColumnTags)(value, at, problems)
    if read is INVALID:
        return INVALID
    for name in read:
        if not all(name.split(".")) or "." not in name:
            said = f"`{name}` does not say of which tables a column is meant"
            hint = f'write `"*.{name}"` for every table of the pipeline, or a name before the point'
            problems.append(Problem((*at, name), said, None if "." in name else hint))
    return read


ColumnPatterns = Annotated[Mapping[str, tuple[str, ...]], ReadBy(_read_patterns)]
"""Tags by pattern (`"*.email" = "pii"`), as they are written."""

NO_PATTERNS: Final = NO_COLUMN_TAGS


def parse_patterns(said: Mapping[str, tuple[str, ...]]) -> Iterator[ColumnPattern]:
    """The patterns of a pipeline, in the order of its settings."""
    for written, tags in said.items():
        table, _, rest = written.lower().partition(".")
        column, _, field = rest.partition(".")
        yield ColumnPattern(written, table, column, field, tags)


def place_patterns(
    patterns: Iterable[ColumnPattern], table: str, columns: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    """The tags that patterns give to columns of a table, by column or field."""
    meant = [each for each in patterns if each.is_about(table)]
    found: dict[str, tuple[str, ...]] = {}
    for column in columns if meant else ():
        for each in meant:
            if each.fits(column):
                name = each.at(column)
                found[name] = tuple(dict.fromkeys((*found.get(name, ()), *each.tags)))
    return found
