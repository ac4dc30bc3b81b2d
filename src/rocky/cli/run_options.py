"""The options of a run: those of `rocky run` and of `rocky plan`, which foresees one.

They stand in one place, so that what can be run can be planned, flag by flag.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import click

from rocky.plan.request import LATEST, RunRequest, Window

_OPTIONS: Final = (
    click.argument("selectors", nargs=-1, metavar="[SELECTOR]..."),
    click.option(
        "--model", "models", multiple=True, metavar="SELECTOR", help="Build these models."
    ),
    click.option("--exclude", multiple=True, metavar="SELECTOR", help="But not these."),
    click.option("--pipeline", metavar="NAME", help="The models of one pipeline."),
    click.option(
        "--parallel",
        type=click.IntRange(min=1),
        metavar="N",
        help="Models or tables at once, at most. Default: 4, or what the pipeline says.",
    ),
    click.option("--full-refresh", is_flag=True, help="Build whole tables, whatever the strategy."),
    click.option(
        "--force-rebuild",
        "--fresh",
        "force_rebuild",
        is_flag=True,
        help="Build also what an earlier run has built from the same code and inputs.",
    ),
    click.option(
        "--no-reuse",
        is_flag=True,
        help="Reuse nothing, but go on where an unfinished run stopped.",
    ),
    click.option("--target", metavar="ADAPTER", help="Run on `[adapter.ADAPTER]`."),
    click.option("--partition", metavar="KEY", help="One time interval, as 2026-05-30."),
    click.option("--from", "start", metavar="KEY", help="Time intervals from here on."),
    click.option("--to", "end", metavar="KEY", help="Time intervals up to here, included."),
    click.option("--latest", is_flag=True, help="The time interval of now. The default."),
    click.option("--missing", is_flag=True, help="The time intervals that were never built."),
    click.option(
        "--lookback",
        type=click.IntRange(min=0),
        metavar="N",
        help="Also N time intervals before the first.",
    ),
    click.option(
        "--filter",
        "filters",
        multiple=True,
        metavar="KEY=VALUE",
        help="Tables of a pipeline that copies: `tenant=acme`, `table=ord*`.",
    ),
    click.option("--resume", metavar="RUN", help="Leave what a run of this pipeline has copied."),
    click.option("--resume-latest", is_flag=True, help="The same, of its newest run."),
    click.option(
        "--idempotency-key", metavar="KEY", help="Run once for this key, however often asked."
    ),
)
_WINDOW: Final = ("partition", "start", "end", "latest", "missing", "lookback")


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command that takes all that can be asked of a run."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def request_of(given: Mapping[str, Any]) -> RunRequest:
    """What was asked for. Raises click.UsageError for options that exclude each other."""
    resume, key = given["resume"], given["idempotency_key"]
    if resume is not None and given["resume_latest"]:
        raise click.UsageError("`--resume` and `--resume-latest` exclude each other")
    if key is not None and not key.strip():
        raise click.UsageError("`--idempotency-key` is empty")
    return RunRequest(
        (*given["selectors"], *given["models"]),
        tuple(given["exclude"]),
        given["pipeline"],
        given["parallel"],
        full_refresh=given["full_refresh"],
        rebuild=given["force_rebuild"],
        reuse=not given["no_reuse"],
        adapter=given["target"],
        window=_window({name: given[name] for name in _WINDOW}, whole=given["full_refresh"]),
        filters=tuple(given["filters"]),
        resume=LATEST if given["resume_latest"] else resume,
        idempotency_key=key,
    )


def _window(given: dict[str, Any], *, whole: bool) -> Window:
    ways = [name for name in ("partition", "latest", "missing") if given[name]]
    if given["start"] or given["end"]:
        ways.append("from/to")
    if len(ways) > 1:
        raise click.UsageError(f"`--{ways[0]}` and `--{ways[1]}` exclude each other")
    if ways and whole:
        raise click.UsageError(
            f"`--full-refresh` builds every time interval: leave it or `--{ways[0]}` out"
        )
    return Window(**given)
