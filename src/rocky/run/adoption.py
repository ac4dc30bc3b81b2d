"""Adoption: commits that were made and whose making could not be recorded.

A run that died or gave up left them, or an attempt of this run that failed after its commit.
Whoever records the table next records them too, under the name of the run that made them, so that
every commit of a table is vouched for. Commits of anybody else are nobody's to adopt: `rocky
verify` names them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from rocky.ledger.record import RunId
from rocky.ledger.records import ArtifactRecord, CommitRecord
from rocky.ledger.writer import Ledger
from rocky.store.actions import parse_add
from rocky.store.files import DataFile
from rocky.store.warehouse import Table


@dataclass(frozen=True, slots=True)
class Adopted:
    """Commits that nobody has recorded, and the files they added."""

    commits: tuple[CommitRecord, ...] = ()
    artifacts: tuple[ArtifactRecord, ...] = ()


NOTHING = Adopted()


class Adopter:
    """Finds what dead runs, and failed attempts of this one, left. Threads may share it."""

    def __init__(self, ledger: Ledger, run_id: RunId) -> None:
        self._ledger = ledger
        self._run_id = run_id

    @cached_property
    def _adoptable(self) -> frozenset[RunId]:
        with self._ledger.lookups() as lookups:
            return lookups.unfinished_runs() | {self._run_id}

    def adopt(self, table: Table, below: int, now: datetime) -> Adopted:
        """The unrecorded commits just below a version of a table that may be adopted."""
        commits: list[CommitRecord] = []
        artifacts: list[ArtifactRecord] = []
        for version in range(below - 1, -1, -1):
            actions = table.log.read_commit(version)
            # The model may have had another name then.
            run_id, model = _maker_of(actions)
            if run_id not in self._adoptable or self._is_known(run_id, model, version):
                break
            commits.append(
                CommitRecord(
                    version,
                    table.log.commit_hash(version),
                    table.log.checkpoint_hash(version),
                    run_id,
                    model,
                )
            )
            artifacts += _artifacts(table, model, (run_id, version), actions, now)
        return Adopted(tuple(reversed(commits)), tuple(artifacts))

    def unrecorded(self, files: Sequence[DataFile]) -> list[DataFile]:
        """Those of some files that no run has recorded: a table may be older than its ledger."""
        if not files:
            return []
        with self._ledger.lookups() as lookups:
            known = lookups.recorded_hashes(file.address for file in files)
        return [file for file in files if file.address not in known]

    def _is_known(self, run_id: RunId, model: str, version: int) -> bool:
        with self._ledger.reader() as reader:
            recorded = reader.artifacts(run_id, model)
            executions = reader.run(run_id)
        if any(each.commit_version == version for each in recorded):
            return True
        return executions is not None and any(
            commit.version == version
            for each in executions.models_executed
            if each.model_name.lower() == model.lower()
            for commit in each.commits
        )


def _maker_of(actions: list[dict[str, Any]]) -> tuple[RunId, str]:
    """The run and the model that a commit says it was made for."""
    infos = (each["commitInfo"] for each in actions if each.get("commitInfo"))
    info: dict[str, Any] = next(infos, {})
    return RunId(str(info.get("runId"))), str(info.get("model"))


def _artifacts(
    table: Table,
    model: str,
    made_by: tuple[RunId, int],
    actions: list[dict[str, Any]],
    now: datetime,
) -> Iterator[ArtifactRecord]:
    run_id, version = made_by
    for action in actions:
        if action.get("add"):
            file = parse_add(action["add"])
            place = str(table.place_of(file))
            yield ArtifactRecord(file.address, run_id, model, place, version, file.size, now)
