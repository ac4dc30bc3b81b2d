"""Tables that an erasure has left, and that were built anew since: their past goes as well.

A table that does not carry the key cannot be asked, but once it was built from nothing but what the
erasure has left, its newest version is free of the subject, and every file that this version does
not have may hold something. Whether it was is read from what its newest build is recorded to have
read: tables at versions that the erasure made, or that were built anew themselves. A build from a
source that carries the key proves nothing: nobody can tell what is in the source.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rocky.ledger.erasure_records import ErasureRecord
from rocky.ledger.provenance import ReadRecord
from rocky.maintenance.tables import RecordedTable
from rocky.project.configuration.strategies import WHOLE_STRATEGIES


@dataclass(frozen=True, slots=True)
class RebuiltTables:
    """Tables, by target, that one erasure has left and that are free of the subject now."""

    certificate: ErasureRecord
    targets: tuple[str, ...]


def find_rebuilt(
    certificates: Sequence[ErasureRecord], found: Mapping[str, RecordedTable]
) -> tuple[RebuiltTables, ...]:
    """What can be settled. `found` are the tables there are, by target in lower case."""
    settled: dict[str, ErasureRecord] = {}
    due: list[RebuiltTables] = []
    # The newest first: what settled a table then has settled it for all erasures before.
    for certificate in sorted(certificates, key=lambda each: each.erased_at, reverse=True):
        if certificate.completes is not None:
            settled |= {each.target.lower(): certificate for each in certificate.tables}
            continue
        question = _Rebuilt(certificate, found)
        targets = tuple(
            each
            for each in certificate.left
            if each.lower() not in settled and question.is_free(each.lower())
        )
        if targets:
            due.append(RebuiltTables(certificate, targets))
            settled |= {each.lower(): certificate for each in targets}
    return tuple(due)


class _Rebuilt:
    """Whether tables are free of what one erasure took out of others."""

    def __init__(self, certificate: ErasureRecord, found: Mapping[str, RecordedTable]) -> None:
        self._certificate, self._found = certificate, found
        self._erased = {each.target.lower(): each for each in certificate.tables}
        self._left = {each.lower() for each in certificate.left}
        self._sources = {each.lower() for each in certificate.sources}
        self._known: dict[str, bool] = {}

    def is_free(self, target: str) -> bool:
        """Whether the newest version of a table was made from nothing of the subject's."""
        if target not in self._known:
            # One that reads itself has kept something.
            self._known[target] = False
            self._known[target] = self._was_built_anew(target)
        return self._known[target]

    def _was_built_anew(self, target: str) -> bool:
        found = self._found.get(target)
        made = None if found is None else found.known.provenance
        if found is None or made is None:
            return False
        whole = found.known.execution.strategy in WHOLE_STRATEGIES or made.base_version is None
        newest = sorted(made.output_blake3) == sorted(each.address for each in found.snapshot.files)
        return (
            whole
            and newest
            and made.recorded_at > self._certificate.erased_at
            and all(map(self._is_free_read, _flat(made.reads)))
        )

    def _is_free_read(self, read: ReadRecord) -> bool:
        target, version = (read.target or "").lower(), read.version
        if read.kind == "source" and (target or read.name.lower()) not in self._found:
            return read.name.lower() not in self._sources
        name = target or read.name.lower()
        erased = self._erased.get(name)
        if erased is not None:
            first = erased.from_version if erased.to_version is None else erased.to_version
            return version is not None and version >= first
        if name in self._left:
            return self.is_free(name) and version == self._found[name].snapshot.version
        return True


def _flat(reads: Sequence[ReadRecord]) -> Iterator[ReadRecord]:
    """All that was read, also by queries that were read in place of a table."""
    for each in reads:
        if each.kind == "inline":
            yield from _flat(each.reads)
        else:
            yield each


def table_records(found: Sequence[RecordedTable]) -> dict[str, RecordedTable]:
    """Tables by target in lower case."""
    return {each.table.name.lower(): each for each in found}
