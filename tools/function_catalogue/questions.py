"""Questions: how one function is probed, from its argument counts to every pair of types.

With one or two arguments every combination of classes is asked; with three, every pair of
positions around a call known to be good; with more, one position at a time and then the pairs
that may be good. The order matters: a literal-only argument found late would make every
earlier refusal look like a refusal of types.
"""

import itertools
import random
from collections.abc import Iterable

from rocky.language.datatypes.types import ArrayType, MapType
from rocky.language.functions.templates import CLASS_TEXTS, class_of
from tools.function_catalogue.analyser import Analyser
from tools.function_catalogue.facts import (
    ArityFacts,
    Cell,
    FunctionFacts,
    cell_of,
    observed,
    read_counts,
)
from tools.function_catalogue.probes import CLASSES, EXTRAS, LITERALS, NULLABLE, UNSEEN, VOID, Probe
from tools.function_catalogue.seeds import Seed

WINDOW = " OVER (ORDER BY c4)"
MANY = 15
VARIANT_LIMIT = 5000
LONG_CALL_LIMIT = 150
JOINT_COMPLAINTS = 60
# The types most functions are made for, the likeliest first.
_NATURAL = [
    CLASS_TEXTS.index(text)
    for text in (
        *("string", "int", "double", "date", "timestamp", "binary", "array<int>"),
        *("array<string>", "map<string,int>", "boolean", "bigint", "decimal(10,2)"),
        *("time(6)", "variant", "struct<a:int,b:string>"),
    )
]


class Interviewer:
    """Asks Spark about one function."""

    def __init__(self, analyser: Analyser, facts: FunctionFacts, seeds: list[Seed]) -> None:
        self.analyser = analyser
        self.facts = facts
        self.seeds = seeds
        self.suffix = ""
        self.random = random.Random(facts.name)

    def sql(self, arguments: Iterable[Probe]) -> str:
        return f"`{self.facts.name}`({', '.join(probe.sql for probe in arguments)}){self.suffix}"

    def resolves(self, calls: list[tuple[Probe, ...]]) -> list[bool]:
        texts = [self.sql(call) for call in calls]
        if self.suffix:
            return [answer is not None for answer in self.analyser.answers(texts)]
        return self.analyser.resolves(texts)

    def ask(self) -> None:
        """Fill the facts: counts, then each count, then what the function is."""
        if self.facts.kind == "window":
            self.suffix = WINDOW
        self._ask_counts()
        # Some functions understate in their complaint what their own examples show.
        for seed in self.seeds:
            if self.facts.counts and None not in [class_of(p.type) for p in seed.arguments]:
                columns = tuple(CLASSES[class_of(p.type) or 0] for p in seed.arguments)
                if self.analyser.complaint(self.sql(columns)) is None:
                    self.facts.counts |= {len(columns)}
        for count in self._probed_counts():
            found = self.facts.arities[count] = ArityFacts()
            ArityInterview(self, count, found).ask()
        self._ask_nature()

    def _ask_counts(self) -> None:
        facts = self.facts
        for count in (0, MANY):
            complaint = self.analyser.complaint(self.sql([VOID] * count))
            if complaint and complaint.condition.startswith("WRONG_NUM_ARGS"):
                facts.counts, facts.unbounded_from = read_counts(
                    complaint.parameters["expectedNum"]
                )
                if facts.counts:
                    return
            elif count == 0 and complaint is None:
                facts.unbounded_from = 0
        if facts.unbounded_from is None and not facts.counts:
            facts.unbounded_from = 0

    def _probed_counts(self) -> list[int]:
        if self.facts.unbounded_from is None:
            return sorted(self.facts.counts)
        first = self.facts.unbounded_from
        return list(range(first, max(first + 2, 4)))

    def _ask_nature(self) -> None:
        facts = self.facts
        if facts.kind == "window":
            return
        for found in facts.arities.values():
            if found.observations:
                name, facts.deterministic = self.analyser.nature(
                    self.sql(found.observations[0].arguments)
                )
                if name == "AggregateExpression":
                    facts.kind = "aggregate"
                return


class ArityInterview:
    """Asks about calls with one number of arguments."""

    def __init__(self, function: Interviewer, count: int, facts: ArityFacts) -> None:
        self.function = function
        self.count = count
        self.facts = facts

    def ask(self) -> None:
        bases = self._seed_bases() or self._found_bases()
        if not bases:
            return
        self.facts.base = bases[0]
        accepted: dict[Cell, tuple[Probe, ...]] = {}
        for base in bases[:2]:
            accepted |= self._ask_cells(base)
        self._ask_answers(accepted)
        self._ask_complaints(bases[0])
        self._ask_unseen(accepted)

    # -- where to begin ---------------------------------------------------------------------

    def _seed_bases(self) -> list[tuple[Probe, ...]]:
        bases: dict[Cell, tuple[Probe, ...]] = {}
        for seed in self.function.seeds:
            if len(seed.arguments) != self.count:
                continue
            base = self._with_columns(seed.arguments)
            cell = cell_of(base) if base is not None else None
            if base is not None and cell is not None:
                bases.setdefault(cell, base)
        return list(bases.values())

    def _with_columns(self, arguments: tuple[Probe, ...]) -> tuple[Probe, ...] | None:
        """The call with columns wherever Spark takes one, noting where it does not."""
        columns = []
        for probe in arguments:
            at = class_of(probe.type)
            if at is None:
                return None
            columns.append(CLASSES[at])
        now = tuple(
            probe if probe.sql else column for probe, column in zip(arguments, columns, strict=True)
        )
        if not self.function.resolves([now])[0]:
            return tuple(columns) if self.function.resolves([tuple(columns)])[0] else None
        for at, column in enumerate(columns):
            trial = (*now[:at], column, *now[at + 1 :])
            complaint = self.function.analyser.complaint(self.function.sql(trial))
            if complaint is None:
                now = trial
            elif now[at].foldable:
                self.facts.foldable.setdefault(at, complaint)
        return now

    def _found_bases(self) -> list[tuple[Probe, ...]]:
        for calls in (self._searched(CLASSES), self._searched(LITERALS), self._lengthened()):
            good = [
                call
                for call, taken in zip(calls, self.function.resolves(calls), strict=True)
                if taken
            ]
            if good:
                good.sort(key=_plainness)
                base = self._with_columns(good[0])
                return [base] if base is not None else []
        return []

    def _searched(self, domain: list[Probe]) -> list[tuple[Probe, ...]]:
        natural = [domain[at] for at in _NATURAL]
        shorter = self.function.facts.arities.get(self.count - 1)
        if self.count > 2 and shorter is not None and shorter.base:
            return [(*shorter.base, probe) for probe in domain if probe is not VOID]
        if self.count > 3:
            few = natural[:2] if self.count > 5 else natural[:4]
            return list(itertools.product(few, repeat=self.count))
        choice = natural if self.count == 3 else [p for p in domain if p.sql != "NULL"]
        return list(itertools.product(choice, repeat=self.count))

    def _lengthened(self) -> list[tuple[Probe, ...]]:
        """Shorter calls known to be good, with one more constant."""
        shorter = self.function.facts.arities.get(self.count - 1)
        if shorter is None or not shorter.base:
            return []
        return [(*shorter.base, probe) for probe in LITERALS if probe.sql != VOID.sql]

    # -- which types ------------------------------------------------------------------------

    def _domain(self, at: int, base: tuple[Probe, ...]) -> list[Probe]:
        if at not in self.facts.foldable:
            return CLASSES
        own = class_of(base[at].type)
        return [base[at] if which == own else probe for which, probe in enumerate(LITERALS)]

    def _ask_cells(self, base: tuple[Probe, ...]) -> dict[Cell, tuple[Probe, ...]]:
        domains = [self._domain(at, base) for at in range(self.count)]
        if self.count <= 2:
            return self._sorted_out(list(itertools.product(*domains)))
        singles = [
            (*base[:at], probe, *base[at + 1 :])
            for at in range(self.count)
            for probe in domains[at]
        ]
        accepted = self._sorted_out(singles)
        if self.count > 3:
            domains = [
                [p for p in domain if cell_of((*base[:at], p, *base[at + 1 :])) in accepted]
                for at, domain in enumerate(domains)
            ]
        for one, two in itertools.combinations(range(self.count), 2):
            calls = []
            for left, right in itertools.product(domains[one], domains[two]):
                call = list(base)
                call[one], call[two] = left, right
                if cell_of(tuple(call)) not in accepted:
                    calls.append(tuple(call))
            if self.count > 3:
                calls = self.function.random.sample(calls, min(len(calls), LONG_CALL_LIMIT))
            accepted |= self._sorted_out(calls)
        return accepted

    def _sorted_out(self, calls: list[tuple[Probe, ...]]) -> dict[Cell, tuple[Probe, ...]]:
        accepted: dict[Cell, tuple[Probe, ...]] = {}
        for call, taken in zip(calls, self.function.resolves(calls), strict=True):
            cell = cell_of(call)
            if cell is None:
                continue
            if taken:
                accepted[cell] = call
            else:
                self.facts.refused.add(cell)
        return accepted

    # -- what they give ---------------------------------------------------------------------

    def _ask_answers(self, accepted: dict[Cell, tuple[Probe, ...]]) -> None:
        function = self.function
        calls = list(accepted.values())
        answers = function.analyser.answers([function.sql(call) for call in calls])
        good = []
        for cell, call, answer in zip(accepted, calls, answers, strict=True):
            if answer is None:
                self.facts.refused.add(cell)
            else:
                good.append(call)
                self.facts.observations.append(observed(call, answer.field))
        variants = [variant for call in good for variant in _variants(call)]
        if len(variants) > VARIANT_LIMIT:
            variants = function.random.sample(variants, VARIANT_LIMIT)
        answers = function.analyser.answers([function.sql(call) for call in variants])
        for call, answer in zip(variants, answers, strict=True):
            if answer is not None:
                self.facts.observations.append(observed(call, answer.field))

    def _ask_unseen(self, accepted: dict[Cell, tuple[Probe, ...]]) -> None:
        """Calls with types of no class: kept apart, to measure how well rules generalise."""
        function = self.function
        calls = []
        for call in accepted.values():
            for at, probe in enumerate(call):
                if isinstance(probe.type, ArrayType | MapType):
                    calls += [
                        (*call[:at], other, *call[at + 1 :])
                        for other in UNSEEN
                        if other.type.kind == probe.type.kind
                    ]
        calls = function.random.sample(calls, min(len(calls), 60))
        answers = function.analyser.answers([function.sql(call) for call in calls])
        for call, answer in zip(calls, answers, strict=True):
            if answer is not None:
                self.facts.unseen.append(observed(call, answer.field))

    # -- what is said against them ----------------------------------------------------------

    def _ask_complaints(self, base: tuple[Probe, ...]) -> None:
        asked: list[tuple[Probe, ...]] = []
        for at in range(self.count):
            asked += [(*base[:at], probe, *base[at + 1 :]) for probe in self._domain(at, base)]
        alone = {cell for call in asked if (cell := cell_of(call)) is not None}
        taken = [
            {cell[at] for cell in alone if cell not in self.facts.refused}
            for at in range(self.count)
        ]
        joint = [
            tuple(self._domain(at, base)[which] for at, which in enumerate(cell))
            for cell in sorted(self.facts.refused - alone)
            if all(which in taken[at] for at, which in enumerate(cell))
        ]
        asked += self.function.random.sample(joint, min(len(joint), JOINT_COMPLAINTS))
        for call in asked:
            cell = cell_of(call)
            if cell in self.facts.refused and cell not in self.facts.complaints:
                complaint = self.function.analyser.complaint(self.function.sql(call))
                if complaint is not None:
                    self.facts.complaints[cell] = complaint


def _plainness(call: tuple[Probe, ...]) -> tuple[int, ...]:
    order = {at: rank for rank, at in enumerate(_NATURAL)}
    return tuple(order.get(class_of(probe.type) or 0, len(order)) for probe in call)


def _variants(call: tuple[Probe, ...]) -> list[tuple[Probe, ...]]:
    """The same classes with other nullability, and with the extras of each class."""
    nullable = [_nullable(probe) for probe in call]
    found = [(*call[:at], nullable[at], *call[at + 1 :]) for at in range(len(call))]
    if len(call) > 1:
        found.append(tuple(nullable))
    for at, probe in enumerate(call):
        if probe.foldable:
            continue
        for extra in EXTRAS:
            if class_of(extra.type) == class_of(probe.type):
                found.append((*call[:at], extra, *call[at + 1 :]))
                if len(call) > 1:
                    found.append((*nullable[:at], extra, *nullable[at + 1 :]))
    for extra in EXTRAS:
        fits = [class_of(probe.type) == class_of(extra.type) for probe in call]
        if sum(fits) > 1:
            found.append(tuple(extra if fit else p for fit, p in zip(fits, call, strict=True)))
    return found


def _nullable(probe: Probe) -> Probe:
    if probe.nullable:
        return probe
    if probe.foldable:
        return Probe(f"CAST(NULL AS {probe.type})", probe.type, nullable=True, foldable=True)
    return NULLABLE[probe.sql]


def interview(analyser: Analyser, facts: FunctionFacts, seeds: list[Seed]) -> None:
    """Ask Spark everything about one function."""
    Interviewer(analyser, facts, seeds).ask()
