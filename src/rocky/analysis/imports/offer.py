"""Offers: the interface of another project is fetched and, when accepted, compared with from then.

Nothing is written before everything was fetched, read and judged; each file is then complete or as
it was, whenever the process may end. The settings are changed only where that was asked for.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rocky.errors import InterfaceRefused
from rocky.project import Project
from rocky.project.files import write_atomically
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
    """Write the snapshot and, to `accept` it, the baseline. Raises OSError."""
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
