"""Matches: which files hold the keys of some rows, and in which of them such a row differs.

A merge asks this of Spark. Of few rows and few files it is found here, in the time in which Spark
plans a query. Values are equal when Spark's `<=>` says so; of types for which that is not certain
nothing is said: text under a collation, CHAR, whatever is nested.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from rocky.errors import StoreUnreadable
from rocky.language.datatypes.types import INTEGRAL_KINDS, StringType, StructField
from rocky.store.data_file import DataFile
from rocky.store.parquet.rows import load_table
from rocky.store.warehouse import Table

_KEYS: Final = INTEGRAL_KINDS | {"date", "string", "decimal"}
_FLOATS: Final = frozenset({"float", "double"})
_VALUES: Final = _KEYS | _FLOATS | {"boolean", "timestamp", "timestamp_ntz"}
_OURS: Final = "__rocky_row"
_THEIRS: Final = "__rocky_file_row"


@dataclass(frozen=True, slots=True)
class Matches:
    """The names of the files that hold keys of some rows, and of those in which one differs.

    `new_rows` of the rows, or fewer, have their key in no file; `repeated` when two have one key,
    and nothing else is said then.
    """

    met: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    new_rows: int = 0
    repeated: bool = False


def find_matches(
    table: Table,
    rows: Sequence[DataFile],
    files: Sequence[DataFile],
    keys: Sequence[StructField],
    compared: Sequence[StructField],
) -> Matches | None:
    """What `files` hold of the keys of `rows`; None when that cannot be told here."""
    if not all(_is_one_of(each, _KEYS) for each in keys):
        return None
    if not all(_is_one_of(each, _VALUES) for each in compared):
        return None
    columns = tuple({each.name: each for each in (*keys, *compared)}.values())
    names = [each.name for each in keys]
    try:
        ours = pa.concat_tables(load_table(table, file, columns) for file in rows).combine_chunks()
        if any(ours[name].null_count for name in names):
            return None
        if ours.group_by(names).aggregate([]).num_rows != ours.num_rows:
            return Matches(repeated=True)
        met: dict[str, bool] = {}
        found = []
        for file in files:
            theirs, here = _pairs(load_table(table, file, keys), ours.select(names))
            if len(here):
                found.append(here)
                # Most files hold no key, and of the others few rows: the rest is read only here.
                beside = load_table(table, file, compared).take(theirs)
                met[file.name] = _differ(beside, ours.take(here), compared)
        held = len(pc.unique(pa.concat_arrays(found))) if found else 0
    except (StoreUnreadable, pa.ArrowException):
        # Spark is asked instead, and says what is wrong if something is.
        return None
    changed = frozenset(name for name, differs in met.items() if differs)
    return Matches(frozenset(met), changed, ours.num_rows - held)


def _pairs(theirs: Any, ours: Any) -> tuple[Any, Any]:
    """The rows of two tables of keys that have one key: their numbers there and here.

    The keys here have no nulls, and each of them is there once.
    """
    places = [
        pc.index_in(theirs[name], value_set=ours[name].combine_chunks())
        for name in theirs.column_names
    ]
    if len(places) == 1:
        (place,) = places
        return pc.indices_nonzero(pc.is_valid(place)), place.combine_chunks().drop_null()
    # A join looks at every row; what lacks a part of every key here needs none.
    likely = reduce(pc.and_, (pc.is_valid(place) for place in places))
    numbered = theirs.append_column(_THEIRS, _numbers(theirs)).filter(likely)
    known = ours.append_column(_OURS, _numbers(ours))
    pairs = numbered.join(known, theirs.column_names, join_type="inner").combine_chunks()
    return pairs[_THEIRS].combine_chunks(), pairs[_OURS].combine_chunks()


def _numbers(rows: Any) -> Any:
    """The numbers of the rows of a table."""
    return pc.cumulative_sum(pa.repeat(pa.scalar(1, pa.int64()), rows.num_rows), start=-1)


def _is_one_of(field: StructField, kinds: frozenset[str]) -> bool:
    if isinstance(field.type, StringType) and field.type.collation != "UTF8_BINARY":
        return False
    return field.type.kind in kinds


def _differ(some: Any, others: Any, columns: Sequence[StructField]) -> bool:
    """Whether two tables of as many rows differ somewhere."""
    return any(
        not _same(some[each.name], others[each.name], floating=each.type.kind in _FLOATS)
        for each in columns
    )


def _same(one: Any, other: Any, *, floating: bool) -> bool:
    same = pc.if_else(pc.is_null(one), pc.is_null(other), pc.equal(one, other))
    if floating:
        same = pc.or_kleene(same, pc.and_(pc.is_nan(one), pc.is_nan(other)))
    # A value beside a null compares to null.
    return bool(pc.all(pc.fill_null(same, False)).as_py())
