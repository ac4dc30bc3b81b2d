"""A whole replay put together: the record read, the warehouse found, Spark as it was then.

The project is asked for what a record cannot hold: how Spark is reached, and with which keys. Its
models, sources and seeds are not asked.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

from rocky.diagnostics.suggest import suggestion
from rocky.errors import NothingSelected
from rocky.ledger import open_evidence
from rocky.ledger.provenance import CollectedFile
from rocky.ledger.records import RunRecord
from rocky.project import Project
from rocky.project.adapter import Adapter
from rocky.replay.execution import Ground, Orders, Told, execute_replay
from rocky.replay.recorded import RecordedRun
from rocky.replay.surroundings import restore_settings
from rocky.replay.verdicts import ReplayReport
from rocky.run.engine import Engine
from rocky.run.interrupts import stop_on_interrupt
from rocky.run.opening import open_project_engine
from rocky.run.places import open_project_warehouse
from rocky.store.warehouse import Warehouse, open_warehouse
from rocky.store.whereabouts import find_recorded_warehouse


def replay_recorded(
    project: Project,
    recorded: RecordedRun,
    orders: Orders,
    *,
    state: Path,
    environment: Mapping[str, str],
    spark: Any = None,
    told: Told = lambda _: None,
) -> ReplayReport:
    """Build a recorded run again.

    `told` hears of each verdict as soon as there is one. `spark` is the caller's own session, which
    is left as it was.
    """
    chosen, warehouse = find_warehouse(project, recorded.run, orders.adapter, environment)

    @contextmanager
    def opened(settings: Mapping[str, str]) -> Iterator[tuple[Engine, tuple[str, ...]]]:
        restored, lost = restore_settings(chosen, environment, settings, project.root)
        # Nobody else is to hear of the tables of a scratch area.
        unheard = restored._replace(register=False)
        with open_project_engine(unheard, project.root, spark) as engine:
            yield engine, lost

    def collected() -> tuple[CollectedFile, ...]:
        evidence = open_evidence(state)
        if evidence is None:
            return ()
        with evidence:
            return evidence.collected()

    ground = Ground(warehouse, project.root, opened, chosen.conf, collected)
    stop = Event()
    with stop_on_interrupt(stop):
        return execute_replay(recorded, ground, orders, stop, told)


def find_warehouse(
    project: Project, run: RunRecord, name: str | None, environment: Mapping[str, str]
) -> tuple[Adapter, Warehouse]:
    """The adapter to run on, and the warehouse in which the run left its tables.

    Without a name it is the adapter whose warehouse that is. A project may have been moved since,
    with its tables: where nothing is left, they are in the adapter's own. Raises NothingSelected.
    """
    adapters = project.config.adapter
    if name is not None and name not in adapters:
        hint = suggestion(name, adapters) or "adapters: " + ", ".join(adapters)
        raise NothingSelected(f"no adapter `{name}`; {hint}")
    chosen = [adapters[name]] if name is not None else list(adapters.values())
    opened = [(each, open_project_warehouse(each, project.root, environment)) for each in chosen]
    adapter, own = opened[0]
    if run.warehouse is None:
        return adapter, own

    def reopen(place: str) -> Warehouse:
        return open_warehouse(place, base=project.root, options={**environment, **adapter.conf})

    found = find_recorded_warehouse(
        run.warehouse, [each for _, each in opened], reopen, project.root
    )
    return next((each for each in opened if each[1] is found), (adapter, found))
