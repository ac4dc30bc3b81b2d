"""Drafts: what a request would do, worked out without doing any of it, as plain JSON values.

What variables of the environment make of settings and sources is kept as one hash: a plan is there
to be read, and must not hold a secret.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from rocky.analysis.changes.change import Change, worst_impact
from rocky.analysis.changes.columns import compare_columns
from rocky.canonical import canonical_json
from rocky.errors import StoreUnreadable
from rocky.ledger.readers.evidence import open_evidence_reader
from rocky.operations.plan.preview import (
    RunPreview,
    decision_of,
    may_be_built,
    outlook_of,
    preview_run,
    step_outlook,
)
from rocky.operations.plan.report import Outlook, Statement, column_change
from rocky.operations.report import encode_report
from rocky.plan.adapters import choose_adapter
from rocky.plan.comparison import find_unreadable
from rocky.plan.estimates import Unit
from rocky.plan.kept_plan import PlanDocument
from rocky.plan.request import RunRequest
from rocky.plan.steps import RunPlan, Step
from rocky.project import Project
from rocky.project.configuration.blocks import Adapter
from rocky.project.secrets import hide, is_secret_name
from rocky.project.sources import SourceTable
from rocky.project.toml.variables import Substituted, written
from rocky.run.materialize.mask_sql import mask_sql_of
from rocky.run.materialize.seeds import seed_hash, seed_target
from rocky.run.prepare.caller import Caller
from rocky.run.prepare.environment import result_settings
from rocky.run.prepare.lost_state import refuse_lost_preview
from rocky.run.prepare.pins import open_project_warehouse
from rocky.run.prepare.preconditions import sources_of
from rocky.run.reuse.forecast import StepForecast
from rocky.store.warehouse import Warehouse

_ROUNDS: Final = 100_000
_REFERENCE: Final = re.compile(r"(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*)")
_IN_URL: Final = re.compile(
    r"(?P<user>://[^/@\s:]*:)[^/@\s]+(?=@)"
    r"|(?P<key>(?:password|passwd|pwd|secret|token|credential)=)[^&;\s]*",
    re.IGNORECASE,
)
_CHOOSING: Final = ("SPARK_REMOTE", "SPARK_HOME")
"""Variables that choose another Spark than the settings do."""
_FREE: Final = frozenset({"conf", "options"})
"""Settings below which names are not Rocky's: those that speak of secrets mean them."""
_HASH_KEY: Final = ("governance", "hash_key")
"""Told by the fingerprint that the recipes of masked tables have."""
_BESIDE: Final = frozenset({"state"})
"""Blocks that decide nothing that a run builds: where records are kept is told by the ledger."""


def variables_document(
    project: Project,
    adapter: Adapter,
    sources: Iterable[SourceTable],
    env: Mapping[str, str],
    ledger_id: str | None,
    *,
    foreseen: bool,
) -> dict[str, Any] | None:
    """The names of variables that have a say, and one hash of what they say; None without any.

    `foreseen` when the environment of the results is known, and so kept, by itself.
    """
    values: dict[str, str] = {}
    names: set[str] = set()
    written = project.texts[project.config_path].text
    if _REFERENCE.search(written):
        names.update(_REFERENCE.findall(written))
        values.update(_config_values(project, adapter))
    for source in sources:
        for name, value in _source_values(source):
            names.update(_REFERENCE.findall(value.written))
            values[f"{source.name} {name}"] = _without_password(value)
    for name in _CHOOSING:
        if env.get(name):
            names.add(name)
            values[name] = _address(env[name])
    if not foreseen:
        values.update(_spark_variables(adapter, env, project.root))
    if not values:
        return None
    salt = ledger_id if ledger_id is not None else project.config_hash.hex()
    return {"names": sorted(names), "hash": _hash_slowly(canonical_json(values), salt)}


@lru_cache(maxsize=4)
def _hash_slowly(said: str, salt: str) -> str:
    """The pipelines of one plan mostly have the same to say."""
    data = said.encode("utf-8", "surrogatepass")
    return hashlib.pbkdf2_hmac("sha256", data, salt.encode(), _ROUNDS).hex()


def _config_values(project: Project, adapter: Adapter) -> Iterator[tuple[str, str]]:
    """Every setting but secrets, and but those of adapters that are not used."""
    chosen = {name for name, each in project.config.adapter.items() if each is adapter}
    for path, value in _leaves(project.config, ()):
        other = path[0] == "adapter" and path[1] not in chosen
        secret = not _FREE.isdisjoint(path[:-1]) and is_secret_name(path[-1])
        if other or secret or path[0] in _BESIDE or path == _HASH_KEY:
            continue
        yield ".".join(path), _address(value) if path[-1] == "remote" else _without_password(value)


def _source_values(source: SourceTable) -> Iterator[tuple[str, Substituted]]:
    if isinstance(source.path, Substituted):
        yield "path", source.path
    for name, value in source.options.items():
        if isinstance(value, Substituted) and not is_secret_name(name):
            yield name, value


def _spark_variables(adapter: Adapter, env: Mapping[str, str], root: Path) -> dict[str, str]:
    """What may change a result on a Spark that only Spark itself can tell of."""
    open_conf = {name: value for name, value in adapter.conf.items() if not is_secret_name(name)}
    return result_settings(adapter._replace(conf=open_conf), env, root)


def _leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _leaves(each, (*path, str(key)))
    elif isinstance(value, tuple | list):
        for number, each in enumerate(value):
            yield from _leaves(each, (*path, str(number)))
    else:
        yield path, value


def _without_password(value: Any) -> str:
    """A value without a password that an address may hold."""
    return _IN_URL.sub(lambda found: found["user"] or found["key"] or "", str(value))


def _address(value: Any) -> str:
    """The address of a Spark: what follows a `;` may be a token."""
    return _without_password(value).partition(";")[0]


def schema_changes(plan: RunPlan, step: Step, warehouse: Warehouse) -> tuple[Change, ...]:
    """What building a step would do to its table's columns; nothing where there is no table.

    A table that cannot be read is not compared: that is said where it is looked at.
    """
    if step.kind != "build" or step.key not in plan.compilation.models:
        return ()
    model = plan.project.models[step.key]
    try:
        snapshot = warehouse.table(model.target).snapshot()
    except StoreUnreadable:
        return ()
    if snapshot is None:
        return ()
    return compare_columns(snapshot.schema, plan.compilation.models[step.key].columns)


def change_documents(changes: Iterable[Change]) -> list[dict[str, Any]] | None:
    """Changes as a plan keeps them; None without any."""
    return [encode_report(column_change(each)) for each in changes] or None


def verdict_of(changes: list[Change], *, unreadable: bool) -> str:
    """The worst that changes do: `breaking`, `warning`, `info`, `none`.

    `unknown` where a table could not be read: that is not the same as no change.
    """
    worst = worst_impact(changes)
    if unreadable and worst != "breaking":
        return "unknown"
    return "none" if worst is None else worst.value


@dataclass(frozen=True, slots=True)
class DraftRun:
    """One run of a draft: of models, or of the pipeline that is named.

    `outlook` is what is shown of it. `builds` are the steps that may be built, `units` the same
    where there are no steps.
    """

    document: PlanDocument
    outlook: Outlook
    pipeline: str | None = None
    plan: RunPlan | None = None
    builds: tuple[Step, ...] = ()
    statements: tuple[Statement, ...] = ()
    changes: tuple[tuple[str, Change], ...] = ()
    notes: tuple[str, ...] = ()
    units: tuple[Unit, ...] = ()

    @property
    def relies_on(self) -> PlanDocument | None:
        """How the things stand that the run reads and writes; None where that is not known."""
        found: PlanDocument | None = self.document.get("relies_on")
        return found

    @property
    def unreadable(self) -> list[str]:
        """What could not be looked at, in words."""
        return find_unreadable(self.relies_on or {})

    @property
    def verdict(self) -> str:
        """The worst that it does to the columns of tables."""
        changes = [change for _, change in self.changes]
        tables = {"tables": (self.relies_on or {}).get("tables", {})}
        return verdict_of(changes, unreadable=bool(find_unreadable(tables)))


def draft_models(
    plan: RunPlan, request: RunRequest, caller: Caller, *, is_new: bool = False
) -> DraftRun:
    """What a run of models would do. Raises as `preview_run`; StateLost of a plan that `is_new`."""
    project = plan.project
    adapter = choose_adapter(project, plan, request.adapter)
    # One for all: it remembers the logs that it has read.
    warehouse = open_project_warehouse(adapter, project.root, caller.environment)
    if is_new:
        _refuse_lost_state(plan, warehouse, request, caller)
    preview = preview_run(
        plan,
        request,
        warehouse,
        state=caller.state,
        environment=caller.environment,
        spark=caller.spark,
    )
    steps = preview.forecast.steps
    builds = tuple(each.step for each in steps if may_be_built(each, preview))
    # What is taken over has the columns that it has.
    changes = {step.id: schema_changes(plan, step, warehouse) for step in builds}
    document = {
        "pipeline": request.pipeline,
        "type": "models",
        **place_document(project, adapter, caller, preview.env_hash, sources_of(plan)),
        "certain": preview.certain,
        "resumes": preview.resumes,
        "steps": [_step(plan, each, preview, changes.get(each.step.id, ())) for each in steps],
        "relies_on": preview.relies_on,
    }
    return DraftRun(
        present(document),
        outlook_of(plan, preview),
        request.pipeline,
        plan,
        builds,
        tuple(_statements(plan, preview)),
        tuple((step.name, each) for step in builds for each in changes[step.id]),
    )


def _refuse_lost_state(
    plan: RunPlan, warehouse: Warehouse, request: RunRequest, caller: Caller
) -> None:
    """Raise StateLost where a run would be refused so: it would build nothing for the first time.

    While another machine keeps the state, only a run knows what it has now.
    """
    if not request.start_anew and plan.project.config.state.backend == "local":
        refuse_lost_preview(plan, warehouse, caller.state)


def present(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document without what is not known."""
    return {name: value for name, value in document.items() if value is not None}


def adapter_document(project: Project, adapter: Adapter, env_hash: str | None) -> dict[str, Any]:
    """Where a run works, by names. No value of a setting is kept: any of them may be a secret.

    A place that came from a variable is kept as it is written; what it was is among the values of
    variables.
    """
    names = [name for name, each in project.config.adapter.items() if each is adapter]
    return present(
        {
            "name": names[0] if names else None,
            "type": adapter.type,
            "warehouse": written(adapter.warehouse),
            "settings": sorted(adapter.conf),
            "env_hash": env_hash,
        }
    )


def place_document(
    project: Project,
    adapter: Adapter,
    caller: Caller,
    env_hash: str | None,
    sources: Iterable[SourceTable],
) -> dict[str, Any]:
    """Where a run works, with which records, and what variables have to say in it."""
    ledger_id = _ledger_id_of(caller.state)
    return {
        "adapter": adapter_document(project, adapter, env_hash),
        # Not the id itself, with which what variables say is hashed.
        "ledger": None if ledger_id is None else hide(ledger_id),
        "variables": variables_document(
            project,
            adapter,
            sources,
            caller.environment,
            ledger_id,
            foreseen=env_hash is not None,
        ),
    }


def _ledger_id_of(state: Path) -> str | None:
    """The id of a ledger; None where there is none yet."""
    reader = open_evidence_reader(state)
    if reader is None:
        return None
    with reader:
        return reader.ledger_id


def step_facts(plan: RunPlan, step: Step, fingerprints: Mapping[str, Any]) -> dict[str, Any]:
    """What a step is, whatever becomes of it: its code, its settings, its place in the order."""
    project = plan.project
    facts: dict[str, Any] = {
        "name": step.name,
        "kind": step.kind,
        "selected": step.selected,
        "layer": step.layer,
        "reads": sorted(f"{each.kind}:{each.key}" for each in step.reads) or None,
    }
    if step.kind == "seed":
        seed = project.seeds[step.key]
        target = seed_target(seed, project.config).full_name
        masks = mask_sql_of(plan.compilation, step.key)
        return {**facts, "target": target, "content_hash": seed_hash(seed, masks)}
    model, known = project.models[step.key], fingerprints.get(step.key)
    return {
        **facts,
        "target": model.target.full_name if step.kind == "build" else None,
        "strategy": model.strategy.type,
        "recipe_hash": known.recipe if known is not None else None,
        "skip_hash": known.skip_hash if known is not None else None,
        "settings_hash": model.settings_hash.hex(),
        "text_hash": model.text_hash.hex(),
        "sql": None if model.is_python else model.sql,
    }


def _step(
    plan: RunPlan, each: StepForecast, preview: RunPreview, changes: Sequence[Change]
) -> dict[str, Any]:
    decided = encode_report(step_outlook(each, preview))
    del decided["model"]
    return present(
        {
            **step_facts(plan, each.step, preview.fingerprints),
            **decided,
            "input_hash": each.made_from.input_hash if each.made_from is not None else None,
            "schema_changes": change_documents(changes),
        }
    )


def _statements(plan: RunPlan, preview: RunPreview) -> Iterable[Statement]:
    """The SQL of what would be built or bound, in order. A seed and a Python model have none."""
    for each in preview.forecast.steps:
        decision = decision_of(each, preview)
        if each.step.kind == "seed" or decision not in ("build", "depends", "bind"):
            continue
        model = plan.project.models[each.step.key]
        if not model.is_python:
            purpose = "bind" if decision == "bind" else "build"
            yield Statement(purpose, model.target.full_name, model.sql)
