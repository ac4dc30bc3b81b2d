"""Whatever differs in a payload is found, and every difference has words."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rocky.compiler.passes import compile_project
from rocky.operations.plan.proposal import propose_plan
from rocky.operations.workspace import Workspace
from rocky.plan.comparison import compare_payloads
from rocky.plan.request import RunRequest
from rocky.project import load_project
from tests.run.runs import Shop


def payload(root: Path) -> dict[str, Any]:
    """The payload of a plan over a shop that was run and changed a little."""
    shop = Shop(root)
    shop.run()
    shop.write("models/by_country.sql", "SELECT label, 'x' AS n FROM countries")
    compilation = compile_project(load_project(root, env={}), jobs=1, cache=False)
    request = RunRequest(("+by_country", "report"))
    return dict(propose_plan(Workspace(root), compilation, request).stored.payload)


def places(document: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every leaf of a document."""
    if isinstance(document, dict | list) and document:
        items = document.items() if isinstance(document, dict) else enumerate(document)
        for key, value in items:
            yield from places(value, (*at, key))
    else:
        yield at


def changed(document: Any, place: tuple[Any, ...]) -> Any:
    found = copy.deepcopy(document)
    *way, last = place
    inner = found
    for key in way:
        inner = inner[key]
    value = inner[last]
    inner[last] = not value if isinstance(value, bool) else f"{value} changed"
    if isinstance(value, int) and not isinstance(value, bool):
        inner[last] = value + 1
    if isinstance(value, dict):
        inner[last] = {"version": 7}
    return found


@pytest.mark.slow
def test_every_leaf_of_a_payload_is_compared_and_its_move_has_words(tmp_path):
    planned = payload(tmp_path)
    leaves = list(places(planned))

    silent = [
        place
        for place in leaves
        if not any(each.what for each in compare_payloads(planned, changed(planned, place)))
    ]

    assert [] == silent
    assert len(leaves) > 60


@pytest.mark.parametrize("runs", [5, [5], [{"steps": 5}], [{"steps": [{}]}], [{"relies_on": []}]])
def test_a_payload_that_is_nonsense_differs_and_breaks_nothing(runs):
    moves = compare_payloads({"runs": runs}, {"runs": [{"steps": []}]})

    assert ["state"] == [each.kind for each in moves]


@pytest.mark.slow
def test_equal_payloads_have_nothing_to_say(tmp_path):
    planned = payload(tmp_path)

    assert [] == compare_payloads(planned, copy.deepcopy(planned))


def test_causes_come_before_what_they_change():
    step = {"kind": "build", "name": "m", "skip_hash": "1", "decision": "reuse", "reason": "r"}
    planned = {"config_hash": "1", "runs": [{"steps": [step]}]}
    later = {**step, "skip_hash": "2", "decision": "build", "reason": "its logic changed"}

    moves = compare_payloads(planned, {"config_hash": "2", "runs": [{"steps": [later]}]})

    assert [
        ("config", "rocky.toml changed"),
        ("code", "`m`: recipe changed"),
        ("decision", "`m`: `build` and not `reuse`: its logic changed"),
    ] == [tuple(each) for each in moves]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ({}, {"version": 0}, "`t` was built, at version 0"),
        ({"version": 3}, {"version": 4}, "`t` moved from version 3 to 4"),
        ({"version": 3, "content": "a"}, {"version": 3, "content": "b"}, "`t` has other files at version 3"),
        ({"version": 3}, {}, "`t` is gone"),
        ({"version": 3}, {"unreadable": "torn"}, "`t` cannot be read now: torn"),
        ({"unreadable": "torn"}, {"version": 3}, "`t` cannot be read when the plan was made: torn"),
    ],
)  # fmt: skip
def test_a_table_that_moved_is_said_how(before, after, said):
    planned = {"runs": [{"relies_on": {"tables": {"t": before}}}]}
    now = {"runs": [{"relies_on": {"tables": {"t": after}}}]}

    assert [("state", said)] == [tuple(each) for each in compare_payloads(planned, now)]
