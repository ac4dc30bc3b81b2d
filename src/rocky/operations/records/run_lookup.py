"""The run that a person means: `latest`, an id or the beginning of one, in whichever ledger has it.

A branch has a ledger of its own, so a run that production does not know may be a branch's.
"""

from typing import Final, NamedTuple

from rocky.diagnostics.suggestion import suggestion
from rocky.errors import LedgerUnreadable, NothingSelected, StateSyncFailed
from rocky.ledger import LATEST
from rocky.ledger.record import RunId, run_meant
from rocky.ledger.run_records import RunRecord
from rocky.operations.workspace import (
    Workspace,
    on_known_branch,
    open_branches,
    open_history,
)

_NEAR_RUNS: Final = 50


class FoundRun(NamedTuple):
    """A run, and the workspace whose ledger has it: the one that was asked, or one on a branch."""

    workspace: Workspace
    run: RunRecord


def find_run(workspace: Workspace, wanted: str) -> RunRecord:
    """A run of this very ledger. Raises NothingSelected, which says who else has it."""
    found, run_ids = _look_up(workspace, wanted)
    if found is not None:
        return found
    other = _find_elsewhere(workspace, wanted)
    if other is None:
        raise _unknown_run(wanted, run_ids)
    name = other.workspace.branch_name
    what_to_do = "leave `--branch` out" if name is None else f"name it with `--branch {name}`"
    raise NothingSelected(
        f"no run `{wanted}` in {_whose(workspace)}; {_whose(other.workspace)} has"
        f" `{other.run.run_id}`: {what_to_do}"
    )


def locate_run(workspace: Workspace, wanted: str) -> FoundRun:
    """A run of this ledger, or, where no branch was chosen, of a branch's. Raises NothingSelected.

    That it is a branch's is noted.
    """
    found, run_ids = _look_up(workspace, wanted)
    if found is not None:
        return FoundRun(workspace, found)
    if workspace.branch_name is not None:
        return FoundRun(workspace, find_run(workspace, wanted))
    other = _find_elsewhere(workspace, wanted)
    if other is None:
        raise _unknown_run(wanted, run_ids)
    workspace.note(f"`{other.run.run_id}` is a run of branch `{other.workspace.branch_name}`")
    return other


def _look_up(workspace: Workspace, wanted: str) -> tuple[RunRecord | None, tuple[RunId, ...]]:
    """The run, and the ids of all runs of its ledger."""
    with open_history(workspace) as reader:
        if reader is None:
            return None, ()
        return reader.find_run(wanted), reader.run_ids()


def _unknown_run(wanted: str, run_ids: tuple[RunId, ...]) -> NothingSelected:
    if not run_ids:
        return NothingSelected("no run is recorded yet; `rocky run` makes the first")
    hint = suggestion(wanted, [*run_ids[:_NEAR_RUNS], LATEST]) or "`rocky history` lists them"
    return NothingSelected(f"no run `{wanted}`; {hint}")


def _find_elsewhere(workspace: Workspace, wanted: str) -> FoundRun | None:
    """A run that another ledger of the project has. Raises NothingSelected for several."""
    if wanted == LATEST:
        return None
    places: dict[str, Workspace] = {}
    for place in _other_places(workspace):
        try:
            with open_history(place) as reader:
                run_ids = reader.run_ids() if reader is not None else ()
        except (LedgerUnreadable, StateSyncFailed) as error:
            workspace.warn(f"the runs of {_whose(place)} were not searched: {error}")
            continue
        places |= dict.fromkeys(run_ids, place)
    meant = run_meant(wanted, sorted(places, reverse=True))
    if meant is None:
        return None
    found, _ = _look_up(places[meant], meant)
    return None if found is None else FoundRun(places[meant], found)


def _other_places(workspace: Workspace) -> list[Workspace]:
    """Every ledger of the project but the workspace's own."""
    branches = [
        on_known_branch(workspace, each.name, each.adapter)
        for each in open_branches(workspace).values()
        if each.name != workspace.branch_name
    ]
    return branches if workspace.branch_name is None else [workspace.on_production(), *branches]


def _whose(place: Workspace) -> str:
    return "production" if place.branch_name is None else f"branch `{place.branch_name}`"
