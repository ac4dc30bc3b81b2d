"""What was collected, as text for people and as a JSON document."""

from collections.abc import Iterable
from typing import Any, Final

from rocky.cli.render.compilation import counted
from rocky.cli.render.tables import render_table
from rocky.cli.render.units import NOTHING, format_bytes, format_count
from rocky.evidence.retention.collection import CollectedTable, CollectionReport
from rocky.evidence.retention.decisions import KeepReason, Retention
from rocky.store.objects import ObjectInfo

_HEAD: Final = ("TABLE", "REMOVED", "SIZE", "KEPT", "SIZE", "WHY")


def render_collection(collection: CollectionReport) -> str:
    """A row a table, what went wrong, and a last line."""
    if collection.refused is not None:
        return f"left everything alone: {collection.refused}"
    if not collection.tables:
        return "nothing to collect: no run has written a table here"
    head = (_HEAD[0], "WOULD GO" if collection.dry_run else "REMOVED", *_HEAD[2:])
    rows = [_cells(each) for each in collection.tables]
    failures = [f"error: {each.target}: {each.failed}" for each in collection.tables if each.failed]
    return "\n".join([render_table(head, rows, {1, 2, 3, 4}), *failures, _last_line(collection)])


def _cells(table: CollectedTable) -> tuple[str, ...]:
    if table.left_alone is not None:
        return table.target, NOTHING, NOTHING, NOTHING, NOTHING, f"left alone: {table.left_alone}"
    gone, kept = _removed_files(table), [each.file for each in table.kept]
    return (
        table.target,
        format_count(len(gone)),
        format_bytes(_bytes(gone)),
        format_count(len(kept)),
        format_bytes(_bytes(kept)),
        ", ".join(_reasons(table)),
    )


def _reasons(table: CollectedTable) -> Iterable[str]:
    for why in KeepReason:
        kept = [each for each in table.kept if each.why is why]
        if not kept:
            continue
        match why:
            case KeepReason.NEEDED:
                runs = frozenset[str]().union(*(each.runs for each in kept))
                yield f"{len(kept)} needed by {counted(len(runs), 'run')}"
            case KeepReason.SHARED:
                yield f"{len(kept)} on branches"
            case KeepReason.HELD:
                yield f"{len(kept)} a running run may read"
            case _:
                yield f"{len(kept)} {why.value}"


def _last_line(collection: CollectionReport) -> str:
    gone = [file for each in collection.tables for file in _removed_files(each)]
    kept = [one.file for each in collection.tables for one in each.kept]
    said = "would remove" if collection.dry_run else "removed"
    alone = sum(each.left_alone is not None for each in collection.tables)
    parts = [
        f"{said} {counted(len(gone), 'file')} ({format_bytes(_bytes(gone))})",
        f"kept {counted(len(kept), 'file')} ({format_bytes(_bytes(kept))})",
    ]
    if alone:
        parts.append(f"left {counted(alone, 'table')} alone")
    return ", ".join(parts)


def collection_document(collection: CollectionReport, retention: Retention) -> dict[str, Any]:
    """What `rocky gc -o json` prints."""
    tables = [_document(each) for each in collection.tables]
    document: dict[str, Any] = {
        "dry_run": collection.dry_run,
        "retention_days": retention.max_age_days,
        "min_runs_kept": retention.min_runs_kept,
        "min_age_days": retention.min_age_days,
        "retained_runs": collection.retained_runs,
        "running_runs": list(collection.living_runs),
        "tables": tables,
        "summary": {
            "files_removed": sum(each["removed"]["files"] for each in tables),
            "bytes_removed": sum(each["removed"]["bytes"] for each in tables),
            "files_kept": sum(len(each.kept) for each in collection.tables),
            "bytes_kept": sum(_bytes(one.file for one in each.kept) for each in collection.tables),
            "tables_left_alone": sum(each["status"] == "left_alone" for each in tables),
            "tables_failed": sum(each["status"] == "failed" for each in tables),
        },
    }
    if collection.refused is not None:
        document["refused"] = collection.refused
    return document


def _document(table: CollectedTable) -> dict[str, Any]:
    gone = _removed_files(table)
    document: dict[str, Any] = {
        "table": table.target,
        "warehouse": table.warehouse,
        "status": _status(table),
        "removed": {"files": len(gone), "bytes": _bytes(gone)},
        "kept": {why.value: _kept_document(table, why) for why in KeepReason},
        "files": [
            *(_file_document(each.file, each.reason) for each in table.removals),
            *(_file_document(each, "staged: its writer did not finish") for each in table.staged),
        ],
    }
    reason = table.failed or table.left_alone
    if reason is not None:
        document["reason"] = reason
    return document


def _kept_document(table: CollectedTable, why: KeepReason) -> dict[str, Any]:
    kept = [each for each in table.kept if each.why is why]
    runs = frozenset[str]().union(*(each.runs for each in kept))
    return {
        "files": len(kept),
        "bytes": _bytes(each.file for each in kept),
        "runs": len(runs),
    }


def _file_document(file: ObjectInfo, reason: str) -> dict[str, Any]:
    return {"path": file.path, "size_bytes": file.size, "reason": reason}


def _status(table: CollectedTable) -> str:
    if table.failed is not None:
        return "failed"
    if table.left_alone is not None:
        return "left_alone"
    return "collected" if _removed_files(table) else "clean"


def _removed_files(table: CollectedTable) -> list[ObjectInfo]:
    return [*(each.file for each in table.removals), *table.staged]


def _bytes(files: Iterable[ObjectInfo]) -> int:
    return sum(each.size for each in files)
