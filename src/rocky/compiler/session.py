"""The session: a compiled project that stays in memory and follows edits, saved or not.

An edit of a model binds that model again, and then only readers that would see a difference: of its
columns, their types, whether they can be null. All other findings are kept. What the rest of the
project is told of at a load, such as a model's name, and every file that is not a model's own make
it load the project again; records that hold are kept even then. After any edits the session says
what a compile of the same texts would say, because the same passes say it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from rocky.analysis.compilation import NO_RECORDS, NOTHING_UNPACKED, Compilation, Record
from rocky.analysis.names import Names
from rocky.analysis.python_plans import Plans, no_plans
from rocky.compiler.garbage import leave_alone
from rocky.compiler.model_locations import count_stems, folders_of
from rocky.compiler.pass_memory import PassMemory
from rocky.compiler.passes import bind_models, judge_models, model_key, model_keys
from rocky.compiler.resident_graph import ResidentGraph
from rocky.compiler.resident_models import Pause, ResidentModels, never
from rocky.compiler.validity import BoundModels, load_records, save_records
from rocky.diagnostics import Diagnostic
from rocky.errors import RockyError
from rocky.project import ModelFile, Project
from rocky.project.cache import cache_stamp
from rocky.project.files import is_file, read_bytes
from rocky.project.models import stem_of
from rocky.project.overlay import NO_OVERLAY, laid, make_overlay
from rocky.project.project import reload_model

_READ: Final = (".sql", ".rocky", ".py", ".toml", ".csv", ".json")
"""How the names of files end that a project may be made of."""

Findings = Mapping[str, tuple[Diagnostic, ...]]


class Superseded(Exception):
    """What was tried is not wanted any more: something more urgent came."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A project as it was compiled at one moment; nothing changes it.

    `texts` are those that nobody saved, by path in the project. `findings` are by path, those that
    belong to no file under "". `changed` are the paths whose findings are others than in the
    snapshot before, the edited files first. While it is not `settled` there are readers of edited
    models that have not been looked at yet.
    """

    version: int
    compilation: Compilation
    texts: Mapping[str, str]
    findings: Findings
    changed: tuple[str, ...]
    settled: bool = True

    @property
    def project(self) -> Project:
        return self.compilation.project


class _State(NamedTuple):
    """What is kept between edits. `project` is as it was loaded.

    `stems` counts the files of models by the stem of their names, `owners` are the models' files by
    those of their settings, `folders` are all that hold files of the project.
    """

    project: Project
    names: Names
    models: ResidentModels
    memory: PassMemory
    stems: Mapping[str, int]
    owners: Mapping[str, str]
    folders: frozenset[str]
    graph: ResidentGraph | None = None


class Session:
    """The project at `root`, open. `load` loads it, and sees the overlay that the session lays.

    With `cache`, the first compile reads and writes the user's cache; `portability` as for
    `compile_project`. `complete` adds what layers above find, `plans` has those of Python models.
    Not for several threads at once; snapshots are.
    """

    def __init__(
        self,
        root: Path,
        load: Callable[[], Project],
        *,
        jobs: int | None = None,
        cache: bool = True,
        portability: bool = True,
        complete: Callable[[Compilation], Compilation] | None = None,
        plans: Callable[[Project], Plans] = no_plans,
    ) -> None:
        self._root = root
        self._complete = complete
        self._plans = plans
        self._load = load
        self._jobs = jobs
        self._stamp = cache_stamp() if cache else None
        self._portability = portability
        self._texts: dict[str, str | None] = {}
        self._overlay = NO_OVERLAY
        self._state: _State | None = None
        self._snapshot: Snapshot | None = None
        self._frozen = 0

    @property
    def snapshot(self) -> Snapshot:
        """The project as it was compiled last, now if it never was. Raises RockyError."""
        return self._snapshot or self.reload()

    def edit(self, texts: Mapping[str, str | None], pause: Pause = never) -> Snapshot:
        """The project with these texts in the place of files; None for a file that is gone.

        They hold until they are edited again or `drop`ped. The edited models are looked at in any
        case, their readers only as long as `pause` does not ask to stop. Raises RockyError, which
        leaves the texts in place: the next call tries again.
        """
        touched = [path for path, text in texts.items() if self._is_other(path, text)]
        self._lay({**self._texts, **texts})
        return self._follow(touched, pause)

    def attempt(self, texts: Mapping[str, str | None], pause: Pause = never) -> Compilation:
        """What the project would be with these texts; it stays as it is. Raises RockyError.

        Where `pause` asks to stop it raises Superseded, and some readers may be left to `settle`.
        """
        before = self._texts
        try:
            found = self.edit(texts, pause)
            if not found.settled:
                raise Superseded
            return found.compilation
        finally:
            self._lay(before)
            self._follow(list(texts), pause)

    def settle(self, pause: Pause = never, first: Iterable[str] = ()) -> Snapshot:
        """The project with all readers looked at, or as many as `pause` allows for.

        `first` are the paths of readers that somebody looks at: their turn comes before others'.
        """
        return self._follow([], pause, first)

    def rest(self) -> None:
        """Tidy up; for when nobody waits."""
        if self._state is not None:
            self._state.models.rest()

    def drop(self, paths: Iterable[str]) -> Snapshot:
        """The project with these files as the disk has them. Raises RockyError."""
        dropped = [path for path in paths if path in self._texts]
        before = {path: self._bytes(path) for path in dropped}
        self._lay({path: text for path, text in self._texts.items() if path not in dropped})
        return self._follow([path for path in dropped if self._bytes(path) != before[path]])

    def refresh(self, paths: Iterable[str]) -> Snapshot:
        """The project after files changed on disk, came or went. Raises RockyError."""
        return self._follow([path for path in paths if path not in self._texts])

    def reload(self) -> Snapshot:
        """The project, loaded as a whole. Raises RockyError."""
        return self._reload(())

    def lay(self, texts: Mapping[str, str | None]) -> None:
        """Have these unsaved texts and no others, without a look at what follows from them."""
        self._lay(dict(texts))

    def forget(self) -> None:
        """Know nothing of the project but its unsaved texts: it is loaded when it is asked for."""
        self._state = self._snapshot = None

    @property
    def loaded(self) -> Project:
        """The project as it was loaded, without what a compile adds. Raises RockyError."""
        if self._state is None:
            self.reload()
        assert self._state is not None
        return self._state.project

    @property
    def bound(self) -> frozenset[str]:
        """The models that have another record since the last call."""
        return self._state.models.bound if self._state is not None else frozenset()

    @property
    def made(self) -> frozenset[str]:
        """Those of them that had to be parsed and bound; of the others an older record held."""
        return self._state.models.made if self._state is not None else frozenset()

    # -------------------------------------------------------------- what is laid over the disk

    def _lay(self, texts: dict[str, str | None]) -> None:
        self._texts = texts
        self._overlay = make_overlay(self._root, texts)

    def _is_other(self, path: str, text: str | None) -> bool:
        """Whether a text is not what its file is to the project now."""
        if path in self._texts:
            return self._texts[path] != text
        found = self._bytes(path)
        return found != (None if text is None else text.encode("utf-8", "surrogatepass"))

    def _bytes(self, path: str) -> bytes | None:
        try:
            with laid(self._overlay):
                return read_bytes(f"{self._root}/{path}")
        except OSError:
            return None

    # -------------------------------------------------------------- following

    def _follow(
        self, touched: list[str], pause: Pause = never, first: Iterable[str] = ()
    ) -> Snapshot:
        state, before = self._state, self._snapshot
        if state is None or before is None:
            return self._reload(touched)
        touched = [path for path in touched if self._may_matter(path, state)]
        if not touched and before.settled:
            texts = {path: text for path, text in self._texts.items() if text is not None}
            self._snapshot = replace(before, texts=texts, changed=())
            return self._snapshot
        try:
            with laid(self._overlay):
                found = self._take_models(state, touched, pause, first)
                if found is not None:
                    return self._judge(*found, touched)
        except RockyError:
            # A file that was only remembered has changed on disk since: it is read anew below.
            pass
        return self._reload(touched)

    def _may_matter(self, path: str, state: _State) -> bool:
        """Whether a project may be made of what is or was at a path: a file, or a folder."""
        if path.endswith(_READ) or "." not in path.rpartition("/")[2]:
            return True
        return path in state.folders or Path(self._root, path).is_dir()

    def _take_models(
        self, state: _State, touched: list[str], pause: Pause, first: Iterable[str]
    ) -> tuple[_State, frozenset[str]] | None:
        """The state with the touched models as they are now, and all that is other about models.

        None where more than models changed.
        """
        wanted: dict[str, ModelFile] = {}
        for path in touched:
            model = _model_of(path, state) if is_file(f"{self._root}/{path}") else None
            if model is None or state.stems[stem_of(model.path).lower()] > 1:
                return None
            wanted[model.path] = model
        project = state.project
        for model in wanted.values():
            found = reload_model(project, model, touched)
            if found is None:
                return None
            project = found
        keys = [model.key for model in wanted.values()]
        fresh = {key: model_key(project.models[key]) for key in keys}
        models, memory = state.models, state.memory
        graph = state.graph
        assert graph is not None
        looked_at = _with_inputs(first, project, graph.graph.upstream)
        models.rebind(project, fresh, graph.graph.order, self._jobs, pause, looked_at)
        memory.changed = models.bound | models.dropped | frozenset(keys)
        memory.same_reads = not models.moved
        if models.moved:
            memory.graph = graph.follow(models.moved)
        return state._replace(project=project), memory.changed

    def _reload(self, touched: Iterable[str]) -> Snapshot:
        """The project, loaded and compiled as a whole; records that still hold are kept."""
        before, self._state = self._state, None
        with laid(self._overlay):
            project = self._load()
            names = Names(project)
            known = before.models.records if before is not None else self._recall(project)
            keys = model_keys(project)
            plans = self._plans(project)
            outcome = bind_models(project, keys, known, names, self._jobs, plans)
            if before is None and self._stamp and outcome.bound:
                save_records(project.root, self._stamp, outcome.records)
            models = ResidentModels(project, keys, names, outcome, plans)
            state = _State(
                project, names, models, PassMemory(), *count_stems(project), folders_of(project)
            )
            snapshot = self._judge(state, None, touched)
        self._frozen = leave_alone(self._frozen)
        return snapshot

    def _recall(self, project: Project) -> Mapping[str, Record]:
        """The records of the last compile that somebody made of the project."""
        return load_records(project.root, self._stamp) if self._stamp else NO_RECORDS

    def _judge(
        self, state: _State, changed: frozenset[str] | None, touched: Iterable[str]
    ) -> Snapshot:
        before = self._snapshot
        kept = NOTHING_UNPACKED
        if changed is not None and before is not None:
            unpacked = before.compilation.models.unpacked()
            # What a compile adds, such as masked twins, it makes anew.
            known = state.models.records
            kept = {k: each for k, each in unpacked.items() if k in known and k not in changed}
        models = state.models
        outcome = BoundModels(models.records, models.cycles, set(models.bound))
        texts = {path: text for path, text in self._texts.items() if text is not None}
        state.project.texts.keep(texts)
        compilation = judge_models(
            state.project,
            state.names,
            outcome,
            self._stamp,
            state.memory,
            portability=self._portability,
            unpacked=kept,
        )
        if self._complete is not None:
            compilation = self._complete(compilation)
        findings = by_file(compilation.diagnostics)
        if state.graph is None and state.memory.graph is not None:
            names = [model.name for model in state.project.models.values()]
            state = state._replace(graph=ResidentGraph(names, state.memory.graph))
        self._state = state
        self._snapshot = Snapshot(
            before.version + 1 if before is not None else 1,
            compilation,
            texts,
            findings,
            _changed(before.findings if before is not None else {}, findings, touched),
            models.settled,
        )
        return self._snapshot


def by_file(diagnostics: Iterable[Diagnostic]) -> Findings:
    """The findings of each file, in their order."""
    found: dict[str, list[Diagnostic]] = {}
    for each in diagnostics:
        found.setdefault(each.path or "", []).append(each)
    return {path: tuple(each) for path, each in found.items()}


def _changed(before: Findings, after: Findings, touched: Iterable[str]) -> tuple[str, ...]:
    """The files whose findings are others than they were, the touched ones first."""
    other = [path for path in {**after, **before} if before.get(path) != after.get(path)]
    first = [path for path in touched if path in other]
    return (*first, *sorted(set(other) - set(first)))


def _model_of(path: str, state: _State) -> ModelFile | None:
    """The model that a file is of, its query or its settings."""
    found = state.project.texts.model_at(state.owners.get(path, path))
    return found if found is not None and state.project.models.get(found.key) is found else None


def _with_inputs(
    paths: Iterable[str], project: Project, upstream: Mapping[str, tuple[str, ...]]
) -> set[str]:
    """The models of some files, and all that these read, directly or not."""
    found = (project.texts.model_at(path) for path in paths)
    waiting = [model.name for model in found if model is not None]
    reached: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name.lower() not in reached:
            reached.add(name.lower())
            waiting += upstream.get(name, ())
    return reached
