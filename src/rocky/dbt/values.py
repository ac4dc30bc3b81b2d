"""What a dbt project consists of, whoever has read it: a manifest or its files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

Kind = Literal["model", "seed", "snapshot", "test"]
Origin = Literal["manifest", "dbt", "files"]
"""Who has read the project: its last `dbt compile`, dbt when asked now, or Rocky alone."""
Config = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Column:
    """What is said of a column. `is_required` is its constraint NOT NULL."""

    name: str
    description: str = ""
    type: str | None = None
    is_required: bool = False


@dataclass(frozen=True, slots=True)
class GenericTest:
    """A generic test: the name of its macro, perhaps of a package, and its arguments.

    `attached` is the id of what it is about.
    """

    name: str
    namespace: str | None
    arguments: Mapping[str, Any]
    attached: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A model, a seed, a snapshot or a test, by its id. `path` is relative to its package.

    `text` is what was written, `compiled` what dbt made of it; `ctes` are the texts of the
    ephemeral models that dbt has put in front. `relation` is the table that dbt writes.
    """

    id: str
    kind: Kind
    name: str
    package: str
    path: str
    text: str = ""
    compiled: str | None = None
    ctes: tuple[str, ...] = ()
    config: Config = field(default_factory=dict)
    columns: Mapping[str, Column] = field(default_factory=dict)
    description: str = ""
    database: str | None = None
    schema: str = ""
    alias: str = ""
    relation: str | None = None
    version: str | None = None
    is_latest: bool = True
    group: str | None = None
    language: str = "sql"
    test: GenericTest | None = None
    reads: tuple[str, ...] = ()

    @property
    def table(self) -> str:
        """What Rocky calls it: versions of a model are models of their own."""
        return self.name if self.version is None else f"{self.name}_v{self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A table that is only read."""

    id: str
    group: str
    name: str
    package: str
    path: str
    database: str | None = None
    schema: str = ""
    identifier: str = ""
    description: str = ""
    columns: Mapping[str, Column] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)
    freshness: Mapping[str, Any] = field(default_factory=dict)
    loaded_at: str = ""

    @property
    def table(self) -> str:
        """What Rocky calls it."""
        return f"{self.group}.{self.name}"

    @property
    def relation(self) -> str:
        parts = (self.database, self.schema or self.group, self.identifier or self.name)
        return ".".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro by its name in its package; `text` is the block that defines it."""

    package: str
    name: str
    text: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class Exposure:
    """Who outside reads what."""

    name: str
    kind: str
    owner: str
    reads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnitTest:
    """Rows given to a model and the rows expected; `problem` is why it cannot be taken."""

    name: str
    model: str
    path: str
    given: tuple[tuple[str, tuple[Mapping[str, Any], ...]], ...]
    expected: tuple[Mapping[str, Any], ...]
    description: str = ""
    problem: str | None = None


@dataclass(frozen=True, kw_only=True)
class DbtProject:
    """A dbt project. `variables` are those of each package; `groups` the owners of groups.

    `remarks` are sentences about what could not be read.
    """

    name: str
    root: Path
    origin: Origin
    adapter: str = "spark"
    nodes: Mapping[str, Node] = field(default_factory=dict)
    sources: Mapping[str, Source] = field(default_factory=dict)
    macros: tuple[Macro, ...] = ()
    exposures: tuple[Exposure, ...] = ()
    groups: Mapping[str, str] = field(default_factory=dict)
    unit_tests: tuple[UnitTest, ...] = ()
    variables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    # Looked up for every `ref` of every model, so each is made once.

    @cached_property
    def tables_by_name(self) -> Mapping[str, Sequence[Node]]:
        """What a `ref` can mean, by its name."""
        found: dict[str, list[Node]] = {}
        for node in self.nodes.values():
            if node.kind != "test":
                found.setdefault(node.name, []).append(node)
        return found

    @cached_property
    def tables_by_relation(self) -> Mapping[str, Node]:
        """What the project makes, by the names of dbt's tables in lower case."""
        return {
            node.relation.replace("`", "").lower(): node
            for node in self.nodes.values()
            if node.kind != "test" and node.relation
        }

    @cached_property
    def sources_by_name(self) -> Mapping[tuple[str, str], Source]:
        return {(each.group, each.name): each for each in self.sources.values()}

    @cached_property
    def default_schema(self) -> str:
        """The schema of models that name none: the target's, where a manifest knows it."""
        plain: dict[str, int] = {}
        customs: set[tuple[str, str]] = set()
        for node in self.nodes.values():
            custom = node.config.get("schema")
            if custom and node.kind != "test":
                customs.add((node.schema, str(custom)))
            elif node.kind in ("model", "seed") and node.schema:
                plain[node.schema] = plain.get(node.schema, 0) + 1
        if plain:
            return max(plain, key=lambda each: plain[each])
        for schema, custom in sorted(customs):
            if schema.endswith(f"_{custom}"):
                return schema.removesuffix(f"_{custom}")
        return self.name
