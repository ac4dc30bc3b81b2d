"""Needs: which files and table versions the retained runs of a ledger stand on.

A reused model's evidence belongs to the run that built it, so that run's record of the model is
needed as long as the run that reused it is kept. When in doubt a need is added: it only keeps more.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Final, NamedTuple, TypeVar

from rocky.ledger.branch_records import PromotionRecord
from rocky.ledger.provenance import ProvenanceRecord, ReadRecord
from rocky.ledger.record import RunId
from rocky.ledger.records import ArtifactRecord, ModelExecution

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class TableNeeds:
    """What retained runs need of one table: files by address, and versions; for which runs.

    Runs `elsewhere` wrote a table of this name in another warehouse, or in this one before it was
    moved. `shared` are the addresses of files that branches refer to.
    """

    addresses: Mapping[str, frozenset[RunId]] = field(default_factory=dict)
    versions: Mapping[int, frozenset[RunId]] = field(default_factory=dict)
    elsewhere: frozenset[RunId] = frozenset()
    shared: frozenset[str] = frozenset()


NOBODY: Final[frozenset[RunId]] = frozenset()
NO_NEEDS: Final = TableNeeds()


@dataclass(frozen=True, slots=True)
class Needs:
    """What retained runs need, by table; `places` are the warehouses they say they wrote to.

    `shared` are the addresses of files of any table that branches refer to.
    """

    tables: Mapping[str, TableNeeds] = field(default_factory=dict)
    places: Mapping[RunId, str] = field(default_factory=dict)
    shared: frozenset[str] = frozenset()

    def of(self, target: str, place: str) -> TableNeeds:
        """The needs of a table in a warehouse, by its full name in any case."""
        elsewhere = frozenset(run for run, said in self.places.items() if said != place)
        mine = self.tables.get(target.lower(), NO_NEEDS)
        return replace(mine, elsewhere=elsewhere, shared=self.shared)


class RecordKey(NamedTuple):
    """Which record of a ledger: a run's, of a model by its name in lower case."""

    run_id: RunId
    model: str


Retainers = Mapping[RecordKey, frozenset[RunId]]
"""The records to be kept, and the retained runs that each is kept for."""


def retainers_of(executions: Iterable[tuple[RunId, ModelExecution]]) -> Retainers:
    """The records that the executions of retained runs stand on: their own, or those reused."""
    found: dict[RecordKey, frozenset[RunId]] = {}
    for run_id, execution in executions:
        name = execution.model_name.lower()
        _add(found, RecordKey(run_id, name), frozenset((run_id,)))
        if execution.reused_from is not None:
            # The model may have had another name when it was built.
            built = (execution.reused_model or execution.model_name).lower()
            _add(found, RecordKey(execution.reused_from, built), frozenset((run_id,)))
    return found


def find_needs(
    retainers: Retainers,
    executions: Iterable[tuple[RunId, ModelExecution]],
    provenances: Iterable[ProvenanceRecord],
    artifacts: Iterable[ArtifactRecord],
    promotions: Iterable[PromotionRecord] = (),
) -> Needs:
    """What the records to be kept need. Records that nothing retains are passed over."""
    addresses: dict[str, dict[str, frozenset[RunId]]] = {}
    versions: dict[str, dict[int, frozenset[RunId]]] = {}
    for run_id, execution in executions:
        runs = retainers.get(RecordKey(run_id, execution.model_name.lower()))
        if runs and execution.target is not None and execution.commit_version is not None:
            _add(versions.setdefault(execution.target.lower(), {}), execution.commit_version, runs)
    for record in provenances:
        runs = retainers.get(RecordKey(record.run_id, record.model_name.lower()))
        if not runs:
            continue
        for address in _output_addresses(record):
            _add(addresses.setdefault(record.target.lower(), {}), address, runs)
        for target, version in _versions_read(record):
            _add(versions.setdefault(target.lower(), {}), version, runs)
    for artifact in artifacts:
        runs = retainers.get(RecordKey(artifact.run_id, artifact.model_name.lower()))
        if runs:
            _add(addresses.setdefault(_table_of(artifact), {}), artifact.blake3_hash, runs)
    for promotion in promotions:
        for moved in promotion.tables:
            # What a promotion took the place of: it can be put back as long as it is kept.
            if moved.from_version is not None:
                found = versions.setdefault(moved.target.lower(), {})
                _add(found, moved.from_version, frozenset((promotion.run_id,)))
    names = {*addresses, *versions}
    return Needs(
        {name: TableNeeds(addresses.get(name, {}), versions.get(name, {})) for name in names}
    )


def _table_of(artifact: ArtifactRecord) -> str:
    """The full name of the table a file lies in: wherever the warehouse was, its path ends so."""
    return ".".join(PurePosixPath(artifact.file_path).parts[-4:-1]).lower()


def _output_addresses(record: ProvenanceRecord) -> Iterator[str]:
    yield from record.output_blake3
    # The name of a file is its hash; should the two lists ever differ, both are kept.
    yield from (PurePosixPath(path).stem for path in record.output_path)


def _versions_read(record: ProvenanceRecord) -> Iterator[tuple[str, int]]:
    for version in (record.base_version, record.output_version):
        if version is not None:
            yield record.target, version
    yield from _tables_read(record.reads)


def _tables_read(reads: Sequence[ReadRecord]) -> Iterator[tuple[str, int]]:
    for read in reads:
        if read.target is not None and read.version is not None:
            yield read.target, read.version
        yield from _tables_read(read.reads)


def _add(found: dict[K, frozenset[RunId]], key: K, runs: frozenset[RunId]) -> None:
    found[key] = found.get(key, NOBODY) | runs
