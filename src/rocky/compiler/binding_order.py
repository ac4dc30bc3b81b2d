"""Which models must be bound again, and the records of all.

Every cached record is first believed, and checked against what the others say. Only where that
fails is anything bound: what failed, and those of its readers that would see a difference. A
compile in which everything holds therefore loads neither the binder nor the parser library.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module

from rocky.compiler.names import Names
from rocky.compiler.records import Record
from rocky.compiler.schemas import Schemas, is_current
from rocky.project import ModelFile


@dataclass(slots=True)
class Bound:
    """The outcome: a record for each model that could be bound, and the cycles found."""

    records: dict[str, Record] = field(default_factory=dict)
    cycles: list[list[str]] = field(default_factory=list)
    bound: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Task:
    """What binding works on. `suspects` may be stale: the rest of the records already hold."""

    models: Mapping[str, ModelFile]
    keys: Mapping[str, bytes]
    cached: Mapping[str, Record]
    names: Names
    blocked: frozenset[str]
    stale: frozenset[str]
    suspects: frozenset[str]
    jobs: int | None


def bind_models(
    models: Mapping[str, ModelFile],
    keys: Mapping[str, bytes],
    cached: Mapping[str, Record],
    names: Names,
    blocked: frozenset[str],
    jobs: int | None = None,
) -> Bound:
    """The record of every model; what the cache does not answer is bound."""
    usable = [key for key in models if key not in blocked] if blocked else list(models)
    stale = _stale(usable, models, keys, cached, names, blocked)
    if not stale:
        return Bound({key: cached[key] for key in usable})
    suspects = _with_readers(stale, usable, cached, names) if cached else stale
    outcome = Bound({key: cached[key] for key in usable if key not in suspects})
    task = Task(models, keys, cached, names, blocked, frozenset(stale), frozenset(suspects), jobs)
    _load_binder()(task, outcome)
    # In the project's order, whichever worker finished first.
    records = {key: outcome.records[key] for key in usable if key in outcome.records}
    return Bound(records, outcome.cycles, outcome.bound)


def _load_binder() -> Callable[[Task, Bound], None]:
    """The one lazy import of the compiler.

    The binder brings the parser library and the function catalogue with it: together half of what
    a compile costs in which nothing is stale.
    """
    bind_stale: Callable[[Task, Bound], None] = import_module(
        "rocky.compiler.stale_models"
    ).bind_stale
    return bind_stale


def _stale(
    usable: Iterable[str],
    models: Mapping[str, ModelFile],
    keys: Mapping[str, bytes],
    cached: Mapping[str, Record],
    names: Names,
    blocked: frozenset[str],
) -> set[str]:
    """The models whose record does not hold even if all other records do."""
    if not cached:
        return set(usable)
    believed = Schemas(models, cached)
    believed.broken |= blocked
    stale: set[str] = set()
    for key in usable:
        record = cached.get(key)
        if record is None or not is_current(record, keys[key], key, names, believed):
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
