"""Identity: what a model was made from, as one hash that anyone can compute again.

`input_hash` covers what can change a row (the skip hash), the target, and what each input was. An
input that was identified by its content makes the proof `strong`; a list of files makes it
`heuristic`; an input nobody can tell from its earlier self makes no hash at all, and a hash that is
absent equals nothing.

The same hash over the *rows* of the inputs instead of their files is the cut-off hash: a table that
was written anew with the same rows leaves its readers alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from rocky.datatypes.text import field_to_json
from rocky.datatypes.types import StructField
from rocky.evidence.hashes import (
    canonical_json,
    content_hash,
    input_hash_of,
    source_hash,
    text_hash,
)
from rocky.ir.fingerprint import SkipHash
from rocky.ledger.provenance import SourceFile
from rocky.run.engine import SourcePin
from rocky.store.files import is_addressed
from rocky.store.snapshot import ROWS_HASH, Snapshot

ProofClass = Literal["strong", "heuristic"]


@dataclass(frozen=True, slots=True)
class Identity:
    """What one input was: `value` under a kind that says what it is a value of.

    `content` is a hash of bytes; `rows` the hash of a table's rows; `inline` the input hash of a
    query that stands for a table; `listing` a hash of files' names, sizes and times; `version`
    whatever a format calls one. `beside` is what else must be equal: of a source its declaration,
    of a table its columns.
    """

    kind: Literal["content", "rows", "inline", "listing", "version"]
    key: str
    value: str
    strong: bool
    beside: tuple[str, str] | None = None

    def document(self) -> dict[str, str]:
        """The identity as it is hashed and recorded."""
        names = {"rows": "rows_hash", "inline": "input_hash", "version": "version"}
        found = {
            "kind": self.kind,
            "upstream_key": self.key,
            names.get(self.kind, "blake3_hash"): self.value,
        }
        return found if self.beside is None else found | dict([self.beside])


def identify_table(key: str, snapshot: Snapshot) -> Identity:
    """A table by its files and columns; files of other tools are not named by their bytes."""
    addresses = [file.address for file in snapshot.files]
    if not all(is_addressed(file.path) for file in snapshot.files):
        files = [[file.path, file.size, file.modified_ms] for file in snapshot.files]
        listing = canonical_json({"files": files})
        return Identity("listing", key, text_hash(listing), strong=False)
    # A column may be added without a file: the same files then mean something else.
    return Identity(
        "content", key, content_hash(addresses), strong=True, beside=_columns_of(snapshot)
    )


def identify_rows(key: str, snapshot: Snapshot) -> Identity | None:
    """A table by its rows and columns; None when no hash of its rows tells them apart."""
    rows_hash = snapshot.configuration.get(ROWS_HASH)
    if not rows_hash or not has_telling_hash(snapshot.schema):
        return None
    # Two columns that swapped their names hold the same rows and mean something else.
    return Identity("rows", key, rows_hash, strong=True, beside=_columns_of(snapshot))


def _columns_of(snapshot: Snapshot) -> tuple[str, str]:
    columns = canonical_json([field_to_json(each) for each in snapshot.schema])
    return "columns", text_hash(columns)


def has_telling_hash(columns: Iterable[StructField]) -> bool:
    """Whether rows of these columns with the same hash are the same to every query.

    The order of a map's entries and the bytes of a variant are not hashed, and a query can see
    them.
    """
    return not any(word in each.type.text for each in columns for word in ("map<", "variant"))


def identify_source(
    key: str, pin: SourcePin, files: Sequence[SourceFile], declaration_hash: str
) -> Identity | None:
    """A source's identity as far as it shows one; None when it could change unseen."""
    beside = ("declaration_hash", declaration_hash)
    if pin.version is not None:
        # It has a hash of the files' names, which are never used twice.
        return Identity("version", key, pin.version, strong=True, beside=beside)
    hashed = [(each.path, each.blake3_hash) for each in files if each.blake3_hash is not None]
    if files and len(hashed) == len(files):
        return Identity("content", key, source_hash(hashed), strong=True, beside=beside)
    if pin.files:
        listing = canonical_json({"files": sorted(map(list, pin.files))})
        return Identity("listing", key, text_hash(listing), strong=False, beside=beside)
    return None


def identify_inline(key: str, input_hash: str | None, proof: ProofClass | None) -> Identity | None:
    """The identity of a query that stands for a table: all it is made of."""
    if input_hash is None:
        return None
    return Identity("inline", key, input_hash, strong=proof == "strong")


def input_hash(
    skip_hash: SkipHash, target: str, upstreams: Sequence[Identity | None]
) -> tuple[str | None, ProofClass | None]:
    """The hash of everything a model is made from, and how sure it is."""
    known = [each for each in upstreams if each is not None]
    if len(known) < len(upstreams):
        return None, None
    proof: ProofClass = "strong" if all(each.strong for each in known) else "heuristic"
    return input_hash_of(skip_hash, target, [each.document() for each in known]), proof
