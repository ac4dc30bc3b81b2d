"""A project on a branch, from Python: the branch must be there, as on the command line."""

from dataclasses import replace
from pathlib import Path

from rocky.analysis.compilation import Compilation
from rocky.errors import NothingSelected
from rocky.ledger import STATE_FILE
from rocky.ledger.branch_records import BranchStatus
from rocky.ledger.branches import branch_key, load_branches
from rocky.project.project import branch_state, on_branch


def chosen_place(
    compilation: Compilation, state_path: str | Path | None, branch: str | None
) -> tuple[Compilation, Path]:
    """What is to be run and where its state is kept. Raises NothingSelected.

    A state that is kept elsewhere is asked by the run itself; here the file beside it counts.
    """
    root = compilation.project.root
    state = root / STATE_FILE if state_path is None else Path(state_path)
    if branch is None:
        return compilation, state
    known = {branch_key(each.name): each for each in load_branches(state)}
    found = known.get(branch_key(branch))
    if found is None or found.status is not BranchStatus.OPEN:
        raise NothingSelected(f"no branch `{branch}`; `rocky branch create {branch}` makes it")
    there = replace(compilation, project=on_branch(compilation.project, found.name, found.adapter))
    return there, branch_state(state, found.name)
