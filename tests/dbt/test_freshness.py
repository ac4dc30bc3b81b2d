"""How old a source may be is taken over with its severity, or named with what to write."""

import pytest

from rocky.dbt.freshness import holds_readers, source_freshness
from rocky.dbt.properties import Properties, read_properties
from rocky.dbt.values import Source


def source(freshness, loaded_at="loaded_at"):
    return Source(
        id="source.shop.raw.t",
        group="raw",
        name="t",
        package="shop",
        path="s.yml",
        freshness=freshness,
        loaded_at=loaded_at,
    )


def after(count, period):
    return {"count": count, "period": period}


def test_limits_become_durations_with_their_severity():
    limits, said = source_freshness(
        source({"warn_after": after(12, "hour"), "error_after": after(1, "day"), "filter": None})
    )

    assert {"time_column": "loaded_at", "warn_after": "12 hours", "error_after": "1 day"} == limits
    assert () == said
    assert holds_readers(source({"error_after": after(1, "day")}))
    assert not holds_readers(source({"warn_after": after(1, "day")}))


@pytest.mark.parametrize("freshness", [{}, {"warn_after": {"count": None, "period": None}}])
def test_a_source_without_limits_has_none(freshness):
    assert (None, ()) == source_freshness(source(freshness))


@pytest.mark.parametrize(
    ("freshness", "loaded_at", "why"),
    [
        (
            {"warn_after": after(6, "hour")},
            "cast(at as timestamp)",
            "is an expression; write `fresh",
        ),
        ({"warn_after": after(6, "hour")}, "", "there is no `loaded_at_field`"),
        ({"warn_after": after("soon", "hour")}, "at", "`warn_after` is no number of minutes"),
        ({"warn_after": after(1, "fortnight")}, "at", "`warn_after` is no number of minutes"),
        ({"warn_after": after(10**12, "hour")}, "at", "`warn_after` is no number of minutes"),
    ],
)
def test_what_is_not_taken_over_says_why(freshness, loaded_at, why):
    limits, (said,) = source_freshness(source(freshness, loaded_at))

    assert limits is None
    assert said.needs_hand
    assert why in said.text


def test_a_filter_is_named_because_all_rows_count():
    limits, (said,) = source_freshness(
        source({"error_after": after(2, "day"), "filter": "status <> 'void'"}, "`at`")
    )

    assert {"time_column": "at", "error_after": "2 days"} == limits
    assert said.needs_hand
    assert "there is no `filter`, dbt's is `status <> 'void'`" in said.text


def test_a_warning_that_could_never_be_one_is_dropped():
    limits, (said,) = source_freshness(
        source({"warn_after": after(24, "hour"), "error_after": after(1, "day")})
    )

    assert {"time_column": "loaded_at", "error_after": "1 day"} == limits
    assert "`warn_after` of its `freshness` is dropped" in said.text


def test_tables_of_a_group_have_its_limits_and_their_own():
    found = Properties()
    group = {
        "name": "raw",
        "freshness": {"warn_after": after(12, "hour"), "error_after": after(2, "day")},
        "config": {"loaded_at_field": "updated_at"},
        "tables": [
            {"name": "a"},
            {"name": "b", "config": {"freshness": {"warn_after": after(1, "hour")}}},
            {"name": "c", "freshness": None},
            {"name": "d", "loaded_at_field": "at"},
        ],
    }
    read_properties(found, {"sources": [group]}, "s.yml", "shop", str)

    a, b, c, d = (source_freshness(each)[0] for each in found.sources)
    assert {"time_column": "updated_at", "warn_after": "12 hours", "error_after": "2 days"} == a
    assert {"time_column": "updated_at", "warn_after": "1 hour", "error_after": "2 days"} == b
    assert c is None
    assert "at" == d["time_column"]
