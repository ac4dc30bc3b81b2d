"""`rocky ci-diff`: what a change does to tables, judged, for the build of a pull request."""

import os
from collections.abc import Sequence

import click

from rocky.cli.console import write_json, write_line, write_text
from rocky.cli.diffing import DiffCommand, diff_options, show_difference
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import Settings
from rocky.cli.render.diff import DiffView, ci_document, describe_verdict
from rocky.cli.render.diff_github import render_annotations
from rocky.cli.render.diff_markdown import render_comment
from rocky.cli.render.diff_text import render_changes
from rocky.cli.render.fitting import terminal_width


@click.command("ci-diff", cls=DiffCommand)
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
    """Show what changed since BASE, and what breaks.

    BASE is a branch, tag or commit; without one it is the branch that a pull request goes to, else
    main, master or the remote's. The working tree counts as it is, committed or not.
    """
    if style is None and not settings.asked and os.environ.get("GITHUB_ACTIONS") == "true":
        style = "github"

    def show(view: DiffView) -> None:
        if style == "github":
            write_text(render_annotations(view))
            if not settings.quiet:
                write_line(describe_verdict(view))
            return
        if style is None and not settings.json:
            write_text(render_changes(view, colour=settings.colour, width=terminal_width()))
            return
        comment = render_comment(view, "ci-diff", with_reached=False)
        if style == "markdown":
            write_text(comment)
        else:
            write_json("ci-diff", ci_document(view, comment))

    return show_difference(settings, base, names, fail_on, show, exact=exact)
