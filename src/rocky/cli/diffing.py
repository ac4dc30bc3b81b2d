"""What `ci-diff` and `lineage-diff` share: options, the gate, and a side that does not compile."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import click

from rocky.analysis.changes.diff import diff_compilations
from rocky.cli.console import write_json, write_note
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import Output, RockyCommand, Settings
from rocky.cli.render.diff import DiffView, select_tables
from rocky.cli.render.findings import findings_document, render_findings
from rocky.operations.revisions import Sides, as_in_working_tree, open_sides

FORMATS: Final = ("table", "json", "markdown", "github")
FAIL_ON: Final = ("breaking", "any")


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
        click.option(
            "--format",
            "style",
            type=click.Choice(FORMATS),
            help="markdown for a comment, github for annotations. Default: as `--output`.",
        ),
        click.option(
            "--fail-on",
            type=click.Choice(FAIL_ON),
            help="Exit 1 when something breaks readers, or when anything differs.",
        ),
        click.option(
            "--model",
            "names",
            multiple=True,
            metavar="MODEL",
            help="Report on this model only, by the name it has or had.",
        ),
        click.option(
            "--exact", is_flag=True, help="Compare with BASE itself, not with where it was left."
        ),
        click.argument("base", required=False),
    ):
        command = decorate(command)
    return command


def show_difference(
    settings: Settings,
    base: str | None,
    names: Sequence[str],
    fail_on: str | None,
    show: Callable[[DiffView], None],
    *,
    exact: bool,
) -> ExitCode:
    """Compile both sides, show what differs, and say whether that passes the gate."""
    with open_sides(settings.workspace, base, exact=exact) as sides:
        if sides.broken:
            _report_broken(settings, sides)
            return ExitCode.FAILED
        whole = diff_compilations(sides.base, sides.head)
        view = DiffView(whole, select_tables(whole, names, sides), sides)
        show(view)
        gated = fail_on is not None and bool(sides.notes)
        if gated or (not settings.json and not settings.quiet):
            for note in sides.notes:
                write_note(f"{'error' if gated else 'note'}: {note}")
        return ExitCode.FAILED if gated else judge(view, fail_on)


def judge(view: DiffView, fail_on: str | None) -> ExitCode:
    """What the build is told."""
    if fail_on == "any":
        return ExitCode.OK if view.verdict == "unchanged" else ExitCode.FAILED
    failed = fail_on == "breaking" and view.verdict == "breaking"
    return ExitCode.FAILED if failed else ExitCode.OK


def _report_broken(settings: Settings, sides: Sides) -> None:
    """Say which side has errors, and show them. Nothing is compared: a part would pass as all."""
    described = " and ".join(sides.describe(side) for side in sides.broken)
    verb = "does not compile" if len(sides.broken) == 1 else "do not compile"
    message = f"{described} {verb}, so nothing was compared"
    projects = {"base": as_in_working_tree(sides), "head": sides.head.project}
    if settings.json:
        document = {
            "error": {"kind": "NotComparable", "message": message},
            "broken": [
                {
                    "side": side,
                    "ref": sides.base_ref if side == "base" else sides.head_ref,
                    "diagnostics": findings_document(sides.errors_of(side), projects[side]),
                }
                for side in sides.broken
            ],
        }
        write_json(settings.command, document)
    else:
        for side in sides.broken:
            found = sides.errors_of(side)
            # Not the answer that was asked for, which may be on its way into a file.
            write_note(f"errors of {sides.describe(side)}:\n")
            write_note(render_findings(found, projects[side], "full", colour=settings.colour))
    write_note(f"error: {message}")
