"""Keyed hashes in a session: HMAC-SHA-256 of values, by functions that have the key inside.

Spark has no such function, and one written in SQL would show the key to every plan and event log.
The key goes to executors as part of a function's code, and is in no text that Spark keeps.
"""

import re
from collections.abc import Callable
from hashlib import sha256
from threading import Lock
from typing import Any, Final

from pyspark.sql import types as s
from pyspark.sql.functions import arrow_udf

from rocky.analysis.masks.expressions import HASH_ARRAYS, HASH_FUNCTIONS, HASH_NAMES
from rocky.errors import ModelFailed

_WORD: Final = re.compile(r"\w+")
_BLOCK: Final = 64
_TYPES: Final = {"string": s.StringType(), "binary": s.BinaryType(), "bigint": s.LongType()}


def _hashes(key: bytes, kind: str, *, arrays: bool) -> Callable[[Any], Any]:
    """A function from an Arrow array of values, or of arrays of them, to their hashes.

    Defined inside, with its imports, so that it is sent to executors by value: Rocky need not be
    there.
    """
    if len(key) > _BLOCK:
        key = sha256(key).digest()
    # What HMAC begins its two hashes with; made once, it saves most of the time of each value.
    inner_pad = bytes(each ^ 0x36 for each in key.ljust(_BLOCK, b"\0"))
    outer_pad = bytes(each ^ 0x5C for each in key.ljust(_BLOCK, b"\0"))

    def hashes(values):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 - hints are set later
        import hashlib  # noqa: PLC0415 - on the executor

        import pyarrow as pa  # noqa: PLC0415 - as above

        inner, outer = hashlib.sha256(inner_pad), hashlib.sha256(outer_pad)

        def digest(value):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 - any value
            if value is None:
                return None
            first, last = inner.copy(), outer.copy()
            if kind == "string":
                first.update(value.encode())
            elif kind == "binary":
                first.update(value)
            else:
                first.update(value.to_bytes(8, "big", signed=True))
            last.update(first.digest())
            if kind == "string":
                return last.hexdigest()
            if kind == "binary":
                return last.digest()
            return int.from_bytes(last.digest()[:8], "big", signed=True)

        kinds = {"string": pa.string(), "binary": pa.binary(), "bigint": pa.int64()}
        found = values.to_pylist()
        if not arrays:
            return pa.array([digest(each) for each in found], kinds[kind])
        made = [None if row is None else [digest(each) for each in row] for row in found]
        return pa.array(made, pa.list_(kinds[kind]))

    return hashes


class KeyedHashes:
    """The keyed hashes of one session, made when a query first names one. Thread-safe."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._key: bytes | None = None
        self._made: set[str] = set()
        self._lock = Lock()

    def hold(self, key: str) -> None:
        """Hash with this key from now on."""
        with self._lock:
            self._key = key.encode()
            self._made.clear()

    def make_named(self, text: str) -> None:
        """Make the functions whose names stand in a text. Raises ModelFailed without a key."""
        if "rocky_keyed_hash" not in text:
            return
        for name in sorted(set(_WORD.findall(text)) & HASH_NAMES):
            with self._lock:
                if name not in self._made:
                    self._make(name)

    def _make(self, name: str) -> None:
        if self._key is None:
            raise ModelFailed(
                "a mask needs the key of hashes, and there is none:"
                " set `hash_key` in `[governance]`"
            )
        arrays = name in HASH_ARRAYS.values()
        names = HASH_ARRAYS if arrays else HASH_FUNCTIONS
        kind = next(kind for kind, each in names.items() if each == name)
        code = _hashes(self._key, kind, arrays=arrays)
        import pyarrow as pa  # noqa: PLC0415 - told to Spark by a hint alone

        code.__annotations__ = {"values": pa.Array, "return": pa.Array}
        returns = s.ArrayType(_TYPES[kind]) if arrays else _TYPES[kind]
        self._session.udf.register(name, arrow_udf(code, returns))
        self._made.add(name)
