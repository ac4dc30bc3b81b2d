"""Frames of a Python model: which columns a call, a variable or a parameter of its code has.

They are those of the plan that its code built last. The text may be newer, or half written: a call
that stands in it as it stood is found again at its place, shifted by the edit. Of a call that the
plan does not know, only those that keep the columns of their frame are looked through.
"""

import ast
from collections import Counter
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import cached_property
from itertools import accumulate
from os.path import commonprefix
from typing import Final, NamedTuple

from rocky.analysis.python_plans import PlanFrame, PythonPlan
from rocky.diagnostics.diagnostic import Span
from rocky.ide.python_tree import PythonTree
from rocky.language.datatypes.text import decode_type
from rocky.language.datatypes.types import DataType
from rocky.language.names import split_name
from rocky.project import ModelFile
from rocky.project.call_places import Site
from rocky.project.python_models import inputs_of

GROUPS: Final = frozenset({"groupBy", "groupby", "rollup", "cube", "pivot"})
"""Calls after which the columns of the frame before them can still be named."""
_KEEPING: Final = GROUPS | {
    "alias", "cache", "coalesce", "distinct", "dropDuplicates", "drop_duplicates", "dropna",
    "filter", "hint", "limit", "offset", "orderBy", "persist", "repartition", "sample", "sort",
    "sortWithinPartitions", "unpersist", "where",
}  # fmt: skip


class FrameColumn(NamedTuple):
    """A column of a frame: by its frame's number and its own place there."""

    frame: int
    at: int
    name: str
    type: DataType
    nullable: bool
    hidden: bool = False


class PlannedModel(NamedTuple):
    """A Python model as its plan was built, and that plan."""

    model: ModelFile
    plan: PythonPlan


class PlanFrames:
    """The frames of one plan, in the text that it was built from."""

    def __init__(self, planned: PlannedModel) -> None:
        self.model = planned.model
        self.plan = planned.plan
        self.tree = PythonTree(planned.model.text)
        self.frames: list[PlanFrame] = planned.plan.frames
        self._columns: dict[int, tuple[FrameColumn, ...]] = {}

    @cached_property
    def by_call(self) -> dict[Span, int]:
        """Frames by the places of the calls that give them, in the model's own file."""
        found: dict[Span, int] = {}
        for number, frame in enumerate(self.frames):
            for each in frame.calls:
                site = Site(*self.plan.sites[each])
                if site.path == self.model.path:
                    found[self.tree.site_span(site)] = number
        return found

    @cached_property
    def by_words(self) -> dict[str, int]:
        """The same by what the calls say, where no two say the same."""
        said = [(self.tree.text[span.start : span.end], at) for span, at in self.by_call.items()]
        counts = Counter(words for words, _ in said)
        return {words: at for words, at in said if counts[words] == 1}

    @cached_property
    def by_parameter(self) -> dict[str, int]:
        """The frames that are tables, by the parameters that get them."""
        names = {split_name(self.frames[at].name.lower()): at for at in self.tables}
        return {
            each.parameter: names[each.parts]
            for each in inputs_of(self.model)
            if each.parts in names
        }

    @cached_property
    def tables(self) -> list[int]:
        """The frames that are tables."""
        return [at for at, each in enumerate(self.frames) if not each.inputs and not each.calls]

    @cached_property
    def by_name(self) -> dict[str, int]:
        """Frames by their names in the SQL."""
        return {frame.name: at for at, frame in enumerate(self.frames)}

    def columns(self, number: int) -> tuple[FrameColumn, ...]:
        """The columns of a frame, hidden ones included."""
        found = self._columns.get(number)
        if found is None:
            found = self._columns[number] = tuple(self._worked_out(number))
        return found

    def visible(self, number: int) -> tuple[FrameColumn, ...]:
        return tuple(each for each in self.columns(number) if not each.hidden)

    def named(self, number: int, name: str) -> FrameColumn | None:
        """The one column of a frame that has a name."""
        key = name.lower()
        found = [each for each in self.visible(number) if each.name.lower() == key]
        return found[0] if len(found) == 1 else None

    def below(self, column: FrameColumn) -> FrameColumn | None:
        """The column of an input that a column is; None for one that is made in its frame."""
        frame = self.frames[column.frame]
        if column.at < frame.kept:
            return self.columns(frame.inputs[0])[column.at]
        own = frame.columns[column.at - frame.kept]
        return self.columns(frame.inputs[own.input])[own.at] if own.input >= 0 else None

    def root(self, column: FrameColumn) -> FrameColumn:
        """The column where it got its name: of a table, or of the frame that made it."""
        while True:
            below = self.below(column)
            if below is None or below.name != column.name:
                return column
            column = below

    def _worked_out(self, number: int) -> Iterable[FrameColumn]:
        frame = self.frames[number]
        for kept in self.columns(frame.inputs[0])[: frame.kept] if frame.kept else ():
            yield kept._replace(frame=number)
        for at, each in enumerate(frame.columns, frame.kept):
            below = self.columns(frame.inputs[each.input])[each.at] if each.input >= 0 else None
            name = each.name or (below.name if below is not None else "")
            kind = below.type if below is not None and not each.type else decode_type(each.type)
            yield FrameColumn(number, at, name, kind, each.nullable, each.hidden)


def _kept_parts(old: str, new: str) -> list[tuple[int, int, int]]:
    """The parts that two texts have in common: where in each, and how long."""
    if old == new:
        return [(0, 0, len(old))]
    lines = old.splitlines(keepends=True), new.splitlines(keepends=True)
    starts = [[0, *accumulate(map(len, each))] for each in lines]
    found: list[tuple[int, int, int]] = []
    at = (0, 0)
    blocks = SequenceMatcher(None, *lines, autojunk=False).get_matching_blocks()
    for first, second, count in blocks:
        begin = starts[0][first], starts[1][second]
        length = starts[0][first + count] - begin[0]
        gap = old[at[0] : begin[0]], new[at[1] : begin[1]]
        head = len(commonprefix(gap))  # noqa: RUF071 - letters are meant
        tail = len(commonprefix([each[head:][::-1] for each in gap]))  # noqa: RUF071 - as above
        if found:
            found[-1] = (*found[-1][:2], found[-1][2] + head)
        elif head:
            found.append((0, 0, head))
        found.append((begin[0] - tail, begin[1] - tail, length + tail))
        at = begin[0] + length, begin[1] + length
    return found


class FramesInText:
    """The frames of a plan in a text that may be another than the plan's."""

    def __init__(self, frames: PlanFrames, tree: PythonTree) -> None:
        self.frames = frames
        self.tree = tree
        self._kept = _kept_parts(frames.model.text, tree.text)

    def shifted(self, span: Span) -> Span | None:
        """A span of the plan's text in this one; None for one that was edited."""
        for old, new, length in self._kept:
            if old <= span.start and span.end <= old + length:
                return Span(span.start + new - old, span.end + new - old)
        return None

    @cached_property
    def by_call(self) -> dict[Span, int]:
        """Frames by the places of calls in this text."""
        found = ((self.shifted(span), at) for span, at in self.frames.by_call.items())
        return {span: at for span, at in found if span is not None}

    def frame_of(self, node: ast.AST, depth: int = 0) -> int | None:
        """The frame that an expression is, by its number; None where that is not known."""
        if depth > _MOST_STEPS:
            return None
        if isinstance(node, ast.Name):
            given = self.assigned(node)
            if given is not None:
                return self.frame_of(given, depth + 1)
            return self.frames.by_parameter.get(node.id)
        if not isinstance(node, ast.Call):
            return None
        span = self.tree.span(node)
        known = self.by_call.get(span)
        if known is None:
            known = self.frames.by_words.get(self.tree.text[span.start : span.end])
        if known is not None:
            return known
        if isinstance(node.func, ast.Attribute) and node.func.attr in _KEEPING:
            return self.frame_of(node.func.value, depth + 1)
        return None

    def assigned(self, name: ast.Name) -> ast.expr | None:
        """What a variable was given last before a place, by a plain assignment there."""
        best: ast.Assign | None = None
        here = self._function(name)
        for node in self.tree.assignments:
            target = node.targets[0]
            if not isinstance(target, ast.Name) or target.id != name.id:
                continue
            before = (node.end_lineno or 0) < name.lineno or target is name
            if before and self._function(node) is here:
                best = node
        return best.value if best is not None else None

    def _function(self, node: ast.AST) -> ast.AST | None:
        functions = ast.FunctionDef | ast.Lambda
        return next((at for at in self.tree.enclosing(node) if isinstance(at, functions)), None)


_MOST_STEPS: Final = 200
"""How far variables and calls are followed: code that goes in circles ends there."""
