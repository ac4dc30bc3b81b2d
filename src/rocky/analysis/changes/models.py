"""What changed of one model: its columns, how they are computed, its rows, its settings.

`Side` is one of the two compilations with what its models' texts can read. A model that is gone and
one that is new are the same under another name when their queries, columns and strategies are equal
and no other model is equal to either.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rocky.analysis.changes.change import Change, change_of
from rocky.analysis.changes.columns import compare_columns, compared_type
from rocky.analysis.changes.settings import compare_settings
from rocky.analysis.compilation import Compilation, Record, fields_of, unpack_body
from rocky.analysis.names import Names
from rocky.analysis.python_plans import PlanTables, PythonPlan, kept_plan
from rocky.language.binder.logic.digests import NO_RENAMES, Renames
from rocky.language.binder.logic.queries import Logic, changed_clauses, column_logic
from rocky.language.declared_functions import DeclaredFunction
from rocky.language.ir import ModelIr, OutputColumn
from rocky.language.tables import Table
from rocky.project import ModelFile
from rocky.project.configuration.strategies import query_width


class Side:
    """A compilation with its names. Models go by lower-case name."""

    def __init__(self, compilation: Compilation) -> None:
        self.compilation = compilation
        self.project = compilation.project
        self.names = Names(compilation.project)
        self._tables: dict[str, Table] = {}

    def model(self, key: str) -> ModelFile:
        return self.project.models[key]

    def ir(self, key: str) -> ModelIr:
        return self.compilation.models[key]

    def record(self, key: str) -> Record:
        return self.compilation.models.record(key)

    def meaning(self, parts: tuple[str, ...], reader: str) -> tuple[bool, str] | None:
        """Which table some parts of a name mean to a model: whether it is one, and its key."""
        key = self.names.model(parts, reader)
        if key is not None:
            return True, key
        found = self.names.external(parts)
        return (False, found.name.lower()) if found is not None else None

    def logic(self, key: str, renames: Renames) -> Logic:
        """How the columns of a model's query are computed, if that can be told."""
        model = self.model(key)
        plan = kept_plan(self.record(key).plan) if model.is_python else None
        if model.is_python and (plan is None or not _stands_for_code(plan, model)):
            return Logic(None, reason="code that is not SQL")
        readable = _Readable(key, self)
        if plan is None:
            found = column_logic(model.sql, readable, renames)
        else:
            found = column_logic(plan.sql, PlanTables(readable, plan), renames)
        width = query_width(model.strategy, self.record(key).columns)
        if found.columns is not None and len(found.columns) != width:
            return Logic(None, reason="a list of columns that could not be followed")
        return found

    def columns(self, parts: tuple[str, ...], reader: str, renames: Renames) -> list[str] | None:
        """The columns of the table that some parts of a name mean, as the other side calls them."""
        found = self.table(parts, reader)
        if found is None or not found.known:
            return None
        return [renames.column(found.name, field.name) for field in found.fields]

    def table(self, parts: tuple[str, ...], reader: str) -> Table | None:
        """The table that some parts of a name mean to a model."""
        key = self.names.model(parts, reader)
        if key is None:
            return self.names.external(parts)
        found = self._tables.get(key)
        if found is None:
            model = self.model(key)
            fields, known = fields_of(self.record(key))
            path = (model.target.catalog.lower(), model.target.schema.lower(), key)
            found = self._tables[key] = Table(model.name, fields, path, known)
        return found


def _stands_for_code(plan: PythonPlan, model: ModelFile) -> bool:
    """Whether the SQL of a plan is all that decides the rows of its model."""
    sure = plan.doubt is None and model.imports.irregularity is None
    return sure and plan.has_sql and not plan.gaps and not plan.unknown


class _Readable:
    """The tables one model may read, as the binder asks for them."""

    __slots__ = ("_reader", "_side")

    def __init__(self, reader: str, side: Side) -> None:
        self._reader = reader
        self._side = side

    def find(self, parts: tuple[str, ...]) -> Table | None:
        return self._side.table(parts, self._reader)

    def undeclared(self, parts: tuple[str, ...]) -> Table | None:  # noqa: ARG002 - of the protocol
        """None: in a compiled project what models read is among the sources."""
        return None

    def function(self, parts: tuple[str, ...]) -> DeclaredFunction | None:
        return self._side.names.function(parts)

    def function_names(self) -> Iterable[str]:
        return ()

    @property
    def declares_functions(self) -> bool:
        return bool(self._side.project.functions)

    def names(self) -> Iterable[str]:
        return ()


@dataclass(frozen=True, slots=True)
class Matching:
    """Models by key. `renamed` leads from keys of the base to those of the head."""

    common: tuple[str, ...]
    renamed: dict[str, str]
    removed: tuple[str, ...]
    added: tuple[str, ...]


def match_models(base: Side, head: Side) -> Matching:
    """Every model of both sides, once."""
    old, new = base.project.models, head.project.models
    gone = [key for key in old if key not in new]
    come = [key for key in new if key not in old]
    renamed = _renamed(base, gone, head, come) if gone and come else {}
    arrived = set(renamed.values())
    return Matching(
        tuple(key for key in new if key in old),
        renamed,
        tuple(key for key in gone if key not in renamed),
        tuple(key for key in come if key not in arrived),
    )


def _renamed(base: Side, gone: Iterable[str], head: Side, come: Iterable[str]) -> dict[str, str]:
    before, after = _by_identity(base, gone), _by_identity(head, come)
    return {
        keys[0]: after[identity][0]
        for identity, keys in before.items()
        if len(keys) == 1 and len(after.get(identity, ())) == 1
    }


def _by_identity(side: Side, keys: Iterable[str]) -> dict[Any, list[str]]:
    found: dict[Any, list[str]] = {}
    for key in keys:
        if key in side.compilation.models:
            record, model = side.record(key), side.model(key)
            identity = (unpack_body(record).normal, record.schema, model.strategy, model.is_python)
            found.setdefault(identity, []).append(key)
    return found


class ModelChanges(NamedTuple):
    """The changes of a model, and its columns that were renamed: old key to new key."""

    changes: tuple[Change, ...]
    renamed: dict[str, str]


def is_unchanged(base: Side, old: str, head: Side, new: str) -> bool:
    """Whether nothing of a model can have changed: its files, what it reads, what it gives."""
    one, other = base.record(old), head.record(new)
    return (
        one.key == other.key
        and one.schema == other.schema
        and one.reads == other.reads
        and one.lookups == other.lookups
        and base.model(old).target == head.model(new).target
    )


def other_reads(base: Side, old: str, head: Side, new: str, renames: Renames) -> list[str]:
    """Names that an unchanged text means other tables by: a new model can hide a source."""
    found: list[str] = []
    for parts, _ in base.record(old).lookups if old == new else ():
        one, other = base.meaning(parts, old), head.meaning(parts, new)
        if one is not None and other is not None:
            known = (one[0], renames.table(one[1]) if one[0] else one[1])
            if known != other:
                found.append(".".join(parts))
    return found


def _have_inputs_moved(base: Side, old: str, head: Side, new: str, renames: Renames) -> bool:
    """Whether a table that a model reads has other columns, or its columns in another order.

    What an unchanged text means may then have changed: a star, a NATURAL JOIN, a union by position,
    a name that a new column answers to.
    """
    one, other = base.record(old).lookups, head.record(new).lookups
    if one == other:
        return False
    faces = dict(other)
    return {parts for parts, _ in one} != set(faces) or any(
        faces[parts] != face
        and base.columns(parts, old, renames) != head.columns(parts, new, NO_RENAMES)
        for parts, face in one
    )


def has_own_changes(base: Side, old: str, head: Side, new: str) -> bool:
    """Whether the model's own files or inherited settings differ."""
    return base.record(old).key != head.record(new).key


def compare_models(base: Side, old: str, head: Side, new: str, renames: Renames) -> ModelChanges:
    """Everything that changed of a model between two sides. `renames` are those above it."""
    before, after = base.model(old), head.model(new)
    same = unpack_body(base.record(old)).normal == unpack_body(head.record(new)).normal
    moved = _have_inputs_moved(base, old, head, new, renames)
    one, other = base.ir(old), head.ir(new)
    logic = _Logics(base, old, head, new, renames)
    renamed: dict[str, str] = {}
    if not same or _have_gone_and_come(one.columns, other.columns):
        renamed = _find_renamed(one.columns, other.columns, logic)
    changes: list[Change] = []
    if before.name.lower() != after.name.lower():
        changes.append(change_of("model_renamed", None, before.name, after.name))
    # With their letters: a catalog folds them or not, a folder of a warehouse does not.
    if before.target.full_name != after.target.full_name:
        changes.append(
            change_of("target_changed", None, before.target.full_name, after.target.full_name)
        )
    complete = other.known or not one.known
    changes += compare_columns(one.columns, other.columns, renamed=renamed, complete=complete)
    hidden = other_reads(base, old, head, new, renames) if same else []
    if not same or (moved and not hidden):
        changes += _logic_changes(one.columns, other.columns, renamed, logic)
    else:
        changes += [
            change_of("rows_changed", detail=f"`{name}` is another table") for name in hidden
        ]
    if before.settings_hash != after.settings_hash:
        changes += compare_settings(before, after)
    return ModelChanges(tuple(changes), renamed)


class _Logics:
    """The logic of both sides, found when first asked for."""

    def __init__(self, base: Side, old: str, head: Side, new: str, renames: Renames) -> None:
        self._sides = ((base, old, renames), (head, new, NO_RENAMES))
        self._found: tuple[Logic, Logic] | None = None

    @property
    def both(self) -> tuple[Logic, Logic]:
        if self._found is None:
            one, other = (side.logic(key, renames) for side, key, renames in self._sides)
            self._found = (one, other)
        return self._found


def _have_gone_and_come(before: Sequence[OutputColumn], after: Sequence[OutputColumn]) -> bool:
    old, new = ({each.name.lower() for each in side} for side in (before, after))
    return bool(old - new) and bool(new - old)


def _find_renamed(
    before: Sequence[OutputColumn], after: Sequence[OutputColumn], logic: _Logics
) -> dict[str, str]:
    """Columns that are gone and new ones with the same logic and type, if no others have them."""
    if not _have_gone_and_come(before, after):
        return {}
    one, other = logic.both
    if one.columns is None or other.columns is None:
        return {}
    old, new = {each.name.lower() for each in before}, {each.name.lower() for each in after}
    gone = _by_logic(before, one.columns, new)
    come = _by_logic(after, other.columns, old)
    return {
        names[0]: come[same][0]
        for same, names in gone.items()
        if len(names) == 1 and len(come.get(same, ())) == 1
    }


def _by_logic(
    columns: Sequence[OutputColumn], digests: Sequence[bytes], elsewhere: set[str]
) -> dict[tuple[bytes, object], list[str]]:
    found: dict[tuple[bytes, object], list[str]] = {}
    for column, digest in zip(columns, digests, strict=False):
        if column.name.lower() not in elsewhere:
            found.setdefault((digest, compared_type(column.type)), []).append(column.name.lower())
    return found


def _logic_changes(
    before: Sequence[OutputColumn],
    after: Sequence[OutputColumn],
    renamed: dict[str, str],
    logic: _Logics,
) -> Iterator[Change]:
    one, other = logic.both
    old = _digests(before, one)
    new = _digests(after, other)
    doubt = one.reason or other.reason
    unsure = f"not compared in detail: {doubt}" if doubt else ""
    for column in before:
        key = column.name.lower()
        found = renamed.get(key, key)
        if found not in new or key not in old:
            continue
        if doubt or old[key] != new[found]:
            name = next(each.name for each in after if each.name.lower() == found)
            yield change_of("logic_changed", name, detail=unsure)
    if doubt:
        yield change_of("rows_changed", detail=unsure)
    elif one.rows != other.rows:
        clauses = changed_clauses(one, other)
        detail = ", ".join(clauses) or "how its parts are put together"
        yield change_of("rows_changed", detail=detail)


def _digests(columns: Sequence[OutputColumn], logic: Logic) -> dict[str, bytes]:
    """Digests by name; without any, every column has the same, and none is compared."""
    if logic.columns is None:
        return {column.name.lower(): b"" for column in columns}
    return {
        column.name.lower(): digest for column, digest in zip(columns, logic.columns, strict=False)
    }
