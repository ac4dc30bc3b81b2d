"""Reuse: whether a recorded result may be used instead of a build, and if not, why.

A result is reused only when nothing could be different: the model gives the same rows each
time, every input was identified by content, the recorded build had the same inputs and the same
environment, and its files are all there. Any doubt builds, and the decision says which doubt.

A strategy that keeps rows depends on its own table too, so there only a table that is still as the
recorded build left it is reused.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol

from rocky.errors import LedgerUnreadable, StoreUnreadable
from rocky.language.datatypes.text import field_to_json
from rocky.ledger.provenance import InputIndexEntry
from rocky.ledger.record import RunId
from rocky.ledger.run_records import ModelExecution
from rocky.plan.steps import FULL_REFRESH, HELD, NEVER_BUILT, RESUMED, RunPlan, Step
from rocky.project.configuration.blocks import Reuse
from rocky.project.configuration.strategies import replaces_all
from rocky.run.checksums import damaged_file, missing_file
from rocky.run.comments import ProjectComments
from rocky.run.prepare.environment import Environment, describe_difference
from rocky.run.prepare.known_inputs import KnownInput, MadeFrom
from rocky.run.prepare.pins import ProofClass, weakest
from rocky.run.reuse.history import BuildHistory, Resumption, describe_change, find_nondeterminism
from rocky.store.delta.comments import Comments, differ
from rocky.store.delta.snapshot import Snapshot
from rocky.store.warehouse import Table

REUSED: Final = "reuse"
"""The `decision` of a model for which an earlier result stands."""

OTHER_ENVIRONMENT: Final = "Spark or its settings changed"

NO_REFRESHES: Final[Mapping[str, str]] = {}

FindEntries = Callable[[Sequence[str]], dict[str, InputIndexEntry]]
"""The indexed results of some input hashes."""


class Cutoff(Protocol):
    """Finds a recorded result whose inputs differ only in columns that the model does not read."""

    def find(
        self, step: Step, made_from: MadeFrom, last: ModelExecution, entries: FindEntries
    ) -> InputIndexEntry | None: ...


REDESCRIBED: Final = "what is said of it has changed and is written beside it"


@dataclass(frozen=True, slots=True)
class RecordedResult:
    """What is reused: a table at a version, made by the run `run_id` for `model_name`.

    `live` when that is what readers of the table see now; else its files are to be committed again,
    with the project's `comments`. `redescribed` when only those have changed.
    `index` are entries to be written when it is taken: the result is to be found by the hash of
    these inputs, also where they were equal only in rows or columns, at the version it lies at.
    """

    run_id: RunId
    basis: Literal["content", "rows", "columns", "resume"]
    table: Table
    snapshot: Snapshot
    live: bool
    before: ModelExecution | None = None
    model_name: str | None = None
    index: tuple[InputIndexEntry, ...] = ()
    comments: Comments | None = None
    redescribed: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do with a step: `reused` stands for building it, if it is there.

    `held` when its table stays as it is because somebody has reverted it.
    """

    reason: str
    reused: RecordedResult | None = None
    held: bool = False

    @property
    def verdict(self) -> str:
        if self.held:
            return HELD
        if self.reused is None:
            return "build"
        return RESUMED if self.reused.basis == "resume" else REUSED


@dataclass(frozen=True, slots=True)
class ReuseRules:
    """What was asked for: `refused` is why nothing may be taken over, if so.

    `refreshed` are keys of models that are loaded whole although nobody asked for it, with why.
    `proofs` are the classes that inputs must have to be relied on, now and in the recorded build.
    """

    refused: str | None = None
    column_level: bool = True
    proofs: tuple[ProofClass, ...] = ("strong", "stat")
    refreshed: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        settings: Reuse,
        *,
        full_refresh: bool,
        rebuild: bool,
        reuse: bool,
        refreshed: Mapping[str, str] = NO_REFRESHES,
    ) -> "ReuseRules":
        """The rules of `[reuse]` and of what was asked for."""
        refused = None
        if full_refresh:
            refused = FULL_REFRESH
        elif rebuild:
            refused = "a rebuild was asked for"
        elif not reuse or not settings.enabled:
            refused = "reuse is switched off"
        proofs: tuple[ProofClass, ...] = (
            ("strong",) if settings.sources == "bytes" else ("strong", "stat")
        )
        return cls(refused, settings.column_level, proofs, refreshed)


class ReuseDecider:
    """Decides for the steps of one run. Threads may share it.

    Where nobody knows the environment yet it is not compared: such decisions are a guess.
    """

    def __init__(
        self,
        plan: RunPlan,
        rules: ReuseRules,
        memory: BuildHistory,
        environment: Environment | None,
        resumption: Resumption,
    ) -> None:
        self._plan = plan
        self._comments = ProjectComments(plan.compilation)
        self._rules = rules
        self._memory = memory
        self._environment = environment
        self._env_hash = environment.hash if environment is not None else None
        self._resumption = resumption

    def decide(
        self, step: Step, made_from: MadeFrom, table: Table, cutoff: Cutoff | None = None
    ) -> Decision:
        """What to do with a model whose inputs are known. Raises StoreUnreadable.

        `cutoff` compares the columns of inputs, for which Spark must run.
        """
        live = table.snapshot()
        refreshed = self._refreshed(step, live)
        if refreshed is not None:
            return Decision(refreshed)
        resumed = self._resume(step, made_from, table, live)
        if resumed is not None:
            return resumed
        doubt = self._doubt(step, made_from)
        if doubt is not None:
            # What could have changed since the last build matters only where there is one.
            is_first = live is None and step.name not in self._memory.last
            return Decision(NEVER_BUILT if is_first and not self._rules.refused else doubt)
        try:
            return self._take_over(step, made_from, table, live, cutoff)
        except (LedgerUnreadable, StoreUnreadable) as error:
            return Decision(f"what is recorded cannot be read: {error}")

    def foregone(self, step: Step, table: Table) -> str | None:
        """Why a step will be built whatever its inputs turn out to be. Raises StoreUnreadable."""
        refreshed = self._refreshed(step, table.snapshot())
        if refreshed is not None:
            return refreshed
        if step.key in self._resumption.executions:
            return None
        if table.snapshot() is None and step.name not in self._memory.last:
            return NEVER_BUILT
        return self._rules.refused or find_nondeterminism(self._plan, step.key)

    def _refreshed(self, step: Step, live: Snapshot | None) -> str | None:
        """Why a table is loaded whole, if so and nobody asked for it."""
        why = None if self._rules.refused else self._rules.refreshed.get(step.key)
        return NEVER_BUILT if why is not None and live is None else why

    def _resume(
        self, step: Step, made_from: MadeFrom, table: Table, live: Snapshot | None
    ) -> Decision | None:
        """What the unfinished run before left of the step, if that can be reused."""
        before = self._resumption.built_already(
            step, made_from.fingerprints.recipe, made_from.input_hash, live
        )
        if (
            before is None
            or live is None
            or self._env_hash not in (None, before.env_hash)
            or missing_file(table, live) is not None
        ):
            return None
        run_id = self._resumption.run_id
        assert run_id is not None
        reused = RecordedResult(run_id, "resume", table, live, live=True, before=before)
        return Decision(self._resumption.reason_of(before), reused)

    def _doubt(self, step: Step, made_from: MadeFrom) -> str | None:
        """Why nothing can be taken over, whatever is recorded."""
        if self._rules.refused is not None:
            return self._rules.refused
        chance = find_nondeterminism(self._plan, step.key)
        if chance is not None:
            return chance
        return None if made_from.proof in self._rules.proofs else _describe_doubt(made_from.inputs)

    def _take_over(
        self,
        step: Step,
        made_from: MadeFrom,
        table: Table,
        live: Snapshot | None,
        cutoff: Cutoff | None,
    ) -> Decision:
        found, basis = self._find(made_from)
        why = ""
        if found is None:
            last = self._memory.last.get(step.name)
            why = describe_change(last, made_from, self._memory.inputs_of(last))
            if cutoff is None or not self._rules.column_level or last is None:
                return Decision(why)
            found = cutoff.find(step, made_from, last.execution, self._memory.entries)
            basis = "columns"
        if found is None:
            return Decision(why)
        doubt = self._refuse(step, found, table, live)
        if doubt is not None:
            return Decision(doubt)
        comments = self._comments.of_model(step.key)
        return self._taken(made_from, table, live, (found, basis), comments)

    def _find(self, made_from: MadeFrom) -> tuple[InputIndexEntry | None, str]:
        """A recorded result of these inputs, and what they have in common with its own."""
        hashes = [made_from.input_hash, made_from.cutoff_hash]
        entries = self._memory.entries([each for each in hashes if each is not None])
        found = entries.get(made_from.input_hash or "")
        if found is not None:
            # Written when it was reused, it says what the build's own inputs had in common.
            return found, found.basis
        return entries.get(made_from.cutoff_hash or ""), "rows"

    def _refuse(
        self, step: Step, found: InputIndexEntry, table: Table, live: Snapshot | None
    ) -> str | None:
        """Why a recorded result cannot be reused."""
        if not self._memory.is_untouched(found):
            return f"the record of `{found.run_id}` was changed: see `rocky verify`"
        if found.target != table.name:
            return "no earlier build can be reused"
        if found.proof_class not in self._rules.proofs:
            return f"`{found.run_id}` did not read the bytes of all its sources"
        if self._env_hash not in (None, found.env_hash):
            return self._environment_change(found)
        strategy = self._plan.project.models[step.key].strategy
        if not replaces_all(strategy) and (live is None or live.version != found.commit_version):
            return f"the table has changed since `{found.run_id}`"
        return None

    def _environment_change(self, found: InputIndexEntry) -> str:
        """Which setting differs from those that a result was made with, and how."""
        then, now = self._memory.environment_of(found), self._environment
        said = None
        if then is not None and now is not None:
            said = describe_difference(then, found.run_id, now)
        return said or OTHER_ENVIRONMENT

    def _taken(
        self,
        made_from: MadeFrom,
        table: Table,
        live: Snapshot | None,
        candidate: tuple[InputIndexEntry, str],
        comments: Comments,
    ) -> Decision:
        found, basis = candidate
        recorded = _recorded_version(table, live, found)
        if recorded is None:
            return Decision(f"what `{found.run_id}` left is gone")
        same = live is not None and _same_table(live, recorded)
        missing = missing_file(table, recorded)
        if missing is None and not same:
            # Nobody has read them of late, and a commit would present them as whole.
            missing = damaged_file(table, recorded)
        if missing is not None:
            by = self._memory.erasure_of(table.name, missing)
            if by is not None:
                return Decision(
                    f"what `{found.run_id}` left was erased, by the certificate of `{by}`"
                )
            return Decision(f"file `{missing}` of what `{found.run_id}` left is missing or damaged")
        redescribed = same and live is not None and differ(comments, live)
        index: tuple[InputIndexEntry, ...] = ()
        if made_from.input_hash is not None and (
            found.input_hash != made_from.input_hash or not same or redescribed
        ):
            assert made_from.proof is not None
            # What is found by this hash is no surer than the hash.
            proof = weakest((made_from.proof, found.proof_class))  # type: ignore[arg-type]  # as recorded
            index = (
                replace(found, input_hash=made_from.input_hash, basis=basis, proof_class=proof),
            )
        reused = RecordedResult(
            found.run_id,
            basis,  # type: ignore[arg-type]  # one of the three
            table,
            live if same and live is not None else recorded,
            live=same and not redescribed,
            before=self._memory.build_of(found),
            model_name=found.model_name,
            index=index,
            comments=comments,
            redescribed=redescribed,
        )
        return Decision(_describe_reuse(found, basis), reused)


def _recorded_version(
    table: Table, live: Snapshot | None, found: InputIndexEntry
) -> Snapshot | None:
    """The table as the recorded build left it; None when its log no longer says so."""
    if live is None or live.version < found.commit_version:
        return None
    at = live if live.version == found.commit_version else table.snapshot(found.commit_version)
    if at is None or {file.address for file in at.files} != set(found.output_blake3):
        return None
    return at


def _same_table(one: Snapshot, other: Snapshot) -> bool:
    """Whether two versions of a table are the same to its readers."""
    if one.version == other.version:
        return True
    return _content(one) == _content(other)


def _content(snapshot: Snapshot) -> tuple[object, ...]:
    paths = [file.path for file in snapshot.files]
    columns = [field_to_json(each) for each in snapshot.schema]
    return columns, snapshot.partition_columns, snapshot.configuration, paths


def _describe_reuse(found: InputIndexEntry, basis: str) -> str:
    said = {
        "rows": ", its inputs were written again with the same rows",
        "columns": ", only columns that it does not read changed",
    }
    return f"reused from {found.run_id}{said.get(basis, '')}"


def _describe_doubt(inputs: Sequence[KnownInput]) -> str:
    for each in inputs:
        if each.identity is None:
            return f"`{each.name}` could have changed unseen"
        if each.identity.proof == "heuristic":
            return f"`{each.name}` is known by its list of files only"
    return "an input is not known by its content"
