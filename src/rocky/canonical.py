"""Canonical JSON: the one home of the bytes that are hashed, signed or compared to the letter.

Hashes in ledgers, plans, approvals and tables were made of exactly these bytes, so no function here
ever changes what it writes: another form is another function, and there are several only because
recorded hashes hold them apart. What is new uses `canonical_json` and `text_hash`.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from blake3 import blake3

_COMPACT: Final = (",", ":")
_SORTED: Final = json.JSONEncoder(sort_keys=True, separators=_COMPACT, ensure_ascii=False)
_FINITE: Final = json.JSONEncoder(
    sort_keys=True, separators=_COMPACT, ensure_ascii=False, allow_nan=False
)
_ORDERED: Final = json.JSONEncoder(separators=_COMPACT, ensure_ascii=False)
_LINE: Final = json.JSONEncoder(sort_keys=True, ensure_ascii=False)


def canonical_json(document: Any) -> str:
    """Sorted keys, no white space, valid UTF-8: a name that is not becomes JSON escapes."""
    return _escape_surrogates(_SORTED.encode(document))


def record_json(document: Mapping[str, Any] | list[Any]) -> str:
    """`canonical_json` of a row of the ledger. Raises ValueError for NaN and infinities.

    SQLite's own JSON functions, which the ledger is queried with, cannot read those.
    """
    return _escape_surrogates(_FINITE.encode(document))


def record_json_of_list(document: Mapping[str, Any], name: str, items: Iterable[str]) -> str:
    """`record_json` of a document that has a list under `name`, whose items are encoded already.

    A list of ten thousands takes as many times its text where it is decoded as a whole.
    """
    before = record_json({key: value for key, value in document.items() if key < name})[1:-1]
    after = record_json({key: value for key, value in document.items() if key > name})[1:-1]
    listed = f'"{name}":[{",".join(items)}]'
    return f"{{{','.join(part for part in (before, listed, after) if part)}}}"


def sorted_json(document: Any) -> str:
    """`canonical_json` with surrogates as they are, which `text_hash` takes: of interfaces."""
    return _SORTED.encode(document)


def ordered_json(document: Mapping[str, Any]) -> str:
    """`sorted_json` of a document whose keys stand in order already: of a model's IR.

    Every compile encodes every model, and sorting again would cost more than the rest of it.
    """
    return _ORDERED.encode(document)


def ascii_json(document: Any, *, default: Callable[[Any], Any] | None = None) -> str:
    """Sorted keys, spaces after commas and colons, ASCII only: of settings, seeds and journals."""
    return json.dumps(document, sort_keys=True, default=default)


def line_json(document: Any) -> str:
    """Sorted keys, spaces after commas and colons: of what people read too, as watermarks."""
    return _LINE.encode(document)


def text_hash(text: str) -> str:
    """The BLAKE3 hash of a text: of the SQL handed to Spark, of a model's IR, of canonical JSON."""
    return blake3(text.encode("utf-8", "surrogatepass")).hexdigest()


def _escape_surrogates(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
