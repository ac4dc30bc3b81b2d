"""The history of masks: which versions of a table hold what its newest one would hold.

A version says by which masks it was written. That is not all: a table that takes a masked column
from another has no mask of its own, and was clear while the other was. So what a version was made
from is asked too, as the records of its build have it. What cannot be told counts as otherwise.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rocky.analysis.classification import classify
from rocky.analysis.column_masks import NO_TABLE_MASKS, TableMasks, digest_of, documents_of
from rocky.analysis.compilation import Compilation
from rocky.analysis.compliance import find_protection
from rocky.ledger import open_evidence_reader
from rocky.ledger.provenance import ProvenanceRecord, ReadRecord
from rocky.ledger.record import load_json, load_record
from rocky.maintenance.erasure.carriers import target_of
from rocky.maintenance.tables import load_table_records
from rocky.project.models import Target
from rocky.project.pipeline_tables import PipelineTable
from rocky.run.materialize.seeds import SEED_HASH
from rocky.store.delta.actions import Action
from rocky.store.delta.commit_actions import DELETE
from rocky.store.delta.snapshot import MASKS, MASKS_ABOVE, ROWS_HASH
from rocky.store.warehouse import Table, Warehouse

_WRITTEN: Final = "write"


@dataclass(frozen=True, slots=True)
class MasksNow:
    """The masks that the tables of a project have now, by target in lower case.

    `masked` are tables with a classified column that holds masked values, masked there or on the
    way to it; `above` says by column which masks of other tables those on the way are.
    """

    tables: Mapping[str, TableMasks] = field(default_factory=dict)
    masked: frozenset[str] = frozenset()
    above: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def of(self, target: str) -> TableMasks:
        return self.tables.get(target, NO_TABLE_MASKS)


NO_MASKS_NOW: Final = MasksNow()


def masks_now(compilation: Compilation) -> MasksNow:
    """What a project says, in the environment that it is in."""
    project = compilation.project
    copies = [each.name for each in project.sources.values() if isinstance(each, PipelineTable)]
    targets = {
        name: target.lower()
        for name in (*project.models, *project.seeds, *(each.lower() for each in copies))
        if (target := target_of(compilation, name)) is not None
    }
    found = find_protection(compilation, classify(compilation), (project.env,))
    masked = {
        targets[each.table.lower()]
        for each in found
        if any((env.state, env.level) == ("masked", _WRITTEN) for env in each.envs)
    }
    tables = {target: compilation.masks.of(name) for name, target in targets.items()}
    above = compilation.masks.above
    told = {target: above[name] for name, target in targets.items() if name in above}
    return MasksNow(tables, frozenset(masked), told)


@dataclass(frozen=True, slots=True)
class WrittenVersion:
    """What the log says of one version: its masks, the hash of its rows, and what it did.

    One that `keeps` has no rows that the version before it had not. The rows of one that is
    `seeded` are those of a file: nothing else is recorded of what it was made from. `above` tells
    by column the masks of the tables that it was made from.
    """

    digest: str
    rows_hash: str | None
    keeps: bool
    seeded: bool
    above: Mapping[str, str]


class MaskHistory:
    """The versions of all tables of a warehouse, as logs and records tell of them."""

    def __init__(self, now: MasksNow, state: Path, warehouse: Warehouse) -> None:
        self._now, self._warehouse = now, warehouse
        self._names = {
            target: str(each.execution.target) for target, each in load_table_records(state).items()
        }
        self._made = _load_made(state)
        self._versions: dict[str, tuple[WrittenVersion, ...]] = {}

    def versions(self, target: str) -> tuple[WrittenVersion, ...]:
        """All versions of a table, by target in lower case; none of one that no run has written.

        Raises StoreUnreadable.
        """
        if target not in self._versions:
            name = self._names.get(target)
            self._versions[target] = (
                ()
                if name is None
                else read_versions(self._warehouse.table(Target(*name.split("."))))
            )
        return self._versions[target]

    def masked_as_now(self, target: str) -> frozenset[int]:
        """The versions of a table whose rows are masked as a run would mask them now.

        Raises StoreUnreadable.
        """

        def matters(other: str) -> bool:
            return other in self._now.masked or other not in self._now.tables

        def is_same(other: str, version: int) -> bool:
            return self.versions(other)[version].digest == digest_of(self._now.of(other))

        return _Walk(self, is_same, matters).versions(target)

    def asked_as_now(self, target: str, columns: Mapping[str, Sequence[str]]) -> frozenset[int]:
        """The versions of a table whose key columns hold what they hold now, masked or clear.

        `columns` are those that carry the key, by target in lower case. Raises StoreUnreadable.
        """
        ever = {name for name in {target, *columns} if self._was_masked(name)}

        def matters(other: str) -> bool:
            return bool(ever) and (other in columns or other not in self._now.tables)

        def is_same(other: str, version: int) -> bool:
            if not ever:
                return True
            now = self._now.of(other)
            if self.versions(other)[version].digest == digest_of(now):
                return True
            said = self._documents(other, version)
            keys = {each.lower() for each in columns.get(other, ())}
            mine = {key: value for key, value in documents_of(now).items() if key.lower() in keys}
            return said is not None and mine == {
                key: value for key, value in said.items() if key.lower() in keys
            }

        return _Walk(self, is_same, matters, unknown=not ever).versions(target)

    def _was_masked(self, target: str) -> bool:
        return bool(self._now.of(target)) or any(each.digest for each in self.versions(target))

    def _documents(self, target: str, version: int) -> Mapping[str, Mapping[str, str]] | None:
        """What is recorded of the masks of a version, by column; None where nobody can tell."""
        if not self.versions(target)[version].digest:
            return {}
        made = self.made(target, version)
        if made is None:
            return None
        ir = json.loads(made.model_ir_canonical_json)
        found: Mapping[str, Mapping[str, str]] | None = ir["materialization"].get("masks")
        return found

    def made(self, target: str, version: int) -> ProvenanceRecord | None:
        """What a version was made from, if that is recorded."""
        return self._made.get((target, version))


class _Walk:
    """The versions of which something holds, and of all that matters that they were made from."""

    def __init__(
        self,
        history: MaskHistory,
        holds: Callable[[str, int], bool],
        matters: Callable[[str], bool],
        *,
        unknown: bool = False,
    ) -> None:
        self._history, self._holds, self._matters = history, holds, matters
        self._unknown = unknown
        self._known: dict[str, list[bool]] = {}

    def versions(self, target: str) -> frozenset[int]:
        return frozenset(version for version, holds in enumerate(self._judge(target)) if holds)

    def _judge(self, target: str) -> list[bool]:
        """In order, so that what a version starts from is known: a table may read itself."""
        if target not in self._known:
            found = self._known[target] = []
            for version in range(len(self._history.versions(target))):
                found.append(self._is_good(target, version, found))
        return self._known[target]

    def _is_good(self, target: str, version: int, before: Sequence[bool]) -> bool:
        if not self._holds(target, version):
            return False
        made = self._history.made(target, version)
        if made is None:
            said = self._history.versions(target)[version]
            if said.keeps:
                return version == 0 or before[version - 1]
            return said.seeded or self._unknown
        base = None if made.full_refresh else made.base_version
        if base is not None and not (base < len(before) and before[base]):
            return False
        return all(map(self._is_good_read, _tables_read(made.reads)))

    def _is_good_read(self, read: ReadRecord) -> bool:
        target, version = str(read.target).lower(), read.version
        if not self._matters(target):
            return True
        found = self._judge(target)
        return version is not None and version < len(found) and found[version]


def _tables_read(reads: Sequence[ReadRecord]) -> Iterator[ReadRecord]:
    for each in reads:
        if each.target is not None and each.kind != "inline":
            yield each
        yield from _tables_read(each.reads)


def _load_made(state: Path) -> dict[tuple[str, int], ProvenanceRecord]:
    """What every version was made from; of a table that was made anew, what came last."""
    reader = open_evidence_reader(state)
    if reader is None:
        return {}
    found: dict[tuple[str, int], ProvenanceRecord] = {}
    by_maker: dict[tuple[str, str], ProvenanceRecord] = {}
    with reader:
        for key, value in list(reader.rows("input_provenance")):
            made = load_record(ProvenanceRecord, state, "input_provenance", key, value)
            by_maker[made.run_id, made.model_name.lower()] = made
            if made.output_version is None:
                continue
            # A build may have made several commits; its record is of all of them.
            base = made.output_version - 1 if made.base_version is None else made.base_version
            for version in range(base + 1, made.output_version + 1):
                found[made.target.lower(), version] = made
        for key, value in list(reader.rows("model_executions")):
            said = load_json(state, "model_executions", key, value)
            # The files of an earlier build may have been put back as a version of their own.
            model = str(said.get("reused_model") or said["model_name"]).lower()
            built = by_maker.get((str(said.get("reused_from")), model))
            if built is not None and said.get("commit_version") is not None:
                found.setdefault((str(said["target"]).lower(), said["commit_version"]), built)
    return found


def read_versions(table: Table) -> tuple[WrittenVersion, ...]:
    """What the log of a table says of its versions. Raises StoreUnreadable."""
    snapshot = table.snapshot()
    found: list[WrittenVersion] = []
    configuration: Mapping[str, Any] = {}
    for version in range(0 if snapshot is None else snapshot.version + 1):
        actions = table.log.read_commit(version)
        said = [each["metaData"] for each in actions if each.get("metaData")]
        if said:
            configuration = said[-1].get("configuration") or {}
        digest, rows_hash = configuration.get(MASKS, ""), configuration.get(ROWS_HASH)
        seeded = SEED_HASH in configuration and _replaces(actions)
        above = json.loads(configuration.get(MASKS_ABOVE, "{}"))
        found.append(WrittenVersion(digest, rows_hash, _keeps(actions), seeded, above))
    return tuple(found)


def _keeps(actions: Sequence[Action]) -> bool:
    """Whether a commit brings no row that was not there: it cuts files anew, or only deletes."""
    info = _info(actions)
    added = [each["add"] for each in actions if each.get("add")]
    deletes = info.get("operation") == DELETE and info.get("runId") is not None
    return deletes or all(each.get("dataChange") is False for each in added)


def _replaces(actions: Sequence[Action]) -> bool:
    """Whether a run put new rows in the place of all that were there."""
    info = _info(actions)
    mode = info.get("operationParameters", {}).get("mode")
    return mode == "Overwrite" and info.get("runId") is not None


def _info(actions: Sequence[Action]) -> Action:
    return next((each["commitInfo"] for each in actions if each.get("commitInfo")), {})
