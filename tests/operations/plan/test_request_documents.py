"""Every flag of a run goes into a plan and comes back."""

from dataclasses import fields, replace

import pytest

from rocky.errors import PlanUnreadable
from rocky.plan.request import (
    PlanRequest,
    RunRequest,
    Window,
    parse_request_document,
    request_document,
)

ALL = RunRequest(
    ("a", "+b"),
    ("c",),
    "p",
    3,
    full_refresh=True,
    rebuild=True,
    reuse=False,
    adapter="x",
    window=Window("2026-01-01", "2026-01-02", "2026-01-03", latest=True, missing=True, lookback=0),
    filters=("tenant=acme",),
    resume="run-1",
    idempotency_key="k",
    start_anew=True,
    force=True,
    keep_going=True,
    test=True,
)


def test_the_request_of_this_test_sets_every_flag():
    assert [] == [
        each.name
        for each in fields(RunRequest)
        if getattr(ALL, each.name) == getattr(RunRequest(), each.name)
    ]


@pytest.mark.parametrize("name", [each.name for each in fields(RunRequest)])
def test_a_flag_comes_back_alone(name: str):
    request = replace(RunRequest(), **{name: getattr(ALL, name)})

    assert PlanRequest(request) == parse_request_document(request_document(PlanRequest(request)))


def test_all_flags_come_back_with_the_branch_and_the_variables():
    asked = PlanRequest(ALL, "try", {"n": "7"})

    assert asked == parse_request_document(request_document(asked))


def test_a_flag_of_a_newer_rocky_is_refused_and_not_dropped():
    with pytest.raises(PlanUnreadable, match="says `shadow`, which this Rocky does not know"):
        parse_request_document({**request_document(PlanRequest(ALL)), "shadow": True})
    with pytest.raises(PlanUnreadable, match="the plan's window says `until`"):
        parse_request_document({"window": {"until": "x"}})


@pytest.mark.parametrize(
    "document",
    [
        [],
        None,
        {"select": 5},
        {"select": [5]},
        {"parallel": True},
        {"parallel": "2"},
        {"full_refresh": "yes"},
        {"window": [1]},
        {"window": {"lookback": "1"}},
        {"branch": 1},
        {"variables": {"n": 1}},
        {"variables": []},
        {"pipeline": ["a"]},
    ],
)
def test_what_no_flag_can_say_is_refused(document):
    with pytest.raises(PlanUnreadable, match="rocky plan"):
        parse_request_document(document)
