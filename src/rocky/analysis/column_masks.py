"""The masks of a project's tables as values: of each column its SQL, and what cannot be masked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from rocky.canonical import ascii_json, text_hash
from rocky.language.datatypes.types import UNKNOWN, DataType
from rocky.project.configuration.masks import MaskStrategy


@dataclass(frozen=True, slots=True)
class ColumnMask:
    """How one column is masked. `sql` stands in its place; `strategies` are by field, "" for all.

    `form` is the same for a column that may be null: whether one may says nothing of the values
    that were masked. `key` tells the key of hashes from others, where the mask needs it. `hides`
    are all tags of the column that have a mask, whichever of them decides.
    """

    column: str
    tags: tuple[str, ...]
    strategies: tuple[tuple[str, MaskStrategy], ...]
    sql: str
    key: str | None = None
    form: str = ""
    type: DataType = UNKNOWN
    nullable: bool = True
    hides: tuple[str, ...] = ()

    @property
    def strategy(self) -> str:
        """The strategies as people write them."""
        return ", ".join(f"{path}: {each}" if path else str(each) for path, each in self.strategies)

    @property
    def distinct(self) -> bool:
        """Whether the masked column still tells different values apart."""
        return all(each.distinct for _, each in self.strategies)

    @property
    def document(self) -> dict[str, str]:
        """What is recorded of it, and hashed: another document is another table."""
        found = {"strategy": self.strategy, "sql": self.sql}
        return found if self.key is None else {**found, "key": self.key}


TableMasks = Mapping[str, ColumnMask]
"""The masks of a table, by lower-case column."""


class MaskProblem(NamedTuple):
    """Why a column cannot be masked as it should be.

    `kind` is `unfit`, `mixed`, `key`, or `keyless`, which is told once for all columns.
    """

    kind: str
    table: str
    column: str
    tag: str
    message: str
    help: str


@dataclass(frozen=True, slots=True)
class MaskPlan:
    """The masks of all tables of a project, in one environment.

    `clear` are models that have no table, such as views, with the columns that are clear in them
    and would be masked in a table. Tables of pipelines are among them as far as their columns are
    known: a run masks those that it finds. `catalog` are the masks of tables that are written clear
    and that a catalogue shows masked, by the same keys. `above` says of columns that arrive masked
    by which masks of other tables they are, as a digest each.
    """

    tables: Mapping[str, TableMasks] = field(default_factory=dict)
    clear: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    problems: tuple[MaskProblem, ...] = ()
    catalog: Mapping[str, TableMasks] = field(default_factory=dict)
    above: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def of(self, table: str) -> TableMasks:
        """The masks of the table of a model, a seed or a pipeline, by its key."""
        return self.tables.get(table, NO_TABLE_MASKS)

    def held(self, table: str) -> TableMasks:
        """The masks that a catalogue is to hold of a table, by its key."""
        return self.catalog.get(table, NO_TABLE_MASKS)


NO_TABLE_MASKS: Final[TableMasks] = {}


def documents_of(masks: TableMasks) -> dict[str, dict[str, str]]:
    """What is recorded of the masks of a table, by column as it is spelt."""
    return {each.column: each.document for each in masks.values()}


def digest_of(masks: TableMasks) -> str:
    """What tells the masks of a table from others; empty where nothing is masked."""
    said = {each.column: {**each.document, "sql": each.form or each.sql} for each in masks.values()}
    return text_hash(ascii_json(said)) if masks else ""


NO_MASK_PLAN: Final = MaskPlan()
