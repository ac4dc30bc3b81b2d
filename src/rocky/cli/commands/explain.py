"""`rocky explain`: the long text of a diagnostic code, or the list of all codes.

The text is Markdown: rendered on a terminal, as it is in a pipe.
"""

import click

from rocky.cli.console import write_json, write_line, write_text
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import ProjectlessTextCommand, Settings
from rocky.diagnostics import REGISTRY, CodeInfo
from rocky.diagnostics.explanation import explanation
from rocky.diagnostics.suggestion import code_named
from rocky.errors import InternalError
from rocky.lazy import load_attribute


@click.command("explain", cls=ProjectlessTextCommand)
@click.argument("code", required=False)
@click.pass_obj
def command(settings: Settings, code: str | None) -> ExitCode:
    """Explain a diagnostic code.

    CODE is a code (E003) or its name (unknown-column). Without one, all codes are listed.
    """
    if code is None:
        if settings.json:
            write_json("explain", {"codes": [_document(row) for row in REGISTRY]})
        else:
            write_line("\n".join(_row(row) for row in REGISTRY))
        return ExitCode.OK
    text = explanation(code)
    info = code_named(code)
    if info is None:
        raise InternalError(f"`{code}` has a page but no row")
    if settings.json:
        write_json("explain", {**_document(info), "explanation": text})
    elif settings.colour:
        write_text(load_attribute("rocky.cli.render.markdown", "render_markdown")(text))
    else:
        write_text(text)
    return ExitCode.OK


def _row(info: CodeInfo) -> str:
    return f"{info.code.value}  {info.name:<28}  {info.severity.value:<8} {info.summary}"


def _document(info: CodeInfo) -> dict[str, str | bool]:
    return {
        "code": info.code.value,
        "name": info.name,
        "severity": info.severity.value,
        "summary": info.summary,
        "suppressible": info.suppressible,
    }
