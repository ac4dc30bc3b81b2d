"""What a catalogue is to hide: columns and rows of tables, and the principals that see all.

Who is cleared for every tag of a column that has a mask sees it clear. How a catalogue says so is
its adapter's matter.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from rocky.analysis.compilation import Compilation
from rocky.analysis.masks.row_filters import plan_row_filters
from rocky.errors import GovernanceRefused
from rocky.governance.facts import Fact, Securable
from rocky.language.datatypes.types import StructField
from rocky.project.configuration.classifications import ClassificationTag
from rocky.project.configuration.grants import Role, members_of
from rocky.project.configuration.masks import MaskStrategy
from rocky.project.project import Project, mask_level

_OPENING = ("SELECT", "MODIFY", "MANAGE")


@dataclass(frozen=True, slots=True)
class MaskedColumn:
    """A column that a catalogue masks; `clear` are users and `group:NAME`s who see its values."""

    table: str
    column: StructField
    strategies: Mapping[str, MaskStrategy]
    clear: tuple[str, ...] = ()

    @property
    def on(self) -> str:
        return f"{self.table}.{self.column.name}"


@dataclass(frozen=True, slots=True)
class FilteredRows:
    """A table of which a catalogue shows the rows for which `expression` is true."""

    table: str
    columns: tuple[StructField, ...]
    expression: str
    clear: tuple[str, ...] = ()


def needs_protection(project: Project) -> bool:
    """Whether a catalogue is to hide something, which only a compilation can tell of."""
    return mask_level(project) == "catalog" or bool(project.config.row_filter)


def masked_columns(
    compilation: Compilation, tables: Mapping[str, str]
) -> Iterator[tuple[MaskedColumn, str]]:
    """The columns that a catalogue is to mask, and why. `tables` are full names by key."""
    config = compilation.project.config
    for key, masks in compilation.masks.catalog.items():
        if key not in tables:
            continue
        for mask in masks.values():
            column = StructField(mask.column, mask.type, mask.nullable)
            clear = _cleared(mask.hides, config.classifications.tags, config.role)
            tags = ", ".join(f"`{tag}`" for tag in mask.tags)
            why = f"[mask] of {tags}: {mask.strategy}"
            yield MaskedColumn(tables[key], column, dict(mask.strategies), clear), why


def filtered_rows(compilation: Compilation) -> Iterator[tuple[FilteredRows, str]]:
    """The tables of which a catalogue is to show some rows, and why."""
    roles = compilation.project.config.role
    for name, found in plan_row_filters(compilation)[0].items():
        clear = {member for role in found.clear_for for member in members_of(roles, role)}
        rows = FilteredRows(".".join(name), found.columns, found.expression, tuple(sorted(clear)))
        yield rows, f"[[row_filter]] {found.number}"


def _cleared(
    tags: Iterable[str], declared: Mapping[str, ClassificationTag], roles: Mapping[str, Role]
) -> tuple[str, ...]:
    """Who is in a role of `clear_for` of every one of these tags."""
    found: set[str] | None = None
    for tag in tags:
        names = declared[tag].clear_for if tag in declared else ()
        members = {member for role in names for member in members_of(roles, role)}
        found = members if found is None else found & members
    return tuple(sorted(found or ()))


def refuse_early_readers(title: str, declared: Mapping[Fact, str]) -> None:
    """Raise GovernanceRefused for rights on a schema or catalog that has protected tables.

    They hold for a table as soon as it is there, which is before anything of it is masked.
    """
    protected = {fact.on.lower() for fact in declared if fact.kind in ("mask", "row_filter")}
    for fact, why in declared.items():
        if fact.kind != "grant" or fact.level == "table" or fact.name not in _OPENING:
            continue
        inside = next((on for on in protected if on.startswith(f"{fact.on.lower()}.")), None)
        if inside is not None:
            raise GovernanceRefused(
                f"{why} of rocky.toml grants {fact.name} on the {fact.level} `{fact.on}`, and so on"
                f" each new table of it before its masks and row filters are in place in {title}"
                f' (`{inside}`); grant it on tables: `on = "{fact.on}.*"`'
            )


def table_of(fact: Fact) -> Securable:
    """The table of a fact about it or about one of its columns."""
    name = fact.on if fact.level == "table" else fact.on.rpartition(".")[0]
    return Securable("table", name)
