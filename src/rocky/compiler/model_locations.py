"""Where the files of a project lie: stems, sidecars and folders, as an open project needs them."""

from rocky.project import Project
from rocky.project.models import stem_of


def count_stems(project: Project) -> tuple[dict[str, int], dict[str, str]]:
    """How often each stem is there among the files of models, and whose the sidecars are."""
    stems: dict[str, int] = {}
    owners: dict[str, str] = {}
    for path, start in project.reload.starts.items() if project.reload is not None else ():
        stem = stem_of(path).lower()
        stems[stem] = stems.get(stem, 0) + 1
        if start.sidecar is not None:
            owners[start.sidecar] = path
    return stems, owners


def folders_of(project: Project) -> frozenset[str]:
    """The folders of a project's files, with those around them."""
    files = [model.path for model in project.models.values()]
    files += [each.file for each in project.sources.values()]
    files += [each.file for each in project.seeds.values()]
    files += [each.path for each in project.contracts.values()]
    found: set[str] = set()
    for path in {each.rpartition("/")[0] for each in files}:
        while path and path not in found:
            found.add(path)
            path = path.rpartition("/")[0]  # noqa: PLW2901 - up to the root
    return frozenset(found)
