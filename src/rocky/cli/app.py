"""The command `rocky`: its sub-commands, each loaded when it is called.

The one-line helps stand here so that `rocky --help` imports no command; a test keeps them
equal to the commands' own.
"""

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Final, NoReturn

import click

from rocky.cli import leave_interrupted
from rocky.cli.console import (
    ExitCode,
    describe_lost_output,
    drop_output,
    make_output_safe,
    report_failure,
    report_interrupt,
    write_json,
    write_line,
    write_note,
)
from rocky.cli.dbt_words import describe_mistake, translate_command
from rocky.cli.groups import LazyGroup, nearest_command
from rocky.cli.options import global_options, wants_json
from rocky.errors import InternalError
from rocky.version import __version__

COMMANDS: Final = {
    "init": "Start a project in FOLDER.",
    "playground": "Make a small working project to try things on.",
    "import-dbt": "Write the dbt project in FOLDER as a project of Rocky's.",
    "validate-migration": "Compare the rows of models with the tables that dbt has built.",
    "validate": "Check the project's files, without looking into SQL.",
    "compile": "Check every model, column, type and contract.",
    "check-python": "Check the code of Python models, without Spark.",
    "watch": "Compile, or build, each time a file of the project is saved.",
    "lsp": "Serve an editor: findings while you type, completion, rename.",
    "list": "List models, sources and seeds, or pipelines, functions and macros.",
    "catalog": "Show every table with its columns, types, descriptions, owner and tests.",
    "dag": "Show the graph of the project, layer by layer.",
    "explain": "Explain a diagnostic code.",
    "lineage": "Show where a model's or a column's values come from.",
    "lineage-diff": "Show every column that the changes since BASE reach.",
    "seed": "Load seeds into their tables: those named, or all.",
    "plan": "Show what `rocky run` would build, copy, reuse or leave, and why.",
    "apply": "Run a plan that `rocky plan` saved, or say what has changed since.",
    "run": "Build models' tables on Spark, copy and check others, and record it.",
    "build": "Load seeds, build models and test each as it is built.",
    "discover": "Find the columns of sources, and of tables that nobody declares.",
    "drift": "Report how live sources differ from their copies. Nothing is changed.",
    "test": "Run the tests of the selected models, or of all.",
    "emit-sql": "Print the SQL that would run.",
    "fmt": "Lay out the `.rocky` models of the project, or the files and folders of PATH.",
    "docs": "Write a static site of the project: models, columns, lineage, tests and runs.",
    "ui": "Open the page of the project: its graph, runs, branches, evidence and state, as they"
    " change.",
    "serve": "Serve the page and its protocol to a team, for reading, behind a proxy of its own.",
    "mcp": "Answer assistants that speak the Model Context Protocol, on standard input and output.",
    "publish": "Write the interface of the project's tables for others to build on.",
    "imports": "Fetch and accept what other projects publish.",
    "compliance": "Show how each classified column is masked, in each environment.",
    "ci": "Compile in CI: exit 1 on errors, 4 on warnings only.",
    "ci-diff": "Show what changed since BASE, and what breaks.",
    "show": "Show rows of a model's table, or of a query.",
    "history": "Show what ran, newest first.",
    "trace": "Show when each model of a run ran, and what it waited for.",
    "logs": "Show the log of a run in which something failed.",
    "cost": "Show what a run used and cost.",
    "verify": "Check that records and tables are unchanged and agree.",
    "seal": "Sign where the ledger and its tables are now, into a file to keep elsewhere.",
    "replay": "Show and check what is recorded of a run, or build it again.",
    "state": "Show the state that is kept between runs.",
    "doctor": "Check that settings, state, warehouses and Spark are in order.",
    "hooks": "List what is called when something happens in a run, or try it.",
    "governance": "Compare declared grants with a catalogue, make them hold, or ask who can read a"
    " table.",
    "branch": "Make, compare, approve, promote and revert branches of the tables.",
    "backfill": "Compute the time intervals of a model again, and those of its readers.",
    "compact": "Rewrite the small files of appended tables into larger ones, with the same rows.",
    "retention": "Delete rows that are older than their models' `retention`.",
    "erase": "Take a person's rows out of every version of every table.",
    "gc": "Remove files that no table, branch or retained run needs.",
}
"""Name -> one-line help, in the order of `--help`."""

COMPLETE: Final = "_ROCKY_COMPLETE"
"""Set by the shell that asks for completions, or for the script that makes it ask."""
TRACEBACK = "ROCKY_TRACEBACK"
"""Set to anything, a defect shows its traceback."""


def load_command(name: str) -> click.Command:
    """A command, whose module is imported now: `rocky --version` must not pay for any."""
    # Imports and no names of modules, so that types and import contracts see them.
    found: click.Command
    match name:
        case "init":
            from rocky.cli.commands.init import command as found
        case "playground":
            from rocky.cli.commands.init import playground_command as found
        case "import-dbt":
            from rocky.cli.commands.import_dbt import command as found
        case "validate-migration":
            from rocky.cli.commands.validate_migration import command as found
        case "validate":
            from rocky.cli.commands.validate import command as found
        case "compile":
            from rocky.cli.commands.compile import command as found
        case "watch":
            from rocky.cli.commands.watch import command as found
        case "lsp":
            from rocky.cli.commands.lsp import command as found
        case "list":
            from rocky.cli.commands.list import command as found
        case "catalog":
            from rocky.cli.commands.catalog import command as found
        case "dag":
            from rocky.cli.commands.dag import command as found
        case "explain":
            from rocky.cli.commands.explain import command as found
        case "lineage":
            from rocky.cli.commands.lineage import command as found
        case "lineage-diff":
            from rocky.cli.commands.diff import lineage_diff as found
        case "seed":
            from rocky.cli.commands.seed import command as found
        case "plan":
            from rocky.cli.commands.plan import command as found
        case "apply":
            from rocky.cli.commands.apply import command as found
        case "run":
            from rocky.cli.commands.run import command as found
        case "build":
            from rocky.cli.commands.run import build as found
        case "discover":
            from rocky.cli.commands.discover import command as found
        case "drift":
            from rocky.cli.commands.drift import command as found
        case "test":
            from rocky.cli.commands.test import command as found
        case "check-python":
            from rocky.cli.commands.check_python import command as found
        case "emit-sql":
            from rocky.cli.commands.emit_sql import command as found
        case "fmt":
            from rocky.cli.commands.fmt import command as found
        case "docs":
            from rocky.cli.commands.docs import command as found
        case "ui":
            from rocky.cli.commands.ui import command as found
        case "serve":
            from rocky.cli.commands.ui import serve_command as found
        case "mcp":
            from rocky.cli.commands.mcp import command as found
        case "publish":
            from rocky.cli.commands.interfaces import publish_command as found
        case "imports":
            from rocky.cli.commands.interfaces import imports_command as found
        case "compliance":
            from rocky.cli.commands.compliance import command as found
        case "ci":
            from rocky.cli.commands.compile import ci_command as found
        case "ci-diff":
            from rocky.cli.commands.diff import ci_diff as found
        case "show":
            from rocky.cli.commands.show import command as found
        case "history":
            from rocky.cli.commands.history import command as found
        case "trace":
            from rocky.cli.commands.trace import command as found
        case "logs":
            from rocky.cli.commands.logs import command as found
        case "cost":
            from rocky.cli.commands.cost import command as found
        case "verify":
            from rocky.cli.commands.verify import command as found
        case "seal":
            from rocky.cli.commands.seal import command as found
        case "replay":
            from rocky.cli.commands.replay import command as found
        case "state":
            from rocky.cli.commands.state import command as found
        case "doctor":
            from rocky.cli.commands.doctor import command as found
        case "hooks":
            from rocky.cli.commands.hooks import command as found
        case "governance":
            from rocky.cli.commands.governance import command as found
        case "backfill":
            from rocky.cli.commands.backfill import command as found
        case "compact":
            from rocky.cli.commands.compact import command as found
        case "erase":
            from rocky.cli.commands.erase import command as found
        case "retention":
            from rocky.cli.commands.retention import command as found
        case "branch":
            from rocky.cli.commands.branch import command as found
        case "gc":
            from rocky.cli.commands.gc import command as found
        case _:
            # Never one of the others: some delete.
            raise InternalError(f"no module has the command `{name}`")
    return found


_MANY_OBJECTS: Final = 500_000


def _spare_collector() -> None:
    """A command keeps what it loads until it ends: looking for garbage in it is a waste.

    Its modules are part of that, so it is said before any of them comes.
    """
    gc.set_threshold(_MANY_OBJECTS, 50, 100)
    # At exit the interpreter collects once more, all of a large project, for nobody.
    atexit.register(gc.freeze)


class RockyGroup(LazyGroup):
    """The root command: our exit codes, no tracebacks."""

    summaries = COMMANDS

    def load(self, name: str) -> click.Command:
        return load_command(name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is meant; an unknown one is refused with the nearest name."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            hint = translate_command(args[0]) or nearest_command(args[0], COMMANDS)
            hint = hint or "`rocky --help` lists the commands"
            raise click.UsageError(f"no command `{args[0]}`; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def main(  # type: ignore[override]  # click overloads it by standalone_mode
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        **extra: Any,
    ) -> NoReturn:
        """Run a command line and leave with its exit code."""
        if os.environ.get(COMPLETE):
            from rocky.cli.completion import complete_shell

            sys.exit(complete_shell(self, os.environ))
        given = list(sys.argv[1:] if args is None else args)
        make_output_safe()
        _spare_collector()
        sys.excepthook = _report_unforeseen
        extra["standalone_mode"] = False
        try:
            code = self._run(given, prog_name or "rocky", extra)
        except BrokenPipeError:
            # Whoever read our output has had enough; the interpreter must not try to flush it.
            drop_output()
            code = ExitCode.FAILED
        except OSError as failure:
            # Commands report what fails on disk, so this is the output itself: a full disk.
            drop_output()
            write_note(f"error: {describe_lost_output(failure)}")
            code = ExitCode.FAILED
        sys.exit(int(code or 0))

    def _run(self, given: list[str], prog_name: str, extra: dict[str, Any]) -> Any:
        """The exit code of a command line. Raises only when the output is lost."""
        try:
            return super().main(given, prog_name, **extra)
        except click.UsageError as mistake:
            return _report_usage(mistake, given)
        except click.ClickException as failure:
            report_failure(_said(failure), None, as_json=wants_json(given))
            return ExitCode.FAILED
        except (click.Abort, KeyboardInterrupt):
            name = next((each for each in given if each in COMMANDS), None)
            report_interrupt(name, as_json=wants_json(given))
            return ExitCode.INTERRUPTED


def _said(failure: click.ClickException) -> Exception:
    return RuntimeError(failure.format_message())


def _report_usage(mistake: click.UsageError, given: Sequence[str]) -> ExitCode:
    """Say what is wrong with the command line, and how it is written."""
    context = mistake.ctx
    if isinstance(mistake, click.exceptions.NoArgsIsHelpError):
        write_note(mistake.format_message())
        return ExitCode.FAILED
    message = describe_mistake(mistake)
    if wants_json(given):
        name = context.info_name if context is not None and context.parent is not None else ""
        error = {"kind": "UsageError", "message": message}
        write_json(name or "", {"error": error})
    write_note(f"error: {message}")
    if context is not None:
        write_note(context.get_usage().replace("Usage:", "usage:"))
        write_note(f"`{context.command_path} --help` says more")
    return ExitCode.FAILED


def _report_unforeseen(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    """What no command foresaw. Users should see a sentence, and developers can ask for more."""
    if issubclass(kind, KeyboardInterrupt):
        leave_interrupted(kind, error, traceback)
    if os.environ.get(TRACEBACK):
        sys.__excepthook__(kind, error, traceback)
        return
    message = f"{kind.__name__}: {error}" if str(error) else kind.__name__
    name = next((each for each in sys.argv[1:] if each in COMMANDS), "")
    if wants_json(sys.argv[1:]):
        write_json(name, {"error": {"kind": "InternalError", "message": message}})
    write_note(f"internal error: {message}")
    write_note(f"this is a defect in Rocky: please report it ({TRACEBACK}=1 shows where it was)")


def _print_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: ARG001 - click's signature
    if value and not ctx.resilient_parsing:
        write_line(f"rocky {__version__}")
        ctx.exit()


main = RockyGroup(
    name="rocky",
    params=[
        *global_options(),
        click.Option(
            ["--version"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_print_version,
            help="Show the version and exit.",
        ),
    ],
    help=(
        "Rocky type-checks a whole Spark SQL project before it runs, runs it on Spark, and leaves"
        " evidence that anyone can check.\n\n"
        "Exit codes: 0 success, 1 failure, wrong usage or error diagnostics, 2 a run that built"
        " only"
        " some tables or a replay that could not judge all, 3 a `doctor` that found something"
        " critical, 4 `ci` with warnings only, 130 interrupted."
    ),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
