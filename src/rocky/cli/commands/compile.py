"""`rocky compile` and `rocky ci`: what a compile found, for a person and for a build."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import click

from rocky.analysis.compilation import REPORTED_ERROR
from rocky.cli.console import ExitCode, write_line, write_note, write_report, write_text
from rocky.cli.options import (
    RockyCommand,
    Settings,
    consumers_option,
    format_option,
    style_in_build,
    use_json,
)
from rocky.cli.render.findings import FORMATS, render_findings
from rocky.diagnostics.render import counted
from rocky.language.dialects.table import DIALECTS, Dialect
from rocky.operations.check.ci import CiReport, CiRequest, ci
from rocky.operations.check.compile import (
    CompileReport,
    CompileRequest,
    CompileSummary,
    compile_models,
)
from rocky.operations.check.spark_verification import SparkVerification

REPORTS: Final = {"compile": CompileReport, "ci": CiReport}
_SHOWN_REASONS: Final = 5
_SHOWN_MODELS: Final = 5
_jobs = click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="At most this many worker processes."
)
_no_cache = click.option("--no-cache", is_flag=True, help="Neither read nor write the cache.")


@click.command("compile", cls=RockyCommand)
@click.option("--model", "names", multiple=True, metavar="MODEL", help="Report on this model only.")
@click.option("--verify", type=click.Choice(["spark"]), help="Compare with Spark's own analyser.")
@click.option(
    "--live", is_flag=True, help="Compare declared sources with the live ones. Starts Spark."
)
@format_option(FORMATS, "The format of findings. Default: full.")
@_jobs
@_no_cache
@click.option(
    "--record-baselines",
    "record",
    is_flag=True,
    help="Record what is nullable now, for contracts with `no_new_nullable`.",
)
@click.option(
    "--target-dialect",
    "dialect",
    type=click.Choice(DIALECTS),
    help="Report what this engine lacks or reads otherwise, in place of `[portability] targets`.",
)
@consumers_option
@click.option(
    "--expand-macros", is_flag=True, help="Print the SQL of models that call macros, expanded."
)
@click.pass_obj
def command(  # noqa: PLR0913 - one for each option
    settings: Settings,
    names: tuple[str, ...],
    verify: str | None,
    live: bool,
    style: str | None,
    jobs: int | None,
    no_cache: bool,
    record: bool,
    dialect: Dialect | None,
    consumers: tuple[Path, ...],
    expand_macros: bool,
) -> ExitCode:
    """Check every model, column, type and contract."""
    as_json = use_json(settings, style)
    request = CompileRequest(
        names,
        consumers,
        live,
        verify is not None,
        record,
        jobs,
        cache=not no_cache,
        expand_macros=expand_macros,
        target_dialect=dialect,
    )
    report = compile_models(settings.workspace, request)
    if as_json:
        write_report("compile", report)
    else:
        for each in report.expanded or ():
            write_line(f"-- {each.model}: {each.path}, with {_listed(tuple(each.macros))}")
            write_line(f"{each.sql.rstrip()}\n")
        show_compile(settings, report, style)
        if report.verify is not None:
            write_line(render_verification(report.verify))
    if report.broken_inputs and not settings.quiet:
        write_note(f"note: models further up have errors: {_listed(report.broken_inputs)}")
    return ExitCode.FAILED if report.failed else ExitCode.OK


@click.command("ci", cls=RockyCommand)
@format_option(FORMATS, "The format of findings. Default: github inside GitHub Actions, else full.")
@_jobs
@_no_cache
@consumers_option
@click.pass_obj
def ci_command(
    settings: Settings,
    style: str | None,
    jobs: int | None,
    no_cache: bool,
    consumers: tuple[Path, ...],
) -> ExitCode:
    """Compile in CI: exit 1 on errors, 4 on warnings only."""
    style = style_in_build(settings, style)
    as_json = use_json(settings, style)
    report = ci(settings.workspace, CiRequest(consumers, jobs, cache=not no_cache))
    if as_json:
        write_report("ci", report)
    else:
        show_compile(settings, report, style)
    return ExitCode(report.exit_code)


def show_compile(settings: Settings, report: CompileReport | CiReport, style: str | None) -> None:
    """Findings and the summary, for people."""
    write_text(
        render_findings(report.found, report.project, style or "full", colour=settings.colour)
    )
    if settings.quiet:
        return
    if isinstance(report, CompileReport):
        write_text("".join(f"recorded {path}\n" for path in report.baselines_recorded))
    write_line(render_summary(report.summary))


def _listed(names: Sequence[str]) -> str:
    listed = ", ".join(f"`{name}`" for name in names[:_SHOWN_MODELS])
    rest = len(names) - _SHOWN_MODELS
    return f"{listed} and {rest} more" if rest > 0 else listed


def render_summary(summary: CompileSummary) -> str:
    """How it went: findings, models, columns, and which columns are unknown and why."""
    counts = (
        (summary.errors, "error"),
        (summary.warnings, "warning"),
        (summary.notes, "note"),
    )
    found = ", ".join(counted(count, noun) for count, noun in counts if count) or "no errors"
    of = f"{counted(summary.models, 'model')}, {counted(summary.columns, 'column')}"
    return "\n".join([f"{found} in {of}", *_unknown_lines(summary), *_untyped_lines(summary)])


def _untyped_lines(summary: CompileSummary) -> list[str]:
    """Which tables have no declared columns, and the commands that bring them."""
    lines: list[str] = []
    names = summary.untyped_sources
    if names:
        tables = counted(len(names), "table")
        lines.append(
            f"{tables} of unknown columns: {_listed(names)}; `rocky discover --write` declares them"
        )
    pipelines = dict.fromkeys((x.pipeline, x.is_remote) for x in summary.unknown_tables)
    for pipeline, is_remote in pipelines:
        found = [x for x in summary.unknown_tables if x.pipeline == pipeline]
        tables = counted(len(found), "table")
        listed = _listed(tuple(each.name for each in found))
        lines.append(
            f"{tables} of pipeline `{pipeline}` in an object store, which a compile does not ask:"
            f" {listed}; `rocky discover --pipeline {pipeline} --cache` keeps their columns"
            if is_remote
            else f"{tables} that pipeline `{pipeline}` has not written yet: {listed};"
            f" `rocky run --pipeline {pipeline}` does"
        )
    return [*lines, *_cached_lines(summary)]


def _cached_lines(summary: CompileSummary) -> list[str]:
    """Which types come from a discovery, how old they are, and what of it was not believed."""
    lines: list[str] = []
    if summary.cached_tables:
        oldest = min(each.discovered_at for each in summary.cached_tables)
        tables = counted(len(summary.cached_tables), "table")
        names = _listed(tuple(each.name for each in summary.cached_tables))
        age = describe_age(datetime.now(UTC) - oldest)
        again = "; `rocky discover --cache` looks again"
        lines.append(
            f"{tables} with columns as they were discovered{age}: {names}"
            + (again if any(each.is_old for each in summary.cached_tables) else "")
        )
    lines += [f"`{each.file}` is not used: {each.why}" for each in summary.ignored_schemas]
    return lines


def describe_age(age: timedelta) -> str:
    """How long ago something was, in its largest unit."""
    for unit, seconds in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        count = int(age.total_seconds()) // seconds
        if count:
            return f" {counted(count, unit)} ago"
    return " just now"


def _unknown_lines(summary: CompileSummary) -> list[str]:
    """How many columns are unknown and why; without a reason it is an error's doing."""
    reasons = summary.unknown_reasons
    if not summary.unknown_columns:
        return []
    head = f"{counted(summary.unknown_columns, 'column')} of unknown type"
    if not reasons:
        return [f"{head}, because of the errors"]
    lines = [f"{head}:"]
    lines += [f"{each.count:>6,}  {each.reason}" for each in reasons[:_SHOWN_REASONS]]
    rest = len(reasons) - _SHOWN_REASONS
    if rest > 0:
        lines.append(f"        and {counted(rest, 'more reason')} (`-o json` has them all)")
    if any(each.reason != REPORTED_ERROR for each in reasons):
        lines.append("        `rocky catalog` lists every column with its type")
    return lines


def render_verification(found: SparkVerification) -> str:
    """A line for each difference, then how much was compared."""
    lines = []
    for each in found.differences:
        place = f"{each.model}.{each.column}" if each.column is not None else each.model
        lines.append(f"{place}: {each.what} differs")
        lines.append(f"    rocky: {each.rocky}")
        lines.append(f"    spark: {each.spark}")
    lines += [f"{each.model}: not compared, {each.reason}" for each in found.skipped]
    compared = f"{counted(found.columns, 'column')} of {counted(found.models, 'model')}"
    rest = f"; {counted(len(found.skipped), 'model')} not compared" if found.skipped else ""
    if not found.models:
        lines.append(f"nothing was compared with {found.engine}{rest}")
    elif found.agrees:
        lines.append(
            f"{found.engine} agrees on the names, types and nullability of {compared}{rest}"
        )
    elif not found.differences:
        lines.append(f"no difference from {found.engine} in {compared}{rest}")
    else:
        count = counted(len(found.differences), "difference")
        differ = f"{found.differing:,} of which differ{'s' if found.differing == 1 else ''}"
        lines.append(f"{count} from {found.engine} in {compared}, {differ}{rest}")
    return "\n".join(lines)
