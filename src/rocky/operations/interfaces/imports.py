"""Imports: what other projects publish, fetched and, when accepted, compared with from then.

Nothing is written before everything was fetched, read and judged; each file is then complete or as
it was, whenever the process may end. The settings are changed only where that was asked for.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from rocky.analysis.changes.declarations import InterfaceChange, compare_interfaces
from rocky.analysis.imports.findings import read_changes
from rocky.compiler.passes import compile_project
from rocky.errors import InterfaceRefused, InvalidRequest, NothingSelected
from rocky.operations.digest import Digested
from rocky.operations.interfaces.publish import PublishedChange, describe_published
from rocky.operations.report import Blake3, hidden
from rocky.operations.workspace import Workspace, load_workspace, unknown_name
from rocky.plan.arguments import Request
from rocky.project import Project
from rocky.project.files import is_inside, write_atomically
from rocky.project.imports import ANY_PIN, LoadedImport, with_snapshots
from rocky.project.interfaces import Interface, decode_interface
from rocky.project.loader import CONFIG_NAME, load_config
from rocky.project.toml.parser import locate_keys
from rocky.project.toml.variables import Substituted, written


@dataclass(frozen=True, slots=True)
class Offer:
    """What an import would become. `fetched` is False where there is no `path` to fetch from."""

    imported: LoadedImport
    interface: Interface
    text: str
    fetched: bool

    @property
    def snapshot_stale(self) -> bool:
        now = self.imported.snapshot
        return now is None or now.hash != self.interface.hash

    @property
    def baseline_stale(self) -> bool:
        before = self.imported.baseline
        return before is None or before.hash != self.interface.hash

    @property
    def pin_stale(self) -> bool:
        pin = self.imported.setting.pin
        return pin is not None and pin not in (ANY_PIN, self.interface.hash)

    @property
    def stale(self) -> bool:
        return self.snapshot_stale or self.baseline_stale or self.pin_stale


def find_offers(
    project: Project, names: Iterable[str], env: Mapping[str, str]
) -> tuple[Offer, ...]:
    """What each of the imports would become. Raises InterfaceRefused; nothing is written."""
    return tuple(_offer(project.root, project.imports[name], env) for name in names)


def _offer(root: Path, imported: LoadedImport, env: Mapping[str, str]) -> Offer:
    path = imported.setting.path
    if path is None:
        if imported.snapshot is None:
            raise InterfaceRefused(
                f"import `{imported.name}` has no usable interface at `{imported.snapshot_path}`:"
                " put one there, or set its `path`"
            )
        return Offer(imported, imported.snapshot, imported.snapshot.text, fetched=False)
    shown = f"`{written(path)}` of import `{imported.name}`"
    text = _fetch(root / path, shown, env)
    found = decode_interface(written(path), text)
    if not isinstance(found, Interface):
        raise InterfaceRefused(f"{shown} cannot be used: {found.message}")
    return Offer(imported, found, text, fetched=True)


def _fetch(place: Path, shown: str, env: Mapping[str, str]) -> str:
    """The text of an interface: of a file, or of the one that a project's folder publishes."""
    if place.is_dir():
        out = "interface.json"
        if (place / CONFIG_NAME).is_file():
            out = load_config(place, env=env)[0].publish.out
        place = place / out
        shown = f"{shown} (its `{out}`)"
    try:
        return place.read_bytes().decode()
    except OSError as failure:
        reason = (failure.strerror or str(failure)).lower()
        raise InterfaceRefused(f"{shown} cannot be read: {reason}") from failure
    except UnicodeDecodeError as failure:
        raise InterfaceRefused(f"{shown} cannot be read: it is not UTF-8") from failure


def with_offers(project: Project, offers: Iterable[Offer]) -> Project:
    """The project as it would be if the offers were its snapshots."""
    imports = dict(project.imports)
    for offer in offers:
        name = offer.imported.name
        imports[name] = replace(offer.imported, snapshot=offer.interface)
    return replace(project, imports=imports, sources=with_snapshots(project.sources, imports))


def accept_offer(root: Path, offer: Offer, *, accept: bool) -> None:
    """Write the snapshot and, to `accept` it, the baseline. Raises InterfaceRefused, OSError."""
    for path in (offer.imported.snapshot_path, offer.imported.baseline_path):
        if not is_inside(root / path, root):
            raise InterfaceRefused(
                f"`{path}` leads out of the project through a link: nothing is written there"
            )
    # In this order: ended in between, the next compile reports what nobody has accepted.
    if offer.snapshot_stale:
        write_atomically(root / offer.imported.snapshot_path, offer.text)
    if accept and offer.baseline_stale:
        write_atomically(root / offer.imported.baseline_path, offer.text)


def write_pin(root: Path, config_path: str, offer: Offer) -> None:
    """Pin an import to what was accepted, in the settings. Raises InterfaceRefused, OSError."""
    name, pin = offer.imported.name, offer.imported.setting.pin
    file = root / config_path
    text = file.read_bytes().decode()
    place = locate_keys(text).get(("imports", name, "pin"))
    if place is None or isinstance(pin, Substituted):
        raise InterfaceRefused(
            f"the pin of import `{name}` cannot be rewritten in `{config_path}`:"
            f' write `pin = "{offer.interface.hash}"`'
        )
    span = place.value
    write_atomically(file, text[: span.start] + json.dumps(offer.interface.hash) + text[span.end :])


Done = Literal["checked", "fetched", "accepted"]
_Readers = Mapping[tuple[str, str, str, str | None], Sequence[str]]


@dataclass(frozen=True, slots=True)
class UpdateImportsRequest(Request):
    """Which imports, all without any.

    A `check` writes nothing, `fetch_only` accepts nothing, `write_pin` also pins what is accepted.
    """

    names: tuple[str, ...] = ()
    check: bool = False
    fetch_only: bool = False
    write_pin: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """An import as it was found: what was stale then, and what changed since it was accepted.

    `tables` counts those it has; `pin_rewritten` says that a stale pin was rewritten.
    """

    tables: int = hidden()
    pin_rewritten: bool = hidden()
    name: str
    project: str
    snapshot: str
    baseline: str
    interface_hash: Blake3
    accepted_hash: Blake3 | None
    snapshot_stale: bool
    baseline_stale: bool
    pin_stale: bool
    changes: tuple[PublishedChange, ...]

    @property
    def stale(self) -> bool:
        """Whether there was anything to do."""
        return self.snapshot_stale or self.baseline_stale or self.pin_stale or self.pin_rewritten


@dataclass(frozen=True, slots=True, repr=False)
class UpdateImportsReport(Digested):
    """What was done, and whether there was anything to do."""

    done: Done
    up_to_date: bool
    imports: tuple[ImportReport, ...]

    @property
    def failed(self) -> bool:
        return self.done == "checked" and not self.up_to_date


def update_imports(workspace: Workspace, request: UpdateImportsRequest) -> UpdateImportsReport:
    """Fetch the interfaces of imports and accept them.

    Raises InvalidRequest, NothingSelected, InterfaceRefused, OSError. Nothing is written before
    everything was fetched, read and judged.
    """
    if request.check and (request.write_pin or request.fetch_only):
        raise InvalidRequest("`--check` writes nothing: leave out the other options")
    if request.fetch_only and request.write_pin:
        raise InvalidRequest(
            "`--fetch-only` and `--write-pin` cannot be used together: only"
            " what is accepted is pinned"
        )
    project = load_workspace(workspace)
    offers = find_offers(project, _chosen(project, request.names), workspace.environment)
    readers = _find_readers(project, offers)
    if not request.check:
        for offer in offers:
            accept_offer(project.root, offer, accept=not request.fetch_only)
        for offer in offers:
            if request.write_pin and offer.pin_stale:
                write_pin(project.root, project.config_path, offer)
    return UpdateImportsReport(
        "checked" if request.check else "fetched" if request.fetch_only else "accepted",
        not any(offer.stale for offer in offers),
        tuple(_describe(offer, readers, pinned=request.write_pin) for offer in offers),
    )


def _chosen(project: Project, names: Sequence[str]) -> list[str]:
    known = list(project.imports)
    if not known:
        raise NothingSelected(
            f"`{project.config_path}` has no imports: name one with `[imports.NAME]`"
        )
    for name in names:
        if name not in known:
            raise NothingSelected(unknown_name("import", name, known))
    return [name for name in known if name in names] if names else known


def _find_readers(project: Project, offers: Sequence[Offer]) -> _Readers:
    """The models that read what would change, by import, table, rule and column of the change."""
    offered = with_offers(project, offers)
    readers: dict[tuple[str, str, str, str | None], list[str]] = {}
    if any(each.changed for each in offered.imports.values()):
        for each in read_changes(compile_project(offered)):
            readers.setdefault(_key(each.imported.name, each.found), []).append(each.model.name)
    return readers


def _key(name: str, found: InterfaceChange) -> tuple[str, str, str, str | None]:
    return name, found.target, found.change.rule, found.change.column


def _describe(offer: Offer, readers: _Readers, *, pinned: bool) -> ImportReport:
    imported, interface = offer.imported, offer.interface
    before = imported.baseline
    changes = () if before is None else compare_interfaces(before, interface)
    return ImportReport(
        tables=len(interface.tables),
        pin_rewritten=offer.pin_stale and pinned,
        name=imported.name,
        project=interface.project,
        snapshot=imported.snapshot_path,
        baseline=imported.baseline_path,
        interface_hash=interface.hash,
        accepted_hash=before.hash if before is not None else None,
        snapshot_stale=offer.snapshot_stale,
        baseline_stale=offer.baseline_stale,
        pin_stale=offer.pin_stale and not pinned,
        changes=tuple(
            describe_published(each, readers.get(_key(imported.name, each), ())) for each in changes
        ),
    )
