"""Validity: which cached records still hold, and which models must be bound again.

A reader sees of a model its columns and the names it answers to, and nothing else: the record's
*face* is the hash of exactly that. Every cached record is first believed, and checked against the
faces it looked up. Only where that fails is anything bound: what failed, and those of its readers
that would see a difference. A compile in which everything holds loads neither the binder nor the
parser library.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from blake3 import blake3
from msgspec.msgpack import Decoder

from rocky.analysis.compilation import Record, fields_of
from rocky.analysis.names import Names
from rocky.analysis.python_plans import NO_PLANS, Plans, PlanUse, plan_holds
from rocky.language.tables import Table
from rocky.project import ModelFile
from rocky.project.cache import load_values, save_values

RECORDS: Final = "compile.bin"
_RECORDS: Final = Decoder(dict[str, Record])


def load_records(root: Path, stamp: bytes) -> dict[str, Record]:
    """The records of the last compile with the same compiler and catalogue."""
    return load_values(root, RECORDS, stamp, _RECORDS)


def save_records(root: Path, stamp: bytes, records: Mapping[str, Record]) -> bool:
    """Replace the cache. False when the folder cannot be written: the next compile is cold."""
    return save_values(root, RECORDS, stamp, dict(records))


_BROKEN = b"broken"


class NotReady(Exception):
    """A model was looked up before it was bound."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


class Schemas:
    """The schemas of bound models, unpacked when first read."""

    __slots__ = ("_models", "_records", "_tables", "broken")

    def __init__(self, models: Mapping[str, ModelFile], records: Mapping[str, Record]) -> None:
        self._models = models
        self._records = records
        self._tables: dict[str, tuple[bytes, Table]] = {}
        # Models that cannot be bound (in a cycle, or with unusable files): readable, unknown.
        self.broken: set[str] = set()

    def face_of(self, key: str) -> bytes | None:
        """The hash of all that a reader sees of a model; None when it is not bound yet."""
        if key in self.broken:
            return _BROKEN
        record = self._records.get(key)
        return record.face if record is not None else None

    def table(self, key: str) -> tuple[Table, bytes]:
        """A model as a table, and its face. Raises NotReady when it is not bound yet."""
        if key in self.broken:
            model = self._models.get(key)
            name = model.name if model is not None else key
            return Table(name, (), (key,), known=False), _BROKEN
        record = self._records.get(key)
        if record is None:
            raise NotReady(key)
        found = self._tables.get(key)
        if found is None or found[0] != record.face:
            model = self._models[key]
            fields, known = fields_of(record)
            target = model.target
            qualifier = (target.catalog.lower(), target.schema.lower(), key)
            found = (record.face, Table(model.name, fields, qualifier, known))
            self._tables[key] = found
        return found[1], found[0]


def face_of(model: ModelFile, schema: bytes) -> bytes:
    """The hash of the columns and of the names their table answers to."""
    names = f"{model.name}\0{model.target.catalog}\0{model.target.schema}\0"
    return blake3(names.encode("utf-8", "surrogatepass") + schema).digest(16)


def is_current(
    record: Record, key: bytes, reader: str, names: Names, schemas: Schemas, plans: PlanUse
) -> bool:
    """Whether a record still holds: same text and settings, and every look-up finds the same.

    `plans` says what there is for Python models: one that was bound with less is bound again.
    """
    if record.key != key or not plan_holds(record.plan, plans):
        return False
    for parts, expected in record.lookups:
        found = names.model(parts, reader)
        face = schemas.face_of(found) if found is not None else names.external_face(parts)
        if face != expected:
            return False
    return True


@dataclass(slots=True)
class BoundModels:
    """The outcome: a record for each model that could be bound, and the cycles found."""

    records: dict[str, Record] = field(default_factory=dict)
    cycles: list[list[str]] = field(default_factory=list)
    bound: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class BindTask:
    """What binding works on. `suspects` may be stale: the rest of the records already hold."""

    models: Mapping[str, ModelFile]
    keys: Mapping[str, bytes]
    cached: Mapping[str, Record]
    names: Names
    blocked: frozenset[str]
    stale: frozenset[str]
    suspects: frozenset[str]
    jobs: int | None
    plans: Plans = NO_PLANS


def find_stale(
    models: Mapping[str, ModelFile],
    keys: Mapping[str, bytes],
    cached: Mapping[str, Record],
    names: Names,
    blocked: frozenset[str],
    jobs: int | None = None,
    plans: Plans = NO_PLANS,
) -> tuple[BoundModels, BindTask | None]:
    """The records that hold as they are, and the task of binding the rest; None for nothing."""
    usable = [key for key in models if key not in blocked] if blocked else list(models)
    stale = _stale(usable, models, keys, cached, names, blocked, plans.use)
    if not stale:
        return BoundModels({key: cached[key] for key in usable}), None
    suspects = _with_readers(stale, usable, cached, names) if cached else stale
    task = BindTask(
        models, keys, cached, names, blocked, frozenset(stale), frozenset(suspects), jobs, plans
    )
    return BoundModels({key: cached[key] for key in usable if key not in suspects}), task


def _stale(
    usable: Iterable[str],
    models: Mapping[str, ModelFile],
    keys: Mapping[str, bytes],
    cached: Mapping[str, Record],
    names: Names,
    blocked: frozenset[str],
    plans: PlanUse,
) -> set[str]:
    """The models whose record does not hold even if all other records do."""
    if not cached:
        return set(usable)
    believed = Schemas(models, cached)
    believed.broken |= blocked
    stale: set[str] = set()
    for key in usable:
        record = cached.get(key)
        if record is None or not is_current(record, keys[key], key, names, believed, plans):
            stale.add(key)
    return stale


def _with_readers(
    stale: set[str], usable: Iterable[str], cached: Mapping[str, Record], names: Names
) -> set[str]:
    """The stale models and every model that reads one of them, directly or not."""
    readers: dict[str, list[str]] = {}
    for key in usable:
        if key not in stale:
            for parts, _ in cached[key].lookups:
                found = names.model(parts, key)
                if found is not None:
                    readers.setdefault(found, []).append(key)
    suspects = set(stale)
    waiting = list(stale)
    while waiting:
        for reader in readers.get(waiting.pop(), ()):
            if reader not in suspects:
                suspects.add(reader)
                waiting.append(reader)
    return suspects
