"""The plan of a load: which files are new, and a generated model for each table that has some.

Nothing is written here, and Spark is asked only for the columns of new files. What is wrong with
one table's files is that table's refusal; the others are loaded.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final

from rocky.diagnostics import Severity
from rocky.errors import RockyError
from rocky.pipelines.generated import GeneratedModel, compile_generated, generate_project
from rocky.pipelines.loads.choosing import Chooser, Chosen
from rocky.pipelines.loads.contracts import contract_for
from rocky.pipelines.loads.files import Found, FoundTable
from rocky.pipelines.loads.ground import Load, LoadGround
from rocky.pipelines.loads.history import LoadHistory
from rocky.pipelines.loads.modelling import Modeller
from rocky.pipelines.report import Excluded
from rocky.plan.steps import RunPlan, plan_steps
from rocky.project.strategies import FullRefresh
from rocky.run.notes import StepNotes

_AT_ONCE: Final = 16
"""Tables looked at at once: each waits for Spark's analyser."""
_NOTHING: Final = "SELECT CAST(NULL AS STRING) AS unknown"


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """What a run would do. `unchanged` have no new file."""

    loads: tuple[Load, ...]
    unchanged: tuple[FoundTable, ...]
    excluded: tuple[Excluded, ...]
    run: RunPlan


def plan_loads(ground: LoadGround, found: Found, history: LoadHistory) -> LoadPlan:
    """Decide what is loaded into which table."""
    chooser, modeller = Chooser(ground, history), Modeller(ground)

    def choose(table: FoundTable) -> Chosen | Load | None:
        try:
            return chooser.choose(table)
        except RockyError as error:
            return _refused(ground, table, str(error))

    def model(chosen: Chosen | Load) -> Load:
        if isinstance(chosen, Load):
            return chosen
        try:
            return modeller.load(chosen)
        except RockyError as error:
            return _refused(ground, chosen.table, str(error))

    chosen = [each for table in found.tables if (each := choose(table)) is not None]
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="rocky-describe") as pool:
        loads = list(pool.map(model, chosen))
    loads, run = _compiled(ground, loads)
    excluded = (*found.excluded, *chooser.excluded)
    return LoadPlan(tuple(loads), tuple(chooser.unchanged), excluded, run)


def _compiled(ground: LoadGround, loads: list[Load]) -> tuple[list[Load], RunPlan]:
    """The loads as a plan; one that does not compile, or breaks the contract, fails alone."""
    plan = _plan(ground, loads)
    wrong: dict[str, str] = {}
    for found in plan.compilation.diagnostics:
        if found.severity is Severity.ERROR and found.model is not None:
            wrong.setdefault(found.model.lower(), found.message)
    if not wrong:
        return loads, plan
    checked = [
        _unfit(each, f"nothing was loaded into `{each.model.target.full_name}`: {why}")
        if (why := wrong.get(each.model.key)) is not None
        else each
        for each in loads
    ]
    return checked, _plan(ground, checked)


def _plan(ground: LoadGround, loads: Sequence[Load]) -> RunPlan:
    project = generate_project(ground.project, ground.name, [each.model for each in loads])
    if ground.contract is not None:
        contracts = {
            each.model.key: contract_for(ground.contract, each.model.target.full_name)
            for each in loads
            if each.notes.refusal is None
        }
        project = replace(project, contracts=contracts)
    return plan_steps(compile_generated(project), project.models)


def _refused(ground: LoadGround, table: FoundTable, why: str) -> Load:
    """A table that fails before anything is read: its model only carries its name."""
    model = GeneratedModel(table.target, _NOTHING, FullRefresh(), ())
    key = ("load", ground.name, table.target.full_name)
    return Load(model, StepNotes(key, refusal=why))


def _unfit(load: Load, why: str) -> Load:
    model = replace(load.model, sql=_NOTHING, strategy=FullRefresh(), sources=())
    return Load(model, StepNotes(load.notes.asset_key, refusal=why))
