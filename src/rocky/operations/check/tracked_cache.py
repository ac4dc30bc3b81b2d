"""A tracked cache: files in the folder of earlier caches that git carries to others."""

import os.path
from typing import Final

from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.codes import severity_of
from rocky.diagnostics.render import counted
from rocky.errors import GitUnavailable, NotARepository
from rocky.project import Project
from rocky.project.git import CACHE_FOLDER, find_repository, tracked_files

_SHOWN: Final = 3


def find_tracked_cache(project: Project) -> tuple[Diagnostic, ...]:
    """A warning when git tracks anything in a project's `.rocky/cache`. Without git there is none.

    Nothing is read there: it is a trace of a mistake, or of somebody who tried.
    """
    if not os.path.lexists(project.root / CACHE_FOLDER):
        return ()
    try:
        found = tracked_files(find_repository(project.root), CACHE_FOLDER)
    except (GitUnavailable, NotARepository):
        return ()
    if not found:
        return ()
    names = ", ".join(f"`{each}`" for each in found[:_SHOWN])
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return (
        Diagnostic(
            Code.TRACKED_CACHE,
            f"git tracks {counted(len(found), 'file')} in `{CACHE_FOLDER}`: {names}{more}",
            None,
            found[0],
            severity_of(Code.TRACKED_CACHE),
            help=f"`git rm -r --cached {CACHE_FOLDER}`, and `{CACHE_FOLDER}/` in `.gitignore`;"
            " Rocky reads nothing there",
        ),
    )
