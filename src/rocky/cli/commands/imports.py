"""`rocky imports`: what other projects publish, fetched and accepted."""

import os
from collections.abc import Sequence

import click

from rocky.analysis.imports.findings import read_changes
from rocky.analysis.imports.offer import Offer, accept_offer, find_offers, with_offers, write_pin
from rocky.cli.console import write_json, write_text
from rocky.cli.exit_codes import ExitCode
from rocky.cli.groups import ProjectGroup
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.render.imports import Done, ImportView, imports_document, render_imports
from rocky.compiler.passes import compile_project
from rocky.errors import NothingSelected
from rocky.operations.workspace import load_workspace, unknown_name
from rocky.project import Project


@click.group("imports", cls=ProjectGroup)
def command() -> None:
    """Fetch and accept what other projects publish."""


@command.command("update", cls=RockyCommand)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if anything is not up to date.")
@click.option(
    "--fetch-only", is_flag=True, help="Accept nothing: compiles then tell what has changed."
)
@click.option("--write-pin", "pins", is_flag=True, help="Also pin what is accepted in rocky.toml.")
@click.pass_obj
def update(
    settings: Settings, names: Sequence[str], check: bool, fetch_only: bool, pins: bool
) -> ExitCode:
    """Fetch the interfaces of imports and accept them, all or those of NAME.

    From `path` into `snapshot`, and from there into `baseline`, with which compiles compare.
    """
    if check and (pins or fetch_only):
        raise click.UsageError("`--check` writes nothing: leave out the other options")
    if fetch_only and pins:
        raise click.UsageError("`--fetch-only` accepts nothing that could be pinned")
    project = load_workspace(settings.workspace)
    offers = find_offers(project, _chosen(project, names), os.environ)
    views = _views(project, offers)
    if not check:
        for offer in offers:
            accept_offer(project.root, offer, accept=not fetch_only)
        for offer in offers:
            if pins and offer.pin_stale:
                write_pin(project.root, project.config_path, offer)
    done: Done = "checked" if check else "fetched" if fetch_only else "accepted"
    if settings.json:
        write_json("imports update", imports_document(views, done, pins=pins))
    elif not settings.quiet or check:
        write_text(render_imports(views, done, pins=pins))
    return ExitCode.FAILED if check and any(each.stale for each in offers) else ExitCode.OK


def _chosen(project: Project, names: Sequence[str]) -> list[str]:
    known = list(project.imports)
    if not known:
        raise NothingSelected(
            f"`{project.config_path}` has no imports: name one with `[imports.NAME]`"
        )
    for name in names:
        if name not in known:
            raise NothingSelected(unknown_name("import", name, known))
    return [name for name in known if name in names] if names else known


def _views(project: Project, offers: Sequence[Offer]) -> list[ImportView]:
    """Each offer with its changes, and which models read them."""
    offered = with_offers(project, offers)
    readers: dict[tuple[str, str, str, str | None], list[str]] = {}
    if any(each.changed for each in offered.imports.values()):
        for each in read_changes(compile_project(offered)):
            found = each.found
            key = (each.imported.name, found.target, found.change.rule, found.change.column)
            readers.setdefault(key, []).append(each.model.name)
    return [ImportView(offer, readers) for offer in offers]
