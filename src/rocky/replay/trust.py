"""Trust: whether a record is what its own hashes say, and whether its model repeats at all.

Both are asked before anything is run: a record that somebody changed would prove nothing, and a
model with a clock or dice in it would differ for no reason of ours. Pure.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rocky.evidence.hashes import input_hash_of, skip_hash_of, source_hash, text_hash
from rocky.ledger.provenance import ProvenanceRecord, ReadRecord
from rocky.ledger.records import ModelExecution
from rocky.project.strategies import NOTES_THE_TIME

_VOLATILE: Final = "volatile:"
_VALUES: Final = ("blake3_hash", "input_hash", "version")


class NotReplayable(ValueError):
    """A model that cannot be built again; the message says why."""


def ir_of(record: ProvenanceRecord) -> Mapping[str, Any]:
    """The IR document of a record. Raises NotReplayable."""
    try:
        found = json.loads(record.model_ir_canonical_json)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise NotReplayable(_said("its IR is not JSON"))
    return found


def check_record(record: ProvenanceRecord, made: ModelExecution | None) -> None:
    """Raise NotReplayable unless every hash in a record is of what stands beside it."""
    for wrong in _mismatches(record, made):
        raise NotReplayable(_said(wrong))


def check_repeats(record: ProvenanceRecord) -> None:
    """Raise NotReplayable for a model with a clock, dice or the like in it.

    One whose rows may come in another order is not refused: most give the same rows all the same,
    and for one that does not the reason is known (`doubts_of`).
    """
    for reader, reason in _reasons(record):
        # A snapshot is told the time of the run again: it is in the record.
        if reason.startswith(_VOLATILE) and reason != NOTES_THE_TIME:
            who = "it" if reader is None else f"it reads `{reader}`, which"
            raise NotReplayable(f"{who} does not give the same rows twice: {reason}")


def doubts_of(record: ProvenanceRecord) -> list[str]:
    """Why a model may give other rows from the same inputs, though nothing in it is volatile."""
    return [
        f"in `{reader or record.model_name}`, {reason.partition(': ')[2]}"
        for reader, reason in _reasons(record)
        if not reason.startswith(_VOLATILE)
    ]


def _reasons(record: ProvenanceRecord) -> Iterator[tuple[str | None, str]]:
    """Why a model may not repeat, with the query it reads that is to blame, if it is not itself."""
    for reason in ir_of(record).get("determinism", ()):
        yield None, str(reason)
    for read in _reads_below(record.reads):
        for reason in read.determinism:
            yield read.name, reason


def _said(wrong: str) -> str:
    return f"the record does not match its hashes: {wrong}; `rocky verify` says more"


def _mismatches(record: ProvenanceRecord, made: ModelExecution | None) -> Iterator[str]:
    ir = ir_of(record)
    if text_hash(record.model_ir_canonical_json) != record.recipe_hash:
        yield "its IR is not the one that was hashed (`recipe_hash`)"
    try:
        skip_hash = skip_hash_of(ir)
    except (KeyError, TypeError):
        skip_hash = ""
    if skip_hash != record.skip_hash:
        yield "its IR does not give its `skip_hash`"
    if ir.get("target") != record.target:
        yield f"its IR is of `{ir.get('target')}`"
    if record.env_canonical_json is not None and (
        text_hash(record.env_canonical_json) != record.env_hash
    ):
        yield "its settings are not those that were hashed (`env_hash`)"
    if record.input_hash is not None:
        if input_hash_of(record.skip_hash, record.target, record.upstreams) != record.input_hash:
            yield "its inputs are not those that were hashed (`input_hash`)"
        yield from _other_inputs(record.reads, record.upstreams)
    for read in _reads_below(record.reads):
        yield from _wrong_read(read)
    if made is not None:
        yield from _other_execution(record, made)


def _other_inputs(
    reads: tuple[ReadRecord, ...], upstreams: tuple[Mapping[str, str], ...]
) -> Iterator[str]:
    """What was read must be what was hashed, input by input."""
    hashed = {_value(each) for each in upstreams}
    read = {each.identity for each in reads}
    if hashed != read:
        yield "what it read is not what was hashed (`upstreams`)"
    declared = {each["declaration_hash"] for each in upstreams if "declaration_hash" in each}
    for each in reads:
        if each.declaration is not None and text_hash(each.declaration) not in declared:
            yield f"source `{each.name}` is not declared as it was hashed"


def _value(upstream: Mapping[str, str]) -> str | None:
    return next((upstream[name] for name in _VALUES if name in upstream), None)


def _wrong_read(read: ReadRecord) -> Iterator[str]:
    files = [(each.path, each.blake3_hash) for each in read.files if each.blake3_hash is not None]
    if read.kind == "source" and files and len(files) == len(read.files):
        if source_hash(files) != read.identity:
            yield f"the files of source `{read.name}` are not those that were hashed"
    elif read.kind == "inline" and read.identity is not None:
        made = input_hash_of(read.skip_hash or "", read.target or "", read.upstreams)
        if made != read.identity:
            yield f"the inputs of `{read.name}` are not those that were hashed"
        yield from _other_inputs(read.reads, read.upstreams)


def _other_execution(record: ProvenanceRecord, made: ModelExecution) -> Iterator[str]:
    """What was recorded of the build twice must be the same twice."""
    if made.sql_hash and text_hash(record.executed_sql) != made.sql_hash:
        yield "its SQL is not the one that was run (`sql_hash`)"
    if made.recipe_hash is not None and made.recipe_hash != record.recipe_hash:
        yield "its IR is not the one that was run (`recipe_hash`)"
    if made.input_hash is not None and made.input_hash != record.input_hash:
        yield "its inputs are not those of the execution (`input_hash`)"
    if made.rows_hash is not None and record.rows_hash not in (None, made.rows_hash):
        yield "its rows are not those of the execution (`rows_hash`)"


def _reads_below(reads: tuple[ReadRecord, ...]) -> Iterator[ReadRecord]:
    for read in reads:
        yield read
        yield from _reads_below(read.reads)
