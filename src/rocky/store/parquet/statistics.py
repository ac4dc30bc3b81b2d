"""Statistics: what a footer lets Delta's readers skip, as the JSON text that a log keeps.

Every bound must hold for every row in every reader's order, or a reader drops rows: a bound that
is in doubt (NaN, infinity, a collation, a year no reader parses) is left out, and one that is
shortened is shortened outwards.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from rocky.language.datatypes.types import DataType, StringType, StructField, StructType
from rocky.store.parquet.footer import TRUSTED_WITH_NAN, Footer, Group, Leaf, Node

INDEXED_LEAVES: Final = 32
"""Delta keeps statistics of this many leaf columns, the first ones; so do we."""
PREFIX: Final = 32
"""Delta keeps this many characters of a string's bounds."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_HIGHEST_CHARACTER: Final = 0x10FFFF
_SURROGATES: Final = range(0xD800, 0xE000)

Bound = int | float | str | Decimal
Bounds = tuple[Bound | None, Bound | None]


def stats_of(
    footer: Footer, schema: Sequence[StructField], partition_columns: Sequence[str] = ()
) -> str:
    """Delta's statistics of a file: its rows and, by column name, lowest, highest and nulls."""
    gathered = _ColumnStatistics(footer.writer.startswith(TRUSTED_WITH_NAN))
    stored = [field for field in schema if field.name not in partition_columns]
    lows, highs, nulls = gathered.fields(stored, footer.columns)
    return _json(
        {"numRecords": footer.rows, "minValues": lows, "maxValues": highs, "nullCount": nulls}
    )


class _ColumnStatistics:
    """Walks the columns of a table until enough leaves are found."""

    def __init__(self, shows_nan: bool) -> None:  # noqa: FBT001 - the one thing it is told
        self._shows_nan = shows_nan
        self._left = INDEXED_LEAVES

    def fields(
        self, fields: Sequence[StructField], group: Group
    ) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        lows: dict[str, Any] = {}
        highs: dict[str, Any] = {}
        nulls: dict[str, Any] = {}
        for field in fields:
            if self._left == 0:
                break
            node = group.fields.get(field.name)
            below: tuple[Any, Any, Any]
            if isinstance(field.type, StructType) and isinstance(node, Group):
                below = self.fields(field.type.fields, node)
            else:
                self._left -= 1
                below = self._leaf(field.type, node)
            for found, kept in zip(below, (lows, highs, nulls), strict=True):
                if found is not None and found != {}:
                    kept[field.name] = found
        return lows, highs, nulls

    def _leaf(self, type: DataType, node: Node | None) -> tuple[Any, Any, Any]:  # noqa: A002 - the noun of `datatypes`
        if not isinstance(node, Leaf):
            return None, None, None
        low, high = bounds_of(node, type, shows_nan=self._shows_nan)
        return low, high, node.nulls


def bounds_of(leaf: Leaf, type: DataType, *, shows_nan: bool) -> Bounds:  # noqa: A002 - the noun of `datatypes`
    """The lowest and the highest value of a column as Delta writes them; None: not known."""
    rule = _RULES.get(type.kind)
    if rule is None or not leaf.bounds:
        return None, None
    if type.kind in {"float", "double"} and not shows_nan:
        return None, None
    if isinstance(type, StringType) and type.collation != "UTF8_BINARY":
        return None, None
    return rule(leaf)


def _integers(leaf: Leaf) -> Bounds:
    if not pa.types.is_integer(leaf.type):
        return None, None
    return _lowest(leaf), _highest(leaf)


def _floats(leaf: Leaf) -> Bounds:
    if not all(math.isfinite(bound) for pair in leaf.bounds for bound in pair):
        return None, None
    # Some readers order -0.0 below 0.0 and some hold them equal: zero reaches to both.
    return _lowest(leaf) or -0.0, _highest(leaf) or 0.0


def _decimals(leaf: Leaf) -> Bounds:
    if not pa.types.is_decimal(leaf.type):
        return None, None
    numbers = [
        bound if isinstance(bound, int) else int.from_bytes(bound, "big", signed=True)
        for pair in leaf.bounds
        for bound in pair
    ]
    scale = leaf.type.scale
    return _scaled(min(numbers), scale), _scaled(max(numbers), scale)


def _scaled(unscaled: int, scale: int) -> Decimal:
    # Built from its digits: arithmetic would round to the precision of the thread's context.
    digits = tuple(int(digit) for digit in str(abs(unscaled)))
    return Decimal((1 if unscaled < 0 else 0, digits, -scale))


def _dates(leaf: Leaf) -> Bounds:
    if not pa.types.is_date32(leaf.type):
        return None, None
    return _date_text(_lowest(leaf)), _date_text(_highest(leaf))


def _date_text(days: int) -> str | None:
    try:
        return (_EPOCH.date() + timedelta(days=days)).isoformat()
    except OverflowError:
        return None


def _instants(leaf: Leaf) -> Bounds:
    return _moments(leaf, "Z")


def _local_times(leaf: Leaf) -> Bounds:
    return _moments(leaf, "")


def _moments(leaf: Leaf, zone: str) -> Bounds:
    if not pa.types.is_timestamp(leaf.type) or leaf.type.unit != "us":
        return None, None
    # Delta keeps milliseconds: the low bound goes down to one, the high bound up.
    low = _lowest(leaf) // 1000
    high = -(-_highest(leaf) // 1000)
    return _moment_text(low, zone), _moment_text(high, zone)


def _moment_text(milliseconds: int, zone: str) -> str | None:
    try:
        moment = _EPOCH + milliseconds * _MILLISECOND
    except OverflowError:
        return None
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + zone


def _strings(leaf: Leaf) -> Bounds:
    try:
        low, high = _lowest(leaf).decode(), _highest(leaf).decode()
    except UnicodeDecodeError:
        return None, None
    return low[:PREFIX], shortened_high(high)


def shortened_high(text: str) -> str | None:
    """A short text no lower than any text that is at most `text`; None when there is none.

    The last character that has a next one becomes it: appending a high character instead would be
    too low for a text that goes on with higher ones.
    """
    if len(text) <= PREFIX:
        return text
    for at in range(PREFIX - 1, -1, -1):
        following = ord(text[at]) + 1
        if following in _SURROGATES:
            following = _SURROGATES.stop
        if following <= _HIGHEST_CHARACTER:
            return text[:at] + chr(following)
    return None


def _lowest(leaf: Leaf) -> Any:
    return min(low for low, _ in leaf.bounds)


def _highest(leaf: Leaf) -> Any:
    return max(high for _, high in leaf.bounds)


_RULES: Final[Mapping[str, Callable[[Leaf], Bounds]]] = {
    "tinyint": _integers,
    "smallint": _integers,
    "int": _integers,
    "bigint": _integers,
    "float": _floats,
    "double": _floats,
    "decimal": _decimals,
    "date": _dates,
    "timestamp": _instants,
    "timestamp_ntz": _local_times,
    "string": _strings,
    "char": _strings,
    "varchar": _strings,
}
"""The kinds Delta keeps bounds of: not booleans, binaries, intervals, arrays, maps, variants."""


def _json(value: Any) -> str:
    """JSON in which a decimal is a plain number with all its digits.

    Characters stand for themselves: some readers lose their way in a long row of escapes, take
    another text for the bound, and skip the file.
    """
    if isinstance(value, Mapping):
        pairs = (f"{_json(name)}:{_json(inner)}" for name, inner in value.items())
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, Decimal):
        return format(value, "f")
    return json.dumps(value, ensure_ascii=False)
