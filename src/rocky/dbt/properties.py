"""Properties of a dbt project: what `schema.yml` and its like say of nodes, and their tests."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rocky.dbt.manifest import read_columns
from rocky.dbt.values import Exposure, GenericTest, Kind, Node, Source
from rocky.dbt.yaml_files import merged

_BLOCKS: Final[Mapping[str, Kind]] = {
    "models": "model",
    "seeds": "seed",
    "snapshots": "snapshot",
    "data_tests": "test",
}
_TEST_CONFIG: Final = frozenset(
    {
        "severity",
        "where",
        "limit",
        "warn_if",
        "error_if",
        "fail_calc",
        "enabled",
        "tags",
        "meta",
        "store_failures",
    }
)
_NOT_ARGUMENTS: Final = _TEST_CONFIG | {"config", "name", "description", "arguments", "test_name"}


@dataclass(frozen=True, slots=True)
class Said:
    """What properties say of one node, and the file they stand in."""

    data: Mapping[str, Any]
    config: Mapping[str, Any]
    description: str
    path: str


@dataclass(slots=True)
class Properties:
    """All that the properties of a package say."""

    nodes: dict[tuple[Kind, str], Said] = field(default_factory=dict)
    sources: list[Source] = field(default_factory=list)
    tests: list[Node] = field(default_factory=list)
    exposures: list[Exposure] = field(default_factory=list)
    groups: dict[str, str] = field(default_factory=dict)
    unit_tests: list[Mapping[str, Any]] = field(default_factory=list)

    def of(self, kind: Kind) -> dict[str, Said]:
        """What is said of nodes of a kind, by name."""
        return {name: said for (each, name), said in self.nodes.items() if each == kind}


def read_properties(
    found: Properties,
    data: Mapping[str, Any],
    path: str,
    package: str,
    with_docs: Callable[[str], str],
) -> None:
    """Add what a file says to what was found."""
    for block, kind in _BLOCKS.items():
        for each in tables(data.get(block)):
            name = str(each.get("name") or "")
            top = {
                key: each[key]
                for key in ("group", "meta", "tags", "access", "docs")
                if each.get(key)
            }
            config = merged(top, table(each.get("config")))
            found.nodes[kind, name] = Said(
                each, config, with_docs(str(each.get("description") or "")), path
            )
            found.tests += _tests(each, name, name, path, package)
    for group in tables(data.get("sources")):
        for source, raw in _sources(group, path, with_docs):
            found.sources.append(source)
            attached = f"source.{package}.{source.group}.{source.name}"
            label = f"source_{source.group}_{source.name}"
            found.tests += _tests(raw, attached, label, path, package)
    for each in tables(data.get("exposures")):
        reads = tuple(map(str, _listed(each.get("depends_on"))))
        owner = table(each.get("owner"))
        said = str(owner.get("name") or owner.get("email") or "")
        found.exposures.append(Exposure(str(each.get("name")), str(each.get("type")), said, reads))
    for each in tables(data.get("groups")):
        owner = table(each.get("owner"))
        found.groups[str(each.get("name"))] = str(owner.get("name") or owner.get("email") or "")
    found.unit_tests += [
        {**each, "original_file_path": path} for each in tables(data.get("unit_tests"))
    ]


def _sources(
    group: Mapping[str, Any], path: str, with_docs: Callable[[str], str]
) -> Iterator[tuple[Source, Mapping[str, Any]]]:
    name = str(group.get("name") or "")
    for each in tables(group.get("tables")):
        said = str(each.get("description") or group.get("description") or "")
        config = merged(table(group.get("config")), table(each.get("config")))
        yield (
            Source(
                id="",
                group=name,
                name=str(each.get("name") or ""),
                package="",
                path=path,
                database=str(group.get("database") or "") or None,
                schema=str(group.get("schema") or name),
                identifier=str(each.get("identifier") or ""),
                description=with_docs(said),
                columns=read_columns(each.get("columns") or ()),
                tags=tuple(
                    map(
                        str,
                        (
                            *_listed(group.get("tags")),
                            *_listed(each.get("tags")),
                            *_listed(config.get("tags")),
                        ),
                    )
                ),
                meta={
                    **table(group.get("meta")),
                    **table(each.get("meta")),
                    **table(config.get("meta")),
                },
                freshness=_freshness(group, each),
                loaded_at=_loaded_at(group, each),
            ),
            each,
        )


def _freshness(group: Mapping[str, Any], own: Mapping[str, Any]) -> Mapping[str, Any]:
    """How old a source may be: the limits of its group, with its own; `freshness: null` is none."""
    limits: Mapping[str, Any] = {}
    for each in (group, table(group.get("config")), own, table(own.get("config"))):
        if "freshness" in each:
            said = table(each["freshness"])
            limits = {**limits, **said} if said else {}
    return limits


def _loaded_at(group: Mapping[str, Any], own: Mapping[str, Any]) -> str:
    """The column or the query that tells the age of a source, as near to it as it is said."""
    places = (own, table(own.get("config")), group, table(group.get("config")))
    keys = ("loaded_at_field", "loaded_at_query")
    return next((str(each[key]) for each in places for key in keys if each.get(key)), "")


def _tests(
    said: Mapping[str, Any], attached: str, label: str, path: str, package: str
) -> Iterator[Node]:
    for each in _calls(said):
        yield _test(each, {}, attached, label, path, package)
    for column in tables(said.get("columns")):
        name = str(column.get("name") or "")
        for each in _calls(column):
            yield _test(each, {"column_name": name}, attached, f"{label}_{name}", path, package)


def _calls(said: Mapping[str, Any]) -> list[Any]:
    return [*_listed(said.get("data_tests")), *_listed(said.get("tests"))]


def _test(
    written: Any, given: Mapping[str, Any], attached: str, label: str, path: str, package: str
) -> Node:
    """A test as it stands in a list: its name alone, or a table of its name and arguments."""
    if isinstance(written, Mapping):
        if "test_name" in written:
            name, inner = str(written["test_name"]), written
        else:
            name, inner = next(((str(key), table(each)) for key, each in written.items()), ("", {}))
    else:
        name, inner = str(written), {}
    namespace, _, short = name.rpartition(".")
    own = {key: each for key, each in inner.items() if key not in _NOT_ARGUMENTS}
    arguments = {**given, **own, **table(inner.get("arguments"))}
    config = {key: inner[key] for key in _TEST_CONFIG if key in inner} | dict(
        table(inner.get("config"))
    )
    title = str(inner.get("name") or re.sub(r"\W+", "_", f"{short}_{label}"))
    return Node(
        id=f"test.{package}.{title}.{path}.{len(arguments)}",
        kind="test",
        name=title,
        package=package,
        path=path,
        config=config,
        test=GenericTest(short, namespace or None, arguments, attached),
        reads=(attached,),
    )


def tables(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
