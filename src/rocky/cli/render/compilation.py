"""A compilation as a summary for people and as a JSON document."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from rocky.analysis.compilation import Compilation, unpack_schema
from rocky.cli.render.findings import findings_document
from rocky.compiler.fingerprints import Fingerprints, fingerprints_of
from rocky.diagnostics import Diagnostic, Severity
from rocky.language.datatypes.text import decode_type
from rocky.language.datatypes.types import UNKNOWN
from rocky.language.ir import ModelIr, is_deterministic
from rocky.project import ModelFile

SHOWN_REASONS = 5


def render_summary(
    compilation: Compilation, models: Sequence[ModelFile], diagnostics: Sequence[Diagnostic]
) -> str:
    """How it went: findings, models, columns, and which columns are unknown and why."""
    summary = summarise(compilation, models, diagnostics)
    found = [
        counted(summary[key], noun)
        for key, noun in (("errors", "error"), ("warnings", "warning"), ("notes", "note"))
        if summary[key]
    ]
    head = ", ".join(found) if found else "no errors"
    shown = f"{head} in {counted(len(models), 'model')}, {counted(summary['columns'], 'column')}"
    lines = [shown]
    lines += _unknown_lines(summary["unknown_columns"], summary["unknown_reasons"])
    return "\n".join(lines)


def _unknown_lines(unknown: int, reasons: list[dict[str, Any]]) -> list[str]:
    """How many columns are unknown and why; without a reason it is an error's doing."""
    if not unknown:
        return []
    head = f"{counted(unknown, 'column')} of unknown type"
    if not reasons:
        return [f"{head}, because of the errors"]
    lines = [f"{head}:"]
    lines += [f"{each['count']:>6,}  {each['reason']}" for each in reasons[:SHOWN_REASONS]]
    if len(reasons) > SHOWN_REASONS:
        rest = len(reasons) - SHOWN_REASONS
        lines.append(f"        and {counted(rest, 'more reason')} (`-o json` has them all)")
    return lines


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def summarise(
    compilation: Compilation, models: Sequence[ModelFile], diagnostics: Iterable[Diagnostic]
) -> dict[str, Any]:
    """The numbers of a compile, of all models or of some."""
    severities = Counter(each.severity for each in diagnostics)
    statistics = compilation.statistics
    if len(models) == len(compilation.project.models):
        columns, unknown = statistics.columns, statistics.unknown_columns
        reasons = list(statistics.unknown_reasons)
    else:
        chosen = [compilation.models[each.key] for each in models if each.key in compilation.models]
        columns = sum(len(each.columns) for each in chosen)
        unknown = sum(column.type is UNKNOWN for each in chosen for column in each.columns)
        reasons = _unknown_reasons(chosen)
    return {
        "models": len(models),
        "columns": columns,
        "unknown_columns": unknown,
        "unknown_reasons": [{"reason": reason, "count": count} for reason, count in reasons],
        "bound": statistics.bound,
        "errors": severities[Severity.ERROR],
        "warnings": severities[Severity.WARNING],
        "notes": severities[Severity.INFO],
    }


def _unknown_reasons(models: Iterable[ModelIr]) -> list[tuple[str, int]]:
    counts: Counter[str] = Counter()
    for model in models:
        counts.update(dict(model.unknowns))
    return sorted(counts.items(), key=lambda each: (-each[1], each[0]))


def compilation_document(
    compilation: Compilation, models: Sequence[ModelFile], diagnostics: Sequence[Diagnostic]
) -> dict[str, Any]:
    """What `rocky compile -o json` prints of the chosen models."""
    hashes = fingerprints_of(compilation, [each.key for each in models])
    return {
        "has_errors": any(each.severity is Severity.ERROR for each in diagnostics),
        "models": [_model(compilation, each, hashes.get(each.key)) for each in models],
        "diagnostics": findings_document(diagnostics, compilation.project),
        "summary": summarise(compilation, models, diagnostics),
    }


def _model(
    compilation: Compilation, model: ModelFile, hashes: Fingerprints | None
) -> dict[str, Any]:
    document: dict[str, Any] = {
        "name": model.name,
        "path": model.path,
        "target": model.target.full_name,
        "strategy": model.strategy.type,
    }
    if hashes is None:
        return document | _UNREAD
    # From the record: unpacking the lineage of every model would cost more than all the rest.
    record = compilation.models.record(model.key)
    columns, known = unpack_schema(record)
    document["columns"] = list(map(_column, columns))
    document["columns_complete"] = known
    document["reads"] = record.reads
    document["deterministic"] = is_deterministic(record.determinism)
    document["determinism"] = record.determinism
    document["recipe_hash"] = hashes.recipe
    document["skip_hash"] = hashes.skip_hash
    return document


# Most columns of a project are carried from model to model: one document serves them all.
@lru_cache(maxsize=1 << 16)
def _column(column: tuple[str, str, bool]) -> dict[str, Any]:
    name, kind, nullable = column
    return {"name": name, "type": decode_type(kind).text, "nullable": nullable}


_UNREAD: dict[str, Any] = {
    "columns": [],
    "columns_complete": False,
    "reads": [],
    "deterministic": None,
    "determinism": [],
    "recipe_hash": None,
    "skip_hash": None,
}
