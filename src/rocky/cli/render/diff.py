"""Differences between two states of a project: what is counted, how it is told, the documents."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from rocky.analysis.changes.change import Change, Impact, ProjectDiff, Reached, TableDiff
from rocky.cli.render.compilation import counted
from rocky.errors import NothingSelected
from rocky.git import ChangedFile
from rocky.operations.revisions import SHOWN_COMMIT, Sides
from rocky.operations.workspace import unknown_name

STATUSES: Final = ("modified", "added", "removed", "affected", "renamed")
_TYPE_RULES: Final = ("column_type_changed", "column_type_widened")


@dataclass(frozen=True, slots=True)
class DiffView:
    """A difference and the sides it is between. `shown` may be a part of `whole`."""

    whole: ProjectDiff
    shown: ProjectDiff
    sides: Sides

    @property
    def verdict(self) -> str:
        """The worst impact of what is shown; `affected` when only others' changes reach it."""
        if self.shown.impact is not None:
            return self.shown.impact.value
        return "affected" if self.shown.tables else "unchanged"

    @property
    def impacts(self) -> Counter[Impact]:
        return Counter(change.impact for _, change in self.shown.changes)

    @property
    def merely_reached(self) -> list[TableDiff]:
        """Tables that only the changes of others reach."""
        return [table for table in self.shown.tables if not table.changes]

    @property
    def breaking(self) -> list[tuple[TableDiff | None, Change]]:
        return [each for each in self.shown.changes if each[1].impact is Impact.BREAKING]


def select_tables(diff: ProjectDiff, names: Sequence[str], sides: Sides) -> ProjectDiff:
    """The part of a difference that is about some tables; settings concern every one.

    A name may be that of before or of after. Raises NothingSelected when neither side has it.
    """
    if not names:
        return diff
    wanted = {name.replace("`", "").lower() for name in names}
    known = _names(sides)
    for name in wanted - known.keys():
        raise NothingSelected(unknown_name("model", name, sorted(set(known.values()))))
    keys = {known[name].lower() for name in wanted}
    chosen = tuple(
        table
        for table in diff.tables
        if table.name.lower() in keys or (table.base_name or "").lower() in keys
    )
    return replace(diff, tables=chosen)


def _names(sides: Sides) -> dict[str, str]:
    """What a table may be called -> its name: models also go by their targets."""
    found: dict[str, str] = {}
    for compilation in (sides.base, sides.head):
        project = compilation.project
        for group in (project.sources, project.seeds):
            found.update({key: table.name for key, table in group.items()})
        found.update({model.target.key: model.name for model in project.models.values()})
        found.update({key: model.name for key, model in project.models.items()})
    return found


# ---------------------------------------------------------------------------- words


def describe_rule(change: Change) -> str:
    """A rule's name as words."""
    return change.rule.replace("_", " ")


def describe_change(change: Change) -> str:
    """A change in one line, without its table."""
    words = describe_rule(change)
    if change.column is not None:
        words += f" `{change.column}`"
    moved = describe_move(change)
    if moved:
        words += f": {moved}"
    return f"{words} ({change.detail})" if change.detail else words


def describe_move(change: Change) -> str:
    """From what to what; only one of them when there is only one."""
    both = [each for each in (change.before, change.after) if each is not None]
    return " -> ".join(both)


def describe_reach(change: Change) -> str:
    """How far a change reaches, in numbers; empty when it reaches nothing."""
    if not change.reaches:
        return ""
    models = {each.model for each in change.reaches}
    columns = {(each.model, each.column) for each in change.reaches}
    return f"{counted(len(columns), 'column')} in {counted(len(models), 'model')}"


def group_reached(reaches: Iterable[Reached]) -> dict[str, list[Reached]]:
    """What is reached, by model."""
    groups: dict[str, list[Reached]] = {}
    for each in reaches:
        groups.setdefault(each.model, []).append(each)
    return groups


def group_kinds(reaches: Iterable[Reached]) -> dict[str, list[str]]:
    """Columns of one model by how they are reached; those of which only rows are come last."""
    groups: dict[str, list[str]] = {}
    for each in sorted(reaches, key=lambda each: each.kind == "rows"):
        kind = f"{each.kind}, before" if each.side == "base" else each.kind
        groups.setdefault(kind, []).append(each.column)
    return groups


def describe_sides(view: DiffView) -> str:
    """What is compared with what."""
    sides = view.sides
    head = f"{sides.head_ref} ({sides.head_commit[:SHOWN_COMMIT]})"
    uncommitted = " with uncommitted changes" if sides.dirty else ""
    return f"{sides.base_ref} ({sides.base_commit[:SHOWN_COMMIT]}) .. {head}{uncommitted}"


def describe_verdict(view: DiffView) -> str:
    """The whole in one line: the verdict, then what there is of each."""
    if view.verdict == "unchanged":
        return f"nothing changed in {counted(view.whole.total_models, 'model')}{_idle_files(view)}"
    impacts = view.impacts
    told = [counted(impacts[Impact.BREAKING], "breaking change")]
    for impact, noun in ((Impact.WARNING, "warning"), (Impact.INFO, "note")):
        told += [counted(impacts[impact], noun)] if impacts[impact] else []
    statuses = _statuses(view.shown)
    tables = [f"{statuses[each]} {each}" for each in STATUSES if statuses[each]]
    models = counted(view.whole.total_models, "model")
    return f"{', '.join(told)}; {', '.join(tables) or 'none changed'} of {models}"


def _idle_files(view: DiffView) -> str:
    """That files differ although nothing else does: a comment, a layout, a column nobody takes."""
    count = len(view.sides.files)
    if not count or view.whole.tables or view.whole.settings:
        return ""
    verb = "differs" if count == 1 else "differ"
    return f"; {counted(count, 'file')} {verb} to no effect on a table"


def _statuses(diff: ProjectDiff) -> Counter[str]:
    return Counter(table.status for table in diff.tables if table.kind == "model")


# ---------------------------------------------------------------------------- documents


def ci_document(view: DiffView, markdown: str) -> dict[str, Any]:
    """What `rocky ci-diff -o json` prints."""
    tables = [(table.kind, _table(table)) for table in view.shown.tables]
    return {
        **_heads(view),
        "models": [document for kind, document in tables if kind == "model"],
        "inputs": [document for kind, document in tables if kind != "model"],
        "settings": [_change(change) for change in view.shown.settings],
        "breaking_findings": [
            {"model_name": table.name if table else None, **_change(change)}
            for table, change in view.breaking
        ],
        "markdown": markdown,
    }


def lineage_document(view: DiffView, markdown: str) -> dict[str, Any]:
    """What `rocky lineage-diff -o json` prints: every change with all it reaches."""
    results = []
    for table in view.shown.tables:
        document = _table(table)
        for name, changes in _sorted_out(table).items():
            document[name] = [{**_change(each), **_consumers(each)} for each in changes]
        results.append(document)
    settings = [{**_change(each), **_consumers(each)} for each in view.shown.settings]
    return {**_heads(view), "results": results, "settings": settings, "markdown": markdown}


def _heads(view: DiffView) -> dict[str, Any]:
    sides = view.sides
    statuses = _statuses(view.shown)
    impacts = view.impacts
    summary: dict[str, int] = {
        "total_models": view.whole.total_models,
        "unchanged": view.whole.unchanged,
    }
    summary |= {status: statuses[status] for status in STATUSES}
    summary |= {impact.value: impacts[impact] for impact in Impact}
    return {
        "base_ref": sides.base_ref,
        "base_commit": sides.base_commit,
        "head_ref": sides.head_ref,
        "head_commit": sides.head_commit,
        "uncommitted": sides.dirty,
        "verdict": view.verdict,
        "summary": summary,
        "changed_files": [_file(each) for each in sides.files],
        "notes": list(sides.notes),
    }


def _file(file: ChangedFile) -> dict[str, str]:
    document = {"path": file.path, "status": file.status}
    return document if file.base_path is None else document | {"base_path": file.base_path}


def _table(table: TableDiff) -> dict[str, Any]:
    document: dict[str, Any] = {
        "model_name": table.name,
        "kind": table.kind,
        "status": table.status,
        "path": table.path,
        "resolved_target": table.target,
        "base_name": table.base_name,
        "base_path": table.base_path,
        "base_target": table.base_target,
    }
    document = {name: value for name, value in document.items() if value is not None}
    document["affected_by"] = list(table.affected_by)
    for name, changes in _sorted_out(table).items():
        document[name] = [_change(each) for each in changes]
    return document


def _sorted_out(table: TableDiff) -> dict[str, list[Change]]:
    return {
        "column_changes": [each for each in table.changes if each.column is not None],
        "table_changes": [each for each in table.changes if each.column is None],
    }


def _change(change: Change) -> dict[str, Any]:
    document: dict[str, Any] = {
        "column_name": change.column,
        "change_type": change.rule,
        "impact": change.impact.value,
    }
    if change.rule in _TYPE_RULES:
        document |= {"old_type": change.before, "new_type": change.after}
    document |= {"before": change.before, "after": change.after, "detail": change.detail or None}
    document = {name: value for name, value in document.items() if value is not None}
    document["reaches"] = len({(each.model, each.column) for each in change.reaches})
    return document


def _consumers(change: Change) -> dict[str, Any]:
    return {
        "downstream_consumers": [
            {"model": each.model, "column": each.column, "kind": each.kind, "side": each.side}
            for each in change.reaches
        ]
    }
