"""Drafts: what a request would do, worked out without doing any of it.

A draft has a part for each run that the request means. `document` is what a plan keeps of it and
what is compared when the plan is applied; the rest is for whoever shows it. The same function makes
the draft when a plan is made and when it is applied, so both see the same things.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocky.changes.change import Change
from rocky.ledger.evidence_reader import open_evidence
from rocky.plan.steps import RunPlan, Step
from rocky.plans.decisions import decision_of, may_be_built, reason_of
from rocky.plans.estimates import Unit
from rocky.plans.resolved import resolved_document
from rocky.plans.schema_changes import change_document, schema_changes, verdict_of
from rocky.project import Project
from rocky.project.adapter import Adapter
from rocky.project.sources import SourceTable
from rocky.project.variables import written
from rocky.run.applied import Document
from rocky.run.environment import hide
from rocky.run.forecast import Foreseen
from rocky.run.means import Means
from rocky.run.observed import find_unreadable, sources_of
from rocky.run.outlook import Outlook, foresee_request
from rocky.run.places import open_project_warehouse
from rocky.run.request import RunRequest, choose_adapter
from rocky.run.seeds import seed_hash, seed_target


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL that would be handed on: `purpose` is `build`, `bind`, `load`, `copy`."""

    purpose: str
    target: str
    sql: str


@dataclass(frozen=True, slots=True)
class DraftRun:
    """One run of a draft: of models, or of the pipeline that is named.

    `view` is what the renderer of its kind shows. `builds` are the steps that may be built, `units`
    the same where there are no steps.
    """

    document: Document
    pipeline: str | None = None
    plan: RunPlan | None = None
    view: Any = None
    builds: tuple[Step, ...] = ()
    statements: tuple[Statement, ...] = ()
    changes: tuple[tuple[str, Change], ...] = ()
    notes: tuple[str, ...] = ()
    units: tuple[Unit, ...] = ()

    @property
    def relies_on(self) -> Document | None:
        """How the things stand that the run reads and writes; None where that is not known."""
        found: Document | None = self.document.get("relies_on")
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


def worst_verdict(runs: Iterable[DraftRun]) -> str:
    """The worst verdict of several runs."""
    found = {run.verdict for run in runs}
    order = ("breaking", "unknown", "warning", "info")
    return next((each for each in order if each in found), "none")


def draft_models(plan: RunPlan, request: RunRequest, means: Means) -> DraftRun:
    """What a run of models would do. Raises as `foresee_request`."""
    project = plan.project
    outlook = foresee_request(plan, request, state=means.state, environment=means.environment)
    adapter = choose_adapter(project, plan, request.adapter)
    warehouse = open_project_warehouse(adapter, project.root, means.environment)
    steps = outlook.forecast.steps
    builds = tuple(each.step for each in steps if may_be_built(each, outlook))
    # What is taken over has the columns that it has.
    changes = {step.id: schema_changes(plan, step, warehouse) for step in builds}
    document = {
        "pipeline": request.pipeline,
        "type": "models",
        **place_document(project, adapter, means, outlook.env_hash, sources_of(plan)),
        "certain": outlook.certain,
        "resumes": outlook.resumes,
        "steps": [_step(plan, each, outlook, changes.get(each.step.id, ())) for each in steps],
        "relies_on": outlook.relies_on,
    }
    return DraftRun(
        present(document),
        request.pipeline,
        plan,
        outlook,
        builds,
        tuple(_statements(plan, outlook)),
        tuple((step.name, each) for step in builds for each in changes[step.id]),
    )


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
    means: Means,
    env_hash: str | None,
    sources: Iterable[SourceTable],
) -> dict[str, Any]:
    """Where a run works, with which records, and what variables have to say in it."""
    ledger_id = _ledger_id_of(means.state)
    return {
        "adapter": adapter_document(project, adapter, env_hash),
        # Not the id itself, with which what variables say is hashed.
        "ledger": None if ledger_id is None else hide(ledger_id),
        "variables": resolved_document(
            project,
            adapter,
            sources,
            means.environment,
            ledger_id,
            foreseen=env_hash is not None,
        ),
    }


def _ledger_id_of(state: Path) -> str | None:
    """The id of a ledger; None where there is none yet."""
    reader = open_evidence(state)
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
        return {**facts, "target": target, "content_hash": seed_hash(seed)}
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
    plan: RunPlan, each: Foreseen, outlook: Outlook, changes: Sequence[Change]
) -> dict[str, Any]:
    taken = each.decision.taken if each.decision is not None else None
    reused = taken is not None and taken.basis != "resume"
    return present(
        {
            **step_facts(plan, each.step, outlook.fingerprints),
            "decision": decision_of(each, outlook),
            "reason": reason_of(each),
            "reused_from": taken.run_id if taken is not None and reused else None,
            "basis": taken.basis if taken is not None and reused else None,
            "waits_for": list(each.waits_for) or None,
            "input_hash": each.made_from.input_hash if each.made_from is not None else None,
            "schema_changes": [change_document(change) for change in changes] or None,
        }
    )


def _statements(plan: RunPlan, outlook: Outlook) -> Iterable[Statement]:
    """The SQL of what would be built or bound, in order. A seed and a Python model have none."""
    for each in outlook.forecast.steps:
        decision = decision_of(each, outlook)
        if each.step.kind == "seed" or decision not in ("build", "depends", "bind"):
            continue
        model = plan.project.models[each.step.key]
        if not model.is_python:
            purpose = "bind" if decision == "bind" else "build"
            yield Statement(purpose, model.target.full_name, model.sql)
