"""Adoption: commits of a run that died after it made them and before it could record them.

The next run that records the table records them too, under the dead run's name, so that every
commit of a table is vouched for. Commits of anybody else are nobody's to adopt: `rocky verify`
names them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from rocky.ledger.records import ArtifactRecord, CommitRecord, RunId
from rocky.ledger.writer import Ledger
from rocky.store.actions import parse_add
from rocky.store.warehouse import Table


@dataclass(frozen=True, slots=True)
class Adopted:
    """Commits of dead runs, and the files they added."""

    commits: tuple[CommitRecord, ...] = ()
    artifacts: tuple[ArtifactRecord, ...] = ()


NOTHING = Adopted()


class Adopter:
    """Finds what dead runs left. Threads may share it."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    @cached_property
    def _dead(self) -> frozenset[RunId]:
        with self._ledger.lookups() as lookups:
            return lookups.dead_runs()

    def adopt(self, table: Table, model: str, below: int, now: datetime) -> Adopted:
        """The unrecorded commits of dead runs just below a version of a table."""
        if not self._dead:
            return NOTHING
        commits: list[CommitRecord] = []
        artifacts: list[ArtifactRecord] = []
        for version in range(below - 1, -1, -1):
            actions = table.log.read_commit(version)
            run_id = _run_of(actions)
            if run_id is None or run_id not in self._dead or self._is_known(run_id, model, version):
                break
            commits.append(
                CommitRecord(
                    version,
                    table.log.commit_hash(version),
                    table.log.checkpoint_hash(version),
                    run_id=run_id,
                )
            )
            artifacts += _artifacts(table, model, (run_id, version), actions, now)
        return Adopted(tuple(reversed(commits)), tuple(artifacts))

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


def _run_of(actions: list[dict[str, Any]]) -> RunId | None:
    infos = (action["commitInfo"] for action in actions if action.get("commitInfo"))
    found = next((info.get("runId") for info in infos), None)
    return RunId(found) if isinstance(found, str) else None


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
            place = table.objects.place(f"{table.prefix}/{file.path}")
            yield ArtifactRecord(file.address, run_id, model, place, version, file.size, now)
