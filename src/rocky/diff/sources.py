"""Changes of sources and seeds: what models read and none of them makes.

A source belongs to somebody else, so what its declaration says is a warning and no verdict: what it
does to the models shows in their own columns. A seed is a table of the project, with readers.
"""

from collections.abc import Iterator
from dataclasses import replace

from rocky.changes.change import Change
from rocky.changes.columns import compare_columns
from rocky.changes.rules import change_of
from rocky.diff.project_diff import Status, TableDiff
from rocky.diff.settings import compare_classification
from rocky.project import Project
from rocky.project.seeds import SeedTable
from rocky.project.settings import TargetSetting
from rocky.project.sources import SourceTable


def compare_sources(base: Project, head: Project) -> Iterator[TableDiff]:
    """Every source that is not declared as it was, without what that reaches."""
    for key in {**base.sources, **head.sources}:
        old, new = base.sources.get(key), head.sources.get(key)
        changes = tuple(_compare_source(old, new))
        shown = new or old
        if changes and shown is not None:
            status = _status(old, new)
            diff = TableDiff(shown.name, "source", status, shown.file, changes=changes)
            yield replace(diff, base_name=_other_name(old, shown))


def compare_seeds(base: Project, head: Project) -> Iterator[TableDiff]:
    """Every seed that is not as it was, without what that reaches."""
    for key in {**base.seeds, **head.seeds}:
        old, new = base.seeds.get(key), head.seeds.get(key)
        changes = tuple(_compare_seed(old, new))
        shown = new or old
        if changes and shown is not None:
            status = _status(old, new)
            target = _target(shown.target)
            diff = TableDiff(shown.name, "seed", status, shown.path, target, changes=changes)
            yield replace(diff, base_name=_other_name(old, shown))


def _other_name(old: SourceTable | SeedTable | None, shown: SourceTable | SeedTable) -> str | None:
    """The name it had, where that differs: names are compared without case."""
    return old.name if old is not None and old.name != shown.name else None


def _status(old: object | None, new: object | None) -> Status:
    return "added" if old is None else "removed" if new is None else "modified"


def _compare_source(old: SourceTable | None, new: SourceTable | None) -> Iterator[Change]:
    if old is None or new is None:
        yield change_of("source_added" if old is None else "source_removed")
        return
    for change in compare_columns(old.columns, new.columns):
        yield change_of(
            "source_column_changed",
            change.column,
            change.before,
            change.after,
            change.rule.replace("_", " "),
        )
    yield from compare_classification(_marks(old), _marks(new))
    # Paths and options can hold what is not for everybody: they are named, not shown.
    for name in ("format", "path", "options"):
        if getattr(old, name) != getattr(new, name):
            yield change_of("source_changed", detail=f"`{name}`")
    if old.freshness != new.freshness:
        yield change_of("operation_changed", detail="`freshness`")


def _marks(source: SourceTable) -> dict[str, str]:
    """The classifications that a declaration gives its columns."""
    blocks = source.document.data.get("source")
    block = blocks[source.index] if isinstance(blocks, list) else {}
    return {
        column["name"]: column["classification"]
        for column in block.get("columns", ())
        if "classification" in column
    }


def _compare_seed(old: SeedTable | None, new: SeedTable | None) -> Iterator[Change]:
    if old is None or new is None:
        yield change_of("seed_added" if old is None else "seed_removed")
        return
    yield from compare_columns(old.columns, new.columns)
    if old.target != new.target:
        yield change_of("target_changed", None, _target(old.target), _target(new.target))
    if old.content_hash != new.content_hash or old.delimiter != new.delimiter:
        yield change_of("seed_data_changed")


def _target(target: TargetSetting) -> str | None:
    return ".".join(part for part in target if part) or None
