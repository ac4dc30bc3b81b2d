"""The chain: one numbered entry for each write of evidence, each with the hash of the one before.

Whoever changes, removes or reorders a row leaves an entry that does not fit, unless all entries
after it are made anew: then the head changes, which the tables' own logs have written down. A row
must match the newest entry of its table and key; older entries tell of values since replaced. So
a changed row with a new entry at the end fits the chain itself: that it was written once, by a run
that was under way, and is covered by the anchor is for `rocky.evidence` to check.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from blake3 import blake3

from rocky.canonical import record_json, text_hash

CHAIN_TABLE: Final = "evidence_chain"
GENESIS: Final = "0" * 64
"""What the first entry has as its `previous`."""

CHAINED: Final = (
    "run_history",
    "model_executions",
    "output_artifacts",
    "input_index",
    "input_provenance",
    "branches",
    "watermarks",
    "check_history",
    "partitions",
    "grace_periods",
    "loaded_files",
    "collected_files",
    "sweeps",
    "promotions",
    "erasures",
    "governance",
)
"""The tables that are evidence. The others are state for the next run, and prove nothing."""

FENCE_COUNTER: Final = "fence"
"""The row of `metadata` with the highest fencing token that was given."""
LEDGER_ID: Final = "ledger_id"
"""The one row of `metadata` that is chained: the first entry says whose chain it is."""


class MalformedEntry(ValueError):
    """A text that is not an entry; says what is wrong with it."""


class Head(NamedTuple):
    """Where a chain ends: the number and hash of its last entry."""

    seq: int
    entry_hash: str


BEFORE_FIRST: Final = Head(0, GENESIS)


@dataclass(frozen=True, slots=True)
class Entry:
    """That a row was written, or removed: then it has no `value_hash`."""

    seq: int
    table: str
    key: str
    previous: str
    value_hash: str | None
    removed: bool
    entry_hash: str

    @property
    def head(self) -> Head:
        return Head(self.seq, self.entry_hash)


def make_entry(head: Head, table: str, key: str, value: str | None) -> Entry:
    """The entry after `head`, for a row's value as it is stored; None when the row is removed."""
    said = value_hash(value) if value is not None else None
    document = _document(head.seq + 1, table, key, head.entry_hash, said)
    return Entry(head.seq + 1, table, key, head.entry_hash, said, value is None, _hash(document))


def format_entry(entry: Entry) -> str:
    """An entry as it is stored."""
    return record_json({**_document_of(entry), "entry_hash": entry.entry_hash})


_DIGEST: Final = "([0-9a-f]{64})"
# What a text of this form is read as is also what it was written from: all of it is printable
# ASCII without a quote or a backslash, which JSON spells in one way only.
_PLAIN: Final = re.compile(
    rf'{{"entry_hash":"{_DIGEST}","key":"([ !#-\[\]-~]*)","previous":"{_DIGEST}"(,"removed":true)?'
    rf',"seq":(0|[1-9][0-9]{{0,17}}),"table":"([a-z_]+)"(?:,"value_hash":"{_DIGEST}")?}}'
)


def parse_entry(text: str) -> Entry:
    """The entry in a stored text. Raises MalformedEntry unless it is one to the letter."""
    plain = _PLAIN.fullmatch(text)
    if plain is None or (plain[4] is None) == (plain[7] is None):
        return _parse_any(text)
    digest, key, previous, removed, seq, table, said = plain.groups()
    return Entry(int(seq), table, key, previous, said, removed is not None, digest)


def _parse_any(text: str) -> Entry:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as wrong:
        raise MalformedEntry(f"not JSON: {wrong}") from wrong
    if not isinstance(found, dict):
        raise MalformedEntry("not a JSON object")
    removed = found.get("removed") is True
    entry = Entry(
        _field(found, "seq", int),
        _field(found, "table", str),
        _field(found, "key", str),
        _field(found, "previous", str),
        None if removed else _field(found, "value_hash", str),
        removed,
        _field(found, "entry_hash", str),
    )
    # Spaces, further keys and other spellings of the same would be changes that no hash shows.
    if format_entry(entry) != text:
        raise MalformedEntry("not in the form of an entry")
    return entry


STARTS: Final = '{"entry_hash":"'
_HASHED_FROM: Final = len(STARTS) + len(GENESIS) + len('",')


def check_entry(entry: Entry, previous: Head, text: str) -> str | None:
    """Why an entry cannot follow `previous`; None when it does.

    `text` is what it was read from. Its own hash is the first of its sorted keys, so that what was
    hashed is the text without it, and need not be written again for every entry.
    """
    if entry.seq != previous.seq + 1:
        return f"has number {entry.seq} where {previous.seq + 1} is due"
    if entry.previous != previous.entry_hash:
        return "does not name the hash of the entry before it"
    hashed = f"{{{text[_HASHED_FROM:]}".encode("utf-8", "surrogateescape")
    if not text.startswith(STARTS) or entry.entry_hash != blake3(hashed).hexdigest():
        return "does not have the hash of what it says"
    return None


def entry_key(seq: int) -> str:
    """The key an entry is stored under: digits that sort as numbers do."""
    return f"{seq:012d}"


def value_hash(value: str) -> str:
    """The hash of a row's value as it is stored, byte for byte."""
    return blake3(value.encode("utf-8", "surrogateescape")).hexdigest()


def is_chained(table: str, key: str) -> bool:
    """Whether a row is evidence."""
    return table in _CHAINED or (table == "metadata" and key == LEDGER_ID)


_CHAINED: Final = frozenset(CHAINED)


def _document_of(entry: Entry) -> dict[str, Any]:
    return _document(entry.seq, entry.table, entry.key, entry.previous, entry.value_hash)


def _document(seq: int, table: str, key: str, previous: str, said: str | None) -> dict[str, Any]:
    document: dict[str, Any] = {"key": key, "previous": previous, "seq": seq, "table": table}
    return {**document, **({"removed": True} if said is None else {"value_hash": said})}


def _hash(document: dict[str, Any]) -> str:
    return text_hash(record_json(document))


def _field(found: dict[str, Any], name: str, kind: type) -> Any:
    value = found.get(name)
    if type(value) is not kind:
        raise MalformedEntry(f"`{name}` is not {'a number' if kind is int else 'a text'}")
    return value
