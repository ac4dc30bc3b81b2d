"""Project memory: what the last run found, if it left all as it was, and whether that still holds.

A run that built nothing has looked at every table, every source and every record. What it found is
remembered in the user's cache: what decided (code, comments, settings, sources), where the chain of
the ledger ended, and of each file of a table that it went by size, times and inode. While all of
that is the same a later run would decide the same, and needs to look at none of it. Any difference,
and anything that cannot be told so, means that the run looks at everything again; so does a day.
"""

import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from time import time_ns
from typing import Final

from blake3 import blake3
from msgspec.msgpack import Decoder

from rocky.compiler.fingerprints import fingerprints_of
from rocky.errors import ConcurrentChange, RockyError
from rocky.ledger.chain import Head
from rocky.ledger.readers.heads import HeadsReader, open_heads_reader
from rocky.ledger.record import RunId
from rocky.ledger.run_records import GONE_BY_FOR, RunRecord, RunStatus, left_as_it_was
from rocky.ledger.writer import Ledger
from rocky.plan.steps import RunPlan
from rocky.project.cache import load_values, pack, save_values
from rocky.project.configuration.blocks import State
from rocky.project.configuration.hooks import NO_HOOKS
from rocky.run.checksums import FileState, is_stable, state_of
from rocky.run.comments import ProjectComments
from rocky.run.engine.sources import declaration_hash
from rocky.run.materialize.mask_sql import mask_sql_of
from rocky.run.materialize.seeds import seed_hash
from rocky.run.outcomes import PipelineContribution, RunResult
from rocky.run.prepare.claims import is_remote_unreadable, tables_of
from rocky.run.prepare.pins import identify_source, pipeline_inputs
from rocky.run.prepare.preconditions import sources_of
from rocky.run.prepare.resources import RunParameters, RunResources
from rocky.run.reuse.history import find_nondeterminism
from rocky.store.delta.log import LOG_FOLDER
from rocky.store.delta.snapshot import Snapshot
from rocky.store.warehouse import Table, Warehouse

logger = logging.getLogger(__name__)

UNCHANGED: Final = "unchanged.bin"
_Row = tuple[str, str, int, str, dict[str, FileState]]
_ROWS: Final = Decoder(dict[str, _Row])
_LEDGERS_KEPT: Final = 3
"""Of production and some branches: each has a ledger of its own."""
_NO_TIME: Final = timedelta()
LOOK_AGAIN_AFTER: Final = GONE_BY_FOR - timedelta(hours=1)
"""How old a run that looked at everything may be: to ask all sources may take its time, too."""
_LOG_FILES: Final = 64
"""How many files of a log are looked at, the newest: a table is read from its last checkpoint on,
and every tenth version has one."""


@dataclass(frozen=True, slots=True)
class UnchangedProject:
    """What a run may go by without looking again: the run that looked last, as it is recorded."""

    looked: RunRecord
    head: Head
    files: Mapping[str, FileState]

    def stands(self, ledger: Ledger) -> bool:
        """Whether nothing was recorded since but that runs began, and every file is as it was."""
        with _heads(ledger) as heads:
            recorded = heads.has(self.head) and heads.has_only_runs_since(self.head.seq)
        return recorded and _are_as_remembered(self.files)

    def check(self, ledger: Ledger) -> None:
        """Raise ConcurrentChange unless it still stands."""
        if not self.stands(ledger):
            raise ConcurrentChange(
                "something changed while it began, so a run looked at everything"
            )


def find_unchanged(
    plan: RunPlan, resources: RunResources, options: RunParameters
) -> UnchangedProject | None:
    """What the last run left, if a run would find all of it so again; None when in doubt."""
    stamp, ledger = _stamp(plan), resources.ledger
    if stamp is None or not _may_stand(plan, resources, options):
        return None
    row = load_values(plan.project.root, UNCHANGED, stamp, _ROWS).get(ledger.ledger_id)
    if row is None:
        return None
    facts, run_id, seq, entry_hash, files = row
    looked = _recorded(ledger, RunId(run_id))
    if looked is None or not _NO_TIME <= resources.clock() - looked.started_at < LOOK_AGAIN_AFTER:
        return None
    if _facts(plan, resources, options) != facts:
        return None
    found = UnchangedProject(looked, Head(seq, entry_hash), files)
    # Last, so that what may change before the tables are claimed is little.
    return found if found.stands(ledger) else None


class ProjectGlance:
    """What decides as it was before a run looked at it: what changes meanwhile is not remembered.

    `at_ns` is the time before which files must have been as they are.
    """

    def __init__(
        self,
        plan: RunPlan,
        resources: RunResources,
        options: RunParameters,
        at_ns: int | None = None,
    ) -> None:
        self._plan = plan
        self._resources = resources
        self._at = time_ns() if at_ns is None else at_ns
        self._facts: str | None = None
        if _stamp(plan) is not None and _may_stand(plan, resources, options):
            self._folders = _states(_log_folders(plan, resources.warehouse))
            self._head = resources.ledger.head()
            self._facts = None if self._folders is None else _facts(plan, resources, options)

    def remember(self, report: RunResult) -> None:
        """Keep what a run found, if it left everything as it was; losing it costs only time."""
        stamp = _stamp(self._plan)
        if stamp is None or self._facts is None or not _left_all_alone(report):
            return
        try:
            row = self._row(report.run_id)
        except (RockyError, OSError) as why:
            logger.info("not remembered: run=%s why=%s", report.run_id, why)
            return
        if row is None:
            return
        root, ledger_id = self._plan.project.root, self._resources.ledger.ledger_id
        kept = load_values(root, UNCHANGED, stamp, _ROWS)
        kept.pop(ledger_id, None)
        others = list(kept.items())[1 - _LEDGERS_KEPT :]
        save_values(root, UNCHANGED, stamp, {**dict(others), ledger_id: row})

    def _row(self, run_id: RunId) -> _Row | None:
        """What is remembered of a run; None if anything may have changed meanwhile, or since."""
        with _heads(self._resources.ledger) as heads:
            head = heads.head()
            if head is None or not heads.has_only_runs_since(self._head.seq, run_id):
                return None
        files = self._files()
        if files is None or self._facts is None:
            return None
        return self._facts, run_id, head.seq, head.entry_hash, files

    def _files(self) -> dict[str, FileState] | None:
        """The states of all that was gone by; None if it may have changed meanwhile, or since."""
        if self._folders is None:
            return None
        found = dict(self._folders)
        for table in tables_of(self._plan, self._resources.warehouse):
            snapshot = table.snapshot()
            states = None if snapshot is None else _states(_paths_of(table, snapshot))
            if snapshot is None or states is None or not _has_sizes(table, snapshot, states):
                return None
            found |= states
        # As they were before they were read: what changed in between was seen by nobody.
        if _states(self._folders) != self._folders:
            return None
        return found if all(is_stable(each, self._at) for each in found.values()) else None


def _may_stand(plan: RunPlan, resources: RunResources, options: RunParameters) -> bool:
    """Whether the run was asked for nothing but to bring tables up to date, here."""
    asked = options.full_refresh or options.rebuild or options.start_anew or options.force
    plain = PipelineContribution(
        options.notes.pipeline, idempotency_key=options.notes.idempotency_key
    )
    return (
        not asked
        and not plan.left_out
        and options.reuse
        and plan.project.config.reuse.enabled
        # Who wants sources to be read for every decision has them read once for each.
        and plan.project.config.reuse.sources == "stat"
        and not options.windows
        and not options.has_tests(plan)
        and options.notes == plain
        and resources.applied is None
        and not resources.announce
        and resources.environment is not None
        and not is_remote_unreadable(resources)
        and resources.warehouse.objects.local_path("") is not None
    )


def _stamp(plan: RunPlan) -> bytes | None:
    """What must be equal for a memory to mean anything; None where nothing is remembered."""
    return plan.compilation.models.stamp or None


def _facts(plan: RunPlan, resources: RunResources, options: RunParameters) -> str | None:
    """A hash of all that decides beside tables and ledger; None when a source cannot tell."""
    project, environment = plan.project, resources.environment
    sources = _source_identities(plan, resources)
    if sources is None or environment is None:
        return None
    # Bytes of `rocky.toml` say nothing of variables, and what is secret tells itself by a hash.
    config = project.config._replace(adapter={}, hook=NO_HOOKS, state=State())
    decided = (
        resources.warehouse.uri,
        [table.prefix for table in tables_of(plan, resources.warehouse)],
        environment.hash,
        project.config_hash.hex(),
        repr((config, config.governance.key_fingerprint, plan.compilation.masks)),
        options.notes.pipeline,
        sorted(plan.pinned),
        list(_step_facts(plan)),
        sources,
    )
    return blake3(pack(decided)).hexdigest()


def _step_facts(plan: RunPlan) -> Iterator[tuple[str, ...]]:
    """What decides about each step, and all that its settings say: who knows what reads them."""
    project, comments = plan.project, ProjectComments(plan.compilation)
    fingerprints = fingerprints_of(plan.compilation, [step.key for step in plan.steps])
    for step in plan.steps:
        asked = step.id, step.kind, str(step.selected), repr(step.reads)
        if step.kind == "seed":
            seed = project.seeds[step.key]
            code = seed_hash(seed, mask_sql_of(plan.compilation, step.key))
            said = repr((comments.of_seed(step.key), seed.target, dict(seed.tags)))
            yield (*asked, code, said)
        else:
            settings = project.models[step.key].settings_hash.hex()
            chance = find_nondeterminism(plan, step.key)
            code = repr((fingerprints.get(step.key), settings, chance))
            yield (*asked, code, repr(comments.of_model(step.key)))


def _source_identities(
    plan: RunPlan, resources: RunResources
) -> list[tuple[str, dict[str, str]]] | None:
    """What each source is now; None when only Spark can tell, or nobody."""
    own, sources = set(pipeline_inputs(plan, resources.warehouse)), resources.sources.anew()
    found: list[tuple[str, dict[str, str]]] = []
    for source in (each.as_read() for each in sources_of(plan)):
        if source.key in own:
            # A table of the warehouse, which is looked at as such.
            continue
        try:
            pin = sources.look(source)
            files = () if pin is None else sources.files_of(source, pin)
        except (RockyError, OSError):
            return None
        declared = declaration_hash(source)
        identity = None if pin is None else identify_source(source.name, pin, files, declared)
        if identity is None:
            return None
        found.append((source.key, identity.document()))
    return found


def _log_folders(plan: RunPlan, warehouse: Warehouse) -> Iterator[str]:
    root = str(warehouse.objects.local_path(""))
    for table in tables_of(plan, warehouse):
        yield os.path.join(root, table.prefix, LOG_FOLDER)  # noqa: PTH118 - called for thousands


def _paths_of(table: Table, snapshot: Snapshot) -> Iterator[str]:
    """The newest files of a table's log, and the files it has."""
    folder = table.log.objects.local_path(f"{table.prefix}/{LOG_FOLDER}")
    newest = sorted(table.log.files(), reverse=True)[:_LOG_FILES]
    yield from (str(folder and folder / name) for name in newest)
    yield from (str(table.place_of(file).local) for file in snapshot.files)


def _has_sizes(table: Table, snapshot: Snapshot, states: Mapping[str, FileState]) -> bool:
    """Whether every file is as long as the log says."""
    return all(states[str(table.place_of(file).local)][0] == file.size for file in snapshot.files)


def _states(paths: Iterable[str]) -> dict[str, FileState] | None:
    """The state of each file or folder; None when one is not there or cannot be looked at."""
    try:
        return {path: state_of(path) for path in paths}
    except OSError:
        return None


def _are_as_remembered(files: Mapping[str, FileState]) -> bool:
    try:
        return all(state_of(path) == state for path, state in files.items())
    except OSError:
        return False


def _left_all_alone(report: RunResult) -> bool:
    """Whether a run found everything as it was, and has nothing to warn of."""
    fine = report.status is RunStatus.SUCCESS and not report.warnings and bool(report.outcomes)
    return fine and all(left_as_it_was(each.execution) for each in report.outcomes)


def _heads(ledger: Ledger) -> HeadsReader:
    found = open_heads_reader(ledger.path)
    assert found is not None, "it is open"
    return found


def _recorded(ledger: Ledger, run_id: RunId) -> RunRecord | None:
    """The record of the run that looked, if it is as Rocky wrote it."""
    with ledger.lookups() as lookups:
        if not lookups.is_untouched("run_history", run_id):
            return None
    with ledger.reader() as reader:
        found = reader.run(run_id)
    if found is None or found.status is not RunStatus.SUCCESS:
        return None
    return found if all(map(left_as_it_was, found.models_executed)) else None
