"""Unknown origins: the tables that values come from where no columns of theirs are known.

Of such a table no column can be named, so its readers' lineage ends in the table as a whole.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from shlex import quote

from rocky.analysis.compilation import Compilation
from rocky.project import Project
from rocky.project.pipeline_tables import PipelineTable


@dataclass(frozen=True, slots=True)
class UnknownOrigin:
    """`target` reads `source`, and which columns it takes from there is not known.

    `command` makes the columns of `source` known; None for a model, which has such origins itself.
    """

    source: str
    target: str
    command: str | None


def unknown_origins(compilation: Compilation, readers: Iterable[str]) -> tuple[UnknownOrigin, ...]:
    """What models, or copies of tables, read of unknown columns, however far up; nearest first."""
    project = compilation.project
    waiting = list(dict.fromkeys(readers))
    found: dict[tuple[str, str], UnknownOrigin] = {}
    for reader in waiting:
        for name in compilation.upstream.get(reader, ()):
            key = name.lower()
            if key in project.models:
                ir = compilation.models.get(key)
                if ir is not None and ir.known:
                    continue
            elif not _is_unknown(project, key):
                continue
            command = None if key in project.models else typing_command(project, name)
            found.setdefault((name, reader), UnknownOrigin(name, reader, command))
            if name not in waiting:
                waiting.append(name)
    # A model of unknown columns that reads no such table has errors, which are told as such.
    ends = _reaching(found.values())
    return tuple(each for each in found.values() if each.command is not None or each.source in ends)


def typing_command(project: Project, name: str) -> str | None:
    """The command that makes the columns of a source known; None where they are."""
    source = project.sources.get(name.lower())
    if source is None or source.columns:
        return None
    if not isinstance(source, PipelineTable):
        return f"rocky discover {quote(source.name)} --write"
    if source.is_remote:
        return f"rocky discover --pipeline {quote(source.pipeline)} --cache"
    return f"rocky run --pipeline {quote(source.pipeline)}"


def _is_unknown(project: Project, key: str) -> bool:
    return key in project.sources and not project.sources[key].columns


def _reaching(found: Iterable[UnknownOrigin]) -> set[str]:
    """The models from which an edge leads to a table that a command makes known."""
    edges = list(found)
    reaching = {each.target for each in edges if each.command is not None}
    while True:
        more = {each.target for each in edges if each.source in reaching} - reaching
        if not more:
            return reaching
        reaching |= more
