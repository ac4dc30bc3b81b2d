"""Production opened to be promoted to, reverted or recovered, and who does it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from rocky.branches.promotion.journal import RecoveredPromotion, recover_promotions
from rocky.branches.promotion.promotion_run import Actor
from rocky.operations.branch.lookup import find_who
from rocky.operations.workspace import Workspace, main_state_path, means_of
from rocky.plan.adapters import main_adapter
from rocky.project import Project
from rocky.run.prepare.session import RunSession, open_run


@contextmanager
def open_production(workspace: Workspace, project: Project, adapter: str) -> Iterator[RunSession]:
    """Production's tables and ledger, ready to be written."""
    means = means_of(workspace, project, main_state_path(workspace))
    with open_run(project, main_adapter(project, adapter)[1], means) as opened:
        yield opened


def actor_of(
    workspace: Workspace, opened: RunSession, now: datetime, reason: str | None = None
) -> Actor:
    """Whoever is at work here."""
    code = opened.surroundings.circumstances
    who = find_who(workspace, opened.project.root)
    return Actor(who, now, code.git_commit, code.git_dirty, reason)


def recover_and_tell(
    workspace: Workspace, opened: RunSession, now: datetime
) -> tuple[RecoveredPromotion, ...]:
    """Finish what was interrupted, and say so."""
    found = recover_promotions(opened, now)
    for each in found:
        how = "undone" if each.undone is not None else "finished"
        workspace.note(f"promotion `{each.run_id}` had been interrupted and was {how}")
    return found


def recover_before_run(workspace: Workspace, project: Project) -> None:
    """Finish what was interrupted, in every warehouse of a project."""
    for adapter in project.config.adapter:
        with open_production(workspace, project, adapter) as opened:
            recover_and_tell(workspace, opened, datetime.now(UTC))
