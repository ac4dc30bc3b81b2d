"""The plan, from what is declared, held and was applied: no catalogue is needed for it."""

from datetime import UTC, datetime

import pytest

from rocky.governance.declaration import TableParts, declare
from rocky.governance.facts import Fact, Held, Securable
from rocky.governance.planner import applied_facts, find_drift, is_rest_of, plan_changes, scope_of
from rocky.governance.unity import UNITY
from rocky.ledger.governance_records import GovernanceRecord
from rocky.project.configuration.config import DEFAULT_CONFIG
from rocky.project.configuration.grants import Grant, Role

ORDERS = Securable("table", "shop.marts.orders")
A = Fact("grant", "table", "shop.marts.orders", "ana", "SELECT")
B = Fact("grant", "table", "shop.marts.orders", "bob", "SELECT")
TAG = Fact("tag", "table", "shop.marts.orders", name="team", value="new")
OLD = Fact("tag", "table", "shop.marts.orders", name="team", value="old")
MASK = Fact("mask", "column", "shop.marts.orders.email", value="f")
TABLES = (TableParts("shop", "marts", "orders"), TableParts("shop", "raw", "orders"))


def planned(declared=(), held=(), applied=(), foreign="report", absent=()):
    return plan_changes(
        "unity x",
        dict.fromkeys(declared, "said"),
        Held(tuple(held), tuple(absent)),
        {each.key: each for each in applied},
        foreign,
    )


@pytest.mark.parametrize(
    ("declared", "held", "applied", "actions"),
    [
        ([A], [], [], ["add"]),
        ([A], [], [A], ["add"]),
        ([A], [A], [], ["adopt"]),
        ([A], [A], [A], []),
        ([TAG], [OLD], [OLD], ["change"]),
        ([], [A], [A], ["remove"]),
        ([], [A], [], []),
        ([], [], [A], []),
    ],
)
def test_what_is_declared_held_and_applied_says_what_to_do(declared, held, applied, actions):
    assert actions == [each.action for each in planned(declared, held, applied).changes]


def test_names_of_tables_are_the_same_in_any_case():
    held = Fact("grant", "table", "SHOP.Marts.ORDERS", "ana", "SELECT")
    assert () == planned([A], [held], [A]).changes


def test_nobody_sees_more_before_what_takes_away_is_in_place():
    other = Fact("mask", "column", "shop.marts.orders.name", value="g")
    plan = planned([B, TAG, MASK], [A, other], [A, other])
    assert [("add", "mask"), ("remove", "grant"), ("add", "grant"), ("add", "tag")] == [
        (each.action, each.fact.kind) for each in plan.changes
    ][:-1]
    assert ("remove", other) == (plan.changes[-1].action, plan.changes[-1].fact)


def test_what_waits_for_its_table_is_no_change():
    plan = planned([A], absent=[ORDERS])
    assert ((), (A,)) == (plan.changes, plan.waiting)


def test_an_id_is_that_of_what_would_be_done_and_of_what_others_said():
    assert planned([A]).plan_id == planned([A]).plan_id
    ids = {planned([A]).plan_id, planned([B]).plan_id, planned([A], [B]).plan_id}
    assert 3 == len(ids)


def test_policies_are_shown_and_never_removed():
    policy = Fact("policy", "table", "shop.marts.orders", name="by hand")
    plan = planned([], [policy], foreign="remove")
    assert ((), (policy,)) == (plan.changes, plan.foreign)


@pytest.mark.parametrize(
    "theirs",
    [
        Fact("mask", "column", "shop.marts.orders.email", value="theirs"),
        Fact("row_filter", "table", "shop.marts.orders", value="theirs"),
        Fact("isolation", "catalog", "shop", value="ISOLATED"),
        Fact("workspace", "catalog", "shop", name="7", value="READ_WRITE"),
        Fact("grant", "catalog", "shop", "everybody", "USE CATALOG"),
        Fact("grant", "schema", "shop.marts", "another team", "USE SCHEMA"),
    ],
)
def test_what_others_hide_and_what_other_tables_need_is_shown_and_never_removed(theirs):
    plan = planned([], [theirs, B], foreign="remove")
    assert ([("remove", B)], (theirs,)) == (
        [(each.action, each.fact) for each in plan.changes],
        plan.foreign,
    )


def record(number, stage, action, fact, application="a1", plan="p"):
    return GovernanceRecord(
        application, number, stage, datetime(2026, 1, 1, tzinfo=UTC), "unity x", plan, action,
        fact.kind, fact.level, fact.on, "said", "why", fact.subject, fact.name, fact.value,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("stages", "ours"),
    [
        ([("planned", "add")], False),
        ([("planned", "add"), ("about_to", "add")], True),
        ([("about_to", "add"), ("done", "add")], True),
        ([("about_to", "add"), ("refused", "add")], False),
        ([("done", "adopt")], True),
    ],
)
def test_what_may_have_been_said_is_ours(stages, ours):
    records = [record(0, stage, action, A) for stage, action in stages]
    assert ours == (A.key in applied_facts(records, "unity x"))
    assert {} == applied_facts(records, "unity other")


@pytest.mark.parametrize("stage", ["about_to", "refused", "done"])
def test_what_may_not_have_been_taken_back_is_ours_still(stage):
    records = [record(0, "done", "add", A), record(0, stage, "remove", A, "a2")]
    assert (stage != "done") == (A.key in applied_facts(records, "unity x"))


def test_what_is_left_of_a_plan_is_told_from_another():
    begun = [record(0, "done", "add", A), record(1, "planned", "add", B)]
    assert is_rest_of(planned([B]), begun, "p")
    assert not is_rest_of(planned([A]), begun, "p")
    assert not is_rest_of(planned([B]), begun, "other")
    finished = [record(0, "done", "add", A)]
    assert not is_rest_of(planned([]), finished, "p")


def test_drift_is_what_is_held_against_what_was_applied():
    found = find_drift(Held((B, OLD)), {A.key: A, TAG.key: TAG}, "report")
    assert ((A,), ((TAG, OLD),), (B,)) == (found.missing, found.changed, found.foreign)
    assert () == find_drift(Held((B,)), {}, "keep").foreign


def test_tables_without_declarations_are_asked_about_only_where_others_matter():
    assert (ORDERS, MASK.securable) == scope_of(
        [A], [MASK], [Securable("table", "shop.raw.orders")], "keep"
    )
    both = scope_of([A], [], [Securable("table", "shop.raw.orders")], "report")
    assert 2 == len(both)


def facts(grant, **roles):
    config = DEFAULT_CONFIG._replace(grant=(grant,), role=roles)
    return set(declare(config, dict.fromkeys(TABLES), UNITY))


def test_members_of_heirs_have_what_a_role_is_granted():
    found = facts(
        Grant(("reader",), "shop.marts.*"),
        reader=Role(permissions=("SELECT",)),
        analyst=Role(inherits=("reader",), members=("ana",)),
        boss=Role(inherits=("analyst",), members=("bob",)),
    )
    assert {A, B} == found


def test_a_role_is_granted_what_it_inherits():
    found = facts(
        Grant(("analyst",), "shop.marts.*"),
        reader=Role(permissions=("SELECT",), members=("eve",)),
        analyst=Role(inherits=("reader",), members=("ana",)),
    )
    assert {A} == found


def test_a_privilege_is_put_where_it_belongs():
    grant = Grant(("ana",), "shop.marts.orders", ("USE CATALOG", "USE SCHEMA", "SELECT"))
    assert {
        ("catalog", "shop", "USE CATALOG"),
        ("schema", "shop.marts", "USE SCHEMA"),
        ("table", "shop.marts.orders", "SELECT"),
    } == {(each.level, each.on, each.name) for each in facts(grant)}


def test_placeholders_bind_names_that_principals_use():
    grant = Grant(("team_{schema}",), "shop.{schema}.orders", ("SELECT",))
    assert {("shop.marts.orders", "team_marts"), ("shop.raw.orders", "team_raw")} == {
        (each.on, each.subject) for each in facts(grant)
    }
