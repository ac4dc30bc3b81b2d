"""What a replay found, as text for people and as a JSON document."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from rocky.cli.render.compilation import counted
from rocky.cli.render.tables import render_table
from rocky.cli.render.units import NOTHING, format_count, format_duration
from rocky.replay.verdicts import ModelVerdict, ReplayReport, Row, Verdict

_PLAIN: Final = (str, int, float, bool, type(None))
_WORDS: Final = tuple(Verdict)


def report_document(report: ReplayReport) -> dict[str, Any]:
    """What `rocky replay --execute -o json` prints."""
    document: dict[str, Any] = {
        "mode": "execute",
        "run_id": report.run_id,
        "exit_code": report.exit_code,
        "summary": {word.value: report.count(word) for word in _WORDS},
        "models": [_document(each) for each in report.models],
        "left_out": [{"name": each.name, "reason": each.why} for each in report.left_out],
    }
    if report.kept is not None:
        document["kept"] = report.kept
    return document


def _document(verdict: ModelVerdict) -> dict[str, Any]:
    document: dict[str, Any] = {
        "model": verdict.model,
        "target": verdict.target,
        "verdict": verdict.verdict.value,
        "built_by": verdict.built_by,
        "reason": verdict.reason,
        "failed": verdict.failed,
        "causes": list(verdict.causes),
        "notes": list(verdict.notes),
        "recorded_files": list(verdict.recorded_files),
        "replayed_files": list(verdict.replayed_files),
        "recorded_rows_hash": verdict.recorded_rows_hash,
        "replayed_rows_hash": verdict.replayed_rows_hash,
        "duration_ms": verdict.duration_ms,
    }
    if verdict.differences is not None:
        document["differences"] = {
            "recorded": [_plain(row) for row in verdict.differences.recorded],
            "replayed": [_plain(row) for row in verdict.differences.replayed],
        }
    return {name: value for name, value in document.items() if value is not None}


def _plain(value: Any) -> Any:
    """A value of a row as JSON has it; what JSON has not, as a text."""
    if isinstance(value, float) and not -float("inf") < value < float("inf"):
        return str(value)
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, bytes | bytearray):
        return value.hex()
    if isinstance(value, Iterable):
        return [_plain(each) for each in value]
    return str(value)


def render_report(report: ReplayReport) -> str:
    """A line a model, then what is to be said of each that is not exact, and a last line."""
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
    parts += [_render_divergence(each) for each in report.models if _is_explained(each)]
    parts += [f"{each.name}: no verdict, {each.why}" for each in report.left_out]
    return "\n".join([*parts, _last_line(report)])


def _remark(verdict: ModelVerdict) -> str:
    said = [each for each in (verdict.reason, *verdict.notes) if each]
    return " ".join("; ".join(said).split())


def _is_explained(verdict: ModelVerdict) -> bool:
    return verdict.verdict is Verdict.DIVERGED


def _render_divergence(verdict: ModelVerdict) -> str:
    causes = verdict.causes or ("nothing is known that would explain it",)
    lines = [f"{verdict.model} diverged", *(f"  likely cause: {each}" for each in causes)]
    found = verdict.differences
    if found is not None:
        lines += [f"  - {_shown(row)}" for row in found.recorded]
        lines += [f"  + {_shown(row)}" for row in found.replayed]
        lines.append("  (- was recorded and is not built now, + the other way round)")
    return "\n".join(lines)


def _shown(row: Row) -> str:
    return json.dumps(_plain(row), ensure_ascii=False)


def _last_line(report: ReplayReport) -> str:
    counts = [f"{report.count(word)} {word.value}" for word in _WORDS if report.count(word)]
    models = counted(len(report.models), "model")
    return f"{report.run_id}: {models}: {', '.join(counts) or 'nothing to replay'}"
