"""Imports: tables of other projects, known by the interfaces these publish (`[imports.NAME]`).

Two files are kept of an import. The *snapshot* says what the other project has now, and types are
taken from it; the *baseline* is what this project last accepted, and only `rocky imports update`
writes it. A file that cannot be read is an error: it never means that nothing changed.
"""

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.codes import severity_of
from rocky.diagnostics.diagnostic import Span
from rocky.project.configuration.blocks import Import
from rocky.project.files import Report
from rocky.project.interfaces import Interface, InterfaceTable, load_interface
from rocky.project.overlay import overlaid_bytes
from rocky.project.sources import SourceTable
from rocky.project.toml.documents import Document, Problem, Problems
from rocky.project.toml.variables import Keys, Substituted, Unset, written

ANY_PIN: Final = "*"


@dataclass(frozen=True, slots=True)
class ImportedTable(SourceTable):
    """A table of another project. A `removed` one is in the baseline only, and has no columns.

    SQL may call it by its full name or by `import.model`.
    """

    imported: str = ""
    model: str = ""
    removed: bool = False
    interface: Interface | None = None

    @property
    def place(self) -> Span | None:
        """Where its interface names it."""
        return self.interface.place(self.name) if self.interface is not None else None

    @property
    def column_places(self) -> tuple[Span | None, ...]:
        """Where its interface names its columns."""
        found = self.interface
        return tuple(found.place(self.name, each.name) if found else None for each in self.columns)

    @property
    def short_name(self) -> str:
        return f"{self.imported}.{self.model}"


@dataclass(frozen=True, slots=True)
class LoadedImport:
    """An import with what could be read of it; None is what could not, or is not there.

    `accepted` tells the two apart for the baseline: False when nobody has accepted anything yet.
    """

    name: str
    setting: Import
    snapshot_path: str
    baseline_path: str
    snapshot: Interface | None = None
    baseline: Interface | None = None
    accepted: bool = True

    @property
    def changed(self) -> bool:
        """Whether the other project has published something else than was accepted."""
        both = self.snapshot is not None and self.baseline is not None
        return both and self.snapshot.hash != self.baseline.hash  # type: ignore[union-attr]  # both are


def snapshot_path(name: str, setting: Import) -> str:
    """Where the interface of an import is kept, below the project."""
    return setting.snapshot if setting.snapshot is not None else f"imports/{name}.json"


def baseline_path(name: str, setting: Import) -> str:
    """Where the interface that was accepted is kept."""
    if setting.baseline is not None:
        return setting.baseline
    return snapshot_path(name, setting).removesuffix(".json") + ".baseline.json"


def check_imports_block(imports: Mapping[str, Import], problems: Problems) -> None:
    """Report what `[imports]` says and cannot mean."""
    kept: dict[str, str] = {}
    for name, setting in imports.items():
        if not name or "." in name or "`" in name:
            problems.append(
                Problem(("imports", name), f"an import cannot be called `{name}`", on_key=True)
            )
        for key in ("snapshot", "baseline"):
            at = ("imports", name, key)
            value = getattr(setting, key)
            if isinstance(value, Substituted) and not isinstance(value, Unset):
                message = f"`{key}` names a file of the project and cannot come from a variable"
                problems.append(Problem(at, message, "write the path out"))
        for key, path in (
            ("snapshot", snapshot_path(name, setting)),
            ("baseline", baseline_path(name, setting)),
        ):
            owner = kept.setdefault(posixpath.normpath(path), f"imports.{name}.{key}")
            if owner != f"imports.{name}.{key}":
                message = f"`{path}` is also `{owner}`: each needs a file of its own"
                problems.append(Problem(("imports", name, key), message))


def load_imports(
    root: str, imports: Mapping[str, Import], document: Document | None, report: Report
) -> dict[str, LoadedImport]:
    """The imports of a project, by name; what is wrong with one is reported."""
    found: dict[str, LoadedImport] = {}
    for name, setting in imports.items():
        place = _Place(document, name, report)
        snapshot, baseline = snapshot_path(name, setting), baseline_path(name, setting)
        now = _load_snapshot(root, snapshot, setting, place)
        accepted = _is_there(root, baseline)
        before = _load(root, baseline, "baseline", place) if accepted else None
        if now is not None:
            _check_pin(now, setting, place)
            if not accepted:
                place.report("baseline", *_never_accepted(name), Code.IMPORT_NOT_ACCEPTED)
        found[name] = LoadedImport(name, setting, snapshot, baseline, now, before, accepted)
    return found


class _Place:
    """Where in `rocky.toml` a finding about an import stands."""

    __slots__ = ("_document", "_name", "_report")

    def __init__(self, document: Document | None, name: str, report: Report) -> None:
        self._document, self._name, self._report = document, name, report

    def report(
        self,
        key: str,
        message: str,
        advice: str | None,
        code: Code,
        labels: tuple[Label, ...] = (),
    ) -> None:
        keys: Keys = ("imports", self._name, key)
        document = self._document
        path = document.path if document is not None else None
        span = document.span_of(keys) if document is not None else None
        severity = severity_of(code)
        self._report(Diagnostic(code, message, span, path, severity, labels=labels, help=advice))


def _load(root: str, path: str, key: str, place: _Place) -> Interface | None:
    loaded = load_interface(root, path)
    if isinstance(loaded, Interface):
        return loaded
    # In the settings, because an error there keeps every run from starting.
    labels = (Label(loaded.span, "here", path),) if loaded.span is not None else ()
    place.report(key, loaded.message, loaded.help, loaded.code, labels)
    return None


def _load_snapshot(root: str, path: str, setting: Import, place: _Place) -> Interface | None:
    if _is_there(root, path):
        return _load(root, path, "snapshot", place)
    advice = "run `rocky imports update` to fetch it"
    if setting.path is None:
        advice = "put the interface that the other project publishes there, or say its `path`"
    message = f"there is no interface at `{path}`"
    place.report("snapshot", message, advice, Code.UNUSABLE_FILE)
    return None


def _is_there(root: str, path: str) -> bool:
    """Whether there is anything by this name: also an unsaved text, or a link to nothing."""
    location = Path(root) / path
    try:
        if overlaid_bytes(str(location)) is not None:
            return True
    except FileNotFoundError:
        return False
    return location.exists() or location.is_symlink()


def _never_accepted(name: str) -> tuple[str, str]:
    message = f"nobody has accepted the interface of import `{name}`: no change of it is noticed"
    return message, f"run `rocky imports update {name}` and commit the file it writes"


def _check_pin(now: Interface, setting: Import, place: _Place) -> None:
    pin = setting.pin
    if pin is None or pin in (ANY_PIN, now.hash):
        return
    message = f"the interface `{now.path}` has the hash `{now.hash}`, not the pinned one"
    advice = "see what changed with `rocky imports update --check`; then pin this hash"
    place.report("pin", message, advice, Code.IMPORT_PIN_DIFFERS)


def imported_tables(imports: Mapping[str, LoadedImport]) -> Iterator[ImportedTable]:
    """The tables of all imports as sources.

    One that is in the baseline alone stands there without columns: its readers must be told that
    it was removed, not that they misspelt it.
    """
    for each in imports.values():
        now, before = each.snapshot, each.baseline
        keys = {table.key for table in now.tables} if now is not None else set()
        for table in now.tables if now is not None else ():
            yield _source(each, table, now)
        for table in before.tables if before is not None else ():
            if table.key not in keys:
                yield _source(each, table, None)


def _source(each: LoadedImport, table: InterfaceTable, now: Interface | None) -> ImportedTable:
    place = _table_path(each.setting.warehouse, table.target)
    return ImportedTable(
        table.target,
        table.fields if now is not None else (),
        "delta" if place is not None else "table",
        place,
        {},
        Document(each.snapshot_path, now.text if now is not None else "", {}),
        0,
        table.description,
        classification={
            column.name: tuple(column.classification.split(", "))
            for column in table.columns
            if column.classification
        },
        tags=table.tags,
        described={
            column.name: column.description for column in table.columns if column.description
        },
        imported=each.name,
        model=table.name,
        removed=now is None and each.snapshot is not None,
        interface=now,
    )


def _table_path(warehouse: str | None, target: str) -> str | None:
    """Where the other project's table lies; what came from a variable stays marked as such."""
    if warehouse is None:
        return None
    below = "/" + "/".join(target.split("."))
    path = warehouse.rstrip("/") + below
    if not isinstance(warehouse, Substituted):
        return path
    return Substituted(path, written(warehouse).rstrip("/") + below)


def add_imported(
    sources: dict[str, SourceTable], imports: Mapping[str, LoadedImport], report: Report
) -> None:
    """Put the tables of imports among the sources; two of one name are reported."""
    for table in imported_tables(imports):
        other = sources.get(table.key)
        if other is None:
            sources[table.key] = table
        elif not table.removed:
            report(_met(table, other))


def with_snapshots(
    sources: Mapping[str, SourceTable], imports: Mapping[str, LoadedImport]
) -> dict[str, SourceTable]:
    """The sources of a project, its imports being these; clashes were reported when it loaded."""
    declared = {key: each for key, each in sources.items() if not isinstance(each, ImportedTable)}
    add_imported(declared, imports, _say_nothing)
    return declared


def _say_nothing(_found: Diagnostic) -> None:
    return None


def _met(table: ImportedTable, other: SourceTable) -> Diagnostic:
    if isinstance(other, ImportedTable):
        message = f"imports `{other.imported}` and `{table.imported}` both have `{table.name}`"
        advice = "keep one of the two imports"
    else:
        message = f"source `{written(other.name)}` is also a table of import `{table.imported}`"
        advice = "remove the `[[source]]`: the import says what the table has"
    return Diagnostic(
        Code.UNUSABLE_FILE,
        message,
        other.place,
        other.file,
        labels=(Label(table.place, "the imported table", table.file),),
        help=advice,
    )
