"""What `is_incremental()` adds is a watermark, is left out, or needs a hand: never silently lost."""

import pytest

from rocky.dbt.incremental import choose_strategy
from tests.dbt.dbt_projects import with_config

HEAD = "select id, at from {{ ref('orders') }} o"
BLOCK = "\n{% if is_incremental() %}\nCONDITION\n{% endif %}\n"


def chosen(config, condition=None, text=HEAD, adapter="spark"):
    block = "" if condition is None else BLOCK.replace("CONDITION", condition)
    rendered, node = with_config(text + block, {"materialized": "incremental", **config})
    assert rendered.failure is None
    return choose_strategy(node.config, rendered, node.text, adapter)


def by_hand(found):
    return [each.text for each in found.remarks if each.needs_hand]


@pytest.mark.parametrize(
    "condition",
    [
        "where at > (select max(at) from {{ this }})",
        "where o.at > (select max(at) from {{ this }})",
        "WHERE at > (SELECT coalesce(max(at), timestamp '1970-01-01') FROM {{ this }} t)",
        "where `at` > (select max(`at`) as newest from {{ this }})",
        "where at > ( select coalesce(max(at), to_date('1970-01-01')) from {{ this }} )",
    ],
)
def test_rows_newer_than_the_table_are_a_watermark(condition):
    found = chosen({}, condition)

    assert {"type": "incremental", "timestamp_column": "at"} == found.setting
    assert [] == by_hand(found)
    assert found.remarks[0].line == 2


@pytest.mark.parametrize(
    ("condition", "text", "why"),
    [
        (None, HEAD, "appends all rows again"),
        ("where at > (select max(at) - interval 1 day from {{ this }})", HEAD, "not a comparison"),
        ("where at > date_sub(current_date, 3)", HEAD, "not a comparison"),
        ("where id not in (select id from {{ this }})", HEAD, "not a comparison"),
        ("where made_at > (select max(at) from {{ this }})", HEAD, "compared by `made_at`"),
        (
            "and at > (select max(at) from {{ this }})",
            "select at, row_number() over (partition by id order by at) from {{ ref('orders') }} where true",
            "before they are grouped",
        ),
        (
            "where at > (select max(at) from {{ this }})",
            "select distinct at from {{ ref('orders') }}",
            "before they are grouped",
        ),
    ],
)
def test_other_ways_to_append_need_a_hand_and_build_the_whole_table(condition, text, why):
    found = chosen({"incremental_strategy": "append"}, condition, text)

    assert found.setting is None
    (said,) = by_hand(found)
    assert why in said


def test_rows_of_the_boundary_are_appended_once():
    found = chosen({}, "where at >= (select max(at) from {{ this }})")

    assert {"type": "incremental", "timestamp_column": "at"} == found.setting
    assert "Rocky appends them once" in found.remarks[0].text


def test_a_merge_looks_at_all_rows():
    config = {"incremental_strategy": "merge", "unique_key": "id", "merge_update_columns": ["at"]}
    found = chosen(config, "where at > date_sub(current_date, 3)")

    assert {"type": "merge", "unique_key": ["id"], "update_columns": ["at"]} == found.setting
    assert (
        "`is_incremental()` is left out. From the second run on dbt reads only rows with"
        " `where at > date_sub(current_date, 3)`; Rocky merges all rows of the query in every run,"
        " so a row outside it that came or changed is taken up, which dbt misses"
    ) == found.remarks[0].text
    assert [] == by_hand(found)


@pytest.mark.parametrize(("op", "how"), [(">", "above"), (">=", "at or above")])
def test_a_merge_by_a_time_says_which_rows_dbt_would_miss(op, how):
    config = {"incremental_strategy": "merge", "unique_key": "id"}
    found = chosen(config, f"where o.at {op} (select max(at) from {{{{ this }}}})")

    assert (
        f"dbt reads only rows whose `at` is {how} the table's highest `at`;"
        in found.remarks[0].text
    )
    assert "a row that came or changed without a later `at` is taken up" in found.remarks[0].text
    assert 2 == found.remarks[0].line


def test_a_merge_of_groups_says_that_dbt_groups_the_new_rows_alone():
    config = {"incremental_strategy": "merge", "unique_key": "id"}
    text = "select id, max(at) as at from {{ ref('orders') }} group by id having true"
    found = chosen(config, "and max(at) > (select max(at) from {{ this }})", text)

    assert found.remarks[0].text.endswith(
        "dbt groups or numbers the rows that it reads then, Rocky all of them"
    )


def test_the_default_is_that_of_the_adapter():
    condition = "where at > (select max(at) from {{ this }})"

    assert "incremental" == chosen({"unique_key": "id"}, condition).setting["type"]
    assert "merge" == chosen({"unique_key": "id"}, condition, adapter="databricks").setting["type"]
    assert "incremental" == chosen({"incremental_strategy": "merge"}, condition).setting["type"]


def test_partitions_are_replaced_as_a_whole():
    config = {"incremental_strategy": "insert_overwrite", "partition_by": "day"}
    assert {"type": "delete_insert", "partition_by": ["day"]} == chosen(
        config, "where true"
    ).setting

    (said,) = chosen(config, "where at > (select max(at) from {{ this }})").remarks
    assert "Rocky replaces every partition that the whole query gives" in said.text

    assert chosen({"incremental_strategy": "insert_overwrite"}, "where true").setting is None


@pytest.mark.parametrize("how", ["microbatch", "own_invention"])
def test_a_strategy_without_a_counterpart_needs_a_hand(how):
    found = chosen({"incremental_strategy": how})

    assert found.setting is None
    assert 1 == len(by_hand(found))


def test_a_query_that_is_another_when_its_table_is_there_needs_a_hand():
    text = "select {% if is_incremental() %}1{% else %}2{% endif %} as n"
    found = chosen({"unique_key": "n", "incremental_strategy": "merge"}, None, text)

    assert found.setting is None
    assert "does not only add" in by_hand(found)[0]
