import pytest

from rocky.cli.console import ExitCode
from rocky.cli.render.tables import format_bytes, format_duration, format_usd
from tests.cli.recorded import (
    FIRST,
    SECOND,
    THIRD,
    record_past,
    record_reuse,
    record_unpriced_reuse,
    running,
)
from tests.cli.test_schemas import check


@pytest.fixture
def past(shop):
    record_past(shop)
    return shop


def test_the_dearest_model_comes_first_with_its_price(rocky, past):
    answer = rocky("cost", FIRST)
    document = answer.json

    assert [] == check(document, "cost")
    assert ["fct_revenue", "stg_orders"] == [each["model_name"] for each in document["per_model"]]
    assert [{"per_core_hour": 0.05, "per_tb_read": 5.0}] == document["rates"]
    assert (pytest.approx(0.10002), 7_201_500, 16_020, 2620) == (
        document["total_cost_usd"],
        document["total_core_ms"],
        document["total_rows_affected"],
        document["duration_ms"],
    )


def test_without_a_run_it_is_the_latest(rocky, past):
    assert SECOND == rocky("cost").json["run_id"]
    assert SECOND == rocky("cost", "latest").json["run_id"]


def test_the_table_ends_with_the_total_the_rates_and_the_budget(rocky, past):
    lines = [
        " ".join(line.split()) for line in rocky("cost", FIRST, "-o", "table").out.splitlines()
    ]

    assert [
        f"{FIRST}: success, started 2026-05-30 11:04:22 UTC, took 2.6 s",
        "",
        "MODEL OUTCOME TIME CORE S READ WRITTEN SHUFFLE SPILL PEAK ROWS USD",
        "fct_revenue built 812 ms 7,200.0 1.0 MB 806 B 2.0 MB 0 B 64.0 MB 14,820 0.10",
        "stg_orders built 812 ms 1.5 - - 2.0 MB 0 B 64.0 MB 1,200 0.000020",
        "total 2.6 s 7,201.5 1.0 MB 806 B 4.0 MB 0 B 64.0 MB 16,020 0.10",
        "",
        "at 0.05 USD a core-hour and 5 USD a TB read",
        "over budget: the run: max_usd is 0.05, it was 0.10002",
    ] == lines


def test_by_tag_a_model_stands_under_each_of_its_tags(rocky, past):
    answer = rocky("cost", FIRST, "--by", "tag")
    groups = {each["key"]: each["model_count"] for each in answer.json["groups"]}

    assert [] == check(answer.json, "cost")
    assert {"team=core": 1, "team=finance": 1, "tier=gold": 1} == groups


def test_by_one_tag_what_has_none_is_named_so(rocky, past):
    lines = rocky("cost", FIRST, "--by", "tag:tier", "-o", "table").out.splitlines()
    groups = rocky("cost", FIRST, "--by", "tag:tier").json["groups"]

    assert ["gold", "(no tag)", "total"] == [line.split("  ")[0] for line in lines[3:6]]
    assert ["gold", "<unattributed>"] == [each["key"] for each in groups]


def test_by_tag_the_total_counts_each_model_once_and_says_so(rocky, past):
    lines = rocky("cost", FIRST, "--by", "tag", "-o", "table").out.splitlines()
    squeezed = [" ".join(line.split()) for line in lines]

    assert [
        "team=core 1 812 ms 1.5 - - 2.0 MB 0 B 64.0 MB 1,200 0.000020",
        "team=finance 1 812 ms 7,200.0 1.0 MB 806 B 2.0 MB 0 B 64.0 MB 14,820 0.10",
        "tier=gold 1 812 ms 7,200.0 1.0 MB 806 B 2.0 MB 0 B 64.0 MB 14,820 0.10",
        "total 2 2.6 s 7,201.5 1.0 MB 806 B 4.0 MB 0 B 64.0 MB 16,020 0.10",
        "",
        "1 model with several tags counts under each of them, and once in the total",
    ] == squeezed[3:9]
    assert 1 == rocky("cost", FIRST, "--by", "tag").json["models_in_several_groups"]


def test_where_no_model_has_several_tags_nothing_is_said_of_it(rocky, past):
    answer = rocky("cost", FIRST, "--by", "tag:team", "-o", "table")

    assert "several tags" not in answer.out


@pytest.fixture
def reusing(past):
    """A third run: one model built, one reused, one reused from a run that is not recorded."""
    record_reuse(past)
    return past


def test_what_was_reused_shows_what_its_build_took_then(rocky, reusing):
    answer = rocky("cost", THIRD)
    models = {each["model_name"]: each for each in answer.json["per_model"]}

    assert [] == check(answer.json, "cost")
    assert (FIRST, {"model_count": 1, "unknown_count": 0, "duration_ms": 812,
                    "core_ms": 7_200_000, "cost_usd": 0.1}) == (
        models["fct_revenue"]["reused_from"], models["fct_revenue"]["saved"]
    )  # fmt: skip
    assert "saved" not in models["stg_orders"]
    assert "cost_usd" not in models["fct_revenue"]


def test_a_reused_model_whose_build_is_not_recorded_saved_nobody_knows_what(rocky, reusing):
    document = rocky("cost", THIRD).json
    (gone,) = [each for each in document["per_model"] if each["model_name"] == "dim_customers"]

    assert {"model_count": 1, "unknown_count": 1} == gone["saved"]
    assert {"model_count": 2, "unknown_count": 1, "duration_ms": 812, "core_ms": 7_200_000,
            "cost_usd": 0.1} == document["saved"]  # fmt: skip


def test_the_table_has_a_column_for_what_was_saved_only_when_something_was(rocky, reusing):
    lines = [" ".join(each.split()) for each in rocky("cost", THIRD, "-o", "table").out.split("\n")]

    assert lines[2].endswith("ROWS USD SAVED USD")
    assert "fct_revenue reused 2 ms - - - - - - - - 0.10" in lines
    assert "dim_customers reused 2 ms - - - - - - - - -" in lines
    assert (
        "2 models reused: saved 7,200.0 core seconds and 0.10 USD, which is what building took"
        " then; 1 built by a run that is not recorded here" in lines
    )
    assert "SAVED" not in rocky("cost", FIRST, "-o", "table").out


def test_by_tag_savings_are_summed_under_each_tag(rocky, reusing):
    answer = rocky("cost", THIRD, "--by", "tag")
    saved = {each["key"]: each.get("saved", {}).get("cost_usd") for each in answer.json["groups"]}

    assert [] == check(answer.json, "cost")
    assert {"team=core": None, "team=finance": 0.1, "<unattributed>": None} == saved


def test_without_prices_savings_are_in_core_seconds(rocky, shop):
    record_unpriced_reuse(shop)
    lines = [" ".join(each.split()) for each in rocky("cost", "-o", "table").out.split("\n")]

    assert lines[2].endswith("SAVED S")
    assert "stg_orders reused 2 ms - - - - - - - - 1.5" in lines
    assert "nothing was built, so nothing was priced" in lines


def test_on_a_narrow_terminal_columns_go_and_are_named(rocky, past, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    answer = rocky("cost", FIRST, "-o", "table")

    assert 80 >= max(len(line) for line in answer.out.splitlines())
    assert "too narrow for PEAK, SPILL" in answer.err
    assert "" == rocky("cost", FIRST, "-o", "table", "--quiet").err


@pytest.mark.parametrize("by", ["colour", "model:x", "", "tag:"])
def test_another_dimension_is_refused(rocky, past, by):
    assert ExitCode.FAILED == rocky("cost", FIRST, "--by", by).code


def test_a_tag_that_no_model_had_is_an_error(rocky, past):
    assert "no model of run" in rocky("cost", FIRST, "--by", "tag:owner").err


def test_a_run_that_is_not_there_is_an_error(rocky, past):
    answer = rocky("cost", "run-20260530-110422-644")

    assert ExitCode.FAILED == answer.code
    assert f"no run `run-20260530-110422-644`; did you mean `{FIRST}`?" in answer.err


def test_without_any_run_it_says_how_to_make_one(rocky, shop):
    answer = rocky("cost")

    assert ExitCode.FAILED == answer.code
    assert "no run is recorded yet; `rocky run` makes the first" in answer.err


def test_a_run_that_goes_on_is_priced_so_far(rocky, past):
    with running(past) as (_, run_id):
        answer = rocky("cost")

    assert [] == check(answer.json, "cost")
    assert (run_id, "Running", 1) == (
        answer.json["run_id"],
        answer.json["status"],
        len(answer.json["per_model"]),
    )


@pytest.mark.parametrize(
    ("count", "shown"),
    [(None, "-"), (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_949, "999.9 kB"),
     (999_950, "1.0 MB"), (1_500_000, "1.5 MB"), (2 * 10**18, "2000.0 PB")],
)  # fmt: skip
def test_sizes_have_one_decimal_and_never_a_thousand_of_a_unit(count, shown):
    assert shown == format_bytes(count)


@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [(None, "-"), (0, "0 ms"), (999, "999 ms"), (1000, "1.0 s"), (59_999, "59.9 s"),
     (60_000, "1 min 00 s"), (3_599_999, "59 min 59 s"), (7_620_000, "2 h 07 min")],
)  # fmt: skip
def test_times_have_the_unit_they_are_read_in(milliseconds, shown):
    assert shown == format_duration(milliseconds)


@pytest.mark.parametrize(
    ("amount", "shown"),
    [(None, "-"), (0.0, "0.00"), (1234.5, "1,234.50"), (0.01, "0.01"), (0.00002, "0.000020"),
     (1e-9, "< 0.000001")],
)  # fmt: skip
def test_small_amounts_are_not_shown_as_nothing(amount, shown):
    assert shown == format_usd(amount)
