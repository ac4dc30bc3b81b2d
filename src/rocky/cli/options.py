"""Global options: accepted before or after the command, and resolved once into `Settings`.

Click keeps a group's options and a command's apart, so every command also takes the global
ones; given twice, the later (after the command) wins. An option that means nothing to a
command is refused, never ignored.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from rocky.cli.console import ExitCode, OutputLost, report_failure, report_interrupt, write_note
from rocky.errors import InvalidRequest, RockyError

if TYPE_CHECKING:
    from rocky.operations.workspace import Workspace
    from rocky.state.events import SyncEvent


class Output(StrEnum):
    """What standard output carries: text for people, or one JSON document."""

    TABLE = "table"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Settings:
    """The global options of one invocation. `asked` is False when `output` is the default.

    `variables` are the values of `@var(name)` in SQL. With a `branch`, its tables and its state are
    meant in place of the project's own: `found` is the workspace on it, once it was looked up.
    """

    command: str
    config: Path | None
    output: Output
    asked: bool
    state_path: Path | None
    quiet: bool
    colour: bool
    variables: Mapping[str, str] = field(default_factory=dict)
    branch: str | None = None
    found: "Workspace | None" = None
    mask_env: str | None = None

    @property
    def json(self) -> bool:
        return self.output is Output.JSON

    @property
    def workspace(self) -> "Workspace":
        """The project that is meant, as operations take it."""
        if self.found is not None:
            return self.found
        # Here, so that `rocky --help` does not pay for the compiler.
        from rocky.operations.workspace import Workspace  # noqa: PLC0415

        return Workspace(
            self.config,
            self.state_path,
            self.variables,
            self.branch,
            environment=os.environ,
            session_source="cli",
            is_interactive=sys.stdin.isatty() and sys.stderr.isatty(),
            synced=self._hear_transfer if self._hears_transfers else None,
            warn=lambda sentence: write_note(f"warning: {sentence}"),
            note=lambda sentence: write_note(f"note: {sentence}"),
            mask_env=self.mask_env,
        )

    @property
    def _hears_transfers(self) -> bool:
        """A program gets a line for each transfer of a remote state; a person hears of failures."""
        return not self.quiet and (self.json or not sys.stderr.isatty())

    @staticmethod
    def _hear_transfer(event: "SyncEvent") -> None:
        from rocky.state.events import format_event  # noqa: PLC0415

        write_note(format_event(event))


_NAMES: Final = ("config", "output", "state_path", "quiet", "no_color")
_GIVEN: Final = "rocky.given"
_BRANCH: Final = "rocky.branch"


def global_options() -> list[click.Parameter]:
    """Fresh copies of the options that every command takes."""
    return [
        click.Option(
            ["-c", "--config"],
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="The project's rocky.toml, or its folder. Default: here, or the nearest above.",
        ),
        click.Option(
            ["-o", "--output"],
            type=click.Choice([each.value for each in Output]),
            help="Text for people, or one JSON document. Default: `ROCKY_OUTPUT`, else table.",
        ),
        click.Option(
            ["--state-path"],
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="The state file, for commands that keep state.",
        ),
        click.Option(
            ["-q", "--quiet"],
            is_flag=True,
            default=None,
            help="No summaries, hints or progress; of a run, errors and the last line.",
        ),
        click.Option(["--no-color"], is_flag=True, default=None, help="No colours."),
    ]


def _read_variables(
    ctx: click.Context,
    param: click.Parameter,
    value: Sequence[str],
) -> dict[str, str]:
    """`NAME=VALUE` each; a value may hold anything, also another `=`."""
    found: dict[str, str] = {}
    for each in value:
        name, equals, text = each.partition("=")
        if not equals or not name.isidentifier():
            raise click.BadParameter(f"`{each}` is not written NAME=VALUE", ctx, param)
        found[name] = text
    return found


def variable_option() -> click.Option:
    """A fresh `--var`, for every command that reads a project's models."""
    return click.Option(
        ["--var", "variables"],
        callback=_read_variables,
        multiple=True,
        metavar="NAME=VALUE",
        help="The value of `@var(NAME)` in SQL. Repeatable; the last one of a name wins.",
    )


def environment_option() -> click.Option:
    """A fresh `--env`, for every command that reads a project's models."""
    return click.Option(
        ["--env", "mask_env"],
        metavar="ENV",
        help="The environment whose masks hold: `[mask.ENV]` over `[mask]`.",
    )


def branch_option() -> click.Option:
    """A fresh `--branch`, for every command that works on tables or on what was run."""
    return click.Option(
        ["--branch"],
        metavar="NAME",
        help="Use the tables and the state of this branch, not production's.",
    )


class RockyCommand(click.Command):
    """A command with the global options; its callback gets them as `Settings`.

    `examples` are command lines, each with what it does: `--help` ends with them.
    """

    uses_project = True
    takes_variables = True
    uses_state = False
    takes_branch = False

    def __init__(self, *args: Any, examples: Sequence[tuple[str, str]] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples
        if self.uses_project and self.takes_variables:
            self.params += [variable_option(), environment_option()]
        if self.takes_branch:
            self.params.append(branch_option())
        self.params.extend(global_options())

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The examples; a line is never broken, so that it can be copied."""
        super().format_epilog(ctx, formatter)
        if self.examples:
            width = max(len(line) for line, _ in self.examples)
            with formatter.section("Examples"):
                for line, meaning in self.examples:
                    formatter.write(f"  {line:<{width}}  {meaning}\n")

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a RockyError becomes one line and an exit code."""
        own = {name: ctx.params.pop(name, None) for name in _NAMES}
        variables = ctx.params.pop("variables", {})
        mask_env = ctx.params.pop("mask_env", None)
        branch = ctx.params.pop("branch", None) if self.takes_branch else None
        # Those of a group that this command belongs to, which has resolved the root's already.
        outer = ctx.meta.get(_GIVEN) or (ctx.parent.params if ctx.parent is not None else {})
        merged = {name: outer.get(name) if value is None else value for name, value in own.items()}
        ctx.meta[_GIVEN] = merged
        self._refuse_meaningless(ctx, merged)
        # `--format` speaks of text, so it also decides what a failure looks like.
        speaks_text = ctx.params.get("style") is not None
        resolved = _resolve(ctx, merged, Output.TABLE if speaks_text else None)
        # Of a group that was given one, its commands have it too.
        branch = branch or ctx.meta.get(_BRANCH)
        ctx.meta[_BRANCH] = branch
        ctx.obj = replace(resolved, variables=variables, branch=branch, mask_env=mask_env)
        try:
            if branch is not None:
                from rocky.operations.workspace import known_branch  # noqa: PLC0415

                # As it was made: folders and files may tell `A` from `a`.
                found = known_branch(ctx.obj.workspace, sure=self.uses_state)
                ctx.obj = replace(ctx.obj, branch=found.branch_name, found=found)
            return super().invoke(ctx)
        except (RockyError, OSError) as failure:
            if isinstance(failure, BrokenPipeError | OutputLost):
                raise
            if isinstance(failure, InvalidRequest):
                raise click.UsageError(str(failure), ctx) from None
            show_findings(failure, ctx.obj)
            report_failure(failure, _name_of(ctx), as_json=ctx.obj.json)
            return ExitCode.FAILED
        except KeyboardInterrupt:
            report_interrupt(_name_of(ctx), as_json=ctx.obj.json)
            return ExitCode.INTERRUPTED

    def _refuse_meaningless(self, ctx: click.Context, given: Mapping[str, Any]) -> None:
        refused = []
        if given["state_path"] is not None and not self.uses_state:
            refused.append("--state-path")
        if given["config"] is not None and not self.uses_project:
            refused.append("--config")
        for option in refused:
            raise click.UsageError(f"`{ctx.info_name}` does not take `{option}`", ctx)


def show_findings(failure: Exception, settings: Settings) -> None:
    """The findings for which something was refused, before it is said."""
    if not hasattr(failure, "findings"):
        return
    from rocky.cli.render.findings import render_findings  # noqa: PLC0415
    from rocky.operations.findings import ErrorsFound  # noqa: PLC0415

    if isinstance(failure, ErrorsFound):
        styles = ("full", "github") if is_annotated(settings) else ("full",)
        for style in styles:
            shown = render_findings(
                failure.findings, failure.project, style, colour=settings.colour
            )
            write_note(shown.rstrip())


def _name_of(ctx: click.Context) -> str | None:
    """A command as it is typed after `rocky`."""
    return ctx.command_path.partition(" ")[2] or ctx.info_name


class StateCommand(RockyCommand):
    """A command about the past: it reads the state file and no model, so it takes no `--var`."""

    uses_state = True
    takes_branch = True
    takes_variables = False


class BranchCommand(RockyCommand):
    """A command about branches: it works with production's state and takes the name itself."""

    uses_state = True


class BranchRecordCommand(BranchCommand):
    """A command about what is recorded of branches: it reads no model, so it takes no `--var`."""

    takes_variables = False


class TableCommand(RockyCommand):
    """A command that looks at tables and keeps no state."""

    takes_branch = True


class ProjectlessCommand(RockyCommand):
    """A command that needs no project."""

    uses_project = False


def _resolve(ctx: click.Context, given: Mapping[str, Any], implied: Output | None) -> Settings:
    """The settings of a command; `implied` is the output that its other options ask for."""
    asked = given["output"] is not None
    terminal = sys.stdout.isatty()
    output = Output(given["output"]) if asked else implied or _usual_output(ctx)
    colour = (
        terminal
        and not given["no_color"]
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
    )
    return Settings(
        ctx.info_name or "",
        given["config"],
        output,
        asked,
        given["state_path"],
        bool(given["quiet"]),
        colour,
    )


def _usual_output(ctx: click.Context | None) -> Output:
    """What `ROCKY_OUTPUT` says; text for people where it says nothing, also in a pipe or a log."""
    usual = os.environ.get("ROCKY_OUTPUT", "")
    if not usual:
        return Output.TABLE
    if usual not in {each.value for each in Output}:
        raise click.UsageError(f"`ROCKY_OUTPUT` is `{usual}`, and can be `table` or `json`", ctx)
    return Output(usual)


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether a command line that could not be parsed asks for JSON."""
    for index, argument in enumerate(arguments):
        if argument in ("--output=json", "-ojson"):
            return True
        if argument in ("-o", "--output"):
            return list(arguments[index + 1 : index + 2]) == ["json"]
        if argument.startswith(("--output=", "-o")):
            return False
    return os.environ.get("ROCKY_OUTPUT") == Output.JSON


Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def consumers_option(function: Decorated) -> Decorated:
    """`--consumers FILE`, as often as there are consumers."""
    return click.option(
        "--consumers",
        multiple=True,
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="The interface of a project that reads this one: report what would break it."
        " Repeatable.",
    )(function)


def format_option(choices: Sequence[str], help_text: str) -> Callable[[Decorated], Decorated]:
    """`--format STYLE`: how the text looks."""
    return click.option("--format", "style", type=click.Choice(choices), help=help_text)


def use_json(settings: Settings, style: str | None) -> bool:
    """Whether to print JSON: `--format` speaks of text, so the two cannot both be asked for."""
    if style is None or not settings.json:
        return settings.json
    if settings.asked:
        raise click.UsageError("`--format` selects a text format and cannot be used with `-o json`")
    return False


def in_github() -> bool:
    """Whether GitHub Actions reads what is written, and takes workflow commands."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def is_annotated(settings: Settings) -> bool:
    """Whether a failure with a place is also told as an annotation."""
    return in_github() and not settings.json


def style_in_build(settings: Settings, style: str | None) -> str | None:
    """The style that is asked for; inside GitHub Actions annotations unless another form is."""
    decided = style is not None or settings.asked or settings.json
    if not decided and in_github():
        return "github"
    return style
