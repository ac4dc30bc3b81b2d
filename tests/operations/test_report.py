"""Reports as JSON: the fields are the keys."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

import pytest

from rocky.errors import InternalError
from rocky.operations.report import OnDemand, encode_report, flat, format_report, hidden


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True)
class Leaf:
    name: str
    colour: Colour


@dataclass(frozen=True, slots=True)
class Head:
    title: str
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    size: int = hidden()
    head: Head = flat(without=("note",))
    grown: datetime
    leaves: tuple[Leaf, ...]
    fallen: OnDemand[Leaf]
    tags: dict[str, Leaf]
    owner: str | None
    twigs: tuple[str, ...] = ()


LEAF = Leaf("a", Colour.RED)
TREE = Tree(
    size=3,
    head=Head("oak", "old"),
    grown=datetime(2026, 5, 30, tzinfo=UTC),
    leaves=(LEAF, LEAF),
    fallen=OnDemand(["b", "c"], lambda name: Leaf(name, Colour.RED)),
    tags={"x": LEAF},
    owner=None,
)
DOCUMENT = {
    "title": "oak",
    "grown": "2026-05-30T00:00:00.000000Z",
    "leaves": [{"name": "a", "colour": "red"}] * 2,
    "fallen": [{"name": "b", "colour": "red"}, {"name": "c", "colour": "red"}],
    "tags": {"x": {"name": "a", "colour": "red"}},
    "owner": None,
}


def test_fields_are_keys_and_what_may_be_left_out_is():
    assert DOCUMENT == encode_report(TREE)
    assert list(DOCUMENT) == list(encode_report(TREE))


@pytest.mark.parametrize("indent", [None, 2])
def test_the_text_of_a_report_is_that_of_its_document(indent):
    expected = json.dumps({"version": "1", **DOCUMENT}, indent=indent)

    assert expected == format_report({"version": "1"}, TREE, indent=indent)


def test_parts_are_made_when_somebody_looks_at_them():
    made = []
    parts = OnDemand(range(10_000), lambda each: made.append(each) or each * 2)

    assert (10_000, []) == (len(parts), made)
    assert (6, [8, 10]) == (parts[3], list(parts[4:6]))
    assert [3, 4, 5] == made


def test_parts_that_are_gone_at_once_are_not_taken_for_each_other():
    parts = OnDemand(range(1000), lambda each: Leaf(f"leaf {each}", Colour.RED))
    document = json.loads(format_report({}, parts_only(parts)))

    assert [f"leaf {each}" for each in range(1000)] == [each["name"] for each in document["parts"]]


def parts_only(parts):
    @dataclass(frozen=True, slots=True)
    class Parts:
        parts: OnDemand[Leaf]

    return Parts(parts)


def test_what_is_no_json_is_our_mistake():
    with pytest.raises(InternalError, match="a report cannot hold a object"):
        format_report({}, Head(object()))
