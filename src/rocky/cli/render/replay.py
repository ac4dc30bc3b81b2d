"""What is recorded of a run, model by model, as text for people and as a JSON document.

The text says what a person would ask for, with whole hashes, since they are copied into other
tools; the document has every field of every record as it is kept.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from rocky.cli.render.audit import render_audit
from rocky.cli.render.compilation import counted
from rocky.cli.render.history import audited_run
from rocky.cli.render.units import (
    format_bytes,
    format_count,
    format_duration,
    format_moment,
    format_seconds,
    format_usd,
)
from rocky.ledger.provenance import ProvenanceRecord, ReadRecord
from rocky.ledger.run_records import ModelExecution
from rocky.replay.record import RecordedModel, RecordedRun

_WIDTH: Final = 9

Facts = Iterator[tuple[str, str]]


def recorded_document(recorded: RecordedRun) -> dict[str, Any]:
    """What `rocky replay -o json` prints."""
    run = recorded.run.to_json()
    run.pop("models_executed")
    return {"mode": "inspect", "run": run, "models": [_document(each) for each in recorded.models]}


def _document(model: RecordedModel) -> dict[str, Any]:
    document: dict[str, Any] = {
        "model": model.name,
        "built_by": model.built_by,
        "execution": model.execution.to_json(),
        "artifacts": [each.to_json() for each in model.artifacts],
    }
    if model.provenance is not None:
        document["provenance"] = model.provenance.to_json()
        document["as_written"] = not model.touched
    return document


def render_recorded(recorded: RecordedRun, *, whole: bool) -> str:
    """The run, then a block a model; `whole` with the SQL that was run."""
    blocks = [render_audit([audited_run(recorded.run)])]
    engine = recorded.run.engine
    if engine is not None:
        facts = [("spark", f"{engine.spark_version}, files by {engine.writer}")]
        facts += [("setting", f"{name} = {value}") for name, value in engine.settings.items()]
        blocks[0] += "\n" + _block(facts)
    blocks += [f"{each.name}\n{_block(_facts(each, whole=whole))}" for each in recorded.models]
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
        how = "canonical" if layout.canonical else "as rows came"
        yield "layout", f"{how}, in {counted(layout.pieces, 'piece')}"
    if record.base_version is not None:
        yield "from", f"version {record.base_version} of its own table"
    if record.window is not None:
        yield "window", record.window
    settings = json.loads(record.env_canonical_json or "{}").get("settings", {})
    yield from (("setting", f"{name} = {value}") for name, value in settings.items())


def _python(record: ProvenanceRecord) -> str:
    return str(json.loads(record.model_ir_canonical_json).get("sql", ""))
