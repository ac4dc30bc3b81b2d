"""Pass memory: what passes over single models found, kept for as long as it still holds.

A finding about a model holds while all that the pass looked at are the same objects: files, records
and tables are never changed, only replaced. A first compile starts with an empty memory, a session
keeps one; both run the same passes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from rocky.compiler.graph import ModelGraph
from rocky.diagnostics import Diagnostic
from rocky.diagnostics.suppression import Allow, find_allows
from rocky.project import ModelFile
from rocky.project.sources import SourceTable

Seen = tuple[object, ...]
"""What a pass looked at, compared by identity."""


class Kept(NamedTuple):
    """What was found of a model, and all that was looked at."""

    seen: Seen | None
    found: tuple[Diagnostic, ...] = ()


_STALE = Kept(None)


@dataclass(frozen=True, slots=True)
class ModelPass:
    """A pass that looks at one model at a time, and at what the model refers to.

    `concerns` says whether it has anything to say of a model at all; `sees` gives what it looks at.
    """

    name: str
    concerns: Callable[[str], bool]
    sees: Callable[[str], Seen]
    find: Callable[[str], Iterable[Diagnostic]]


@dataclass(slots=True)
class PassMemory:
    """What one compile leaves to the next of the same project.

    `changed` are the models whose file or record is another since then, None for all; `same_reads`
    tells whether they read what they read before.
    """

    changed: frozenset[str] | None = None
    same_reads: bool = False
    graph: ModelGraph | None = None
    undeclared: tuple[dict[str, SourceTable], Mapping[str, str]] | None = None
    functions: tuple[Diagnostic, ...] | None = None
    portable_functions: tuple[Diagnostic, ...] | None = None
    passes: dict[str, dict[str, Kept]] = field(default_factory=dict)
    allows: dict[str, tuple[str, tuple[Allow, ...]]] = field(default_factory=dict)

    def run(self, one: ModelPass, order: Mapping[str, object]) -> Iterator[Diagnostic]:
        """What a pass finds, model by model in this order; only what does not hold is found anew.

        `order` has every model; those that are not in it are forgotten.
        """
        kept = self.passes.setdefault(one.name, {})
        sort = self.changed is not None
        for key in order if self.changed is None else self.changed:
            if key in order and one.concerns(key):
                sort = sort and key in kept
                kept.setdefault(key, _STALE)
            else:
                kept.pop(key, None)
        if self.changed is not None and not sort:
            # A model is new among those of which something is to be said.
            kept = {key: kept[key] for key in order if key in kept}
            self.passes[one.name] = kept
        for key, known in kept.items():
            seen = one.sees(key)
            if known.seen is None or not _is_same(known.seen, seen):
                known = Kept(seen, tuple(one.find(key)))  # noqa: PLW2901 - and kept
                kept[key] = known
            yield from known.found

    def allows_of(self, models: Mapping[str, ModelFile]) -> dict[str, tuple[Allow, ...]]:
        """The allows of the models that have any, by path."""
        for key in models if self.changed is None else self.changed:
            model = models.get(key)
            if model is None or not model.marked:
                self.allows.pop(key, None)
            else:
                found = find_allows(model.text, model.path, start=model.sql_offset)
                self.allows[key] = model.path, found
        return dict(self.allows.values())


def _is_same(before: Seen, now: Seen) -> bool:
    return len(before) == len(now) and all(a is b for a, b in zip(before, now, strict=True))
