"""A catalogue as governance sees it: what it can do, what it holds, a fact said or taken back.

What it cannot do is known before anything is asked of it, and refused then.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from rocky.errors import GovernanceRefused
from rocky.governance.facts import Fact, Held, Kind, Level, Securable
from rocky.governance.protection import FilteredRows, MaskedColumn

ALL_KINDS: Final[tuple[Kind, ...]] = (
    "grant",
    "tag",
    "mask",
    "row_filter",
    "isolation",
    "workspace",
    "registration",
)
KIND_WORDS: Final[Mapping[Kind, str]] = {
    "grant": "grants",
    "tag": "tags",
    "mask": "masks",
    "row_filter": "row filters",
    "isolation": "isolation",
    "workspace": "workspaces",
    "registration": "registration",
}
GROUP: Final = "group:"
"""How a group is told from a user where a catalogue keeps them apart."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a catalogue can hold: kinds of facts, privileges, and on which levels grants.

    `groups` says how it takes `group:NAME`: by that name among all principals, as a group, or not.
    `masks_first` says whether it can hold masks of a table that is not there yet.
    """

    kinds: frozenset[Kind]
    privileges: frozenset[str] = frozenset()
    grant_levels: frozenset[Level] = frozenset()
    groups: Literal["by_name", "apart", "none"] = "none"
    masks_first: bool = False


class Catalogue(Protocol):
    """One catalogue. What it raises is GovernanceRefused and CatalogueUnreachable."""

    @property
    def title(self) -> str:
        """Which one it is, for people and records: kind and host."""
        ...

    @property
    def abilities(self) -> Abilities: ...

    def held(self, securables: Sequence[Securable]) -> Held:
        """All that it holds about these; for a table, also about its columns."""
        ...

    def put(self, fact: Fact, before: Fact | None) -> None:
        """Have a fact hold, in place of what it was `before`; it may hold already."""
        ...

    def remove(self, fact: Fact) -> None:
        """Have a fact hold no longer; it may be gone already."""
        ...

    def masks(self, column: MaskedColumn) -> tuple[Fact, ...]:
        """The facts that mask a column. Raises GovernanceRefused where it has no such mask."""
        ...

    def row_filters(self, rows: FilteredRows) -> tuple[Fact, ...]:
        """The facts that filter the rows of a table. Raises GovernanceRefused likewise."""
        ...

    def statement(self, fact: Fact, *, removed: bool) -> str:
        """What the catalogue is told, in its own words and without secrets."""
        ...


def refuse_unable(title: str, abilities: Abilities, facts: Iterable[Fact]) -> None:
    """Raise GovernanceRefused for all that a catalogue cannot hold, told at once."""
    found = dict.fromkeys(
        said for said in (_inability(abilities, fact) for fact in facts) if said is not None
    )
    if found:
        listed = "".join(f"\n  {each}" for each in found)
        raise GovernanceRefused(
            f"{title} cannot do all that is declared, so nothing was done:{listed}"
        )


def _inability(abilities: Abilities, fact: Fact) -> str | None:
    if fact.kind not in abilities.kinds:
        return f"it has no {KIND_WORDS.get(fact.kind, fact.kind)}: {fact}"
    if fact.kind != "grant":
        return None
    if fact.name not in abilities.privileges:
        known = ", ".join(sorted(abilities.privileges))
        return f"it has no privilege `{fact.name}` (it has {known}): {fact}"
    if fact.level not in abilities.grant_levels:
        return f"it grants nothing on a {fact.level}: {fact}"
    if fact.subject.startswith(GROUP) and abilities.groups == "none":
        return f"it has no groups: {fact}"
    return None
