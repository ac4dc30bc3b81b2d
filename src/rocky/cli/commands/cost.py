"""`rocky cost`: what a run used and cost, as it was recorded then, with the prices of then."""

import click

from rocky.cli.console import write_json, write_line, write_note
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import Settings, StateCommand
from rocky.cli.render.cost import CostView, cost_document, group_by_tag, render_cost
from rocky.cli.render.fitting import describe_dropped, terminal_width
from rocky.cli.render.usage import Builds
from rocky.errors import NothingSelected
from rocky.ledger import LATEST
from rocky.ledger.run_records import ModelExecution, RunRecord
from rocky.operations.workspace import find_run, open_history


@click.command("cost", cls=StateCommand)
@click.argument("run", default=LATEST)
@click.option(
    "--by",
    "dimension",
    default="model",
    show_default=True,
    metavar="model|tag|tag:NAME",
    help="A line for each model, for each tag, or for each value of one tag.",
)
@click.pass_obj
def command(settings: Settings, run: str, dimension: str) -> ExitCode:
    """Show what a run used and cost.

    RUN is a run's id; without one, the latest.
    """
    kind, _, tag = dimension.partition(":")
    if dimension not in ("model", "tag") and not (kind == "tag" and tag):
        raise click.UsageError(f"`--by` is `model`, `tag` or `tag:NAME`, not `{dimension}`")
    found = find_run(settings.workspace, run)
    groups = find_groups(found, tag or None) if kind == "tag" else None
    view = CostView(found, dimension, groups, find_builds(settings, found))
    if settings.json:
        write_json("cost", cost_document(view))
        return ExitCode.OK
    shown = render_cost(view, terminal_width())
    write_line(shown.text)
    if shown.dropped and not settings.quiet:
        write_note(describe_dropped(shown.dropped))
    return ExitCode.OK


def find_builds(settings: Settings, run: RunRecord) -> Builds:
    """What the run's reused models were built by, as far as that is still recorded."""
    wanted = {
        (each.reused_from, each.model_name.lower())
        for each in run.models_executed
        if each.reused_from is not None
    }
    if not wanted:
        return {}
    with open_history(settings.workspace) as reader:
        origins = {run_id for run_id, _ in wanted}
        found = [reader.run(each) for each in origins] if reader is not None else []
    return {
        (each.run_id, execution.model_name.lower()): execution
        for each in found
        if each is not None
        for execution in each.models_executed
        if (each.run_id, execution.model_name.lower()) in wanted
    }


def find_groups(run: RunRecord, tag: str | None) -> dict[str, list[ModelExecution]]:
    """The run's models by tag. Raises NothingSelected when no model has the tag."""
    if tag is not None and not any(tag in each.tags for each in run.models_executed):
        raise NothingSelected(f"no model of run `{run.run_id}` had a tag `{tag}`")
    return group_by_tag(run.models_executed, tag)
