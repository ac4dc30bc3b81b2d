"""Settings that become paths: the names of tables, which are folders, and files of the project.

A name in a setting is only ever one folder, below the one that it belongs in; what would lead out
of it is refused at its line, before anything is compiled, let alone written or deleted.
"""

import posixpath
from typing import Annotated, Any, Final

from rocky.project.toml.documents import Problem, Problems, ReadBy
from rocky.project.toml.records import INVALID, reader_for
from rocky.project.toml.variables import Keys, written

OWN_PREFIX: Final = "_rocky"
"""What the names begin with that Rocky gives in a warehouse."""
BRANCH_PREFIX: Final = "branch__"
"""What the folders of branches begin with, which lie beside those of catalogs."""
_LOG: Final = "_delta_log"


def _read_name(value: Any, at: Keys, problems: Problems) -> Any:
    read = reader_for(str)(value, at, problems)
    if read is INVALID:
        return INVALID
    reason = _why_no_folder(read)
    if reason is None:
        return read
    problems.append(
        Problem(
            at,
            f"`{written(read)}` cannot be part of a table's name: {reason}",
            "the catalog, the schema and the table are a folder each, one in the other; name"
            " another",
        )
    )
    return INVALID


def _read_catalog(value: Any, at: Keys, problems: Problems) -> Any:
    read = _read_name(value, at, problems)
    if read is not INVALID and read.lower().startswith(BRANCH_PREFIX):
        message = f"`{written(read)}` cannot be a catalog: folders of that name hold branches"
        problems.append(Problem(at, message, "name another"))
        return INVALID
    return read


def _why_no_folder(name: str) -> str | None:
    if name in (".", ".."):
        return "it names the folder above"
    if "/" in name or "\\" in name:
        return "it has a slash in it, and would lead to another folder"
    if any(ord(each) < ord(" ") for each in name):
        return "it has a control character in it"
    if name.lower().startswith(OWN_PREFIX):
        return f"names that begin with `{OWN_PREFIX}` are Rocky's own"
    return "a folder of that name is the log of a table" if name.lower() == _LOG else None


FolderName = Annotated[str, ReadBy(_read_name)]
CatalogName = Annotated[str, ReadBy(_read_catalog)]


def escapes_project(path: str) -> bool:
    """Whether a path, or a pattern of paths, could lead out of the project."""
    return path.startswith("/") or "\0" in path or ".." in path.split("/")


def _read_own_file(value: Any, at: Keys, problems: Problems) -> Any:
    read = reader_for(str)(value, at, problems)
    if read is INVALID or not escapes_project(posixpath.normpath(read)):
        return read
    problems.append(
        Problem(
            at,
            f"`{written(read)}` leads out of the project, and Rocky writes no file there",
            "name a file inside it",
        )
    )
    return INVALID


OwnFile = Annotated[str, ReadBy(_read_own_file)]
"""A file that is written: below the project's folder."""
