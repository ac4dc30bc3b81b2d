"""`rocky cost`: what a run used and cost, as it was recorded then, with the prices of then."""

import click

from rocky.cli.console import write_json, write_line
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import Settings
from rocky.cli.render.cost import cost_document, group_by_tag, render_cost
from rocky.cli.state_files import StateCommand, find_run
from rocky.errors import NothingSelected
from rocky.ledger import LATEST
from rocky.ledger.records import ModelExecution, RunRecord


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
    if kind not in ("model", "tag") or (kind == "model" and dimension != "model"):
        raise click.UsageError(f"`--by` is `model`, `tag` or `tag:NAME`, not `{dimension}`")
    found = find_run(settings, run)
    groups = find_groups(found, tag or None) if kind == "tag" else None
    if settings.json:
        write_json("cost", cost_document(found, dimension, groups))
    else:
        write_line(render_cost(found, groups))
    return ExitCode.OK


def find_groups(run: RunRecord, tag: str | None) -> dict[str, list[ModelExecution]]:
    """The run's models by tag. Raises NothingSelected when no model has the tag."""
    if tag is not None and not any(tag in each.tags for each in run.models_executed):
        raise NothingSelected(f"no model of run `{run.run_id}` had a tag `{tag}`")
    return group_by_tag(run.models_executed, tag)
