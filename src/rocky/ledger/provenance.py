"""Provenance: what a table was made from, as the ledger keeps it, and the hashes of it.

A record holds all that is needed to check a result without Rocky and to make it again without the
files of the project: the IR, the SQL, and every input as it was. Its hashes can be computed again
by anyone, with BLAKE3 and canonical JSON, absent instead of null.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from rocky.canonical import canonical_json, text_hash
from rocky.language.ir import skip_projection
from rocky.ledger.record import Record, RunId
from rocky.ledger.run_records import ModelExecution


@dataclass(frozen=True, slots=True)
class SourceFile(Record):
    """A file of a source as it was read; `path` starts at the project's folder if it lies there."""

    path: str
    size_bytes: int
    blake3_hash: str | None = None


@dataclass(frozen=True, slots=True)
class ReadRecord(Record):
    """All that is needed to read one input again: what a model's SQL called by the name `view`.

    A `table` (of a model or a seed) is read at its `version`. A `source` is read by its declaration
    (a JSON text) and `files`, or at `source_version`. An `inline` query is `sql` over `reads` of
    its own; `identity` is then the input hash of its `skip_hash`, `target` and `upstreams`, and
    `determinism` says why its rows may differ each time. `functions` are the declared ones that it
    calls, with their digests. `pieces` is how many a driving table was read in, where it was.
    """

    view: str
    kind: str
    name: str
    target: str | None = None
    version: int | None = None
    identity: str | None = None
    rows_hash: str | None = None
    source_version: str | None = None
    declaration: str | None = None
    files: tuple[SourceFile, ...] = ()
    sql: str | None = None
    skip_hash: str | None = None
    upstreams: tuple[Mapping[str, str], ...] = ()
    determinism: tuple[str, ...] = ()
    reads: "tuple[ReadRecord, ...]" = ()
    functions: Mapping[str, str] | None = None
    pieces: int | None = None


@dataclass(frozen=True, slots=True)
class LayoutRecord(Record):
    """How rows were cut into files: by their hash, the files of the input, or columns of it."""

    canonical: bool
    pieces: int
    partition_columns: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    max_rows_per_file: int | None = None
    by_files: bool | None = None
    by_key: bool | None = None


@dataclass(frozen=True, slots=True)
class ProvenanceRecord(Record):
    """What a table was made from, and all that is needed to make it again.

    `upstreams` is exactly what was hashed into `input_hash`, beside `skip_hash` and the target in
    `model_ir_canonical_json`, whose own hash is `recipe_hash`; `cutoff_upstreams` likewise, with
    the rows of tables in place of their files, into `cutoff_hash`. `output_blake3` and
    `output_path` are all files of the table afterwards, index by index. `executed_sql` is the text
    handed to Spark, over the views of `reads`; strategies that keep rows started from
    `base_version`. `window` is JSON, `now` what the model was told the time is. `parameters` are
    those of a Python model, each with its view.
    """

    run_id: RunId
    model_name: str
    target: str
    recipe_hash: str
    skip_hash: str
    model_ir_canonical_json: str
    executed_sql: str
    now: datetime
    recorded_at: datetime
    input_hash: str | None = None
    cutoff_hash: str | None = None
    proof_class: str | None = None
    env_hash: str | None = None
    env_canonical_json: str | None = None
    upstreams: tuple[Mapping[str, str], ...] = ()
    cutoff_upstreams: tuple[Mapping[str, str], ...] = ()
    output_blake3: tuple[str, ...] = ()
    output_path: tuple[str, ...] = ()
    output_version: int | None = None
    base_version: int | None = None
    rows_hash: str | None = None
    layout: LayoutRecord | None = None
    full_refresh: bool = False
    window: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    reads: tuple[ReadRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class InputIndexEntry(Record):
    """A result that may be reused, found by `input_hash`, its key.

    `basis` says what the inputs were identified by: `content` (their files) or `rows`.
    """

    input_hash: str
    basis: str
    run_id: RunId
    model_name: str
    target: str
    commit_version: int
    proof_class: str
    env_hash: str
    recorded_at: datetime
    output_blake3: tuple[str, ...] = ()
    output_path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CollectedFile(Record):
    """A file that was removed because nothing needed it any more."""

    blake3_hash: str
    file_path: str
    target: str
    size_bytes: int
    collected_at: datetime
    reason: str


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


def with_hashes_of(
    execution: ModelExecution, provenance: ProvenanceRecord | None
) -> ModelExecution:
    """An execution that says what its rows were made from, where that is known."""
    if provenance is None:
        return execution
    return replace(
        execution,
        sql_hash=text_hash(provenance.executed_sql),
        recipe_hash=provenance.recipe_hash,
        skip_hash=provenance.skip_hash,
        input_hash=provenance.input_hash,
        input_proof_class=provenance.proof_class,
        env_hash=provenance.env_hash,
    )
