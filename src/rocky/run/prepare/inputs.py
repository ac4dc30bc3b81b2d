"""Inputs: what a step reads, known first and bound to views only when the step is built.

What an input was is known without Spark wherever that can be done, so that a step that need not be
built needs no Spark either. Each input is known and bound once a run, whoever asks first, so that
all its readers see the same rows. View names are equal in every run, and so is the SQL over them:
every run has a Spark session of its own.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from threading import Lock
from typing import Any, Generic, TypeVar

from rocky.analysis.compilation import Record, unpack_body
from rocky.analysis.names import Names
from rocky.compiler.fingerprints import Fingerprints
from rocky.errors import InternalError
from rocky.language.replacements import Replaced
from rocky.language.syntax.references import NO_HINTS, Hints, bind_query
from rocky.language.syntax.row_wise import row_wise_query
from rocky.ledger.provenance import ReadRecord
from rocky.ledger.run_records import InputRecord
from rocky.plan.budget import total_count
from rocky.plan.steps import Read, RunPlan, resolve_name, step_id
from rocky.project import ModelFile, Project, SeedTable
from rocky.project.configuration.strategies import is_inline
from rocky.project.python_imports import import_doubt
from rocky.project.python_models import inputs_of
from rocky.project.sources import SourceTable
from rocky.run.engine.input_pieces import bind_lookup, bind_source_pieces, bind_table_pieces
from rocky.run.engine.origins import QueryOrigin
from rocky.run.engine.protocol import Engine
from rocky.run.engine.sources import Sources, declaration_of
from rocky.run.prepare.keyed_rows import SENT
from rocky.run.prepare.known_inputs import KnownInput, MadeFrom, known_source, unknown_source
from rocky.run.prepare.pins import (
    PinnedTable,
    Pins,
    identify_inline,
    identify_rows,
    identify_table,
    input_hash,
    refuse_damaged_files,
)
from rocky.store.delta.snapshot import ROWS_HASH

T = TypeVar("T")


class Inputs:
    """The inputs of one run. Threads may share it.

    Without an engine a source that only Spark can look at has no identity, and nothing is bound.
    `check` raises for a table, given with its model's name, that must not be read.
    """

    def __init__(
        self,
        plan: RunPlan,
        fingerprints: Mapping[str, Fingerprints],
        pins: Pins,
        sources: Sources,
        engine: Engine | None = None,
        check: Callable[[str, PinnedTable], None] | None = None,
    ) -> None:
        self._plan = plan
        self._check = check
        self._fingerprints = fingerprints
        self._names = Names(plan.project)
        self._reads = {step.key: step.reads for step in plan.steps if step.kind != "seed"}
        self._pins = pins
        self._sources = sources
        self._engine = engine
        self._known: _Once[KnownInput] = _Once()
        self._bound: _Once[list[str]] = _Once()
        self._pieces: dict[str, tuple[KnownInput, int]] = {}
        self._hints: dict[str, Hints] = {}

    def made_from(
        self,
        key: str,
        driving: KnownInput | None = None,
        pieces: int = 0,
        hints: Hints = NO_HINTS,
    ) -> MadeFrom:
        """What a model is made from. All tables it reads must be pinned.

        With `pieces` its driving input is read in so many, from now on, and with `hints` its query
        has those.
        """
        if driving is not None:
            self._pieces[key] = (driving, pieces)
        if hints:
            self._hints[key] = hints
        inputs = tuple(self._know(read) for read in self._reads[key])
        if key in self._pieces:
            driving, pieces = self._pieces[key]
            inputs = tuple(
                replace(each, pieces=pieces)
                if each.read == driving.read
                else replace(each, looked_up=True)
                for each in inputs
            )
        fingerprints = self._fingerprints[key]
        target = self._plan.project.models[key].target.full_name
        skip_hash = fingerprints.skip_hash
        hashed, proof = input_hash(skip_hash, target, [each.identity for each in inputs])
        cutoff, _ = input_hash(skip_hash, target, [each.rows for each in inputs])
        if proof is not None and import_doubt(self._plan.project.models[key]) is not None:
            proof = "heuristic"
        if proof == "heuristic":
            cutoff = None
        return MadeFrom(fingerprints, inputs, hashed, proof, cutoff, self._named(key, inputs))

    def bind(self, inputs: tuple[KnownInput, ...]) -> None:
        """Make views of inputs that are not views yet."""
        for each in inputs:
            self._bound.make(each.view, lambda each=each: self._bind(each))  # type: ignore[misc]

    def bind_query(self, key: str) -> None:
        """Make a view of a model that has no table."""
        self.bind((self._know(Read("model", key)),))

    def sql_of(self, model: ModelFile, inputs: tuple[KnownInput, ...]) -> str:
        """A model's SQL with every table name bound to its view."""
        return self._bound_query(model, inputs).text

    def _bound_query(self, model: ModelFile, inputs: tuple[KnownInput, ...]) -> Replaced:
        hints = dict(self._hints.get(model.key, NO_HINTS))
        if any(each.looked_up for each in inputs):
            query = row_wise_query(model.sql)
            hints = {} if query is None else dict.fromkeys(query.named_lookups, SENT)
        return bind_query(model.sql, self._view_names(model.key, inputs), hints)

    def origins_of(self, key: str) -> Iterator[QueryOrigin]:
        """The query of a model, and those of models without tables that it is built over."""
        model = self._plan.project.models[key]
        inputs = self.made_from(key).inputs
        if not model.is_python:
            yield QueryOrigin(model, model.sql, self._bound_query(model, inputs))
        for each in inputs:
            if self._is_inline(each.read):
                yield from self.origins_of(each.read.key)

    def parameters_of(self, model: ModelFile, inputs: tuple[KnownInput, ...]) -> dict[str, str]:
        """The view that each parameter of a Python model gets."""
        view_of = self._view_names(model.key, inputs)
        views = {each.parameter: view_of(each.parts) for each in inputs_of(model)}
        return {parameter: view for parameter, view in views.items() if view is not None}

    def changed_source(self, inputs: tuple[KnownInput, ...]) -> str | None:
        """A source, read directly or through queries, that has changed since it was pinned."""
        for each in inputs:
            if each.pinned is not None:
                continue
            if each.read.kind == "source":
                if not self._sources.is_unchanged(self._source(each.read)):
                    return each.name
            elif self._is_inline(each.read):
                found = self.changed_source(tuple(map(self._know, self._reads[each.read.key])))
                if found is not None:
                    return found
        return None

    def again(self, known: KnownInput) -> ReadRecord:
        """All that is needed to read an input again."""
        value = known.identity.value if known.identity is not None else None
        if known.pinned is not None:
            return ReadRecord(
                known.view,
                "table",
                known.name,
                known.pinned.table.name,
                known.pinned.snapshot.version,
                value,
                known.record.rows_hash,
                pieces=known.pieces or None,
            )
        if known.read.kind == "source":
            source = self._source(known.read)
            pin = self._sources.look(source)
            return ReadRecord(
                known.view,
                "source",
                known.name,
                identity=value,
                source_version=pin.version if pin is not None else None,
                declaration=declaration_of(source) if pin is not None else None,
                files=self._sources.files_of(source, pin) if pin is not None else (),
                pieces=known.pieces or None,
            )
        model = self._plan.project.models[known.read.key]
        made_from = self.made_from(known.read.key)
        return ReadRecord(
            known.view,
            "inline",
            known.name,
            model.target.full_name,
            identity=value,
            sql=self.sql_of(model, made_from.inputs),
            skip_hash=made_from.fingerprints.skip_hash,
            upstreams=made_from.upstreams,
            determinism=self._plan.compilation.models.record(known.read.key).determinism,
            reads=tuple(map(self.again, made_from.inputs)),
            functions=_functions_of(self._plan.compilation.models.record(known.read.key)),
        )

    def close(self) -> None:
        """Drop every view."""
        if self._engine is not None:
            self._engine.views.unbind([view for views in self._bound.values() for view in views])

    def _know(self, read: Read) -> KnownInput:
        # A table may be pinned anew only before its readers start, so its key is enough.
        if read.kind == "source" and not self._pins.has(step_id("source", read.key)):
            return self._known.make(read, lambda: self._know_source(read))
        if self._is_inline(read):
            return self._known.make(read, lambda: self._know_inline(read))
        return self._known.make(read, lambda: self._know_table(read))

    def _know_table(self, read: Read) -> KnownInput:
        pinned = self._pins.of(step_id(read.kind, read.key))
        project = self._plan.project
        name = _declared(project, read).name
        # Before it is known: a result is reused for what its inputs are said to be.
        self._check_commits(name, pinned)
        table, snapshot = pinned.table, pinned.snapshot
        identity = identify_table(table.name, snapshot)
        record = InputRecord(
            name,
            table.name,
            table.uri,
            str(snapshot.version),
            identity.value,
            snapshot.configuration.get(ROWS_HASH),
        )
        rows = identify_rows(table.name, snapshot)
        return KnownInput(read, name, identity, rows, record, snapshot.bytes, pinned)

    def _know_inline(self, read: Read) -> KnownInput:
        model = self._plan.project.models[read.key]
        made_from = self.made_from(read.key)
        name = model.target.full_name
        sizes = [each.bytes for each in made_from.inputs]
        return KnownInput(
            read,
            model.name,
            identify_inline(name, made_from.input_hash, made_from.proof),
            identify_inline(name, made_from.cutoff_hash, made_from.proof),
            InputRecord(model.name, name, identity=made_from.input_hash),
            None if None in sizes else total_count(sizes) or 0,
        )

    def _know_source(self, read: Read) -> KnownInput:
        source = self._source(read)
        pin = self._sources.look(source)
        if pin is None and self._engine is not None:
            view = unknown_source(read, source).view
            pin = self._engine.views.bind_source(view, source)
            self._bound.make(view, lambda: [view])
        if pin is None:
            return unknown_source(read, source)
        return known_source(read, source, pin, self._sources)

    def _bind(self, known: KnownInput) -> list[str]:
        """The names of the views that an input took."""
        engine, read, view = self._engine, known.read, known.view
        assert engine is not None
        if known.looked_up:
            whole = replace(known, looked_up=False)
            self.bind((whole,))
            bind_lookup(engine, view, whole.view)
        elif known.pinned is not None:
            refuse_damaged_files(known.pinned, self._sources.checksums)
            table, snapshot = known.pinned.table, known.pinned.snapshot
            if known.pieces:
                return bind_table_pieces(engine, view, table, snapshot, known.pieces)
            engine.views.bind_table(view, table, snapshot)
        elif read.kind == "source":
            source = self._source(read)
            pin = self._sources.look(source)
            if known.pieces and pin is not None:
                return bind_source_pieces(engine, view, source, pin, known.pieces)
            engine.views.bind_source(view, source, pin)
        else:
            model = self._plan.project.models[read.key]
            inputs = tuple(map(self._know, self._reads[read.key]))
            self.bind(inputs)
            engine.views.bind_frame(view, engine.frame(self.sql_of(model, inputs)))
        return [view]

    def check_table(self, model: str, pinned: PinnedTable) -> None:
        """Raise for a table, of a model, that must not be read.

        ForeignCommit for one that somebody else has written, StoreUnreadable for damaged files.
        """
        refuse_damaged_files(pinned, self._sources.checksums)
        self._check_commits(model, pinned)

    def _check_commits(self, model: str, pinned: PinnedTable) -> None:
        if self._check is not None:
            self._check(model, pinned)

    def _view_names(
        self, reader: str, inputs: tuple[KnownInput, ...]
    ) -> Callable[[tuple[str, ...]], str | None]:
        """From a table name in the reader's SQL to its view."""
        named = self._named(reader, inputs)

        def view_of(parts: tuple[str, ...]) -> str | None:
            found = named(parts)
            return found.view if found is not None else None

        return view_of

    def _named(
        self, reader: str, inputs: tuple[KnownInput, ...]
    ) -> Callable[[tuple[str, ...]], KnownInput | None]:
        """From a table name in the reader's SQL to the input."""
        by_read = {each.read: each for each in inputs}

        def find(parts: tuple[str, ...]) -> KnownInput | None:
            lowered = tuple(part.lower() for part in parts)
            read = resolve_name(self._plan.project, self._names, lowered, reader)
            return by_read.get(read) if read is not None else None

        return find

    def _is_inline(self, read: Read) -> bool:
        models = self._plan.project.models
        return read.kind == "model" and is_inline(models[read.key].strategy)

    def _source(self, read: Read) -> SourceTable:
        source = self._plan.project.sources.get(read.key)
        if source is None:
            raise InternalError(f"no source `{read.key}`")
        return source.as_read()


def _declared(project: Project, read: Read) -> ModelFile | SeedTable | SourceTable:
    group: Mapping[str, ModelFile | SeedTable | SourceTable]
    match read.kind:
        case "model":
            group = project.models
        case "seed":
            group = project.seeds
        case "source":
            group = project.sources
    return group[read.key]


class _Once(Generic[T]):
    """Values made once a key, by whichever thread comes first; the others wait for it alone."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._locks: dict[Any, Lock] = {}
        self._made: dict[Any, T] = {}

    def make(self, key: Any, make: Callable[[], T]) -> T:
        with self._guard:
            lock = self._locks.setdefault(key, Lock())
        with lock:
            if key not in self._made:
                self._made[key] = make()
            return self._made[key]

    def values(self) -> list[T]:
        with self._guard:
            return list(self._made.values())


def _functions_of(record: Record) -> dict[str, str] | None:
    """The declared functions that a model calls, with their digests; None for none."""
    return {name: digest.hex() for name, digest in unpack_body(record).functions} or None
