"""Changing the state outside a run: fetched, changed, sent back, and left with the tables.

The anchor comes last, when the changed file is where it stays: a head that nobody else will ever
see must not be what the tables remember.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from rocky.diagnostics import Severity
from rocky.errors import NothingSelected, RunRefused
from rocky.evidence.retention.ledger_facts import leave_anchors
from rocky.ledger import Ledger, open_ledger
from rocky.operations.warehouses import recorded_warehouses
from rocky.operations.workspace import Workspace, load_workspace, state_path, state_settings
from rocky.project import Project
from rocky.state.session import Session, open_session

T = TypeVar("T")


def load_sound_project(workspace: Workspace, verb: str) -> Project:
    """The project, unless its settings have errors: a default would decide what goes."""
    project = load_workspace(workspace, cache=False)
    wrong = [
        each
        for each in project.diagnostics
        if each.path == project.config_path and each.severity is Severity.ERROR
    ]
    if wrong:
        raise RunRefused(
            f"`{project.config_path}` has errors, so what to keep is not known"
            f" ({wrong[0].message}): nothing was {verb}; `rocky validate` shows them"
        )
    return project


def change_state(
    workspace: Workspace,
    targets: Sequence[str],
    change: Callable[[Ledger], T],
    then: Callable[[Ledger, Callable[[], None]], None] | None = None,
) -> tuple[T, tuple[str, ...]]:
    """What a change of the ledger came to, and what to warn of.

    No other machine's run writes the `targets` meanwhile. `then` is for what must not be done
    before everybody can know of the change; it is left out when the change could not be sent. It is
    given what raises ClaimLost once other machines may have taken over the `targets`.
    Raises NothingSelected when there is no state yet, and what a session of the remote state
    raises.
    """
    path = state_path(workspace)
    with open_session(state_settings(workspace), path, workspace.environment) as session:
        # Before one is begun: a remote state that was lost must not get an empty one in its place.
        session.acquire(lambda: _refuse_absent(path))
        _refuse_absent(path)
        with session.claim(targets) as claim:
            with open_ledger(path) as ledger:
                before = ledger.head()
                result = change(ledger)
                moved = ledger.head() != before
            session.finalize()
            warnings = _follow(
                workspace, session, path, moved=moved, then=then, check=claim.check_unbroken
            )
        return result, (*session.warnings, *warnings)


def _follow(
    workspace: Workspace,
    session: Session,
    path: Path,
    *,
    moved: bool,
    then: Callable[[Ledger, Callable[[], None]], None] | None,
    check: Callable[[], None],
) -> tuple[str, ...]:
    """What is done when a change is where it stays, and what to warn of."""
    warnings: tuple[str, ...] = ()
    with open_ledger(path) as ledger:
        # What was not sent may yet be put on top of what others have sent.
        if session.is_remote and session.published_head != ledger.head():
            return warnings
        if moved:
            now = datetime.now(UTC)
            warnings = tuple(leave_anchors(ledger, recorded_warehouses(workspace), now))
        if then is not None:
            then(ledger, check)
    return warnings


def _refuse_absent(path: Path) -> None:
    if not path.exists():
        raise NothingSelected(f"no state yet: `{path}` is made by the first run")
