"""Interfaces that are published, fetched and accepted, for people and as JSON documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rocky.analysis.changes.change import Change
from rocky.analysis.changes.declarations import InterfaceChange, compare_interfaces
from rocky.analysis.imports.offer import Offer
from rocky.cli.render.compilation import counted
from rocky.project.interfaces import Interface, decode_interface

Readers = Mapping[tuple[str, str, str, str | None], Sequence[str]]
"""Models by import, table, rule and column of a change that they read."""


Done = Literal["checked", "fetched", "accepted"]
"""What `rocky imports update` did."""


@dataclass(frozen=True, slots=True)
class Publication:
    """An interface, and the text of the file that it replaces, if there is one."""

    path: Path
    interface: Interface
    before: str | None
    check: bool

    @property
    def is_current(self) -> bool:
        return self.before == self.interface.text

    @property
    def changes(self) -> tuple[InterfaceChange, ...]:
        """Against the file that is there; none when that is no interface."""
        if self.before is None or self.is_current:
            return ()
        found = decode_interface(self.path.name, self.before)
        return compare_interfaces(found, self.interface) if isinstance(found, Interface) else ()


def publication_document(view: Publication) -> dict[str, Any]:
    """What `rocky publish -o json` prints."""
    return {
        "path": str(view.path),
        "project": view.interface.project,
        "interface_hash": view.interface.hash,
        "tables": [table.target for table in view.interface.tables],
        "reads": [read.table for read in view.interface.reads],
        "check": view.check,
        "up_to_date": view.is_current,
        "written": not view.check and not view.is_current,
        "changes": [_change_document(each, ()) for each in view.changes],
    }


def render_publication(view: Publication) -> str:
    """What became of the file, and what in it is new."""
    done = "wrote"
    if view.is_current:
        done = "up to date:"
    elif view.check:
        done = "there is no" if view.before is None else "not up to date:"
    lines = [f"{done} {view.path}"]
    lines += [f"  {_change_line(each)}" for each in view.changes]
    if not view.check or view.is_current:
        reads = view.interface.reads
        parts = [counted(len(view.interface.tables), "table")]
        parts += [f"{counted(len(reads), 'table')} read of others"] if reads else []
        lines.append(f"{', '.join(parts)}; interface {view.interface.hash}")
    else:
        lines.append("run `rocky publish` and commit the file")
    return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True, slots=True)
class ImportView:
    """An offer with the readers of what it changes."""

    offer: Offer
    readers: Readers

    @property
    def changes(self) -> tuple[InterfaceChange, ...]:
        before = self.offer.imported.baseline
        return () if before is None else compare_interfaces(before, self.offer.interface)

    def readers_of(self, each: InterfaceChange) -> Sequence[str]:
        change = each.change
        key = (self.offer.imported.name, each.target, change.rule, change.column)
        return self.readers.get(key, ())


def imports_document(views: Sequence[ImportView], done: Done, *, pins: bool) -> dict[str, Any]:
    """What `rocky imports update -o json` prints."""
    return {
        "done": done,
        "up_to_date": not any(view.offer.stale for view in views),
        "imports": [_import_document(view, pins=pins) for view in views],
    }


def _import_document(view: ImportView, *, pins: bool) -> dict[str, Any]:
    offer = view.offer
    before = offer.imported.baseline
    return {
        "name": offer.imported.name,
        "project": offer.interface.project,
        "snapshot": offer.imported.snapshot_path,
        "baseline": offer.imported.baseline_path,
        "interface_hash": offer.interface.hash,
        "accepted_hash": before.hash if before is not None else None,
        "snapshot_stale": offer.snapshot_stale,
        "baseline_stale": offer.baseline_stale,
        "pin_stale": offer.pin_stale and not pins,
        "changes": [_change_document(each, view.readers_of(each)) for each in view.changes],
    }


def _change_document(each: InterfaceChange, readers: Sequence[str]) -> dict[str, Any]:
    change = each.change
    return {
        "table": each.target,
        "model": each.model,
        "column": change.column,
        "rule": change.rule,
        "impact": change.impact.value,
        "before": change.before,
        "after": change.after,
        "read_by": list(readers),
    }


def render_imports(views: Sequence[ImportView], done: Done, *, pins: bool) -> str:
    """Each import: what it is, what changed and who reads it."""
    lines: list[str] = []
    for view in views:
        lines += _import_lines(view, done, pins=pins)
    return "".join(f"{line}\n" for line in lines)


def _import_lines(view: ImportView, done: Done, *, pins: bool) -> list[str]:
    offer, name = view.offer, view.offer.imported.name
    tables = counted(len(offer.interface.tables), "table")
    if not offer.stale:
        return [f"{name}: up to date, {tables}; interface {offer.interface.hash}"]
    state = "not up to date" if done == "checked" else done
    lines = [f"{name}: {state}, {tables}; interface {offer.interface.hash}"]
    for each in view.changes:
        readers = ", ".join(view.readers_of(each))
        lines.append(f"  {_change_line(each)}" + (f"; read by {readers}" if readers else ""))
    if offer.imported.baseline is None:
        lines.append("  nothing was accepted before")
    if done == "fetched" and offer.baseline_stale:
        lines.append("  not accepted yet: `rocky compile` shows what it breaks")
    if offer.pin_stale and not pins:
        lines.append(f'  the pin is another: pin = "{offer.interface.hash}"')
    elif offer.pin_stale:
        lines.append("  pinned in rocky.toml")
    return lines


def _change_line(each: InterfaceChange) -> str:
    change = each.change
    what = f"{each.target}.{change.column}" if change.column else each.target
    return f"{change.impact.value:<8}  {what}: {change.rule}{_sides(change)}"


def _sides(change: Change) -> str:
    if change.before is not None and change.after is not None:
        return f" ({change.before} -> {change.after})"
    shown = change.before or change.after
    return f" ({shown})" if shown else ""
