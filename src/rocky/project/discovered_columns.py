"""Discovered columns: those of cached schemas, put where a project declares none."""

from dataclasses import replace
from pathlib import Path

from rocky.project.project import Project
from rocky.project.schema_cache import UnusedSchema, file_of, load_schemas, place_of
from rocky.project.sources import undeclared_source


def with_cached_schemas(project: Project, root: Path | None = None) -> Project:
    """The project with cached columns where nobody declares any, and what was not believed.

    `root` is whose folder is read, where it is not the project's own. Where tables that nobody
    declares are errors they stay so: a folder that may be gone tomorrow decides nothing.
    """
    found, unused = load_schemas(project.root if root is None else root)
    if not found and not unused:
        return project
    sources = dict(project.sources)
    taken = {*project.models, *project.seeds}
    open_to_all = project.config.compile.undeclared == "unknown"
    for key, each in found.items():
        source = sources.get(key)
        if each.pipeline is not None or not open_to_all or key in taken:
            continue
        if source is None:
            source = undeclared_source(each.name, project.config_path)
        if source.columns:
            continue
        if place_of(source) != each.place:
            why = f"it is of another place than `{each.name}` is at now"
            unused.append(UnusedSchema(file_of(each.name), why))
            continue
        sources[key] = replace(source, columns=each.columns, discovered_ms=each.at_ms)
    return replace(project, sources=sources, cached_schemas=found, unused_schemas=tuple(unused))
