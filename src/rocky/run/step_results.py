"""What was asked of the steps of a run, and what came of each. Values only."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import uuid4

from rocky.ledger.record import RunId
from rocky.run.build import Built, Window
from rocky.run.engine import Engine
from rocky.run.inputs import MadeFrom
from rocky.run.marks import NO_MARKS, NO_WATERMARK, Marks
from rocky.run.notes import StepNotes
from rocky.run.pinning import PinnedTable
from rocky.run.reuse import Decision
from rocky.run.step_failures import StepFailure
from rocky.spark.layout import Layout
from rocky.store.change import Committed
from rocky.store.snapshot import Snapshot
from rocky.store.warehouse import Table


@dataclass(frozen=True, slots=True)
class Announcement:
    """Who else is told of a table that was built or taken over; being told twice does no harm."""

    tell: Callable[[Engine | None, Table, Snapshot], None]
    needs_engine: bool = False


@dataclass(frozen=True, slots=True)
class BuildOrders:
    """What was asked of the whole run. `vouch` is what commits say of the ledger.

    `nonce` tells this run from one on another machine that has the same id. `marks` say which
    tables have no watermark to go on from, `notes` what a pipeline adds.
    """

    run_id: RunId
    now: datetime
    full_refresh: bool = False
    windows: Mapping[str, Window] = field(default_factory=dict)
    announce: tuple[Announcement, ...] = ()
    vouch: Callable[[], Mapping[str, str]] = dict
    marks: Marks = NO_MARKS
    notes: Mapping[str, StepNotes] = field(default_factory=dict)
    nonce: str = field(default_factory=lambda: uuid4().hex)

    def refreshes(self, key: str) -> bool:
        """Whether a table is loaded whole, whatever its strategy."""
        return self.full_refresh or key in self.refreshed

    @property
    def refreshed(self) -> dict[str, str]:
        """Tables that are loaded whole although nobody asked for it, each with why."""
        noted = {key: each.full_refresh for key, each in self.notes.items() if each.full_refresh}
        return {**dict.fromkeys(self.marks.refreshed, NO_WATERMARK), **noted}

    def window_of(self, key: str) -> Window:
        """The window of a time-interval model; other models have no use for one."""
        return self.windows.get(key, Window())

    def info_of(self, name: str, made_from: MadeFrom) -> dict[str, str]:
        """What the commits of a model say besides."""
        recipe = made_from.fingerprints.recipe
        return {"runId": self.run_id, "model": name, "recipeHash": recipe}


@dataclass(frozen=True, slots=True)
class StepResult:
    """What building a step did. `built` is None for inline steps and where `decision` took over.

    `made_from` is None for a seed, which is made from a file. `pinned` is None where there is no
    table, also when every interval of a new one failed. `changed_source` is one whose files are no
    longer those that were pinned: then nobody can say what was read. `recommitted` is the commit
    that made an earlier version the table's content again.
    """

    made_from: MadeFrom | None
    sql: str = ""
    built: Built | None = None
    layout: Layout | None = None
    pinned: PinnedTable | None = None
    decision: Decision | None = None
    recommitted: Committed | None = None
    changed_source: str | None = None

    @property
    def failure(self) -> StepFailure | None:
        """Intervals that failed beside others that did not: what was built stays."""
        partitions = self.built.partitions if self.built is not None else ()
        failed = [each for each in partitions if each.error is not None]
        if not failed:
            return None
        many = f"{len(failed)} of {len(partitions)} intervals failed; the first"
        return StepFailure("interval_failed", f"{many}, `{failed[0].key}`: {failed[0].error}")
