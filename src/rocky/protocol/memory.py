"""The memory of a server: the project compiled once, and answers, until something changes.

Everything in it is made when it is first asked for, by one thread while others wait for it.
"""

from collections.abc import Callable, Hashable
from dataclasses import replace
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from rocky.operations.workspace import Workspace, compile_workspace
from rocky.project.pipeline_tables import PipelineTable

# A server says its address before it has loaded what describes a project.
if TYPE_CHECKING:
    from rocky.analysis.compilation import Compilation
    from rocky.operations.page.project_page import ProjectPage

_MOST_ANSWERS: Final = 500
_MOST_BYTES: Final = 128 * 1024 * 1024
"""Whoever asks ever new questions does not fill the memory, be there many or large answers."""
FILES: Final = "files"
GIT: Final = "git"
LEDGER: Final = "ledger"
"""What can change."""

Made = TypeVar("Made")


class _Place(Generic[Made]):
    """Something that is made once, or will be."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._made: tuple[Made] | None = None

    def get(self, make: Callable[[], Made]) -> Made:
        """What there is; what fails is made again the next time."""
        with self._lock:
            if self._made is None:
                self._made = (make(),)
            return self._made[0]


class Memory:
    """What is known of a project for now. `workspace` answers from it."""

    def __init__(self, workspace: Workspace) -> None:
        self._given = workspace
        self.workspace = replace(workspace, compiled=self._compilation)
        self._lock = Lock()
        self._compiling = RLock()
        self._compilations: dict[Hashable, _Place[Compilation]] = {}
        self._answers: dict[Hashable, _Place[Any]] = {}
        self._lent: dict[Hashable, Any] = {}
        self._bytes = 0
        # Until a compile has said so: a run may end while the first one goes on.
        self._reads_tables = True

    @property
    def fresh_workspace(self) -> Workspace:
        """The workspace that compiles by itself: for what acts, which must not rely on memory."""
        return self._given

    def lend(self, key: Hashable, answer: Any) -> None:
        """An answer of an earlier time, which holds until it is made, or something changes."""
        with self._lock:
            self._lent[key] = answer

    def kept(self, key: Hashable, make: Callable[[], Made], *, lent: bool = True) -> Made:
        """An answer, until something changes; not `lent`, it is made now if it was not yet."""
        with self._lock:
            if lent and key in self._lent:
                borrowed: Made = self._lent[key]
                return borrowed
            if len(self._answers) > _MOST_ANSWERS or self._bytes > _MOST_BYTES:
                self._answers, self._bytes = {}, 0
            place = self._answers.setdefault(key, _Place())

        def counted() -> Made:
            found = make()
            with self._lock:
                self._bytes += len(found) if isinstance(found, bytes) else 0
            return found

        answer: Made = place.get(counted)
        with self._lock:
            self._lent.pop(key, None)
        return answer

    def compilation(self) -> "Compilation":
        """The project, compiled; pipelines' tables are seen as they are."""
        return compile_workspace(self.workspace, discovered=True)

    def page(self) -> "ProjectPage":
        """The page of the project."""
        from rocky.operations.page.project_page import load_page  # noqa: PLC0415

        return self.kept("page", lambda: load_page(self.workspace))

    def forget(self, changed: frozenset[str]) -> None:
        """Something changed: what was known may be so no more."""
        with self._lock:
            self._answers, self._lent, self._bytes = {}, {}, 0
            if changed - {LEDGER} or self._reads_tables:
                self._compilations = {}

    def _compilation(self, workspace: Workspace, discovered: bool) -> "Compilation":  # noqa: FBT001 - as the workspace calls it
        key = (workspace.branch_name, workspace.mask_env, discovered)
        with self._lock:
            place = self._compilations.setdefault(key, _Place())
        alone = replace(workspace, compiled=None)
        # One after the other: a compile uses every core by itself.
        with self._compiling:
            found = place.get(lambda: compile_workspace(alone, discovered=discovered))
        # Runs change what it knows of the tables of pipelines.
        sources = found.project.sources.values()
        self._reads_tables = any(isinstance(each, PipelineTable) for each in sources)
        return found
