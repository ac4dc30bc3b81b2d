"""Who can read a table: by what is declared, and by what a catalogue holds.

A catalogue that knows `USE CATALOG` and `USE SCHEMA` lets nobody read a table who has not both of
them. A right on a schema or a catalog is one on all tables in it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from rocky.governance.declaration import LEVELS, TableParts
from rocky.governance.facts import Fact

_READING: Final = ("SELECT", "MANAGE", "ALL PRIVILEGES")
_USES: Final = ("USE CATALOG", "USE SCHEMA")

Standing = Literal["declared_and_held", "declared", "foreign"]


@dataclass(frozen=True, slots=True)
class Reader:
    """A principal that may read a table. `standing` says who says so; `lacks` what is missing yet.

    `declared` has not been brought into the catalogue; `foreign` is held and not declared.
    """

    principal: str
    through: tuple[str, ...]
    standing: Standing
    why: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


def find_readers(
    table: TableParts,
    declared: Mapping[Fact, str],
    held: Iterable[Fact] | None,
    *,
    needs_use: bool,
) -> tuple[Reader, ...]:
    """The principals that may read a table, by name. `held` is None without a catalogue."""
    names = {table.at(level).key for level in LEVELS}
    wanted = _about(declared, names)
    there = _about(held or (), names)
    found = []
    for principal in sorted(wanted.keys() | there.keys()):
        said, has = wanted.get(principal, {}), there.get(principal, {})
        rights = {**said, **has}
        reads = [fact for fact in rights.values() if fact.name in _READING]
        if not reads:
            continue
        in_place = any(fact.key in has for fact in reads)
        is_declared = any(fact.key in said for fact in reads)
        standing: Standing = "foreign"
        if is_declared:
            standing = "declared_and_held" if in_place else "declared"
        used = {fact.name for fact in (has if in_place else rights).values()}
        found.append(
            Reader(
                principal,
                tuple(sorted(f"{fact.name} on {fact.level} {fact.on}" for fact in reads)),
                standing,
                tuple(dict.fromkeys(declared[fact] for fact in reads if fact in declared)),
                tuple(use for use in _USES if needs_use and use not in used),
            )
        )
    return tuple(found)


def _about(
    facts: Iterable[Fact], names: set[tuple[str, str]]
) -> dict[str, dict[tuple[str, ...], Fact]]:
    """Grants on some things, by principal."""
    found: dict[str, dict[tuple[str, ...], Fact]] = {}
    for fact in facts:
        if fact.kind == "grant" and fact.securable.key in names:
            found.setdefault(fact.subject, {})[fact.key] = fact
    return found
