"""Watching a project: compiled each time one of its files is saved, and built if that is asked.

The first round comes at once. A round never ends the watch: what is wrong is told, and the next
save is waited for; what a round could not build is built with the next. Spark is started for the
first round that builds and kept for the others.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread
from typing import Final

from rocky.analysis.compilation import Compilation
from rocky.compiler.session import Session
from rocky.errors import InvalidRequest, RockyError, SourceUnreadable, describe_failure
from rocky.operations.check.compile import CompileReport, report_compilation
from rocky.operations.digest import Digest, Digested
from rocky.operations.execution.run import RunReport, run
from rocky.operations.execution.run_report import ModelsRun
from rocky.operations.execution.saves import Saves, table_folders
from rocky.operations.findings import ErrorsFound
from rocky.operations.python_plans import plans_of_session
from rocky.operations.workspace import Workspace, load_workspace
from rocky.plan.adapters import main_adapter
from rocky.plan.arguments import Request
from rocky.plan.request import RunRequest
from rocky.project import Project
from rocky.project.configuration.blocks import Adapter

_INTERRUPTED: Final = 130

Build = Callable[[Workspace, RunRequest], RunReport]


@dataclass(frozen=True, slots=True)
class WatchRequest(Request):
    """Whether to build (`run`) and test after each compile without errors, and what.

    Without selectors that is what was saved since all of it could be built, and what reads it; at
    first, everything.
    """

    select: tuple[str, ...] = ()
    run: bool = False
    test: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class WatchReport(Digested):
    """A round: the files that were saved, what the compile found, what was built.

    `failure` says in words why the project could not be read or run.
    """

    changed: tuple[str, ...]
    compiled: CompileReport | None = None
    run: RunReport | None = None
    failure: str | None = None

    def digest(self) -> Digest:
        if self.run is not None:
            return self.run.digest()
        return Digest(self.failure or "") if self.compiled is None else self.compiled.digest()


def watch(
    workspace: Workspace,
    request: WatchRequest,
    *,
    build: Build = run,
    stop: Event | None = None,
) -> Iterator[WatchReport]:
    """A report for each round, until `stop` is set or the watch is interrupted.

    `build` carries out a run. Raises InvalidRequest, ProjectNotFound, and SourceUnreadable where
    files cannot be watched.
    """
    if (request.select or request.test) and not request.run:
        raise InvalidRequest("selectors and `--test` are for `--run`: a compile is of everything")
    return _Watch(workspace, request, build, stop or Event()).rounds()


class _Watch:
    """What is kept between rounds."""

    def __init__(
        self, workspace: Workspace, request: WatchRequest, build: Build, stop: Event
    ) -> None:
        self._workspace = workspace
        self._request = request
        self._build = build
        self._stop = stop
        self._saves = Saves(workspace)
        self._spark = ExitStack()
        self._adapter: Adapter | None = None
        self._unbuilt: frozenset[str] | None = None
        self._session: Session | None = None
        self._listening = Event()
        self._lost: OSError | None = None
        self._saved: SimpleQueue[frozenset[Path] | None] = SimpleQueue()

    def rounds(self) -> Iterator[WatchReport]:
        changed: frozenset[Path] | None = frozenset()
        listener = Thread(target=self._listen, name="rocky-watch", daemon=True)
        listener.start()
        try:
            self._listening.wait()
            while changed is not None:
                report = self._round(changed)
                yield report
                if report.run is not None and _is_to_stop(report.run):
                    return
                changed = self._next_save()
            if self._lost is not None:
                raise SourceUnreadable(f"the project's files cannot be watched: {self._lost}")
        finally:
            self._stop.set()
            listener.join()
            self._spark.close()

    def _round(self, changed: frozenset[Path]) -> WatchReport:
        names = sorted(str(path.relative_to(self._saves.root)) for path in changed)
        report = WatchReport(tuple(names))
        if self._unbuilt is not None:
            self._unbuilt |= frozenset(names)
        try:
            compiled = report_compilation(*self._follow(names))
            report = replace(report, compiled=compiled)
            self._saves.tables = table_folders(compiled.project)
            if not self._request.run or compiled.failed:
                return report
            self._keep_spark(compiled.project)
            select = self._request.select or _changed_models(compiled.project, self._unbuilt)
            request = RunRequest(select, test=self._request.test)
            built = self._build(self._workspace, request)
            if built.succeeded:
                self._unbuilt = frozenset()
            return replace(report, run=built)
        except ErrorsFound:
            # Saved again between the compile and the run: the next round shows it.
            return report
        except RockyError as failure:
            return replace(report, failure=describe_failure(failure))

    def _follow(self, saved: Sequence[str]) -> tuple[Project, Compilation]:
        """The project after files were saved; only what they reach is looked at again.

        Where a compile looks at more than the project's files, all of it is.
        """
        if self._session is None or _sees_more(self._session.loaded):
            load = partial(load_workspace, self._workspace, discovered=True)
            self._session = Session(self._saves.root, load, plans=plans_of_session("person"))
            compilation = self._session.reload().compilation
        else:
            compilation = self._session.refresh(saved).compilation
        return self._session.loaded, compilation

    def _keep_spark(self, project: Project) -> None:
        """One user more of Spark until the end: runs share it, and what is warm stays warm."""
        _, adapter = main_adapter(project)
        if self._workspace.spark is not None or adapter == self._adapter:
            return
        from rocky.spark.session import connect_spark  # noqa: PLC0415 - a compile does without

        self._spark.close()
        self._adapter = None
        self._spark.callback(connect_spark(adapter, project.root).close)
        self._adapter = adapter

    def _listen(self) -> None:
        """Put what is saved into the queue, also while a round goes on; runs in a thread.

        `_listening` is set once nothing can be missed any more.
        """
        try:
            for changed in self._saves.heard(self._stop):
                self._listening.set()
                if changed:
                    self._saved.put(changed)
        except OSError as error:
            # The system watches only so many folders.
            self._lost = error
        finally:
            self._listening.set()
            self._saved.put(None)

    def _next_save(self) -> frozenset[Path] | None:
        """The files that were saved since the last round; None when it is to stop."""
        changed = self._saved.get()
        while changed is not None and not self._saved.empty():
            more = self._saved.get()
            changed = None if more is None else changed | more
        return changed


def _is_to_stop(built: RunReport) -> bool:
    """Whether somebody wanted the round to stop: a run that had nothing left to do ends well."""
    asked = isinstance(built.run, ModelsRun) and built.run.result.stop_asked
    return asked or built.exit_code == _INTERRUPTED


def _sees_more(project: Project) -> bool:
    """Whether a compile looks at tables, or at what was discovered, besides the project's files."""
    return bool(
        project.writers
        or project.open_targets
        or project.imports
        or project.cached_schemas
        or project.config.compile.undeclared != "error"
        or project.config.publish.consumers
    )


def _changed_models(project: Project, paths: frozenset[str] | None) -> tuple[str, ...]:
    """Selectors of the models that files are of, and of their readers; () means everything.

    `paths` is None where nothing has been built yet.
    """
    of = {
        path: model.name
        for model in project.models.values()
        for path in (model.path, model.settings_path)
        if path is not None
    }
    if not paths or not all(path in of for path in paths):
        return ()
    return tuple(sorted({f"{of[path]}+" for path in paths}))
