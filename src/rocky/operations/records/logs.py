"""The log of a run: stacks and Spark's own words, of a run in which something failed."""

import html
from dataclasses import dataclass
from typing import Final

from rocky.errors import NothingSelected
from rocky.ledger import LATEST
from rocky.ledger.record import RunId
from rocky.operations.digest import Digest, Digested, counts, render_html
from rocky.operations.records.run_lookup import locate_run
from rocky.operations.workspace import Workspace, known_branch, project_location
from rocky.plan.arguments import Request
from rocky.run.run_log import log_path, read_log

_TAIL: Final = 60
"""A notebook shows so many lines."""


@dataclass(frozen=True, slots=True)
class LogsRequest(Request):
    """Which run, by its id or the `latest`."""

    run: str = LATEST


@dataclass(frozen=True, slots=True, repr=False)
class LogsReport(Digested):
    """A run's log; `path` is where it is, from the project's folder."""

    run_id: RunId
    path: str
    text: str

    def digest(self) -> Digest:
        size = counts(line=len(self.text.splitlines()))
        return Digest(f"the log of {self.run_id}, {size}, in {self.path}")

    def _repr_html_(self) -> str:
        # Each part begins with what failed; what follows is its stack.
        lines = self.text.splitlines()
        heads = [each for each in lines if each.startswith("== ")]
        shown = "\n".join([*heads, "", *lines[: max(_TAIL - len(heads), 0)]])
        return f"{render_html(self.digest())}<pre>{html.escape(shown)}</pre>"


def logs(workspace: Workspace, request: LogsRequest) -> LogsReport:
    """The log of a run. Raises NothingSelected when there is no such run, or it left no log."""
    workspace, run = locate_run(known_branch(workspace), request.run)
    run_id = run.run_id
    root, _ = project_location(workspace)
    path = log_path(run_id)
    text = read_log(root, run_id)
    if text is None:
        raise NothingSelected(
            f"run `{run_id}` has no log here: Spark reported no error in it, or it ran on another"
            " machine, or so many runs have failed since that its log was removed;"
            f" `rocky history {run_id}` says what failed"
        )
    return LogsReport(run_id, path, text)
