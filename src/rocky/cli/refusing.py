"""Refusing to start: the findings for which nothing is run, shown before it is said."""

from collections.abc import Sequence

from rocky.cli.console import write_note
from rocky.cli.options import Settings
from rocky.cli.render.compilation import counted
from rocky.cli.render.findings import render_findings
from rocky.compiler.compilation import Compilation
from rocky.diagnostics import Diagnostic
from rocky.errors import RockyError


def refuse_errors(
    settings: Settings, compilation: Compilation, errors: Sequence[Diagnostic]
) -> None:
    """Nothing is written unless all that was selected compiled. Raises RockyError."""
    if not errors:
        return
    shown = render_findings(errors, compilation.project, "full", colour=settings.colour)
    write_note(shown.rstrip())
    raise RockyError(f"{counted(len(errors), 'error')}: nothing was run, nothing was written")
