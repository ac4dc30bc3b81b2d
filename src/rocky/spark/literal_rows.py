"""Literal rows as a DataFrame: the fixtures of unit tests, typed by the columns they stand for.

Rows travel as JSON text and Spark reads them with the columns' own types, so a date is written as
"2026-05-30" and a decimal as "12.50", and what does not fit is refused, not made null.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from pyspark.sql import functions as f

from rocky.datatypes.types import StructField


def literal_rows(
    session: Any,
    fields: Sequence[StructField],
    rows: Sequence[Mapping[str, Any]],
    schema: Any,
) -> Any:
    """The rows as a frame of that schema; absent columns are null."""
    names = {field.name.lower(): field.name for field in fields}
    texts = [
        (json.dumps({names[key.lower()]: _plain(value) for key, value in row.items()}),)
        for row in rows
    ]
    frame = session.createDataFrame(texts, "line string")
    read = f.from_json(f.col("line"), schema, {"mode": "FAILFAST"}).alias("row")
    return frame.select(read).select("row.*")


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value
