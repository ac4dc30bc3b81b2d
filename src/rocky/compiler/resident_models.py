"""Resident models: records that stay in memory, and who looks up whom, so that an edit is followed.

The edited model is bound first. If readers see the same of it, nothing else is looked at; if not,
those that look it up are checked, nearest first, and bound where what they looked up is another and
they can tell. Models that read each other are left to the compiler's own order, which finds the
cycles.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Final

from rocky.analysis.compilation import Record
from rocky.analysis.names import Names, is_function
from rocky.analysis.python_plans import NO_PLANS, Plans
from rocky.compiler.carried_columns import Field, carry
from rocky.compiler.column_sight import Faces, can_see
from rocky.compiler.garbage import without_collection
from rocky.compiler.passes import bind_models
from rocky.compiler.validity import BoundModels, NotReady, Schemas, is_current
from rocky.project import Project

# They bring the parser library: a session in which nothing is stale starts without it.
if TYPE_CHECKING:
    from rocky.compiler.kept_trees import KeptTrees

Pause = Callable[[], bool]
"""Whether something more urgent is waiting."""

_BLOCKED: Final = b""
"""What readers see of a model that cannot be bound."""
_FORMER_EACH: Final = 2
_MOST_FORMER: Final = 4_000


def never() -> bool:
    """Nothing is more urgent."""
    return False


class ResidentModels:
    """The records of a project's models. `bound`, `made` and `dropped` are what an edit did.

    `moved` are the models that read something else since then, by name; None for what was dropped.
    """

    def __init__(
        self,
        project: Project,
        keys: dict[str, bytes],
        names: Names,
        outcome: BoundModels,
        plans: Plans = NO_PLANS,
    ) -> None:
        self.records = outcome.records
        self.cycles = outcome.cycles
        self.bound: frozenset[str] = frozenset(outcome.bound)
        self.made = self.bound
        self.dropped: frozenset[str] = frozenset()
        self.moved: dict[str, tuple[str, ...] | None] = {}
        self._keys = keys
        self._names = names
        self._plans = plans
        self._blocked = project.blocked
        self._readers: dict[str, set[str]] = {}
        self._waiting: dict[str, bytes] = {}
        self._former: dict[str, tuple[Record, ...]] = {}
        self._ranks: tuple[tuple[str, ...], dict[str, int]] = ((), {})
        self._faces = Faces()
        self._trees: KeptTrees | None = None
        for key, record in self.records.items():
            self._note(key, record)

    def rebind(
        self,
        project: Project,
        fresh: Mapping[str, bytes],
        order: tuple[str, ...],
        jobs: int | None = None,
        pause: Pause = never,
        first: Collection[str] = (),
    ) -> None:
        """Follow an edit: `fresh` has the models whose texts or settings are others, with keys.

        `order` lists all models, each after what it reads, as far as that was known before. Between
        readers `pause` is asked whether to stop: the next call goes on with those that are left.
        `first` are readers to look at before others; with one, all that it reads are among them.
        """
        before = self.records
        self._keys.update(fresh)
        records = None
        if not self.cycles:
            # Of the trees that stay the collector would look at every node.
            with without_collection():
                records = self._rebind_readers(project, fresh, order, pause, first)
        if records is None:
            self._rebind_all(project, jobs)
            keys: Iterable[str] = before.keys() | self.records.keys()
        else:
            self.records = records
            keys = {*fresh, *self.bound}
        self._blocked = project.blocked
        after = self.records
        self.bound = frozenset(k for k in keys if k in after and after[k] is not before.get(k))
        self.dropped = frozenset(key for key in keys if key in before and key not in after)
        self.moved = {
            project.models[key].name: after[key].reads if key in after else None
            for key in self.bound | self.dropped
            if key not in before or key not in after or before[key].reads != after[key].reads
        }

    @property
    def settled(self) -> bool:
        """Whether no reader is left that has to be looked at."""
        return not self._waiting

    def rest(self) -> None:
        """Have the garbage collector leave the kept trees alone."""
        if self._trees is not None:
            self._trees.rest()

    def _rebind_all(self, project: Project, jobs: int | None) -> None:
        """Leave it to the compiler's own order, which finds models that read each other."""
        outcome = bind_models(project, self._keys, self.records, self._names, jobs, self._plans)
        self.records, self.cycles = outcome.records, outcome.cycles
        self.made = frozenset(outcome.bound)
        self._waiting = {}
        self._readers = {}
        for key, record in self.records.items():
            self._note(key, record)

    def _rebind_readers(
        self,
        project: Project,
        fresh: Iterable[str],
        order: tuple[str, ...],
        pause: Pause,
        first: Collection[str],
    ) -> dict[str, Record] | None:
        """The records after an edit; None where models may read each other now."""
        records = dict(self.records)
        schemas = Schemas(project.models, records)
        schemas.broken |= project.blocked
        ranks = self._ranks_in(order)
        edited = set(fresh)

        def place(key: str) -> tuple[bool, bool, int, str]:
            return key not in edited, key not in first, ranks.get(key, 0), key

        # What a reader saw before is what counts, however often it is looked at until then.
        self._waiting |= {key: self._seen(key) for key in edited if key not in self._waiting}
        queue = [place(key) for key in self._waiting]
        heapify(queue)
        bound: set[str] = set()
        made: set[str] = set()
        while queue:
            if queue[0][0] and pause():
                break
            key = heappop(queue)[-1]
            seen = self._waiting.pop(key, None)
            if seen is None:
                continue
            if key in project.blocked:
                records.pop(key, None)
            else:
                old = records.get(key)
                new = self._known(project, key, records, schemas, edited)
                if new is None:
                    made.add(key)
                    new = self._bind(project, key, schemas, keep=key not in edited)
                if new is None or self._closes_a_cycle(key, old, new):
                    return None
                if new is not old:
                    self._remember(key, old)
                    records[key] = new
                    bound.add(key)
                    self._note(key, new)
            if seen != (_BLOCKED if key in project.blocked else records[key].face):
                for reader in self._readers.get(key, ()):
                    if reader not in self._waiting:
                        record = records.get(reader)
                        blocked = reader in project.blocked or record is None
                        self._waiting[reader] = _BLOCKED if blocked or not record else record.face
                        heappush(queue, place(reader))
        self.bound, self.made = frozenset(bound), frozenset(made)
        return records

    def _known(
        self,
        project: Project,
        key: str,
        records: Mapping[str, Record],
        schemas: Schemas,
        edited: Collection[str],
    ) -> Record | None:
        """A record that needs no binding; None where there is none."""
        found = self._current(key, records.get(key), schemas)
        if found is None and key not in edited:
            found = self._unseen(project, key, records, schemas)
        return found

    def _seen(self, key: str) -> bytes:
        """What readers saw of a model before the edit."""
        record = self.records.get(key)
        return _BLOCKED if record is None or key in self._blocked else record.face

    def _bind(self, project: Project, key: str, schemas: Schemas, *, keep: bool) -> Record | None:
        """The record of a model; None where it reads one that has none. `keep` keeps its tree."""
        # It brings the parser library: a session in which nothing is stale starts without it.
        from rocky.compiler.kept_trees import KeptTrees  # noqa: PLC0415
        from rocky.compiler.model_binder import bind_model  # noqa: PLC0415
        from rocky.language.syntax.parser import parse_query  # noqa: PLC0415

        self._trees = self._trees or KeptTrees()
        parse = self._trees.parse if keep else parse_query
        model = project.models[key]
        try:
            found: Record = bind_model(
                model, self._keys[key], self._names, schemas, parse, self._plans
            )
        except NotReady:
            return None
        return found

    def _unseen(
        self, project: Project, key: str, records: Mapping[str, Record], schemas: Schemas
    ) -> Record | None:
        """The record of a reader that cannot tell what is other about its input, or hands it on."""
        model, old = project.models[key], records.get(key)
        if old is None or old.key != self._keys[key] or model.is_python:
            return None
        changes: dict[tuple[str, str], tuple[Field, Field]] = {}
        lookups: list[tuple[tuple[str, ...], bytes]] = []
        for parts, before in old.lookups:
            target = self._names.model(parts, key)
            after = records.get(target) if target is not None else None
            face = schemas.face_of(target) if target is not None else before
            if is_function(parts) or face is None:
                # The body of a function is not in the text.
                return None
            if face != before:
                same = after is not None and after.face == face
                found = self._faces.retyped(before, after) if same and after is not None else None
                if found is None or target is None:
                    return None
                table = project.models[target].name
                changes |= {(table, name): each for name, each in found.items()}
            lookups.append((parts, face))
        if can_see(model.sql, {name for _, name in changes}):
            return carry(model, old, tuple(lookups), changes)
        return old._replace(lookups=tuple(lookups))

    def _current(self, key: str, old: Record | None, schemas: Schemas) -> Record | None:
        """A record that holds: the model's own, or one that it had not long ago.

        A model that cannot be parsed looks the same to its readers each time, and so does it when
        it is mended: while somebody types, both come and go.
        """
        known = self._former.get(key, ()) if old is None else (old, *self._former.get(key, ()))
        for record in known:
            if is_current(record, self._keys[key], key, self._names, schemas, self._plans.use):
                return record
        return None

    def _remember(self, key: str, record: Record | None) -> None:
        if record is not None:
            self._faces.note(record)
            if len(self._former) > _MOST_FORMER:
                self._former = {}
            others = [each for each in self._former.get(key, ()) if each is not record]
            self._former[key] = (record, *others)[:_FORMER_EACH]

    def _ranks_in(self, order: tuple[str, ...]) -> Mapping[str, int]:
        if self._ranks[0] is not order:
            self._ranks = order, {name.lower(): rank for rank, name in enumerate(order)}
        return self._ranks[1]

    def _targets(self, key: str, record: Record | None) -> set[str]:
        """The models that one looks up."""
        found = (self._names.model(parts, key) for parts, _ in record.lookups) if record else ()
        return {each for each in found if each is not None}

    def _note(self, key: str, record: Record) -> None:
        """Note whom a model looks up; that it looked up others before does no harm."""
        for each in self._targets(key, record):
            self._readers.setdefault(each, set()).add(key)

    def _closes_a_cycle(self, key: str, old: Record | None, new: Record) -> bool:
        """Whether a model now looks up itself or one that, directly or not, looks it up."""
        added = self._targets(key, new) - self._targets(key, old)
        if not added:
            return False
        reached = {key}
        waiting = [key]
        while waiting:
            for reader in self._readers.get(waiting.pop(), ()):
                if reader not in reached:
                    reached.add(reader)
                    waiting.append(reader)
        return not added.isdisjoint(reached)
