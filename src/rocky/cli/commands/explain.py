"""`rocky explain`: the long text of a diagnostic code, or the list of all codes.

The text is Markdown: rendered on a terminal, as it is in a pipe.
"""

import io
from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_report, write_text
from rocky.cli.options import ProjectlessCommand, Settings
from rocky.operations.check.explain import CodesReport, ExplainReport, ExplainRequest, explain

REPORTS: Final = {"explain": ExplainReport | CodesReport}
_WIDEST: Final = 100


@click.command("explain", cls=ProjectlessCommand)
@click.argument("code", required=False)
@click.pass_obj
def command(settings: Settings, code: str | None) -> ExitCode:
    """Explain a diagnostic code.

    CODE is a code (E003) or its name (unknown-column). Without one, all codes are listed.
    """
    report = explain(ExplainRequest(code))
    if settings.json:
        write_report("explain", report)
    elif isinstance(report, CodesReport):
        for each in report.codes:
            write_line(f"{each.code}  {each.name:<28}  {each.severity:<8} {each.summary}")
    elif settings.colour:
        write_text(_render_markdown(report.explanation))
    else:
        write_text(report.explanation)
    return ExitCode.OK


def _render_markdown(text: str) -> str:
    """The text with colours and rules, wrapped to the terminal."""
    # Importing the library costs 0.1 s.
    from rich.console import Console  # noqa: PLC0415
    from rich.markdown import Markdown  # noqa: PLC0415

    buffer = io.StringIO()
    console = Console(file=buffer, width=min(Console().width, _WIDEST), force_terminal=True)
    console.print(Markdown(text, code_theme="ansi_dark"))
    return buffer.getvalue()
