"""Column cut-off: an input that changed only where nobody looks leaves its reader alone.

What a model made of its inputs the last time stands for a build when the columns that it reads are
the same, row for row, in what they were then and in what they are now. Which columns these are must
be proved, what the inputs were then must hash to what was recorded, and Spark compares them. Where
any of it fails the model is built.

The proof: lineage says which columns reach a value or decide about rows. That these are all is
proved by binding the model once more over tables that have no other columns: it must come out the
same. A name could still mean another column there, so one that stands bare in the query is never
left out.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from threading import Lock
from typing import NamedTuple

from rocky.analysis.compilation import Compilation
from rocky.analysis.names import CompiledTables, Names
from rocky.canonical import text_hash
from rocky.language.binder.expr import WHOLE
from rocky.language.binder.query import BoundQuery, bind_text
from rocky.language.datatypes.types import StructField
from rocky.language.names import quote_name
from rocky.language.syntax.mentions import bare_names
from rocky.language.tables import Table
from rocky.ledger.provenance import InputIndexEntry, content_hash, input_hash_of
from rocky.ledger.run_records import InputRecord, ModelExecution, ModelStatus
from rocky.plan.steps import RunPlan, Step
from rocky.run.checksums import missing_file
from rocky.run.engine.failures import STEP_ERRORS
from rocky.run.engine.protocol import Engine
from rocky.run.prepare.known_inputs import KnownInput, MadeFrom
from rocky.run.prepare.pins import PinnedTable, has_distinctive_hash, identify_table
from rocky.run.reuse.decisions import FindEntries
from rocky.store.delta.schema import same_columns
from rocky.store.delta.snapshot import Snapshot


def _cut_tables(
    compilation: Compilation, reader: str, kept: Mapping[str, frozenset[str]]
) -> CompiledTables:
    """The tables of a project as one model sees them, some with few of their columns."""

    def cut(table: Table) -> Table:
        columns = kept.get(table.name.lower())
        if columns is None:
            return table
        fields = tuple(field for field in table.fields if field.name.lower() in columns)
        return replace(table, fields=fields)

    project = compilation.project
    return CompiledTables(project, compilation.models, Names(project), reader, cut)


def consumed_columns(
    compilation: Compilation, key: str, tables: Mapping[str, Iterable[str]]
) -> dict[str, frozenset[str]] | None:
    """The columns that a model reads of some tables, in lower case; None when nobody can tell.

    `tables` are the models or seeds in question, by name, each with the columns that it has or had.
    """
    model, ir = compilation.project.models[key], compilation.models[key]
    if model.is_python or not ir.known or ir.unknowns:
        return None
    bare = bare_names(model.sql)
    if bare is None:
        return None
    consumed = {name.lower(): frozenset[str]() for name in tables}
    read = {(edge.table, edge.column) for column in ir.columns for edge in column.edges}
    read |= {(each.table, each.column) for each in ir.influences}
    for table, column in read:
        if table.lower() in consumed:
            consumed[table.lower()] |= {column.lower()}
    for name, columns in tables.items():
        if bare & ({column.lower() for column in columns} - consumed[name.lower()]):
            return None
    whole = bind_text(model.sql, _cut_tables(compilation, key, {}))
    cut = bind_text(model.sql, _cut_tables(compilation, key, consumed))
    return consumed if _comes_out_the_same(whole, cut) else None


def _comes_out_the_same(whole: BoundQuery, cut: BoundQuery) -> bool:
    return _is_whole(whole) and _is_whole(cut) and _meaning(whole) == _meaning(cut)


def _is_whole(bound: BoundQuery) -> bool:
    if not bound.known or bound.has_errors or bound.binding is None:
        return False
    return not bound.binding.unknowns


def _meaning(bound: BoundQuery) -> tuple[object, ...]:
    """The columns of a query with where they come from, and what shapes its rows."""
    binding = bound.binding
    assert binding is not None
    return (
        [
            (
                each.name,
                each.type,
                each.nullable,
                {(binding.origins[(source & WHOLE) >> 3], source & 7) for source in each.sources},
            )
            for each in bound.columns
        ],
        {(binding.origins[at], role) for at, role in binding.influences},
        binding.volatile,
    )


class _Changed(NamedTuple):
    """A table that a model reads, as it was and as it is."""

    name: str
    before: PinnedTable
    now: PinnedTable

    def columns(self) -> set[str]:
        return {field.name for each in self[1:] for field in each.snapshot.schema}


class ColumnCutoff:
    """Compares columns on Spark. Threads may share it."""

    def __init__(self, plan: RunPlan, engine: Engine) -> None:
        self._plan = plan
        self._engine = engine
        self._hashes: dict[tuple[str, int, frozenset[str]], str] = {}
        self._lock = Lock()

    def find(
        self, step: Step, made_from: MadeFrom, last: ModelExecution, entries: FindEntries
    ) -> InputIndexEntry | None:
        """What the model's last good execution left, if it would come out the same now."""
        if (
            last.status not in (ModelStatus.SUCCESS, ModelStatus.REUSED)
            or last.input_hash is None
            or last.skip_hash != made_from.fingerprints.skip_hash
        ):
            return None
        found = entries([last.input_hash]).get(last.input_hash)
        changed = _changed_tables(made_from, last) if found is not None else None
        if not changed or not self._was_made_from(step, made_from, last, changed):
            return None
        consumed = consumed_columns(
            self._plan.compilation, step.key, {each.name: each.columns() for each in changed}
        )
        if consumed is None:
            return None
        equal = all(self._is_equal(each, consumed[each.name.lower()]) for each in changed)
        return found if equal else None

    def _was_made_from(
        self, step: Step, made_from: MadeFrom, last: ModelExecution, changed: list[_Changed]
    ) -> bool:
        """Whether the inputs as they are now, but for the tables as they were, are the last's."""
        before = {each.name: each.before for each in changed}
        documents = []
        for each in made_from.inputs:
            identity, was = each.identity, before.get(each.name)
            if was is not None:
                identity = identify_table(was.table.name, was.snapshot)
            assert identity is not None
            documents.append(identity.document())
        target = self._plan.project.models[step.key].target.full_name
        return last.input_hash == input_hash_of(made_from.fingerprints.skip_hash, target, documents)

    def _is_equal(self, changed: _Changed, columns: frozenset[str]) -> bool:
        """Whether some columns hold the same rows before and now."""
        before, now = changed.before.snapshot, changed.now.snapshot
        same = same_columns(_fields(before, columns), _fields(now, columns))
        if before.rows != now.rows or not same or len(_fields(now, columns)) != len(columns):
            return False
        if not columns:
            return True
        if not has_distinctive_hash(_fields(now, columns)):
            return False
        try:
            return self._hash(changed.before, columns) == self._hash(changed.now, columns)
        except STEP_ERRORS:
            # What can be built can be built without this; what cannot says why when it is built.
            return False

    def _hash(self, pinned: PinnedTable, columns: frozenset[str]) -> str:
        key = pinned.table.name, pinned.snapshot.version, columns
        with self._lock:
            known = self._hashes.get(key)
        if known is None:
            known = self._compute(pinned, columns)
            with self._lock:
                self._hashes[key] = known
        return known

    def _compute(self, pinned: PinnedTable, columns: frozenset[str]) -> str:
        said = f"{pinned.table.name} {pinned.snapshot.version} {sorted(columns)}"
        view = f"rocky_columns_{text_hash(said)[:16]}"
        listed = ", ".join(map(quote_name, sorted(columns)))
        views = self._engine.views
        views.bind_table(view, pinned.table, pinned.snapshot)
        try:
            frame = self._engine.frame(f"SELECT {listed} FROM {quote_name(view)}")  # noqa: S608 - names are quoted
            return self._engine.rows_hash(frame)
        finally:
            views.unbind([view])


def _changed_tables(made_from: MadeFrom, last: ModelExecution) -> list[_Changed] | None:
    """The tables that are not what they were; None when they cannot be compared."""
    before = {each.name.lower(): each for each in last.inputs}
    names = {each.name.lower() for each in made_from.inputs}
    if names != before.keys() or len(names) != len(made_from.inputs):
        return None
    changed: list[_Changed] = []
    for each in made_from.inputs:
        record = before[each.name.lower()]
        if each.identity is None or each.identity.value == record.identity:
            continue
        found = _as_it_was(each, record)
        if found is None or each.pinned is None:
            return None
        changed.append(_Changed(each.name, found, each.pinned))
    return changed


def _as_it_was(known: KnownInput, record: InputRecord) -> PinnedTable | None:
    """A table at the version that was read, with all its files. Raises StoreUnreadable."""
    pinned, version = known.pinned, record.version
    if pinned is None or record.target != pinned.table.name:
        return None
    if version is None or not version.isdigit():
        return None
    snapshot = pinned.table.snapshot(int(version))
    if (
        snapshot is None
        or content_hash(file.address for file in snapshot.files) != record.identity
        or missing_file(pinned.table, snapshot) is not None
    ):
        return None
    return PinnedTable(pinned.table, snapshot)


def _fields(snapshot: Snapshot, columns: frozenset[str]) -> list[StructField]:
    """Those of some columns that a table has, with their types."""
    found = [field for field in snapshot.schema if field.name.lower() in columns]
    return sorted(found, key=lambda field: field.name.lower())
