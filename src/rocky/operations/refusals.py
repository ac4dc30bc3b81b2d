"""Refusals that carry findings: what was asked is not done because the project has errors.

The findings go with the error, so that each way in shows them in its own form.
"""

from collections.abc import Sequence

from rocky.analysis.compilation import Compilation
from rocky.diagnostics import Diagnostic
from rocky.diagnostics.render import counted
from rocky.errors import NotComparable, RockyError
from rocky.project import Project


class ErrorsFound(RockyError):
    """The project has errors in what was selected; `findings` says which.

    `kind` is what programs get as the condition: the findings are for people.
    """

    kind = RockyError.__name__

    def __init__(self, message: str, findings: Sequence[Diagnostic], project: Project) -> None:
        super().__init__(message, findings, project)
        self.findings, self.project = tuple(findings), project

    def __str__(self) -> str:
        return str(self.args[0])


class SideBroken(NotComparable, ErrorsFound):
    """One side of a comparison does not compile; `findings` says why."""

    kind = NotComparable.__name__


def refuse_errors(
    compilation: Compilation,
    errors: Sequence[Diagnostic],
    *,
    undone: str = "nothing was run, nothing was written",
) -> None:
    """Nothing is done unless all that was selected compiled. Raises ErrorsFound.

    `undone` says what was not.
    """
    if errors:
        count = counted(len(errors), "error")
        raise ErrorsFound(f"{count}: {undone}", errors, compilation.project)
