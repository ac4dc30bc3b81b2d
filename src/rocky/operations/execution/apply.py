"""Apply: a saved plan is run exactly as it was made, or refused with what has changed since.

Code, settings, inputs, tables and records must be as the plan found them; otherwise nothing is run.
The project is loaded and compiled once: what is compared with the plan is what is run.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from rocky.errors import InvalidRequest, PlanOutdated, RunRefused
from rocky.ledger import open_history_reader
from rocky.ledger.branches import branch_key
from rocky.ledger.readers.commits import open_lookup_reader
from rocky.ledger.run_records import RunStatus
from rocky.operations.digest import Digest, Digested
from rocky.operations.execution.run import PipelineEnding, RunReport, run_compiled
from rocky.operations.plan.proposal import PlanProposal, propose_plan
from rocky.operations.workspace import (
    Workspace,
    compile_workspace,
    known_branch,
    project_location,
    refresh_state,
    state_path,
)
from rocky.plan.arguments import Request
from rocky.plan.comparison import ID_CHARS, compare_payloads, describe_outdated
from rocky.plan.kept_plan import KeptPlan, PlanApplication, load_plan
from rocky.plan.request import PlanRequest, parse_request_document


@dataclass(frozen=True, slots=True)
class ApplyRequest(Request):
    """The plan: its id, at least the first eight digits of it, or the path of its file."""

    plan: str


@dataclass(frozen=True, slots=True, repr=False)
class ApplyReport(Digested):
    """A plan that was applied, and the results of its runs."""

    plan_id: str
    plan_kind: str
    success: bool
    result: RunReport

    def digest(self) -> Digest:
        found = self.result.digest()
        return replace(found, title=f"plan {self.plan_id}: {found.title}")


def apply(
    workspace: Workspace,
    request: ApplyRequest,
    *,
    begun: Callable[[KeptPlan], None] = lambda _: None,
    ended: Callable[[PipelineEnding], None] = lambda _: None,
) -> ApplyReport:
    """Carry out a kept plan, on its own branch and with its own variables.

    `begun` hears of the plan when it holds, `ended` of each of several pipelines as it ends. Raises
    PlanUnreadable, PlanOutdated, RunRefused, InvalidRequest, and what a run raises.
    """
    stored = load_plan(project_location(workspace)[0], request.plan)
    asked = parse_request_document(stored.payload.get("request", {}))
    _refuse_others(workspace, stored, asked)
    there = workspace.on_production() if asked.branch is None else workspace.on_branch(asked.branch)
    own = known_branch(replace(there, variables=asked.variables, mask_env=asked.mask_env))
    refresh_state(own, state_path(own))
    compilation = compile_workspace(own, asker="person")
    check_kept_plan(stored, propose_plan(own, compilation, asked.request), state_path(own))
    begun(stored)
    result = run_compiled(
        own, compilation, asked.request, application=PlanApplication(stored), ended=ended
    )
    return ApplyReport(stored.plan_id, stored.kind, result.succeeded, result)


def _refuse_others(workspace: Workspace, stored: KeptPlan, asked: PlanRequest) -> None:
    """Raises InvalidRequest for another branch, or other variables, than those of the plan."""
    short, branch = stored.plan_id[:ID_CHARS], workspace.branch_name
    if branch is not None and branch_key(branch) != branch_key(asked.branch or ""):
        whose = "production" if asked.branch is None else f"branch `{asked.branch}`"
        raise InvalidRequest(f"plan `{short}` is of {whose}, and cannot be applied to `{branch}`")
    if workspace.variables and dict(workspace.variables) != dict(asked.variables):
        raise InvalidRequest(f"plan `{short}` was made with its own variables: pass no others")
    if workspace.mask_env not in (None, asked.mask_env):
        made = "no environment" if asked.mask_env is None else f"`--env {asked.mask_env}`"
        raise InvalidRequest(f"plan `{short}` was made with {made}: pass no other")


def check_kept_plan(stored: KeptPlan, now: PlanProposal, state: Path) -> None:
    """Raises PlanOutdated unless the plan would be made again, word for word.

    Raises RunRefused for a plan that is over budget, or that relies on what cannot be read: whether
    that moved nobody knows.
    """
    moves = compare_payloads(stored.payload, now.stored.payload)
    if moves:
        _check_unapplied(stored, state)
        raise PlanOutdated(describe_outdated(stored.plan_id, moves))
    short = stored.plan_id[:ID_CHARS]
    unreadable = [each for run in now.runs for each in run.inputs_unreadable]
    if unreadable:
        listed = "".join(f"\n  {each}" for each in unreadable)
        raise RunRefused(
            f"plan `{short}` no longer applies, so nothing was run:{listed}\n"
            "make a new one with `rocky plan`"
        )
    if now.over_budget or stored.outlook.get("has_budget_errors"):
        said = [each.message for run in now.runs for each in run.budget.findings]
        listed = "".join(f"\n  {each}" for each in said)
        raise RunRefused(
            f"plan `{short}` is over budget (E027), so nothing was run:{listed}\n"
            "build less, or raise the limit, and make a new one with `rocky plan`"
        )


def _check_unapplied(stored: KeptPlan, state: Path) -> None:
    """Raises PlanOutdated when a run has carried out the plan, and done so well."""
    lookups, reader = open_lookup_reader(state), open_history_reader(state)
    if lookups is None or reader is None:
        return
    with lookups, reader:
        for run_id in lookups.runs_of_plan(stored.plan_id):
            run = reader.run(run_id)
            if run is not None and run.status is RunStatus.SUCCESS:
                raise PlanOutdated(
                    f"plan `{stored.plan_id[:ID_CHARS]}` was already applied by `{run_id}`: nothing"
                    " was run; make a new one with `rocky plan`"
                )
