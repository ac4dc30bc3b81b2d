"""What is hidden in rows that somebody asks for: those of a relation, or of a query of one's own.

The columns of a query have what its lineage brings: a name, a function or a subquery around a
classified column hides nothing of it from here.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from rocky.analysis.compilation import Compilation
from rocky.analysis.disclosure import Disclosure, Secrets
from rocky.compiler.model_records import body_of
from rocky.language.binder.query import BoundQuery
from rocky.language.datatypes.types import StructField
from rocky.language.names import quote_name
from rocky.operations.workspace import Workspace
from rocky.plan.steps import Read
from rocky.run.prepare.caller import find_person
from rocky.store.delta.snapshot import Snapshot
from rocky.store.warehouse import Table


class Relation(NamedTuple):
    """What rows are asked of: a table at a snapshot, or something that is declared (`read`).

    `fields` are the columns that are wanted, `schema` all there are. A table at a snapshot may be
    that of something declared, too (`stored_as`).
    """

    name: str
    fields: tuple[StructField, ...]
    schema: tuple[StructField, ...]
    table: Table | None = None
    snapshot: Snapshot | None = None
    read: Read | None = None
    stored_as: Read | None = None

    @property
    def alias(self) -> str:
        """What a condition may call it."""
        return self.name.rpartition(".")[2]


class CheckedRows(NamedTuple):
    """A query that compiled, the models it reads, by key, and its columns.

    `bound` is what was found out of it; there is none of rows that are only chosen.
    """

    sql: str
    reads: tuple[Read, ...] = ()
    fields: tuple[StructField, ...] = ()
    bound: BoundQuery | None = None


def disclosure_for(workspace: Workspace, compilation: Compilation) -> Disclosure:
    """What may be seen by the person who is at work here."""
    return Disclosure(compilation, find_person(workspace.environment))


def secrets_of(
    looking: Disclosure, relation: Relation, fields: Sequence[StructField] | None = None
) -> tuple[Secrets, ...]:
    """What is hidden in the columns of a relation that are wanted, or in others of it."""
    names = [each.name for each in (relation.fields if fields is None else fields)]
    read = relation.read or relation.stored_as
    if read is not None:
        return tuple(looking.in_column(read.key, name) for name in names)
    return looking.in_stored(relation.table.name if relation.table else relation.name, names)


def secrets_in(
    looking: Disclosure,
    checked: CheckedRows,
    relation: Relation | None,
    fields: Sequence[StructField],
) -> tuple[Secrets, ...]:
    """What is hidden in the columns that Spark gives, which are `fields`."""
    if relation is not None:
        return secrets_of(looking, relation, fields)
    bound = checked.bound
    assert bound is not None
    known = bound.known and len(fields) == len(bound.columns)
    reads = [each.key for each in checked.reads]
    return looking.in_query(len(fields), body_of(bound), reads, known=known)


def secrets_read(
    looking: Disclosure, compilation: Compilation, checked: CheckedRows, relation: Relation | None
) -> Secrets:
    """What is hidden in anything that a query reads, and in all that is read for a preview."""
    reads = [each.key for each in checked.reads]
    if relation is not None:
        found = [one for each in secrets_of(looking, relation, relation.schema) for one in each]
        if found:
            return tuple(found)
        read = relation.read or relation.stored_as
        reads += [read.key] if read is not None else []
    above = {name.lower(): names for name, names in compilation.upstream.items()}
    seen: set[str] = set()
    while reads:
        key = reads.pop().lower()
        if key not in seen:
            seen.add(key)
            reads += above.get(key, ())
    return looking.in_tables(sorted(seen))


def without_values(frame: Any, fields: Sequence[StructField], secrets: Sequence[Secrets]) -> Any:
    """A frame with null in place of what is hidden; columns are meant by their places."""
    places = [f"c{index}" for index in range(len(fields))]
    cells = [
        f"{f'CAST(NULL AS {each.type.text})' if hidden else place} AS {quote_name(each.name)}"
        for place, each, hidden in zip(places, fields, secrets, strict=True)
    ]
    return frame.toDF(*places).selectExpr(*cells)
