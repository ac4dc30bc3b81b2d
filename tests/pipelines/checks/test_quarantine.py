"""Rows put aside: each row of the input is in exactly one place, whatever the assertions."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rocky.pipelines.checks.quarantine import (
    QuarantineInput,
    QuarantineRefused,
    names_of_quarantine,
    plan_quarantine,
    untagged_columns,
)
from rocky.project.configuration.model import ABOUT_ROWS, AssertionRecord
from rocky.project.configuration.pipelines import Quarantine
from rocky.project.models import Target
from rocky.run.checks.assertion_sql import _ROW_RULES
from tests.pipelines.checks.bench import NOW, columns_of
from tests.run.memory_engine import MemoryEngine

TARGET = Target("lake", "acme", "orders")
COLUMNS = columns_of("id bigint, status string, amount double")
INPUT = QuarantineInput(TARGET, COLUMNS, "`orders`")

ASSERTIONS = (
    AssertionRecord("not_null", "id"),
    AssertionRecord("not_null", "ID", filter="amount > 1 -- large"),
    AssertionRecord("accepted_values", "status", values=("a", "b")),
    AssertionRecord("accepted_values", "status", values=()),
    AssertionRecord("in_range", "amount", min=0.0, max=5.0),
    AssertionRecord("in_range", "amount", min=1.0, filter="status = 'a'"),
    AssertionRecord("expression", expression="id > amount"),
    AssertionRecord("expression", expression="NULL"),
    AssertionRecord("expression", expression="status <> 'a' OR id IS NOT NULL"),
)

rows = st.lists(
    st.tuples(
        st.none() | st.integers(-3, 3),
        st.none() | st.sampled_from("abc"),
        st.none() | st.integers(-2, 7).map(float),
    ),
    max_size=12,
)


def plan(*assertions, given=INPUT, **keys):
    return plan_quarantine(given, assertions, Quarantine(enabled=True, **keys), NOW)


def cell(value):
    return "NULL" if value is None else repr(value)


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    return MemoryEngine(tmp_path_factory.mktemp("quarantine"))


def put(engine, found):
    listed = ", ".join(f"({', '.join(map(cell, row))})" for row in found) or "(NULL, NULL, NULL)"
    where = "TRUE" if found else "FALSE"
    engine.views.bind_frame(
        "orders",
        "SELECT CAST(id AS bigint) AS id, CAST(status AS string) AS status,"
        f" CAST(amount AS double) AS amount FROM (VALUES {listed}) AS t(id, status, amount)"
        f" WHERE {where}",
    )


def ask(engine, sql):
    return engine.rows(engine.frame(sql), 1000)


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(rows, st.lists(st.sampled_from(ASSERTIONS), min_size=1, max_size=4))
def test_every_row_is_either_valid_or_in_quarantine(engine, found, assertions):
    put(engine, found)
    aside, valid = plan(*assertions)
    bad, good = ask(engine, aside.sql), ask(engine, valid.sql)

    assert sorted(map(repr, found)) == sorted(repr(row[:3]) for row in [*bad, *good])
    # A row is in quarantine because some assertion says so, and each says yes or no.
    assert all(True in row[3:] and None not in row[3:] for row in bad)
    (tagged,) = plan(*assertions, mode="tag")
    assert sorted(map(repr, bad)) == sorted(
        repr((*row[:3], *row[4:])) for row in ask(engine, tagged.sql) if row[3]
    )
    assert len(found) == len(ask(engine, tagged.sql))
    assert good == ask(engine, plan(*assertions, mode="drop")[0].sql)


def test_rows_are_set_aside_before_the_valid_ones_are_written():
    named = [each.target.full_name for each in plan(ASSERTIONS[0])]

    assert ["lake.acme.orders__quarantine", "lake.acme.orders__valid"] == named
    assert ["lake.acme.orders_ok"] == [
        each.target.full_name for each in plan(ASSERTIONS[0], mode="drop", suffix_valid="_ok")
    ]
    assert ["lake.acme.orders"] == [
        each.target.full_name for each in plan(ASSERTIONS[0], mode="tag")
    ]


def test_warnings_and_assertions_about_whole_tables_put_nothing_aside():
    assert () == plan(
        AssertionRecord("not_null", "id", severity="warning"), AssertionRecord("unique", "id")
    )


def test_labels_are_unique():
    aside, _ = plan(
        AssertionRecord("not_null", "id"),
        AssertionRecord("not_null", "id", filter="amount > 1"),
        AssertionRecord("expression", expression="TRUE", name="Größe > 1!"),
    )

    assert ["`_error_not_null_id`", "`_error_not_null_id_2`", "`_error_gr_e_1`"] == [
        part.split(",")[0].split(" FROM")[0] for part in aside.sql.split(" AS ")[1:]
    ]


@pytest.mark.parametrize(
    ("assertion", "message"),
    [
        (AssertionRecord("not_null", "nope"), "assertion `not_null:nope`: the table has no column `nope`"),
        (AssertionRecord("accepted_values", "id", values=([1],)), "assertion `accepted_values:id`: a list or a table cannot be compared with a column"),
        (AssertionRecord("in_range", "id"), "assertion `in_range:id`: an assertion of type `in_range` needs `min` or `max`"),
    ],
)  # fmt: skip
def test_an_assertion_that_cannot_decide_refuses_the_table(assertion, message):
    with pytest.raises(QuarantineRefused) as refused:
        plan(AssertionRecord("not_null", "id"), assertion)
    assert message == str(refused.value)


def test_a_column_of_the_users_own_is_never_overwritten():
    own = columns_of("id bigint, _error_not_null_id string")
    for mode in ("split", "tag"):
        with pytest.raises(QuarantineRefused, match="`_error_not_null_id` of its own"):
            plan(ASSERTIONS[0], given=INPUT._replace(columns=own), mode=mode)


def test_tagging_twice_is_tagging_once():
    tagged = columns_of("id bigint, _quarantined boolean, _error_old boolean")
    (again,) = plan(ASSERTIONS[0], given=INPUT._replace(columns=tagged), mode="tag")
    (once,) = plan(ASSERTIONS[0], given=INPUT._replace(columns=tagged[:1]), mode="tag")

    assert once.sql == again.sql


@pytest.mark.parametrize(
    ("columns", "kept"),
    [
        ("id bigint, _error_code boolean", 2),
        ("id bigint, _quarantined boolean", 1),
        ("id bigint, _quarantined boolean, other string", 3),
        ("id bigint, _quarantined string", 2),
        ("id bigint, _error_x boolean, _quarantined boolean, _error_y boolean", 2),
    ],
)
def test_only_tags_of_ours_are_taken_off(columns, kept):
    assert kept == len(untagged_columns(columns_of(columns)))


def test_the_present_is_one_moment_for_all_tables_of_a_split():
    columns = columns_of("id bigint, at timestamp")
    assertion = AssertionRecord("not_in_future", "at")
    aside, valid = plan(assertion, given=INPUT._replace(columns=columns))

    assert "CAST('2026-01-31T12:00:00+00:00' AS timestamp)" in aside.sql
    assert "current_timestamp" not in aside.sql + valid.sql


def test_tables_of_quarantine_are_told_from_others():
    tables = ("orders", "Orders__valid", "orders__quarantine", "lonely__valid")
    split = Quarantine(enabled=True)

    made = names_of_quarantine(tables, split)
    assert ["Orders__valid", "orders__quarantine"] == [
        each for each in tables if each.lower() in made
    ]
    assert set() == names_of_quarantine(tables, Quarantine())


def test_the_kinds_about_rows_are_those_with_a_condition():
    assert set(_ROW_RULES) == ABOUT_ROWS
