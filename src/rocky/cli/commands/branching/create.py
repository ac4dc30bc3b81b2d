"""`rocky branch create`: a branch of all tables, in a moment and for no space."""

import os
from datetime import UTC, datetime
from pathlib import Path

import click

from rocky.branches.creating import Origin
from rocky.branches.making import Wanted, create_branch
from rocky.branches.parents import Candidates, find_parent
from rocky.cli.branches import BranchCommand, People, find_people, open_branches, warehouse_of
from rocky.cli.console import write_json, write_line
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import Settings
from rocky.cli.render.branches import branch_document, render_created
from rocky.cli.state_files import main_state_path
from rocky.cli.upkeep import change_state, load_sound_project
from rocky.ledger import Ledger
from rocky.ledger.branch_records import BranchRecord
from rocky.project import Project
from rocky.project.branching import branch_prefix, branch_state, on_branch
from rocky.run.circumstances import observe_circumstances
from rocky.run.request import main_adapter


@click.command("create", cls=BranchCommand)
@click.argument("name")
@click.option(
    "--from",
    "wanted",
    metavar="REF|RUN",
    help="Another branch, a run, `latest`, or a commit that was run. Default: production now.",
)
@click.option("--base", metavar="REF", help="The commit that its code is compared with.")
@click.option("-m", "--description", metavar="TEXT", help="What it is for.")
@click.option("--target", metavar="ADAPTER", help="The tables of `[adapter.ADAPTER]`.")
@click.pass_obj
def command(
    settings: Settings,
    name: str,
    wanted: str | None,
    base: str | None,
    description: str | None,
    target: str | None,
) -> ExitCode:
    """Make a branch of the tables, without copying.

    `rocky run --branch NAME` then builds what the code makes differently, on the branch alone.
    """
    branch_prefix(name)
    project = load_sound_project(settings, "made")
    people = find_people(project.root, base)
    adapter, _ = main_adapter(project, target)
    now = datetime.now(UTC)
    origin = Origin(observe_circumstances(project.root, os.environ), project.config_hash.hex(), now)
    own = on_branch(project, name)
    request = Wanted(
        name,
        people.who,
        warehouse_of(own, adapter),
        adapter,
        own.config.state,
        description,
        people.base_commit,
    )
    candidates = _candidates(settings, project, adapter, people)

    def create(ledger: Ledger) -> BranchRecord:
        chosen = find_parent(wanted, candidates)
        return create_branch(ledger, request, chosen, origin, os.environ)

    record, warnings = change_state(settings, [], create)
    if settings.json:
        write_json("branch create", {"branch": branch_document(record)})
    else:
        write_line(render_created(record, warnings))
    return ExitCode.OK


def _candidates(settings: Settings, project: Project, adapter: str, people: People) -> Candidates:
    state = main_state_path(settings)
    return Candidates(
        warehouse_of(project, adapter),
        state,
        {
            key: (warehouse_of(on_branch(project, each.name), adapter), _state(state, each))
            for key, each in open_branches(settings).items()
        },
        people.resolve,
    )


def _state(state: Path, record: BranchRecord) -> Path:
    return branch_state(state, record.name)
