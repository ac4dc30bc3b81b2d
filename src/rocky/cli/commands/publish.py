"""`rocky publish`: the interface file that other projects build on."""

from collections.abc import Sequence
from pathlib import Path

import click

from rocky.analysis.compilation import Compilation
from rocky.analysis.imports.findings import rebinding
from rocky.analysis.imports.publication import encode_interface, publish_interface
from rocky.cli.console import write_json, write_note, write_text
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.render.compilation import counted
from rocky.cli.render.findings import render_findings
from rocky.cli.render.imports import Publication, publication_document, render_publication
from rocky.diagnostics import Severity
from rocky.errors import InterfaceRefused, NothingSelected
from rocky.operations.consumers import find_published
from rocky.operations.workspace import compile_workspace
from rocky.project.files import write_atomically
from rocky.project.interfaces import Interface, decode_interface


@click.command("publish", cls=RockyCommand)
@click.argument("selectors", nargs=-1, metavar="[SELECTOR]...")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Where to write it. Default: `out` of `[publish]`, else interface.json.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if the file is not up to date.")
@click.pass_obj
def command(
    settings: Settings, selectors: Sequence[str], out: Path | None, check: bool
) -> ExitCode:
    """Write the interface of the project's tables for others to build on.

    Without SELECTOR those of `models` in `[publish]`, else every model that has a table.
    """
    compilation = compile_workspace(settings.workspace)
    project = compilation.project
    _refuse_errors(settings, compilation)
    keys = find_published(compilation, selectors or project.config.publish.models)
    if not keys:
        raise NothingSelected(
            "none of the selected models has a table: there is nothing to publish"
        )
    content = publish_interface(project, compilation.models, keys, rebinding(compilation))
    text = encode_interface(content)
    path = out if out is not None else project.root / project.config.publish.out
    now = decode_interface(path.name, text)
    if not isinstance(now, Interface):
        raise InterfaceRefused(f"this project cannot be published: {now.message}")
    published = Publication(path, now, _on_disk(path), check=check)
    if not check and not published.is_current:
        _refuse_foreign(published)
        write_atomically(path, text)
    if settings.json:
        write_json("publish", publication_document(published))
    elif not settings.quiet or (check and not published.is_current):
        write_text(render_publication(published))
    return ExitCode.FAILED if check and not published.is_current else ExitCode.OK


def _refuse_errors(settings: Settings, compilation: Compilation) -> None:
    errors = [each for each in compilation.diagnostics if each.severity is Severity.ERROR]
    if errors:
        shown = render_findings(errors, compilation.project, "full", colour=settings.colour)
        write_note(shown.rstrip())
        raise InterfaceRefused(f"{counted(len(errors), 'error')}: nothing was published")


def _on_disk(path: Path) -> str | None:
    """The file as it is; None when there is none. Raises OSError when that cannot be told."""
    try:
        return path.read_bytes().decode(errors="replace")
    except FileNotFoundError:
        return None


def _refuse_foreign(published: Publication) -> None:
    """Whatever else lies where the interface shall be written was not put there to be lost."""
    before = published.before
    # Told by its text alone: one that was edited, or is full of conflicts, may well be replaced.
    if before is not None and before.strip() and '"interface_version"' not in before:
        raise InterfaceRefused(
            f"`{published.path}` is there and is no interface: remove it, or name another file"
        )
