"""Replays of small projects: everything real but Spark."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rocky.ledger import open_evidence_reader
from rocky.replay.execution import ReplayContext, ReplayOptions, execute_replay
from rocky.replay.record import load_recorded_run
from rocky.replay.verdicts import ModelVerdict, ReplayReport
from rocky.run.materialize.build import Materialize
from rocky.run.materialize.strategy import materialize
from rocky.store.warehouse import open_warehouse
from tests.run.memory_engine import MemoryEngine
from tests.run.runs import Shop

STATE = ".rocky-state.db"


class Replays:
    """Replays the runs of a shop, and remembers the engines that were opened for it."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.engines: list[MemoryEngine] = []
        self.settings: list[Mapping[str, str]] = []
        self.change: Callable[[MemoryEngine], None] = lambda _: None
        self.build_table: Materialize = materialize

    def __call__(
        self, run_id: str, *models: str, keep: Path | None = None, **given: Any
    ) -> ReplayReport:
        root = self.shop.root
        warehouse = open_warehouse("warehouse", base=root)
        ground = ReplayContext(warehouse, root, self._open, {}, self._collected, self.build_table)
        recorded = load_recorded_run(root / STATE, run_id, models)
        return execute_replay(recorded, ground, ReplayOptions(parallel=2, keep=keep), **given)

    def _collected(self) -> Any:
        evidence = open_evidence_reader(self.shop.root / STATE)
        assert evidence is not None
        with evidence:
            return evidence.collected()

    @contextmanager
    def _open(self, settings: Mapping[str, str]) -> Iterator[tuple[MemoryEngine, tuple[str, ...]]]:
        engine = MemoryEngine(self.shop.root)
        self.change(engine)
        self.engines.append(engine)
        self.settings.append(settings)
        yield engine, ()


def verdicts(report: ReplayReport) -> dict[str, str]:
    return {each.model: each.verdict.value for each in report.models}


def reason_of(report: ReplayReport, model: str) -> str | None:
    return verdict_on(report, model).reason


def verdict_on(report: ReplayReport, model: str) -> ModelVerdict:
    return next(each for each in report.models if each.model == model)
