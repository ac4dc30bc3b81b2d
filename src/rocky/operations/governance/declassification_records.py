"""Records of declassifications: since when each is written down, and since when tables have it.

The first is git's word about the lines of the settings. The second is the log of the table, whose
commits name their runs: a run that carries a declassification out says so in its commit.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from rocky.errors import GitUnavailable, NotARepository, StoreUnreadable
from rocky.operations.workspace import Workspace, open_history
from rocky.plan.adapters import adapter_of, find_adapter
from rocky.project import ModelFile, Project
from rocky.project.configuration.strategies import is_inline
from rocky.project.git import Repository, find_repository
from rocky.project.git.blame import find_line_commit
from rocky.project.models import setting_place
from rocky.run.comments import declassified_label
from rocky.run.prepare.pins import open_project_warehouse
from rocky.store.delta.labels import DECLASSIFIED, split_declassified
from rocky.store.warehouse import Table


@dataclass(frozen=True, slots=True)
class WrittenDown:
    """The commit that last changed the lines of a declassification; what it says of itself."""

    commit: str
    author: str
    at: datetime


@dataclass(frozen=True, slots=True)
class CarriedOut:
    """The first version of a table without the tag, and the run that made it.

    `by` and `git_commit` are those of the run, where the ledger has it. `whole` is false when older
    commits of the log are gone: it may be older then.
    """

    table_version: int
    at: datetime
    run_id: str | None
    by: str | None
    git_commit: str | None
    whole: bool


class DeclassificationRecords:
    """What is on record of a project's declassifications."""

    def __init__(self, workspace: Workspace, project: Project) -> None:
        self._workspace = workspace
        self._project = project
        self._repository = _repository_of(project)

    def written(self, model: ModelFile, place: int) -> WrittenDown | None:
        """Since which commit a block is as it is; None outside git, and while it is in none."""
        if self._repository is None:
            return None
        texts = self._project.texts
        lines: list[int] = []
        file = model.path
        for key in ("column", "tag", "reason", "approved_by"):
            file, span = setting_place(model, texts, ("declassify", place, key))
            if span is not None:
                lines += (texts[file].position(each)[0] for each in span)
        if not lines:
            return None
        try:
            found = find_line_commit(self._repository, file, min(lines), max(lines))
        except GitUnavailable:
            return None
        return None if found is None else WrittenDown(*found)

    def carried_out(self, model: ModelFile, place: int) -> CarriedOut | None:
        """Since which version the model's table has it; None while no run has carried it out."""
        if is_inline(model.strategy):
            return None
        project = self._project
        adapter = find_adapter(project, adapter_of(project, model))
        warehouse = open_project_warehouse(adapter, project.root, self._workspace.environment)
        found = _first_version(
            warehouse.table(model.target), declassified_label(model.settings.declassify[place])
        )
        if found is None:
            return None
        version, info, whole = found
        run_id = info.get("runId")
        by, commit = self._run(run_id) if isinstance(run_id, str) else (None, None)
        at = datetime.fromtimestamp(int(info.get("timestamp", 0)) / 1000, UTC)
        return CarriedOut(version, at, run_id, by, commit, whole)

    def _run(self, run_id: str) -> tuple[str | None, str | None]:
        with open_history(self._workspace) as reader:
            run = None if reader is None else reader.run(run_id)
        return (None, None) if run is None else (run.triggering_identity, run.git_commit)


def _repository_of(project: Project) -> Repository | None:
    try:
        return find_repository(project.root)
    except (NotARepository, GitUnavailable):
        return None


def _first_version(table: Table, label: str) -> tuple[int, Mapping[str, Any], bool] | None:
    """The oldest version since which a table's log has always had a label."""
    live = table.snapshot()
    if live is None or label not in split_declassified(live.configuration.get(DECLASSIFIED)):
        return None
    found: tuple[int, Mapping[str, Any]] = live.version, {}
    for version in range(live.version, -1, -1):
        try:
            actions = table.log.read_commit(version)
        except StoreUnreadable:
            return (*found, False)
        infos = [each["commitInfo"] for each in actions if "commitInfo" in each]
        metadata = next((each["metaData"] for each in actions if "metaData" in each), None)
        if metadata is None:
            continue
        said = (metadata.get("configuration") or {}).get(DECLASSIFIED)
        if label not in split_declassified(said):
            break
        found = version, infos[0] if infos else {}
    return (*found, True)
