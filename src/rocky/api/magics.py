"""Magics: `%%rocky` checks a cell of SQL against a project and runs it; `%rocky_project` names one.

The shell is IPython's, of which no more is needed than two members. Nothing of it is imported, so
that Rocky does not depend on it.
"""

import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Protocol

from rocky.api import Workspace, open  # noqa: A004 - as it is called
from rocky.errors import InvalidRequest
from rocky.operations.rows.frame import QueryRequest, describe_query, query_frame

CELL: Final = "cell"
"""What findings call the text of a cell."""
_UNSET: Final = (
    "no row was read: this notebook has no variable `spark`; set it to a session, such as"
    " `SparkSession.builder.getOrCreate()`"
)
_USAGE: Final = "`%rocky_project PATH [--branch NAME]`"


class Shell(Protocol):
    """What is needed of IPython's shell: the names of the notebook, and a way to add magics."""

    @property
    def user_ns(self) -> dict[str, Any]:
        """The names that cells have defined."""

    def register_magic_function(
        self, func: Callable[..., Any], magic_kind: str = "line", magic_name: str | None = None
    ) -> None:
        """Make a function a magic."""


class Magics:
    """The magics of one notebook, and the project they are about."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._path: Path | None = None
        self._branch: str | None = None

    def register(self) -> None:
        """Add the magics to the notebook."""
        self._shell.register_magic_function(self.rocky, "cell", "rocky")
        self._shell.register_magic_function(self.rocky_project, "line", "rocky_project")

    def rocky_project(self, line: str) -> Workspace:
        """Name the project of later cells, or its branch; without a path it is the nearest.

        Raises InvalidRequest, and what loading the project raises: a wrong path is said here.
        """
        words = shlex.split(line)
        branch = None
        if "--branch" in words:
            at = words.index("--branch")
            if at + 1 == len(words):
                raise InvalidRequest(f"`--branch` needs a name: {_USAGE}")
            branch = words[at + 1]
            del words[at : at + 2]
        if len(words) > 1 or any(each.startswith("-") for each in words):
            raise InvalidRequest(f"it is {_USAGE}, not `{line.strip()}`")
        # A notebook may change its folder later.
        path = Path(words[0]).expanduser().resolve() if words else None
        opened = open(path, branch=branch)
        opened.validate()
        self._path, self._branch = path, branch
        return opened

    def rocky(self, line: str, cell: str) -> Any:
        """Check a cell and run it on the notebook's `spark`; a frame, which a name may keep.

        `%%rocky NAME` keeps the frame as `NAME`. Without `spark` it is what is known of the query,
        and says so.
        Raises ErrorsFound for a query that does not compile.
        """
        name = line.strip()
        if name and not name.isidentifier():
            raise InvalidRequest(f"`%%rocky NAME` keeps the frame under a name, not `{name}`")
        spark = self._shell.user_ns.get("spark")
        opened = open(self._path, branch=self._branch, spark=spark)
        request = QueryRequest(cell, name=CELL)
        if spark is None:
            kept = f", and nothing is kept as `{name}`" if name else ""
            return replace(describe_query(opened, request), note=f"{_UNSET}{kept}")
        found = query_frame(opened, request)
        if name:
            self._shell.user_ns[name] = found
        return found
