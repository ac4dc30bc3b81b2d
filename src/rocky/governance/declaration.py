"""What is declared: the facts that roles, grants and tags of a project come to, each with why.

A privilege is put where it belongs: `USE CATALOG` on the catalog of a table that a grant names,
`USE SCHEMA` on its schema, `SELECT` on the table.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from rocky.errors import GovernanceRefused
from rocky.governance.catalogue import GROUP, Abilities
from rocky.governance.component_tags import component_tags
from rocky.governance.facts import Fact, FactKey, Level, Securable
from rocky.project.configuration.config import Config
from rocky.project.configuration.governed_catalog import TargetGovernance
from rocky.project.configuration.grants import (
    PRIVILEGES,
    Grant,
    Role,
    fill,
    members_of,
    permissions_of,
)
from rocky.project.configuration.pipelines import (
    LoadPipeline,
    PipelineSetting,
    ReplicationPipeline,
    TransformationPipeline,
)

ISOLATED: Final = "ISOLATED"
READ_WRITE: Final = "BINDING_TYPE_READ_WRITE"
LEVELS: Final[tuple[Level, ...]] = ("catalog", "schema", "table")


class TableParts(NamedTuple):
    """A table of the project."""

    catalog: str
    schema: str
    table: str

    def at(self, level: Level) -> Securable:
        """The table, or the schema or catalog that it is in."""
        return Securable(level, ".".join(self[: LEVELS.index(level) + 1]))


def declare(
    config: Config,
    tables: Mapping[TableParts, str | None],
    abilities: Abilities,
    *,
    more_to_come: bool = False,
) -> dict[Fact, str]:
    """The facts that a project declares, and what declares each; tables are by pipeline.

    With `more_to_come` a pipeline may write tables of which nobody knows yet.
    Raises GovernanceRefused for a grant that names no table of the project, or goes to nobody.
    """
    found: dict[Fact, str] = {}
    for number, grant in enumerate(config.grant, 1):
        why = f"[[grant]] {number}"
        if not (more_to_come or any(grant.match(*each) is not None for each in tables)):
            raise GovernanceRefused(
                f'{why} of rocky.toml is on nothing: `on = "{grant.on}"` names no table of the'
                " project and nothing that has one"
            )
        for fact, whose in _of_grant(grant, config.role, list(tables), abilities, why):
            found.setdefault(fact, f"{why}{whose}")
    for name, pipeline in config.pipeline.items():
        if isinstance(pipeline, TransformationPipeline | ReplicationPipeline | LoadPipeline):
            own = [table for table, owner in tables.items() if owner == name]
            why = f"[pipeline.{name}.target.governance]"
            said: dict[FactKey, Fact] = {}
            for fact in (*_of_target(pipeline.target.governance, own), *_of_names(pipeline, own)):
                said.setdefault(fact.key, fact)
            found |= dict.fromkeys(said.values(), why)
    tagged = {fact.key for fact in found}
    for fact in _tags(config.governance.tags, list(tables)):
        if fact.key not in tagged:
            found.setdefault(fact, "[governance.tags]")
    return found


def _of_target(target: TargetGovernance, tables: Sequence[TableParts]) -> Iterator[Fact]:
    """Tags of a pipeline's own tables; who may reach their catalogs."""
    for table in tables:
        for name, value in target.tags.items():
            yield Fact("tag", "table", table.at("table").name, name=name, value=value)
        if target.isolated:
            catalog = table.at("catalog").name
            yield Fact("isolation", "catalog", catalog, value=ISOLATED)
            for workspace in target.workspaces:
                yield Fact("workspace", "catalog", catalog, name=str(workspace), value=READ_WRITE)


def _of_names(pipeline: PipelineSetting, tables: Sequence[TableParts]) -> Iterator[Fact]:
    """The components of copied tables as tags; what the pipeline says in words goes before."""
    if not isinstance(pipeline, ReplicationPipeline):
        return
    if pipeline.target.governance.component_tags:
        for table in tables:
            tags = component_tags(pipeline, table.catalog, table.schema)
            for name, value in tags.items():
                yield Fact("tag", "table", table.at("table").name, name=name, value=value)


def securables_of(tables: Iterable[TableParts]) -> tuple[Securable, ...]:
    """Tables and what they are in, each once, from the outside in."""
    found = {each.at(level).key: each.at(level) for each in tables for level in LEVELS}
    return tuple(sorted(found.values(), key=lambda each: (each.name.count("."), each.key)))


def _of_grant(
    grant: Grant,
    roles: Mapping[str, Role],
    tables: Sequence[TableParts],
    abilities: Abilities,
    why: str,
) -> Iterator[tuple[Fact, str]]:
    for table in tables:
        bound = grant.match(*table)
        if bound is None:
            continue
        for to in grant.to:
            name = fill(to, bound)
            whose = f", role `{name}`" if name in roles else ""
            subjects = _subjects(name, roles, abilities)
            if not subjects:
                raise GovernanceRefused(
                    f"{why} of rocky.toml goes to nobody: no role that has"
                    f" the rights of `{name}` has `members`"
                )
            for privilege in grant.privileges or permissions_of(roles, name):
                level = _level(privilege, grant)
                on = table.at(level)
                for subject in subjects:
                    yield Fact("grant", level, on.name, subject, privilege), whose


def _subjects(name: str, roles: Mapping[str, Role], abilities: Abilities) -> tuple[str, ...]:
    """The principals that a catalogue is told of."""
    named = members_of(roles, name) if name in roles else (name,)
    if abilities.groups == "by_name":
        return tuple(each.removeprefix(GROUP) for each in named)
    return named


def _level(privilege: str, grant: Grant) -> Level:
    """Where a privilege is put: as deep as the grant, or as deep as it can be."""
    deepest = LEVELS.index(PRIVILEGES[privilege][-1])
    return LEVELS[min(deepest, grant.on.count("."))]


def _tags(tags: Mapping[str, str], tables: Sequence[TableParts]) -> Iterator[Fact]:
    for each in securables_of(tables):
        for name, value in tags.items():
            yield Fact("tag", each.level, each.name, name=name, value=value)
