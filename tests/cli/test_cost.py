import pytest

from rocky.cli.exit_codes import ExitCode
from rocky.cli.render.units import format_bytes, format_duration, format_usd
from tests.cli.recorded import FIRST, SECOND, record_past, running
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
        f"{FIRST}: success, 2 models, started 2026-05-30 11:04:22 UTC, took 2.6 s",
        "",
        "MODEL STATUS TIME CORE S READ WRITTEN SHUFFLE SPILL PEAK ROWS USD",
        "fct_revenue success 812 ms 7,200.0 1.0 MB 806 B 2.0 MB 0 B 64.0 MB 14,820 0.10",
        "stg_orders success 812 ms 1.5 - - 2.0 MB 0 B 64.0 MB 1,200 0.000020",
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

    assert ["gold", "<unattributed>"] == [line.split()[0] for line in lines[3:5]]


@pytest.mark.parametrize("by", ["colour", "model:x", ""])
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
