"""The diagram: every cell's outcome, stored as rows that share what they have in common.

A call is looked up one argument at a time: a row has one place per class, which names the next
row or, after the last argument, the outcome. Equal rows are stored once, so that the hundred
functions taking one string cost one row.
"""

import itertools
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from rocky.language.functions.templates import CLASS_TEXTS
from tools.function_catalogue.analyser import Complaint
from tools.function_catalogue.facts import ArityFacts, Cell, FunctionFacts, cell_of
from tools.function_catalogue.fitting import by_cell, fit_null_rules, fit_templates

CLASSES = range(len(CLASS_TEXTS))
UNKNOWN = 0
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_MISMATCH = "DATATYPE_MISMATCH."


@dataclass(slots=True)
class Pool:
    """Values stored once, each under its place."""

    values: list[Any] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)

    def add(self, value: Any) -> int:
        key = json.dumps(value)
        if key not in self.places:
            self.places[key] = len(self.values)
            self.values.append(value)
        return self.places[key]


class Diagram:
    """All functions' outcomes. Outcome 0 stands for what Spark did not tell."""

    def __init__(self) -> None:
        self.templates, self.null_rules, self.refusals = Pool(), Pool(), Pool()
        self.outcomes, self.rows = Pool(), Pool()
        self.outcomes.add(None)

    def accepted(self, template: str, rule: str) -> int:
        place = self.templates.add(json.loads(template)), self.null_rules.add(json.loads(rule))
        return self.outcomes.add([*place])

    def refused(self, complaint: Complaint, argument: int | None) -> int:
        ordinal = complaint.parameters.get("paramIndex")
        if ordinal in _ORDINALS:
            argument = _ORDINALS.index(ordinal)
        required = complaint.parameters.get("requiredType", "")
        return self.outcomes.add([self.refusals.add([complaint.condition, argument, required])])


class ArityDiagram:
    """The outcomes of one function with one number of arguments."""

    def __init__(self, diagram: Diagram, facts: ArityFacts, count: int) -> None:
        self.diagram = diagram
        self.facts = facts
        self.count = count
        cells = by_cell(facts.observations)
        self.templates = fit_templates(cells)
        self.rules = fit_null_rules(cells)
        self.unfitted = [
            cell for cell in cells if cell not in self.templates or cell not in self.rules
        ]
        self.taken = {cell: self._outcome(cell) for cell in cells}
        base = cell_of(facts.base)
        self.base = base if base is not None else ()
        self.joint = Counter(
            (complaint.condition, complaint.parameters.get("requiredType", ""))
            for cell, complaint in facts.complaints.items()
            if sum(a != b for a, b in zip(cell, self.base, strict=True)) > 1
        )
        self.refusals: dict[Cell, int] = {}

    def _outcome(self, cell: Cell) -> int:
        if cell not in self.templates:
            return UNKNOWN
        return self.diagram.accepted(self.templates[cell], self.rules.get(cell, "true"))

    def root(self) -> int:
        """The row (or, without arguments, the outcome) a look-up begins with."""
        if self.count <= 2:
            return self._rows(())
        if self.count == 3:
            return self._rows(())
        return self._long_rows()

    def _rows(self, prefix: Cell) -> int:
        if len(prefix) == self.count:
            return self.outcome(prefix)
        return self.diagram.rows.add([self._rows((*prefix, at)) for at in CLASSES])

    def outcome(self, cell: Cell) -> int:
        """What becomes of a call, asked or inferred from the pairs that were."""
        known = self.taken.get(cell)
        if known is not None:
            return known
        if cell in self.facts.refused:
            return self._refusal(cell)
        return self._inferred(cell)

    # -- three arguments: from pairs --------------------------------------------------------

    def _inferred(self, cell: Cell) -> int:
        pairs = [
            self._pair(cell, one, two) for one, two in itertools.combinations(range(self.count), 2)
        ]
        for one, two in itertools.combinations(range(self.count), 2):
            if not self._compatible(one, two, cell):
                return self._refusal(self._pair(cell, one, two))
        return self._combined({self.taken[pair] for pair in pairs if pair in self.taken})

    def _combined(self, outcomes: set[int]) -> int:
        """The outcome of changes that were asked one by one; unknown when they contradict."""
        base = self.taken.get(self.base)
        outcomes = {outcome for outcome in outcomes if outcome != base} or outcomes
        if not outcomes or UNKNOWN in outcomes:
            return UNKNOWN
        if len(outcomes) == 1:
            return outcomes.pop()
        known = [self.diagram.outcomes.values[outcome] for outcome in outcomes]
        usual = self.diagram.outcomes.values[base] if base is not None else None
        templates = {template for template, _ in known}
        if usual is not None and len(templates) > 1:
            templates.discard(usual[0])
        if len(templates) > 1:
            return UNKNOWN
        rules = {rule for _, rule in known}
        always = self.diagram.null_rules.add(True)
        rule = rules.pop() if len(rules) == 1 else always
        return self.diagram.outcomes.add([templates.pop(), rule])

    def _pair(self, cell: Cell, one: int, two: int) -> Cell:
        return tuple(which if at in (one, two) else self.base[at] for at, which in enumerate(cell))

    def _alone(self, at: int, which: int) -> Cell:
        return (*self.base[:at], which, *self.base[at + 1 :])

    def _mended_by(self, at: int, which: int) -> set[int]:
        """The positions whose change makes Spark take a class it refuses beside the base."""
        return {
            other
            for cell in self.taken
            if cell[at] == which
            for other in range(self.count)
            if other != at and cell[other] != self.base[other]
        }

    def _compatible(self, one: int, two: int, cell: Cell) -> bool:
        if self._pair(cell, one, two) in self.taken:
            return True
        for at, other in ((one, two), (two, one)):
            if self._alone(at, cell[at]) in self.taken:
                continue
            mended = self._mended_by(at, cell[at])
            if mended and other not in mended:
                return True
        return False

    # -- more arguments: from single positions ----------------------------------------------

    def _long_rows(self) -> int:
        memo: dict[tuple[int, int], int] = {}
        base = self.taken.get(self.base, UNKNOWN)

        def rows(depth: int, state: int) -> int:
            if depth == self.count:
                return state
            if (depth, state) not in memo:
                memo[depth, state] = self.diagram.rows.add(
                    [rows(depth + 1, self._joined(state, depth, at, base)) for at in CLASSES]
                )
            return memo[depth, state]

        return rows(0, base)

    def _joined(self, state: int, depth: int, at: int, base: int) -> int:
        if state == UNKNOWN or len(self.diagram.outcomes.values[state]) == 1:
            return state
        cell = self._alone(depth, at)
        alone = self.taken.get(cell)
        if alone is None:
            return self._refusal(cell)
        if alone in (state, base):
            return state
        if alone == UNKNOWN or state == base:
            return alone
        template, rule = self.diagram.outcomes.values[state]
        other, further = self.diagram.outcomes.values[alone]
        always = self.diagram.null_rules.add(True)
        rule = rule if further == rule else always
        return self.diagram.outcomes.add([template if template == other else other, rule])

    # -- refusals ---------------------------------------------------------------------------

    def _refusal(self, cell: Cell) -> int:
        if cell not in self.refusals:
            self.refusals[cell] = self._find_refusal(cell)
        return self.refusals[cell]

    def _find_refusal(self, cell: Cell) -> int:
        direct = self.facts.complaints.get(cell)
        if direct is not None:
            changed = [at for at in range(self.count) if cell[at] != self.base[at]]
            return self._complained(direct, changed[0] if len(changed) == 1 else None, changed)
        for at in range(self.count):
            complaint = self.facts.complaints.get(self._alone(at, cell[at]))
            if complaint is not None:
                return self._complained(complaint, at, [at])
        if self.joint:
            (condition, required), _ = self.joint.most_common(1)[0]
            complaint = Complaint(condition, {"requiredType": required})
            return self._complained(complaint, None, list(range(self.count)))
        return UNKNOWN

    def _complained(self, complaint: Complaint, at: int | None, changed: list[int]) -> int:
        """Only a complaint about types is evidence; a literal may be refused for its value."""
        about_types = complaint.condition.startswith(_MISMATCH)
        literal = any(position in self.facts.foldable for position in changed)
        if not about_types or (literal and "UNEXPECTED_INPUT_TYPE" not in complaint.condition):
            return UNKNOWN
        return self.diagram.refused(complaint, at)


def draw_function(diagram: Diagram, facts: FunctionFacts) -> tuple[list[Any], list[str]]:
    """A function's stored form, and notes on what could not be fitted."""
    arities: dict[str, Any] = {}
    notes = []
    for count, found in facts.arities.items():
        if not found.observations:
            continue
        drawn = ArityDiagram(diagram, found, count)
        foldable = {str(at): complaint.condition for at, complaint in found.foldable.items()}
        arities[str(count)] = [drawn.root(), foldable] if foldable else [drawn.root()]
        notes += [
            f"{facts.name}({', '.join(CLASS_TEXTS[at] for at in cell)})" for cell in drawn.unfitted
        ]
    counts: Any = sorted(facts.counts) if facts.unbounded_from is None else facts.unbounded_from
    return [facts.kind, int(facts.deterministic), counts, arities], notes
