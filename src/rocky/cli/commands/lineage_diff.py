"""`rocky lineage-diff`: each change with every column it reaches, before it is merged."""

from collections.abc import Sequence

import click

from rocky.cli.console import write_json, write_line, write_text
from rocky.cli.diffing import DiffCommand, diff_options, show_difference
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import Settings
from rocky.cli.render.diff import DiffView, describe_verdict, lineage_document
from rocky.cli.render.diff_github import render_annotations
from rocky.cli.render.diff_markdown import render_comment
from rocky.cli.render.diff_text import render_lineage


@click.command("lineage-diff", cls=DiffCommand)
@diff_options
@click.pass_obj
def command(
    settings: Settings,
    base: str | None,
    exact: bool,
    names: Sequence[str],
    fail_on: str | None,
    style: str | None,
) -> ExitCode:
    """Show every column that the changes since BASE reach.

    BASE is a branch, tag or commit; without one it is the branch that a pull request goes to, else
    main, master or the remote's. What a removed column reached is read from the base.
    """

    def show(view: DiffView) -> None:
        if style == "github":
            write_text(render_annotations(view))
            if not settings.quiet:
                write_line(describe_verdict(view))
            return
        if style is None and not settings.json:
            write_text(render_lineage(view, colour=settings.colour))
            return
        comment = render_comment(view, "lineage-diff", with_reached=True)
        if style == "markdown":
            write_text(comment)
        else:
            write_json("lineage-diff", lineage_document(view, comment))

    return show_difference(settings, base, names, fail_on, show, exact=exact)
