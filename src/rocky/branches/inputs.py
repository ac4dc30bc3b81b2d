"""What a table was built of: the other tables that it read, with the content each had then."""

from collections.abc import Iterable, Iterator

from rocky.ledger.provenance import ProvenanceRecord, ReadRecord
from rocky.ledger.records import InputRecord, ModelExecution


def read_inputs(
    execution: ModelExecution, made: ProvenanceRecord | None
) -> Iterable[InputRecord] | Iterable[ReadRecord]:
    """What was read; of a table that was taken over from elsewhere, what its build had read."""
    if execution.inputs:
        return execution.inputs
    return () if made is None else _flat(made.reads)


def _flat(reads: Iterable[ReadRecord]) -> Iterator[ReadRecord]:
    for each in reads:
        if each.kind == "table":
            yield each
        yield from _flat(each.reads)
