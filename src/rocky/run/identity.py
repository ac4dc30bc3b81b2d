"""Identity: what a model was made from, as one hash that anyone can compute again.

`input_hash` covers what can change a row (the skip hash), the target, and what each input was. An
input that was identified by its content makes the proof `strong`; a file list or a version makes
it `heuristic`; an input nobody can tell from its earlier self makes no hash at all, and a hash
that is absent equals nothing.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from blake3 import blake3

from rocky.ir.fingerprint import SkipHash
from rocky.run.engine import SourcePin
from rocky.store.files import DataFile

ProofClass = Literal["strong", "heuristic"]

_SPINE: Final = 1
"""The version of what `input_hash` is made of."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What one input was: `value` under a kind that says what it is a value of.

    `content` is a hash of bytes; `inline` the input hash of a query that stands for a table;
    `listing` a hash of files' names, sizes and times; `version` whatever a format calls one.
    """

    kind: Literal["content", "inline", "listing", "version"]
    key: str
    value: str
    strong: bool

    def document(self) -> dict[str, str]:
        """The identity as it is hashed."""
        name = {"content": "blake3_hash", "inline": "input_hash", "listing": "blake3_hash"}
        return {
            "kind": self.kind,
            "upstream_key": self.key,
            name.get(self.kind, self.kind): self.value,
        }


def content_hash(files: Iterable[DataFile]) -> str:
    """The hash of a table's files: of one file its own, of several that of their sorted list.

    The list has one hash a line, so that `sort | b3sum` gives the same.
    """
    addresses = sorted(file.address for file in files)
    if len(addresses) == 1:
        return addresses[0]
    return blake3("".join(f"{each}\n" for each in addresses).encode()).hexdigest()


def identify_files(key: str, files: Iterable[DataFile]) -> Identity:
    return Identity("content", key, content_hash(files), strong=True)


def identify_source(key: str, pin: SourcePin) -> Identity | None:
    """A source's identity as far as it shows one; None when it could change unseen."""
    if pin.version is not None:
        return Identity("version", key, pin.version, strong=False)
    if pin.files:
        listing = canonical_json({"files": sorted(map(list, pin.files))})
        return Identity("listing", key, blake3(listing.encode()).hexdigest(), strong=False)
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
    ordered = sorted(known, key=lambda each: (each.key, each.kind))
    document = {
        "skip_hash": skip_hash,
        "target": target,
        "upstreams": [each.document() for each in ordered],
        "version": _SPINE,
    }
    proof: ProofClass = "strong" if all(each.strong for each in known) else "heuristic"
    return blake3(canonical_json(document).encode()).hexdigest(), proof


def canonical_json(document: dict[str, Any]) -> str:
    """Sorted keys, no white space, valid UTF-8 whatever a file is called."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode()


def text_hash(text: str) -> str:
    """The hash of the exact text handed to Spark."""
    return blake3(text.encode("utf-8", "surrogatepass")).hexdigest()
