"""Quarantine: error-severity assertions about rows as queries that put failing rows aside.

One condition decides for all the queries of a table, is never NULL and knows the present moment as
a constant: so that each row of the input is in exactly one of the two tables, whenever they are
built. A table that is tagged is rewritten from its pinned version in one commit, and without the
tags it had, so that tagging twice is tagging once; rows that another writer has committed meanwhile
would be gone, so that meeting them is a conflict.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from rocky.errors import ConcurrentChange, RockyError
from rocky.language.datatypes.types import StructField
from rocky.language.names import quote_name
from rocky.project.configuration.model import ABOUT_ROWS, AssertionRecord
from rocky.project.configuration.pipelines import Quarantine
from rocky.project.models import Target
from rocky.run.checks.assertion_sql import AssertionSubject, Unanswerable, row_condition
from rocky.run.engine.sql import UnwritableValue
from rocky.run.materialize.build import Build, Built, Materialize
from rocky.store.delta.change import Change
from rocky.store.delta.snapshot import ROWS_HASH, Snapshot

TAG: Final = "_quarantined"
ERROR_PREFIX: Final = "_error_"
_UNFIT: Final = re.compile(r"[^a-z0-9_]+")


class QuarantineRefused(RockyError):
    """A table whose rows cannot be put aside: an assertion or a column stands in the way."""


class QuarantineTable(NamedTuple):
    """A table to write: a query over the input, and what the table is for."""

    target: Target
    sql: str
    note: str


class QuarantineInput(NamedTuple):
    """What is split or tagged: the checked table, its columns and what SQL calls it."""

    target: Target
    columns: Sequence[StructField]
    relation: str


def plan_quarantine(
    given: QuarantineInput,
    assertions: Iterable[AssertionRecord],
    settings: Quarantine,
    now: datetime,
) -> tuple[QuarantineTable, ...]:
    """The tables to write, in their order; none when no assertion is about rows.

    Raises QuarantineRefused when one assertion cannot be put as a condition: rows that it should
    have caught must not pass as valid.
    """
    deciding = [each for each in assertions if each.type in ABOUT_ROWS and each.severity == "error"]
    if not deciding:
        return ()
    columns = untagged_columns(given.columns) if settings.mode == "tag" else list(given.columns)
    failing = _conditions(deciding, columns, now)
    _refuse_taken(columns, (TAG, *failing) if settings.mode == "tag" else failing)
    if settings.mode == "tag":
        return (_tagged(given, columns, failing),)
    valid = _valid(given, columns, failing, settings.suffix_valid)
    if settings.mode == "drop":
        return (valid,)
    return (_set_aside(given, columns, failing, settings.suffix_quarantine), valid)


def untagged_columns(columns: Sequence[StructField]) -> list[StructField]:
    """The columns of a table without the tags of an earlier run, which are always its last.

    A column of somebody's own that begins like a tag stays: only flags that follow the tag go.
    """
    at = next((index for index, each in enumerate(columns) if each.name == TAG), None)
    if at is None or not all(_is_tag(each) for each in columns[at:]):
        return list(columns)
    return list(columns[:at])


def names_of_quarantine(tables: Iterable[str], settings: Quarantine) -> set[str]:
    """The names, in lower case, of what quarantine makes of the tables of a schema."""
    if not settings.enabled or settings.mode == "tag":
        return set()
    suffixes = (settings.suffix_valid, settings.suffix_quarantine)
    return {f"{table}{suffix}".lower() for table in tables for suffix in suffixes}


def _is_tag(column: StructField) -> bool:
    named = column.name == TAG or column.name.startswith(ERROR_PREFIX)
    return named and column.type.kind == "boolean"


def _conditions(
    assertions: Sequence[AssertionRecord], columns: Sequence[StructField], now: datetime
) -> dict[str, str]:
    """By the name of its column, the condition of a row that an assertion fails: never NULL."""
    types = {each.name.lower(): each.type for each in columns}
    found: dict[str, str] = {}
    for each in assertions:
        if each.column is not None and each.column.lower() not in types:
            raise QuarantineRefused(
                f"assertion `{each.called}`: the table has no column `{each.column}`"
            )
        try:
            wrong = row_condition(each, AssertionSubject("", types, now=now))
        except (Unanswerable, UnwritableValue) as failure:
            raise QuarantineRefused(f"assertion `{each.called}`: {failure}") from failure
        found[_label(each, found)] = f"coalesce({wrong}, FALSE)"
    return found


def _label(assertion: AssertionRecord, taken: Iterable[str]) -> str:
    """`_error_` and the assertion's name, made unique."""
    plain = ERROR_PREFIX + _UNFIT.sub("_", assertion.called.lower()).strip("_")
    label, number = plain, 1
    while label in taken:
        number += 1
        label = f"{plain}_{number}"
    return label


def _refuse_taken(columns: Sequence[StructField], added: Iterable[str]) -> None:
    names = {each.name.lower() for each in columns}
    for name in added:
        if name in names:
            raise QuarantineRefused(
                f"the table has a column `{name}` of its own; rename it, or name the assertion"
            )


def _tagged(
    given: QuarantineInput, columns: Sequence[StructField], failing: dict[str, str]
) -> QuarantineTable:
    cells = [*_names(columns), f"{_any(failing)} AS {quote_name(TAG)}", *_errors(failing)]
    sql = f"SELECT {', '.join(cells)} FROM {given.relation}"  # noqa: S608 - names are quoted
    return QuarantineTable(given.target, sql, "every row, tagged")


def _set_aside(
    given: QuarantineInput, columns: Sequence[StructField], failing: dict[str, str], suffix: str
) -> QuarantineTable:
    cells = ", ".join([*_names(columns), *_errors(failing)])
    sql = f"SELECT {cells} FROM {given.relation} WHERE {_any(failing)}"  # noqa: S608 - names are quoted
    return QuarantineTable(_table_beside(given.target, suffix), sql, "rows that break an assertion")


def _valid(
    given: QuarantineInput, columns: Sequence[StructField], failing: dict[str, str], suffix: str
) -> QuarantineTable:
    cells = ", ".join(_names(columns))
    sql = f"SELECT {cells} FROM {given.relation} WHERE NOT {_any(failing)}"  # noqa: S608 - names are quoted
    return QuarantineTable(_table_beside(given.target, suffix), sql, "rows that break no assertion")


def _names(columns: Iterable[StructField]) -> list[str]:
    return [quote_name(each.name) for each in columns]


def _errors(failing: dict[str, str]) -> list[str]:
    return [f"{condition} AS {quote_name(name)}" for name, condition in failing.items()]


def _any(failing: dict[str, str]) -> str:
    return f"({' OR '.join(failing.values())})"


def _table_beside(target: Target, suffix: str) -> Target:
    return target._replace(table=f"{target.table}{suffix}")


def materialize_tagged(pinned: Mapping[str, Snapshot]) -> Materialize:
    """How tables are built when some, by full name, are rewritten from a pinned version."""

    def build_table(build: Build) -> Built:
        base = pinned.get(build.model.name)
        if base is not None:
            return _rewrite_tagged(build, base)
        from rocky.run.materialize.strategy import materialize  # noqa: PLC0415 - knows pyspark

        return materialize(build)

    return build_table


def _rewrite_tagged(build: Build, base: Snapshot) -> Built:
    found = build.table.snapshot()
    if found is None or found.version != base.version:
        raise ConcurrentChange(
            f"another writer changed table `{build.table.name}` since it was checked; run again"
        )
    # It knows pyspark, which planning must not load.
    from rocky.run.materialize.workspace import open_workspace  # noqa: PLC0415

    with open_workspace(build) as workspace:
        workspace.bind_source(build.query)
        written = workspace.write(
            f"SELECT * FROM {workspace.source}",  # noqa: S608 - our own view
            workspace.columns,
            build.layout,
            frozenset(),
        )
    committed = build.table.commit(
        Change(
            "OVERWRITE",
            found,
            workspace.columns,
            base.partition_columns,
            written.files,
            frozenset(file.path for file in base.files),
            {ROWS_HASH: written.rows_hash},
            build.commit_info,
            authority=build.authority,
        )
    )
    action = "tagged" if committed.added or committed.removed else "same content"
    return Built(build.query or "", (committed,), written.rows, written.rows_hash, action)
