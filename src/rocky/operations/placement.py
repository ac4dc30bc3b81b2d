"""Where a project's tables are: which of them have a masked twin is known once it is compiled.

Who asks tables by the names of models without compiling would take a twin for its model.
"""

from rocky.compiler.passes import compile_project
from rocky.project import Project
from rocky.project.project import mask_level, mask_strategies


def place_tables(project: Project) -> Project:
    """The project as it was loaded, with the tables of its models where runs write them."""
    if mask_level(project) not in ("twin", "view") or not mask_strategies(project):
        return project
    return compile_project(project).project
