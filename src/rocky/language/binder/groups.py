"""Groups: over which rows aggregates end tags, by which keys, and how large a group surely is.

A number about a group of one is the value of that one. What is noted here is what a query says of
its groups: whether that is enough, whoever knows the tags decides.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from sqlglot import exp

from rocky.language.binder.expr import WHOLE, Column, Sources
from rocky.language.binder.shares import Shares
from rocky.language.functions.tag_rules import ENDS, KEEPS

_COUNTS: Final = frozenset({"count", "count_if"})
_HOW_MANY: Final = frozenset({"count", "approx_count_distinct"})
_ABOVE: Final = {exp.GTE: 0, exp.GT: 1, exp.EQ: 0}
_BELOW: Final = {exp.LTE: 0, exp.LT: 1, exp.EQ: 0}
IsCount = Callable[[Any], bool]


class Group:
    """The groups of one SELECT: keys by the sources that keep their tags, and what ends in them.

    `ended` has the origins with the calls that end their tags. `floors` are how many rows a group
    has at least, for each reading of the SELECT, of which the `last` are read by no other.
    """

    __slots__ = ("ended", "floors", "keys", "last")

    def __init__(self, keys: list[list[int]], ended: dict[int, exp.Expr]) -> None:
        self.keys = keys
        self.ended = ended
        self.floors = [0]
        self.last = {0}

    @property
    def floor(self) -> int:
        """How many rows each group surely has wherever it is read."""
        return min(self.floors[each] for each in self.last)

    def placed(
        self, span: Callable[[exp.Expr], tuple[int, int] | None]
    ) -> tuple[list[list[int]], int, list[tuple[int, int, int]]]:
        """Keys, floor and the origins that end, each with the place of its call; -1 for none."""
        ended = [(each, *(span(self.ended[each]) or (-1, -1))) for each in sorted(self.ended)]
        return self.keys, self.floor, ended


class Groups:
    """The groups of one query text in which tags end."""

    __slots__ = ("_counts", "calls", "found")

    def __init__(self) -> None:
        # Calls that end tags, of the SELECT that is being bound and of those around it.
        self.calls: list[tuple[exp.Expr, Sources]] = []
        self.found: list[Group] = []
        # Columns that are the number of rows of a group, by identity; which reading of it each is.
        self._counts: dict[int, tuple[Group, int]] = {}

    def note_call(self, node: exp.Expr, sources: Sources, effect: int) -> None:
        """Note a call that ends tags: only aggregates do."""
        if effect == ENDS:
            self.calls.append((node, sources))

    def note(
        self, calls: Sequence[tuple[exp.Expr, Sources]], keys: Iterable[Sources], shares: Shares
    ) -> Group | None:
        """Note the groups of these keys, if calls over them end a tag that no other call ended."""
        ended: dict[int, exp.Expr] = {}
        for node, sources in calls:
            if _tells_values(node):
                for each in sources:
                    if shares.way_of(each).effect != ENDS:
                        ended.setdefault((each & WHOLE) >> 3, node)
        if not ended:
            return None
        kept = [
            [each & WHOLE for each in sorted(key) if shares.way_of(each).effect == KEEPS]
            for key in keys
        ]
        group = Group([each for each in kept if each], ended)
        if not group.keys:
            return None
        self.found.append(group)
        return group

    def count_by(self, group: Group, column: Column) -> None:
        """Note that a column is the number of rows of a group."""
        self._counts[column.ident] = group, 0

    def read_again(self, renewed: dict[int, int]) -> None:
        """Note that a CTE is read: new identities of columns by old ones."""
        readings: dict[int, int] = {}
        for old, new in renewed.items() if self._counts else ():
            if old in self._counts:
                group, before = self._counts[old]
                if id(group) not in readings:
                    readings[id(group)] = len(group.floors)
                    group.floors.append(group.floors[before])
                    group.last.discard(before)
                    group.last.add(readings[id(group)])
                self._counts[new] = group, readings[id(group)]

    def filter(self, condition: Any, find: Callable[[Any], Column | None]) -> None:
        """Note what a WHERE over counts says; `find` gives the column that a node names."""
        if not self._counts:
            return
        seen: dict[int, tuple[Group, int]] = {}
        for node in condition.find_all(exp.Column):
            column = find(node)
            if column is not None and column.ident in self._counts:
                group, reading = self._counts[column.ident]
                seen[id(node)] = group, reading
        for group, reading in set(seen.values()):
            mine = {at for at, of in seen.items() if of == (group, reading)}
            floor = lower_bound(condition, lambda node: id(node) in mine)  # noqa: B023 - called here
            group.floors[reading] = max(group.floors[reading], floor)


def is_count(node: Any) -> bool:
    """Whether an expression is a number of rows of its group, or of some of them."""
    if node.__class__ is exp.Filter:
        node = node.args["this"]
    return node.__class__ is exp.Anonymous and node.name.lower() in _COUNTS


def lower_bound(node: Any, counts: IsCount) -> int:
    """How many rows there are at least where a condition over their number holds; 0 for unknown."""
    kind, args = node.__class__, node.args
    if kind is exp.Paren:
        return lower_bound(args["this"], counts)
    if kind is exp.And or kind is exp.Or:
        sides = (lower_bound(args["this"], counts), lower_bound(args["expression"], counts))
        return max(sides) if kind is exp.And else min(sides)
    if kind is exp.Between and counts(args["this"]):
        return _number(args["low"])
    for one, other, more in (("this", "expression", _ABOVE), ("expression", "this", _BELOW)):
        if kind in more and counts(args[one]):
            return _number(args[other], more[kind])
    return 0


def _number(node: Any, more: int = 0) -> int:
    """A whole number that is written, and so many more; 0 for anything else."""
    written = node.args["this"] if node.__class__ is exp.Literal else ""
    return int(written) + more if written.isdigit() and not node.args["is_string"] else 0


def _tells_values(node: exp.Expr) -> bool:
    """Whether a call over one row tells its value: how many there are of a column does not."""
    if node.__class__ is not exp.Anonymous or node.name.lower() not in _HOW_MANY:
        return True
    given = list(node.args["expressions"])
    if given and given[0].__class__ is exp.Distinct:
        given = given[0].args["expressions"]
    return not all(each.__class__ in (exp.Column, exp.Star) for each in given)
