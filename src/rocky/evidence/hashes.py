"""Hashes that anyone can compute again from a record, with BLAKE3 and JSON alone.

Everything is hashed as canonical JSON, absent instead of null. What is hashed is kept in the
record, so nothing here needs the project.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from rocky.canonical import canonical_json, text_hash
from rocky.language.ir import skip_projection

INPUT_HASH_VERSION: Final = 1
"""The version of what `input_hash` is made of."""


def content_hash(addresses: Iterable[str]) -> str:
    """The hash of a table's files: of one file its own, of several that of their sorted list.

    The list has one hash a line, so that `sort | b3sum` gives the same.
    """
    found = sorted(addresses)
    if len(found) == 1:
        return found[0]
    return text_hash("".join(f"{each}\n" for each in found))


def source_hash(files: Iterable[tuple[str, str]]) -> str:
    """The hash of a source's files, each a path and the hash of its bytes.

    Paths count: Spark reads columns from the names of folders, and a query may ask for them.
    """
    return text_hash("".join(f"{digest}  {path}\n" for path, digest in sorted(files)))


def skip_hash_of(ir: Mapping[str, Any]) -> str:
    """The skip hash of a model, from its IR document."""
    return text_hash(canonical_json(skip_projection(ir)))


def input_hash_of(skip_hash: str, target: str, upstreams: Sequence[Mapping[str, str]]) -> str:
    """The hash of everything a model is made from, from the identities of what it read."""
    ordered = sorted(upstreams, key=lambda each: (each["upstream_key"], each["kind"]))
    document = {
        "skip_hash": skip_hash,
        "target": target,
        "upstreams": [dict(each) for each in ordered],
        "version": INPUT_HASH_VERSION,
    }
    return text_hash(canonical_json(document))
