"""Column identity: which columns are one for Spark, where a frame is joined with itself.

Spark gives every column that a relation makes an identity, and `df["x"]` is that identity. Of two
sides of a join that share some, the right one gets new ones. A reference is then ambiguous if its
frame stands somewhere below with another identity for that column, and that one is among the
columns here. If not, it is the column that has the identity: for a frame of the right side
that may be a column of the left one.
"""

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Final, NamedTuple

from rocky.frames.layers import Layer, every_layer

_MOST_RELATIONS: Final = 4000

Identity = tuple[object, int, int]
"""What made the column, how often that was made anew, and the place of the column in it."""


class Meaning(Enum):
    """What a reference is beside the place that was found for it."""

    PLAIN = "plain"
    AMBIGUOUS = "ambiguous"
    UNSURE = "unsure"


class Meant(NamedTuple):
    """Which column a reference is: its input and its place there, if that is certain."""

    meaning: Meaning
    place: tuple[int, int] | None = None


class Relation(NamedTuple):
    """A layer with the identities of its columns; `makers` are what it and those below it made."""

    layer: Layer
    identities: tuple[Identity, ...]
    makers: frozenset[tuple[object, int]]
    inputs: tuple["Relation", ...]
    size: int


class SelfJoins:
    """What references to frames are where frames are joined that have one origin."""

    def __init__(self) -> None:
        self._readings = (_Identities(by_name=True), _Identities(by_name=False))
        self._found = False

    def note(self, left: Layer, right: Layer) -> None:
        """Note a join. Nothing is worked out in plans whose joins are all of different frames."""
        if not self._found:
            one, other = ({each.name for each in every_layer(side)} for side in (left, right))
            self._found = not one.isdisjoint(other)

    def look(self, layers: Sequence[Layer], frame: Layer | None, plan_id: int, name: str) -> Meant:
        """What `df["name"]` is over the layers."""
        places = frame.named(name) if self._found and frame is not None else []
        if frame is None or len(places) != 1:
            return Meant(Meaning.PLAIN)
        one, other = (each.look(layers, frame, plan_id, places[0]) for each in self._readings)
        return one if one == other else Meant(Meaning.UNSURE)

    def are_one(self, sides: tuple[Layer, Layer], frames: tuple[Layer, Layer], name: str) -> bool:
        """Whether a name is one column in two frames, and the sides of a join share columns."""
        places = [each.named(name) for each in frames]
        if not self._found or [len(each) for each in places] != [1, 1]:
            return False
        where = (places[0][0], places[1][0])
        return any(
            each.are_shared(*sides) and each.are_one(frames, where) for each in self._readings
        )


class _Identities:
    """The identities of the columns of one plan.

    `by_name` says that two reads of one table are one relation. They are for a view and are not
    for a table.
    """

    def __init__(self, *, by_name: bool) -> None:
        self._by_name = by_name
        self._known: dict[int, Relation] = {}
        self._count = 0

    def look(self, layers: Sequence[Layer], frame: Layer, plan_id: int, at: int) -> Meant:
        """What the column at that place of a frame is over the layers."""
        found = self._side_by_side(layers)
        if found is None:
            return Meant(Meaning.UNSURE)
        home = _in_condition(
            self._relation(frame).identities[at], [self._relation(each) for each in layers], found
        )
        visible = {
            each: (side, place)
            for side, relation in reversed(list(enumerate(found)))
            for place, each in reversed(list(enumerate(relation.identities)))
            if not relation.layer.columns[place].hidden
        }
        others = {
            each.identities[at]
            for each in _every_relation(found)
            if plan_id in each.layer.plan_ids
            and at < len(each.identities)
            and each.identities[at] != home
        }
        if any(each in visible for each in others):
            return Meant(Meaning.AMBIGUOUS)
        if home in visible:
            return Meant(Meaning.PLAIN, visible[home])
        return Meant(Meaning.UNSURE if others else Meaning.PLAIN)

    def are_one(self, frames: tuple[Layer, Layer], places: tuple[int, int]) -> bool:
        """Whether two columns of two frames are one."""
        one, other = (self._relation(each).identities for each in frames)
        return one[places[0]] == other[places[1]]

    def are_shared(self, left: Layer, right: Layer) -> bool:
        """Whether two frames have a column in common."""
        one, other = (self._relation(each).identities for each in (left, right))
        return not set(one).isdisjoint(other)

    def _side_by_side(self, layers: Sequence[Layer]) -> tuple[Relation, ...] | None:
        made: list[Relation] = []
        taken: frozenset[tuple[object, int]] = frozenset()
        for each in layers:
            relation = self._relation(each)
            if sum(one.size for one in made) + relation.size > _MOST_RELATIONS:
                return None
            made.append(self._renewed(relation, taken & relation.makers))
            taken |= made[-1].makers
        return tuple(made)

    def _relation(self, top: Layer) -> Relation:
        stack = [top]
        while stack:
            layer = stack[-1]
            missing = [each for each in layer.inputs if id(each) not in self._known]
            if id(layer) in self._known or not missing:
                stack.pop()
                if id(layer) not in self._known:
                    self._known[id(layer)] = self._made(layer)
            else:
                stack += missing
        return self._known[id(top)]

    def _made(self, layer: Layer) -> Relation:
        inputs = self._side_by_side(layer.inputs)
        if inputs is None:
            # Too much to follow: what is above is a relation of its own.
            inputs = ()
        maker = (self._maker(layer), 0)
        identities = tuple(
            inputs[each.origin[0]].identities[each.origin[1]]
            if each.origin is not None and each.origin[0] < len(inputs)
            else (*maker, at)
            for at, each in enumerate(layer.columns)
        )
        makers = frozenset({maker}).union(*(each.makers for each in inputs))
        return Relation(layer, identities, makers, inputs, 1 + sum(each.size for each in inputs))

    def _maker(self, layer: Layer) -> object:
        if self._by_name and layer.body is None and not layer.inputs:
            return layer.name.lower()
        # A layer that is made once more, with a column that a filter wants, has the same ids.
        return min(layer.plan_ids) if layer.plan_ids else f"{id(layer)}"

    def _renewed(self, relation: Relation, makers: frozenset[tuple[object, int]]) -> Relation:
        if not makers:
            return relation
        new = {}
        for each in sorted(makers, key=str):
            self._count += 1
            new[each] = (each[0], self._count)
        done: dict[int, Relation] = {}

        def copied(old: Relation) -> Relation:
            if old.makers.isdisjoint(new):
                return old
            if id(old) not in done:
                done[id(old)] = old._replace(
                    identities=tuple(
                        (*new.get(each[:2], each[:2]), each[2]) for each in old.identities
                    ),
                    makers=frozenset(new.get(each, each) for each in old.makers),
                    inputs=tuple(copied(each) for each in old.inputs),
                )
            return done[id(old)]

        return copied(relation)


def _in_condition(
    home: Identity, before: Sequence[Relation], after: Sequence[Relation]
) -> Identity:
    """The identity in a join's condition, which follows the right side if the left has none.

    References above the join do not: they were made of the frame as it was.
    """
    for old, new in zip(before, after, strict=True):
        if home in old.identities:
            return new.identities[old.identities.index(home)]
    return home


def _every_relation(tops: Sequence[Relation]) -> Iterator[Relation]:
    done: set[int] = set()
    stack = list(tops)
    while stack:
        each = stack.pop()
        if id(each) not in done:
            done.add(id(each))
            yield each
            stack += each.inputs
