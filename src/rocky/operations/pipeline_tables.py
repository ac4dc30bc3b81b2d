"""Pipeline tables: a project that sees what its own pipelines write, and what was discovered.

A project of models alone pays for nothing that knows pipelines.
"""

from pathlib import Path

from rocky.project import Project
from rocky.project.discovered_columns import with_cached_schemas


def see_pipelines(
    project: Project,
    root: Path | None = None,
    *,
    remember: bool = True,
    discovered: bool = False,
) -> Project:
    """The project with what its pipelines write as it is now; `root` as for `with_pipeline_tables`.

    What it has seen of them before is looked at again. With `discovered`, what nobody declares has
    the columns that a discovery kept: only for who looks, never for what is built or approved,
    because the next machine may not have them.
    """
    if discovered:
        project = with_cached_schemas(project, root)
    if all(each.type == "transformation" for each in project.config.pipeline.values()):
        # A project of models alone does not pay for what knows pipelines.
        return project
    from rocky.pipelines.target_tables import with_pipeline_tables  # noqa: PLC0415

    return with_pipeline_tables(project, root, remember=remember)
