"""`rocky replay`: what is recorded of a run; checked against the tables; or built again.

The text says what a person would ask for, with whole hashes, since they are copied into other
tools.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import click

from rocky.cli.commands.verify import render_verification
from rocky.cli.console import ExitCode, write_line, write_note, write_report
from rocky.cli.options import Settings, StateCommand
from rocky.cli.render.history import audited_run, describe_unchanged, render_audit
from rocky.cli.render.tables import (
    NOTHING,
    format_bytes,
    format_count,
    format_duration,
    format_moment,
    format_seconds,
    format_usd,
    render_table,
)
from rocky.cli.start_notes import note_start
from rocky.diagnostics.render import counted
from rocky.ledger import LATEST
from rocky.ledger.provenance import ProvenanceRecord, ReadRecord
from rocky.ledger.run_records import ModelExecution
from rocky.operations.proof.replay import (
    RebuildReport,
    RebuiltModel,
    RecordReport,
    RecordVerificationReport,
    ReplayRequest,
    replay,
)
from rocky.replay.record import RecordedModel
from rocky.replay.verdicts import ModelVerdict, Verdict

REPORTS: Final = {"replay": RecordReport | RecordVerificationReport | RebuildReport}
_WIDTH: Final = 9

Facts = Iterator[tuple[str, str]]


@click.command("replay", cls=StateCommand)
@click.argument("run", default=LATEST)
@click.option("--model", "models", multiple=True, metavar="NAME", help="Only this model.")
@click.option("--verify", is_flag=True, help="Only say whether what is recorded holds.")
@click.option("--execute", is_flag=True, help="Build the run again, and compare.")
@click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="With --execute: build into this folder, which must be empty, and leave it there.",
)
@click.option(
    "--parallel",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --execute: build at most N models at once. Default: 2.",
)
@click.option(
    "--target",
    "adapter",
    metavar="ADAPTER",
    help="With --execute: run on `[adapter.ADAPTER]` of the project.",
)
@click.pass_obj
def command(settings: Settings, /, models: tuple[str, ...], **given: Any) -> ExitCode:
    """Show and check what is recorded of a run, or build it again.

    RUN is a run's id or the beginning of one; without it, the latest. The exit code is 1 when a
    record or a table is not as it was written. `--execute` builds every model from the record
    alone, in a scratch area, and compares: the exit code is 0 when all are bit_exact or row_exact,
    1 when one diverged or failed, 2 when none did and some could not be replayed.
    """
    request = ReplayRequest(models=models, **given)
    with note_start(settings) as workspace:
        report = replay(workspace, request, _ignore if settings.quiet else _tell)
    if settings.json:
        write_report("replay", report)
    elif isinstance(report, RecordReport):
        checks = render_verification(report.verification, quiet=settings.quiet)
        blocks = (_render_record(report, whole=bool(models)), checks)
        write_line("\n\n".join(each for each in blocks if each))
    elif isinstance(report, RecordVerificationReport):
        write_line(render_verification(report.verification, quiet=settings.quiet))
    else:
        write_line(_render_rebuild(report))
    if isinstance(report, RebuildReport):
        if report.kept is not None and not settings.quiet:
            write_note(f"what was built is in `{report.kept}`")
        return ExitCode(report.exit_code)
    return ExitCode.OK if report.verification.verified else ExitCode.FAILED


def _tell(verdict: ModelVerdict) -> None:
    took = "" if verdict.duration_ms is None else f" in {format_duration(verdict.duration_ms)}"
    write_note(f"{verdict.model}: {verdict.verdict.value}{took}")


def _ignore(_: ModelVerdict) -> None:
    """A quiet replay says everything at its end."""


def _render_record(report: RecordReport, *, whole: bool) -> str:
    """The run, then a block a model; `whole` with the SQL that was run."""
    run = report.run.record
    blocks = [render_audit([audited_run(run)])]
    if run.unchanged_since is not None:
        blocks.append(describe_unchanged(run.unchanged_since))
    if run.engine is not None:
        facts = [("spark", f"{run.engine.spark_version}, files by {run.engine.writer}")]
        facts += [("setting", f"{name} = {value}") for name, value in run.engine.settings.items()]
        blocks[0] += "\n" + _block(facts)
    blocks += [
        f"{each.model}\n{_block(_facts(each.recorded, whole=whole))}" for each in report.models
    ]
    return "\n\n".join(blocks)


def _block(facts: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"  {name:<{_WIDTH}} {value}".rstrip() for name, value in facts)


def _facts(model: RecordedModel, *, whole: bool) -> Facts:
    execution, record = model.execution, model.provenance
    yield from _happened(execution)
    if model.made is not execution and model.made is not None:
        yield "built by", model.built_by
    if model.touched:
        yield "record", "not as it was written: `rocky verify` says more"
    yield from _hashes(execution, record)
    for each in record.reads if record is not None else ():
        yield from _read(each, "")
    yield from _written(model)
    if record is not None:
        yield from _circumstances(record)
        if whole:
            text = record.executed_sql or _python(record)
            yield "query", f"\n{' ' * (_WIDTH + 3)}".join(text.strip().splitlines())


def _happened(execution: ModelExecution) -> Facts:
    if execution.target is not None:
        yield "table", f"{execution.target} ({execution.strategy})"
    said = [execution.decision, execution.reason, execution.action, execution.error]
    why = ": ".join(" ".join(each.split()) for each in said if each)
    yield "status", f"{execution.status.value} ({why})" if why else execution.status.value
    took = format_duration(execution.duration_ms)
    yield "when", f"{format_moment(execution.started_at)} UTC, took {took}"
    for each in execution.attempts:
        took = format_duration(each.duration_ms)
        yield "attempt", f"{each.attempt}: {each.outcome} after {took} {each.error or ''}"
    if execution.tags:
        yield "tags", ", ".join(f"{key}={value}" for key, value in execution.tags.items())


def _hashes(execution: ModelExecution, record: ProvenanceRecord | None) -> Facts:
    proof = f" ({execution.input_proof_class})" if execution.input_proof_class else ""
    found = {
        "sql": execution.sql_hash,
        "recipe": execution.recipe_hash,
        "skip": execution.skip_hash,
        "input": f"{execution.input_hash}{proof}" if execution.input_hash else None,
        "cut-off": record.cutoff_hash if record is not None else None,
        "env": execution.env_hash,
        "rows hash": execution.rows_hash,
    }
    yield from ((name, value) for name, value in found.items() if value)


def _read(read: ReadRecord, margin: str) -> Facts:
    if read.kind == "table":
        what = f"{read.target} at version {read.version}"
    elif read.kind == "source":
        version = f" at version {read.source_version}" if read.source_version else ""
        what = f"source {read.name}{version}" if read.declaration else f"{read.name} (not pinned)"
    else:
        what = f"query {read.name}"
    yield "reads", f"{margin}{what}{f', {read.identity}' if read.identity else ''}"
    for each in read.files:
        size = format_bytes(each.size_bytes)
        yield "", f"{margin}  {each.path} ({size}) {each.blake3_hash or 'not hashed'}"
    for below in read.reads:
        yield from _read(below, f"{margin}  ")


def _written(model: RecordedModel) -> Facts:
    execution, record = model.execution, model.provenance
    counts = {
        "rows": format_count(execution.rows_affected),
        "scanned": format_bytes(execution.bytes_scanned),
        "written": format_bytes(execution.bytes_written),
    }
    known = (execution.rows_affected, execution.bytes_scanned, execution.bytes_written)
    for (name, value), fact in zip(counts.items(), known, strict=True):
        if fact is not None:
            yield name, value
    for each in execution.commits:
        yield "commit", f"version {each.version}, {each.blake3_hash}"
    for file in model.artifacts:
        yield "file", f"{file.file_path} ({format_bytes(file.size_bytes)})"
    if record is not None and len(record.output_path) > len(model.artifacts):
        yield "holds", f"{len(record.output_path)} files at version {record.output_version}"
    metrics = execution.metrics
    if metrics is not None:
        yield "core time", f"{format_seconds(metrics.executor_run_ms)} s"
    if execution.cost_usd is not None:
        yield "cost", f"{format_usd(execution.cost_usd)} USD"


def _circumstances(record: ProvenanceRecord) -> Facts:
    layout = record.layout
    if layout is not None:
        cut = " of its input" if layout.by_files else " by key" if layout.by_key else ""
        pieces = f"canonical, in {counted(layout.pieces, 'piece')}{cut}"
        # Spark cuts rows as they come.
        yield "layout", pieces if layout.canonical else "as rows came"
    if record.base_version is not None:
        yield "from", f"version {record.base_version} of its own table"
    if record.window is not None:
        yield "window", record.window
    settings = json.loads(record.env_canonical_json or "{}").get("settings", {})
    yield from (("setting", f"{name} = {value}") for name, value in settings.items())


def _python(record: ProvenanceRecord) -> str:
    return str(json.loads(record.model_ir_canonical_json).get("sql", ""))


def _render_rebuild(report: RebuildReport) -> str:
    """A line a model, then what is to be said of each that diverged, and a last line."""
    rows = [
        (
            each.model,
            each.verdict.value,
            format_count(len(each.replayed_files)) if each.duration_ms is not None else NOTHING,
            format_duration(each.duration_ms),
            _remark(each),
        )
        for each in report.models
    ]
    head = ("MODEL", "VERDICT", "FILES", "TOOK", "WHY")
    parts = [render_table(head, rows, {2, 3})] if rows else []
    diverged = [each for each in report.models if each.verdict is Verdict.DIVERGED]
    parts += [_render_divergence(each) for each in diverged]
    parts += [f"{each.name}: no verdict, {each.reason}" for each in report.left_out]
    return "\n".join([*parts, _last_line(report)])


def _remark(verdict: RebuiltModel) -> str:
    said = [each for each in (verdict.reason, *verdict.notes) if each]
    return " ".join("; ".join(said).split())


def _render_divergence(verdict: RebuiltModel) -> str:
    causes = verdict.causes or ("nothing is known that would explain it",)
    lines = [f"{verdict.model} diverged", *(f"  likely cause: {each}" for each in causes)]
    found = verdict.differences
    if found is not None:
        lines += [f"  - {_shown(row)}" for row in found.recorded]
        lines += [f"  + {_shown(row)}" for row in found.replayed]
        lines.append("  (- was recorded and is not built now, + the other way round)")
    return "\n".join(lines)


def _shown(row: Any) -> str:
    return json.dumps(row, ensure_ascii=False)


def _last_line(report: RebuildReport) -> str:
    counts = [(getattr(report.summary, each.value), each.value) for each in Verdict]
    said = ", ".join(f"{count} {word}" for count, word in counts if count)
    models = counted(len(report.models), "model")
    return f"{report.run_id}: {models}: {said or 'nothing to replay'}"
