"""What changed of one model: its columns, how they are computed, its rows, its settings."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rocky.binder.column_logic import Logic, changed_clauses
from rocky.binder.logic_digests import NO_RENAMES, Renames
from rocky.changes.change import Change
from rocky.changes.columns import compare_columns
from rocky.changes.rules import change_of
from rocky.changes.widening import loosened
from rocky.compiler.records import unpack_body
from rocky.diff.settings import compare_settings
from rocky.diff.sides import Side
from rocky.ir.model import OutputColumn

_NO_LOGIC = Logic(())


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
            found.setdefault((digest, loosened(column.type)), []).append(column.name.lower())
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
