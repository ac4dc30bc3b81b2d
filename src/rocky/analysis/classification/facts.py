"""What is known of tags: which columns have them, since where, and along which way.

Names of tables and columns are compared without case. A tag that nobody declared has no facts.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from rocky.analysis.lineage import ColumnRef
from rocky.project.configuration.classifications import EVERY_COLUMN


class TagFact(NamedTuple):
    """A tag on a column of a table.

    `origin` is the column at which it was declared and `column` the one that has it: the same where
    `declared`. `field` is the dotted path inside the column that has the tag (`street`), "" for the
    whole of it. A `lowered` one came through a call that lowers tags, and is lowered no further.
    `before` is the fact that this one comes from, on the column before on the way; which of several
    ways that is, and how long, makes no other fact. There are as many as columns with tags.
    """

    tag: str
    origin: ColumnRef
    column: ColumnRef
    field: str = ""
    declared: bool = False
    lowered: bool = False
    before: "TagFact | None" = None
    distance: int = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TagFact) and self[:6] == other[:6]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self[:6])

    @property
    def path(self) -> tuple[ColumnRef, ...]:
        """The columns from the origin to this one, both included; of several ways a shortest."""
        return tuple(reversed([each.column for each in self.steps()]))

    def steps(self) -> Iterator["TagFact"]:
        """This fact, the one it comes from, and so on to that of the origin."""
        step: TagFact | None = self
        while step is not None:
            yield step
            step = step.before


class Declassified(NamedTuple):
    """A fact that a model took off one of its columns; `place` is that of the block saying so."""

    model: str
    place: int
    fact: TagFact


Columns = Mapping[str, tuple[TagFact, ...]]
NO_COLUMNS: Final[Columns] = MappingProxyType({})


class Classifications:
    """The tags of all columns of a compiled project.

    Of a column there is one fact a tag, or one a tag and field while the whole column does not have
    it: of several origins the nearest. A tag is there when any value of the column may hold, or be
    computed from, a value that was tagged, unless a rule of `survival` ends it or a model
    declassifies it; a column without facts was made from no tagged one.
    """

    __slots__ = ("_ended", "_influences", "_tables", "declassified")

    def __init__(
        self,
        tables: Mapping[str, Columns] = MappingProxyType({}),
        influences: Mapping[str, tuple[TagFact, ...]] = MappingProxyType({}),
        ended: Mapping[str, Columns] = MappingProxyType({}),
        declassified: tuple[Declassified, ...] = (),
    ) -> None:
        """Facts by lower-case names of tables, and of columns in them.

        `declassified` are those that models took off their columns.
        """
        self.declassified = declassified
        self._tables = tables
        self._influences = influences
        self._ended = ended

    def __bool__(self) -> bool:
        """Whether any column has a tag."""
        return bool(self._tables)

    def __iter__(self) -> Iterator[str]:
        """The lower-case names of the tables that have a tagged column."""
        return iter(self._tables)

    def of(self, table: str, column: str) -> tuple[TagFact, ...]:
        """The tags of a column. Of a table whose columns are unknown, those of all its columns."""
        columns = self._tables.get(table.lower(), NO_COLUMNS)
        found = columns.get(column.lower())
        return columns.get(EVERY_COLUMN, ()) if found is None else found

    def table(self, table: str) -> Columns:
        """The tagged columns of a table, by lower-case name.

        The key `*` is there for a table whose columns are not known: it holds for each of them.
        """
        return self._tables.get(table.lower(), NO_COLUMNS)

    def influences(self, table: str) -> tuple[TagFact, ...]:
        """Tags that decide which rows a table has, or their order, without being in a value.

        One fact a tag; its `column` is what the rows are filtered, joined, grouped or ordered by,
        in this model or in one that it reads.
        """
        return self._influences.get(table.lower(), ())

    def ended(self, table: str) -> Columns:
        """Tags that a rule ended in the columns of a table, by lower-case name.

        The facts are those of the columns that the table reads. Another way may still bring the
        tag to the column: `of` says what it has.
        """
        return self._ended.get(table.lower(), NO_COLUMNS)


NO_FACTS: Final = Classifications()
