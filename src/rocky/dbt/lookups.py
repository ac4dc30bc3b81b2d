"""What names mean in a dbt project: nodes and sources."""

from typing import Any

from rocky.dbt.values import DbtProject, Node, Source


def find_node(
    project: DbtProject, name: str, package: str | None = None, version: Any = None
) -> Node | None:
    """What a `ref` means: of versions the latest, unless one is named."""
    found: Node | None = None
    for node in project.tables_by_name.get(name, ()):
        if package and node.package != package:
            continue
        if node.version is not None:
            wanted = node.is_latest if version is None else node.version == str(version)
            if not wanted:
                continue
        if found is None or node.package == project.name:
            found = node
    return found


def find_source(project: DbtProject, group: str, name: str) -> Source | None:
    return project.sources_by_name.get((group, name))


def stands_for(project: DbtProject, source: Source) -> Node | None:
    """What the project itself makes under the name of a source."""
    return project.tables_by_relation.get(source.relation.lower())
