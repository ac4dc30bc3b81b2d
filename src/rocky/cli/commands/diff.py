"""`rocky ci-diff` and `rocky lineage-diff`: what a change does, and what it reaches."""

from collections.abc import Callable
from typing import Any, Final, get_args

import click

from rocky.cli.console import ExitCode, write_line, write_note, write_report, write_text
from rocky.cli.options import Output, RockyCommand, Settings, format_option, style_in_build
from rocky.cli.render.diff import render_annotations, render_changes, render_reach
from rocky.cli.render.findings import render_findings
from rocky.cli.render.tables import terminal_width
from rocky.operations.diff import (
    BrokenSidesReport,
    DiffReport,
    DiffRequest,
    FailOn,
    ReachReport,
    SidesBroken,
    diff,
)
from rocky.operations.revisions import describe_verdict

REPORTS: Final = {
    "ci-diff": DiffReport | BrokenSidesReport,
    "lineage-diff": ReachReport | BrokenSidesReport,
}


class DiffCommand(RockyCommand):
    """A command whose `--format` also has the two forms of `--output`."""

    def invoke(self, ctx: click.Context) -> Any:
        style, output = ctx.params.get("style"), ctx.params.get("output")
        if style is not None and output is not None and style != output:
            raise click.UsageError(
                f"`--format {style}` and `-o {output}` contradict each other", ctx
            )
        if style in list(Output):
            ctx.params["style"], ctx.params["output"] = None, style
        return super().invoke(ctx)


def diff_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The argument and the options that both commands take."""
    for decorate in (
        format_option(
            ("table", "json", "markdown", "github"),
            "markdown for a comment, github for annotations. Default: as `--output`.",
        ),
        click.option(
            "--fail-on",
            type=click.Choice(get_args(FailOn)),
            help="Exit 1 when something breaks readers, or when anything differs.",
        ),
        click.option(
            "--model",
            "models",
            multiple=True,
            metavar="MODEL",
            help="Report on this model only, by the name it has or had.",
        ),
        click.option(
            "--exact", is_flag=True, help="Compare with BASE itself, not with the merge base."
        ),
        click.argument("base", required=False),
    ):
        command = decorate(command)
    return command


@click.command("ci-diff", cls=DiffCommand)
@diff_options
@click.pass_obj
def ci_diff(
    settings: Settings,
    base: str | None,
    exact: bool,
    models: tuple[str, ...],
    fail_on: FailOn | None,
    style: str | None,
) -> ExitCode:
    """Show what changed since BASE, and what breaks.

    BASE is a branch, tag or commit; without one it is the branch that a pull request goes to, else
    main, master or the remote's. The working tree counts as it is, committed or not.
    """
    request = DiffRequest(base, exact, models, fail_on)
    return _compare(settings, request, style_in_build(settings, style))


@click.command("lineage-diff", cls=DiffCommand)
@diff_options
@click.pass_obj
def lineage_diff(
    settings: Settings,
    base: str | None,
    exact: bool,
    models: tuple[str, ...],
    fail_on: FailOn | None,
    style: str | None,
) -> ExitCode:
    """Show every column that the changes since BASE reach.

    BASE is a branch, tag or commit; without one it is the branch that a pull request goes to, else
    main, master or the remote's. What a removed column reached is read from the base.
    """
    return _compare(settings, DiffRequest(base, exact, models, fail_on, reach=True), style)


def _compare(settings: Settings, request: DiffRequest, style: str | None) -> ExitCode:
    try:
        report = diff(settings.workspace, request)
    except SidesBroken as broken:
        _show_broken(settings, broken.report)
        return ExitCode.FAILED
    _show(settings, report, style)
    head = report.head
    if head.unseen or (not settings.json and not settings.quiet):
        for note in head.notes:
            write_note(f"{'error' if head.unseen else 'note'}: {note}")
    return ExitCode.FAILED if head.failed else ExitCode.OK


def _show(settings: Settings, report: DiffReport | ReachReport, style: str | None) -> None:
    if style == "github":
        write_text(render_annotations(report))
        if not settings.quiet:
            write_line(describe_verdict(report.head.difference))
    elif style == "markdown":
        write_text(report.markdown)
    elif settings.json:
        write_report(settings.command, report)
    elif isinstance(report, DiffReport):
        write_text(render_changes(report, colour=settings.colour, width=terminal_width()))
    else:
        write_text(render_reach(report, colour=settings.colour))


def _show_broken(settings: Settings, report: BrokenSidesReport) -> None:
    """Say which side has errors, and show them."""
    if settings.json:
        write_report(settings.command, report)
    else:
        for each in report.broken:
            # Not the answer that was asked for, which may be on its way into a file.
            write_note(f"errors of {each.shown}:\n")
            write_note(render_findings(each.found, each.project, "full", colour=settings.colour))
    write_note(f"error: {report.error.message}")
