"""Production opened to be promoted to, reverted or recovered, and the words for who does it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from rocky.branches.promotion.recovering import Recovered, recover_promotions
from rocky.cli.branches import find_who
from rocky.cli.console import write_note
from rocky.cli.options import Settings
from rocky.cli.state_files import main_state_path
from rocky.cli.syncing import sync_listener
from rocky.ledger.branch_records import PromotionRecord
from rocky.ledger.record import NO_RUN
from rocky.project import Project
from rocky.run.circumstances import observe_circumstances
from rocky.run.means import Means
from rocky.run.opened import OpenedRun, open_run
from rocky.run.request import main_adapter


@contextmanager
def open_production(settings: Settings, project: Project, adapter: str) -> Iterator[OpenedRun]:
    """Production's tables and ledger, ready to be written."""
    means = Means(
        main_state_path(settings),
        observe_circumstances(project.root, os.environ),
        os.environ,
        synced=sync_listener(settings),
        warn=lambda warning: write_note(f"warning: {warning}"),
    )
    with open_run(project, main_adapter(project, adapter)[1], means) as opened:
        yield opened


def draft_promotion(
    opened: OpenedRun, kind: str, branch: str, now: datetime, reason: str | None = None
) -> PromotionRecord:
    """A promotion by whoever is at work here, of which nothing more is known yet."""
    who = opened.surroundings.circumstances
    return PromotionRecord(
        NO_RUN,
        kind,
        branch,
        find_who(opened.project.root),
        now,
        git_commit=who.git_commit,
        git_dirty=who.git_dirty,
        reason=reason,
    )


def recover_and_tell(opened: OpenedRun, now: datetime) -> tuple[Recovered, ...]:
    """Finish what was interrupted, and say so."""
    found = recover_promotions(opened, now)
    for each in found:
        how = "undone" if each.undone is not None else "finished"
        write_note(f"note: promotion `{each.run_id}` had been interrupted and was {how}")
    return found


def recover_before_run(settings: Settings, project: Project) -> None:
    """Finish what was interrupted, in every warehouse of a project."""
    for adapter in project.config.adapter:
        with open_production(settings, project, adapter) as opened:
            recover_and_tell(opened, datetime.now(UTC))
