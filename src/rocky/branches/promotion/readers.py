"""Readers of what is moved back: tables that hold rows made of it, and will go on holding them.

A table that is written anew each time follows its inputs by itself. One that keeps its rows does
not: what it took from a version that is gone again stays, until somebody builds it as a whole.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from rocky.ledger.provenance import ReadRecord
from rocky.ledger.table_records import open_table_records

_WHOLE: Final = frozenset({"full_refresh", "materialized_view", "content_addressed", "seed"})
"""Strategies that write all rows anew."""


def find_readers(state: Path, since: str, versions: Mapping[str, Iterable[int]]) -> dict[str, str]:
    """Tables that keep rows made, since a run, of some versions of others; each with what to do.

    `versions` are by target. Tables between the two count too.
    """
    made_of_it = {target.lower(): set(found) for target, found in versions.items()}
    moved = frozenset(made_of_it)
    keeping: dict[str, tuple[str, str]] = {}
    lookups = open_table_records(state)
    if lookups is None:
        return {}
    with lookups:
        for execution, made in lookups.made_since(since):
            target = made.target.lower()
            if target in moved or not (execution.commits or execution.adopted):
                continue
            goes_on = made.base_version is not None and target in keeping
            if not goes_on and not _reads(made.reads, made_of_it):
                keeping.pop(target, None)
                continue
            if made.output_version is not None:
                made_of_it.setdefault(target, set()).add(made.output_version)
            if execution.strategy not in _WHOLE:
                keeping[target] = made.target, made.model_name
    return {
        target: "it keeps rows that were made of what is moved back;"
        f" `rocky run --model {model} --full-refresh` makes it anew"
        for target, model in keeping.values()
    }


def _reads(reads: Iterable[ReadRecord], versions: Mapping[str, set[int]]) -> bool:
    return any(
        each.version in versions.get((each.target or "").lower(), ())
        or _reads(each.reads, versions)
        for each in reads
    )
