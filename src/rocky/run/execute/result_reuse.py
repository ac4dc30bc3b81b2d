"""Reuse of recorded results: a step gets the table that an earlier run built, without building.

Results that need no Spark, by the forecast, are reused and recorded in one transaction. A result
that cannot be committed again now is left to the builder, which tries again or fails.
"""

from collections.abc import Iterator, Mapping

from rocky.errors import InternalError, RockyError
from rocky.plan.steps import Step
from rocky.run.engine.protocol import Engine
from rocky.run.prepare.inputs import MadeFrom
from rocky.run.prepare.pins import PinnedTable, Pins
from rocky.run.prepare.resources import RunClock, RunContext
from rocky.run.record.journal import Journal
from rocky.run.record.provenance import StepRecord, StepResult, Timing
from rocky.run.record.recorder import Recorder
from rocky.run.reuse.decisions import Decision, RecordedResult
from rocky.run.reuse.forecast import Forecast, StepForecast
from rocky.store.delta.change import Change, Committed
from rocky.store.delta.signature import CommitAuthority

_OWN = "rocky."
"""The beginning of table properties that belong to a version's rows."""


class ResultReuse:
    """Puts recorded results in the place of builds. Threads may share it.

    Without an engine nothing can be reused that must be registered in Spark's catalogue.
    """

    def __init__(self, context: RunContext, pins: Pins, engine: Engine | None = None) -> None:
        self._context = context
        self._pins = pins
        self._engine = engine

    @property
    def can_reuse(self) -> bool:
        """Whether every catalogue that must be told of a table can be told now."""
        return self._engine is not None or not any(
            each.needs_engine for each in self._context.announce
        )

    def reuse(self, step: Step, made_from: MadeFrom, decision: Decision) -> StepResult:
        """The recorded result as the step's own, committed again if it is not the table's newest.

        Raises what the store raises.
        """
        reused = decision.reused
        assert reused is not None
        committed = None
        snapshot = reused.snapshot
        if not reused.live:
            info = self._context.info_of(step.name, made_from)
            statement = self._context.ledger_statement()
            committed = recommit(reused, {**info, **statement}, self._context.authority)
            snapshot = committed.snapshot
        # Also of a table that stays as it is: it may be the first time that anybody is told.
        for each in self._context.announce:
            each.tell(self._engine, reused.table, snapshot)
        pinned = PinnedTable(reused.table, snapshot)
        self._pins.pin(step.id, pinned)
        return StepResult(made_from, pinned=pinned, decision=decision, recommitted=committed)


def recommit(
    reused: RecordedResult, info: Mapping[str, str], authority: CommitAuthority
) -> Committed:
    """Make the files of an earlier version the table's content again, in one commit.

    Raises ConcurrentChange, StoreUnwritable, and ChangeRefused when a file is missing after all.
    """
    recorded = reused.snapshot
    return reused.table.commit(
        Change(
            "REPLACE",
            reused.table.snapshot(),
            recorded.schema,
            recorded.partition_columns,
            recorded.files,
            properties={
                name: value
                for name, value in recorded.configuration.items()
                if name.startswith(_OWN)
            },
            info=info,
            authority=authority,
        )
    )


def record_unbuilt_steps(
    forecast: Forecast, reuse: ResultReuse, recorder: Recorder, journal: Journal, times: RunClock
) -> frozenset[str]:
    """Record the steps that need not be built; their ids.

    What cannot be committed again now is left to be tried, and to fail if it must, as a build.
    """
    records = list(_records(forecast, reuse, recorder, times))
    journal.record_all(records)
    return frozenset(each.outcome.step.id for each in records)


def _records(
    forecast: Forecast, reuse: ResultReuse, recorder: Recorder, times: RunClock
) -> Iterator[StepRecord]:
    left: set[str] = set()
    for each in forecast.steps:
        # A reader of what is left must wait for it.
        if not each.settled or left & set(each.step.after):
            left.add(each.step.id)
            continue
        record = _record(each, reuse, recorder, times)
        if record is None:
            left.add(each.step.id)
        else:
            yield record


def _record(
    each: StepForecast, reuse: ResultReuse, recorder: Recorder, times: RunClock
) -> StepRecord | None:
    now = times.now()
    if each.decision is None or each.decision.reused is None or each.made_from is None:
        return recorder.idle(each.step, now)
    if not reuse.can_reuse:
        return None
    try:
        result = reuse.reuse(each.step, each.made_from, each.decision)
    except InternalError:
        raise
    except RockyError:
        return None
    return recorder.reused(each.step, result, Timing(now, 0))
