"""Histories of rows whose times are missing, repeated or earlier than those before."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rocky.project import load_project
from rocky.run.prepare.resources import RunParameters
from tests.run.runs import Shop, statuses

pytestmark = pytest.mark.slow

SEEN = datetime(2026, 1, 31, 12, tzinfo=UTC)
"""Near the times of the runs, so that those of rows lie on either side of them."""

DATED = 'updated_at = "seen"\nnull_updated_at = "run_time"\n'
ROWS = st.dictionaries(
    st.integers(1, 3),
    st.tuples(st.sampled_from("ab"), st.none() | st.integers(-3, 8)),
    max_size=3,
)
HISTORIES = st.lists(ROWS, min_size=1, max_size=6)


def make_shop(root, strategy: str) -> Shop:
    return Shop(
        root,
        {
            "sources/people.toml": (
                '[[source]]\nname = "raw.people"\nformat = "csv"\npath = "data/people.csv"\n'
                'columns = [{ name = "id", type = "bigint" }, { name = "name", type = "string" },'
                ' { name = "seen", type = "timestamp" }]\n'
            ),
            "models/people.sql": "SELECT id, name, seen FROM raw.people",
            "models/people.toml": (
                f'[strategy]\ntype = "snapshot"\nunique_key = ["id"]\n{strategy}'
            ),
        },
    )


def give(shop: Shop, rows) -> None:
    lines = ["id,name,seen"]
    for key, (name, at) in rows.items():
        seen = "" if at is None else (SEEN + timedelta(seconds=at)).strftime("%Y-%m-%d %H:%M:%S")
        lines.append(f"{key},{name},{seen}")
    shop.write("data/people.csv", "\n".join(lines) + "\n")


def run(shop: Shop):
    return shop.run("people", options=RunParameters(parallel=1, reuse=False))


@pytest.mark.sampled
@pytest.mark.slow
@pytest.mark.parametrize("deletes", [False, True])
@pytest.mark.parametrize("dated", ["", DATED])
def test_whatever_the_times_are_versions_follow_one_another(
    tmp_path_factory, sample, deletes, dated
):
    strategy = f"{dated}invalidate_hard_deletes = {str(deletes).lower()}\n"

    @settings(
        max_examples=len(sample(range(20))),
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(HISTORIES, st.lists(st.integers(-5, 5), min_size=6, max_size=6))
    def holds(history, jumps) -> None:
        shop = make_shop(tmp_path_factory.mktemp("people"), strategy)
        for rows, jump in zip(history, jumps, strict=False):
            # A clock can be set back as well.
            shop._now += timedelta(seconds=jump)
            give(shop, rows)
            assert {"people": "success"} == statuses(run(shop))
            check(shop, rows, deletes=deletes)

    holds()


def check(shop: Shop, rows, *, deletes: bool) -> None:
    found = shop.rows("people")
    ids = [row[-1] for row in found]
    assert len(set(ids)) == len(ids)
    for key in {row[0] for row in found}:
        versions = sorted(
            (row for row in found if row[0] == key),
            key=lambda row: (row[3], row[4] is None, row[4] or row[3]),
        )
        assert all(row[4] is None or row[3] <= row[4] for row in versions)
        assert all(one[4] is not None and one[4] <= two[3] for one, two in pairwise(versions))
        current = [row for row in versions if row[5]]
        assert [row[4] is None for row in versions] == [row[5] for row in versions]
        assert len(current) == (0 if deletes and key not in rows else 1)


def test_a_row_without_a_time_fails_the_model_with_its_key_and_column(tmp_path):
    shop = make_shop(tmp_path, 'updated_at = "seen"\n')
    give(shop, {1: ("a", 0), 2: ("b", None)})

    report = run(shop)

    assert {"people": "failed"} == statuses(report)
    assert (
        "models/people.toml:4:14: model `people` gives a row without a time: `seen` is null where"
        " id = 2; give it one, or"
        ' have such rows dated by the run with `null_updated_at = "run_time"`'
    ) == report.outcomes[0].execution.error


def test_rows_dated_by_the_run_have_a_version_for_every_change_of_a_value(tmp_path):
    shop = make_shop(tmp_path, DATED)
    for name in "aabb":
        give(shop, {1: (name, None)})
        run(shop)

    assert [("a", False), ("b", True)] == [(row[1], row[5]) for row in shop.rows("people")]


def test_a_row_that_gets_a_time_from_before_the_run_does_not_end_before_it_began(tmp_path):
    shop = make_shop(tmp_path, DATED)
    give(shop, {1: ("a", None)})
    run(shop)
    give(shop, {1: ("b", -3)})
    run(shop)

    first, second = sorted(shop.rows("people"), key=lambda row: row[5])

    assert first[3] == first[4] == second[3]
    assert second[4] is None


def test_what_a_null_means_cannot_be_said_without_a_column_of_times(tmp_path):
    shop = make_shop(tmp_path, 'null_updated_at = "run_time"\n')

    found = [
        each
        for each in load_project(shop.root, env={}).diagnostics
        if each.path == "models/people.toml"
    ]

    assert ["`null_updated_at` says what a null of `updated_at` means, which is not set"] == [
        each.message for each in found
    ]
