"""Layers: what each relation of a plan is in SQL, and which of its columns are which below.

A frame may have two columns of one name and still tell them apart; a query may not. So a layer
gives every column a name of its own in SQL beside the one that people see, and knows of each
which column of which input it is. `df["x"]` is found along that, by Spark's rules.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Final, NamedTuple, Protocol

from rocky.frames.fragments import Fragment
from rocky.language.datatypes.types import UNKNOWN, DataType, StructField
from rocky.language.names import quote_name


class Value(Protocol):
    """What a column holds."""

    @property
    def type(self) -> DataType: ...

    @property
    def nullable(self) -> bool: ...


class LayerColumn(NamedTuple):
    """A column: the name people see, its name in SQL, and where it comes from unchanged.

    `origin` is the input's place and the column's in it. A hidden one is in no star: what a join
    by names leaves of the other side, and what a filter may still see behind a `select`.
    """

    name: str
    sql: str
    value: Value
    origin: tuple[int, int] | None = None
    hidden: bool = False
    qualifier: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        return self.name.lower()

    @property
    def type(self) -> DataType:
        return self.value.type

    @property
    def nullable(self) -> bool:
        return self.value.nullable


@dataclass(eq=False, slots=True)
class Layer:
    """A relation in SQL: a name to read from and, unless it is a table, the query behind it.

    `known` is False where the list of columns is not complete, and `inside` tells that it stands
    in a subquery, because it reads the row around that. `clauses` are the parts of its query.
    `exposed` makes the same layer with one more, hidden column of its input, where Spark's analyser
    would. `values` are what the binder is yet to be asked about its columns, if it is.
    """

    name: str
    columns: tuple[LayerColumn, ...]
    known: bool = True
    inputs: tuple["Layer", ...] = ()
    body: Fragment | None = None
    plan_ids: set[int] = field(default_factory=set)
    exposed: Callable[["Layer", int], "Layer"] | None = None
    inside: bool = False
    clauses: Any = None
    values: "LateValues | None" = None
    _places: dict[str, list[int]] | None = field(default=None, init=False, repr=False)

    @property
    def complete(self) -> bool:
        """Whether it and all below it are known."""
        return self.known and all(each.complete for each in self.inputs)

    @property
    def visible(self) -> list[LayerColumn]:
        return [each for each in self.columns if not each.hidden]

    @property
    def fields(self) -> tuple[StructField, ...]:
        """The columns as a query that reads the layer sees them."""
        return tuple(StructField(each.sql, each.type, each.nullable) for each in self.columns)

    def named(self, name: str) -> list[int]:
        """The places of visible columns of a name; hidden ones where there is none."""
        places = self._places
        if places is None:
            places = self._places = {}
            for at, each in enumerate(self.columns):
                places.setdefault(each.key, []).append(at)
        every = places.get(name.lower(), [])
        return [at for at in every if not self.columns[at].hidden] or list(every)

    def qualified(self, parts: Sequence[str]) -> list[int]:
        """The places of columns of the last part's name that answer to the parts before it."""
        *path, name = (each.lower() for each in parts)
        tail = tuple(path)
        return [at for at in self.named(name) if self.columns[at].qualifier[-len(tail) :] == tail]


class LateValues:
    """What the columns of a layer hold, by its query: asked of the binder when first needed.

    Names follow from the code, so most layers of a plan are never asked about.
    """

    def __init__(self, ask: Callable[[], Sequence[Value]], count: int) -> None:
        self._ask = ask
        self._count = count

    @cached_property
    def found(self) -> list[StructField]:
        given = self._ask()
        if len(given) != self._count:
            # The binder reports why.
            return [StructField("", UNKNOWN, True)] * self._count
        # Not the binder's own columns: these hold on to the tree of the query.
        return [StructField("", each.type, each.nullable) for each in given]

    @property
    def is_found(self) -> bool:
        return "found" in self.__dict__


class LateValue(NamedTuple):
    """What one column of a layer holds."""

    values: LateValues
    at: int

    @property
    def type(self) -> DataType:
        return self.values.found[self.at].type

    @property
    def nullable(self) -> bool:
        return self.values.found[self.at].nullable


def find_values(top: Layer) -> None:
    """Ask about a layer and those below it, from the bottom up.

    Were each asked by its reader, the stack would be as deep as the plan.
    """
    done: set[int] = set()
    stack: list[tuple[Layer, bool]] = [(top, False)]
    while stack:
        layer, opened = stack.pop()
        values = layer.values
        if opened:
            assert values is not None
            _ = values.found
        elif id(layer) not in done and not (values is not None and values.is_found):
            done.add(id(layer))
            if values is not None:
                stack.append((layer, True))
            stack.extend((each, False) for each in layer.inputs)


class Found(NamedTuple):
    """Where `df["x"]` is among a layer's columns; `seen` tells that the frame itself is below.

    `places` are several where the name is ambiguous. `frame` is the layer of the frame.
    """

    places: tuple[int, ...] = ()
    depth: int = 0
    seen: bool = False
    frame: Layer | None = None


_NOT_FOUND: Final = Found()


def find_by_plan(layer: Layer, plan_id: int, name: str, depth: int = 0) -> Found:
    """A column of the frame with that id, followed up to `layer`.

    Where two inputs have it the nearer one wins, and two that are as near are ambiguous.
    """
    if plan_id in layer.plan_ids:
        return Found(tuple(layer.named(name)), depth, seen=True, frame=layer)
    best = _NOT_FOUND
    for index, each in enumerate(layer.inputs):
        below = find_by_plan(each, plan_id, name, depth + 1)
        if not below.seen:
            continue
        places = tuple(
            at
            for at, column in enumerate(layer.columns)
            if column.origin is not None
            and column.origin[0] == index
            and column.origin[1] in below.places
        )
        here = below._replace(places=places)
        best = _nearer(best, here)
    return best


def _nearer(one: Found, other: Found) -> Found:
    if not other.places:
        return one if one.seen else other
    if not one.places or other.depth < one.depth:
        return other
    if one.depth < other.depth:
        return one
    return one._replace(places=(*one.places, *other.places))


def every_layer(top: Layer) -> Iterator[Layer]:
    """The layers that a layer is made of, each once, inputs before their readers."""
    done: set[int] = set()
    stack: list[tuple[Layer, bool]] = [(top, False)]
    while stack:
        layer, opened = stack.pop()
        if opened:
            yield layer
        elif id(layer) not in done:
            done.add(id(layer))
            stack.append((layer, True))
            stack.extend((each, False) for each in reversed(layer.inputs))


# Words that Spark or the parser reads as something else where a column's name could stand.
_KEYWORDS: Final = frozenset(
    "all alter and anti any array as asc authorization between both by case cast check collate"
    " column constraint create cross cube current current_date current_time current_timestamp"
    " current_user delete desc describe distinct drop else end escape except exists extract"
    " false fetch filter for foreign from full function glob grant group grouping having if"
    " ilike in inner insert intersect interval into is join lateral leading left like limit"
    " local lock lower map match merge minus natural not notnull null offset on only or order"
    " outer over overlaps partition partitioned_by percent pivot position primary qualify range"
    " references regexp replace returning revoke right rlike rollback rollup row rows select"
    " semi serdeproperties session_user set show some sort struct substring table tablesample"
    " then to trailing transform trim true truncate uncache union unique unknown unpivot update"
    " upper user using values when where window with within xor".split()
)


@lru_cache(maxsize=4096)
def written(name: str) -> str:
    """A name as the SQL of a plan has it."""
    plain = name.isidentifier() and name.isascii() and name.lower() not in _KEYWORDS
    return name if plain else quote_name(name)


def unique_names(names: Sequence[tuple[str, bool]]) -> list[str]:
    """A name in SQL for each column, given its own and whether it is hidden: no two are one."""
    seen: dict[str, int] = {}
    for name, hidden in names:
        if not hidden:
            seen[name.lower()] = seen.get(name.lower(), 0) + 1
    taken = {key for key, count in seen.items() if count == 1}
    made: list[str] = []
    for name, hidden in names:
        sql = name
        if hidden or seen[name.lower()] > 1:
            number = 1
            while (sql := f"{name}__{number}").lower() in taken:
                number += 1
            taken.add(sql.lower())
        made.append(sql)
    return made


def split_attribute(text: str) -> list[str]:
    """The parts of a name as `F.col` takes it: `` a.`b.c` `` has two. Raises ValueError."""
    if "`" not in text:
        return text.split(".")
    parts: list[str] = []
    current: list[str] = []
    quoted = False
    at = 0
    while at < len(text):
        char = text[at]
        if quoted and char == "`":
            if text[at + 1 : at + 2] == "`":
                current.append("`")
                at += 1
            else:
                quoted = False
                if at + 1 < len(text) and text[at + 1] != ".":
                    raise ValueError(text)
        elif quoted:
            current.append(char)
        elif char == "`":
            if current:
                raise ValueError(text)
            quoted = True
        elif char == ".":
            parts.append("".join(current))
            current = []
        else:
            current.append(char)
        at += 1
    if quoted:
        raise ValueError(text)
    return [*parts, "".join(current)]
