from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from rocky.cli.commands.trace import render_trace
from rocky.cli.console import ExitCode
from rocky.cli.render.bars import Canvas
from rocky.ledger import STATE_FILE, open_ledger
from rocky.ledger.run_records import InputRecord, ModelExecution, ModelStatus, RunStatus
from rocky.ledger.writer import ModelRecords
from rocky.operations.records.trace import trace_run
from tests.cli.recorded import FIRST, SECOND, START, a_run, record_past, record_reuse
from tests.cli.test_schemas import check


def ran(name, start, end, *inputs, status=ModelStatus.SUCCESS, **fields):
    begun = START + timedelta(milliseconds=start)
    return ModelExecution(
        name,
        status,
        begun,
        START + timedelta(milliseconds=end),
        end - start,
        inputs=tuple(InputRecord(each) for each in inputs),
        **{"decision": "build", **fields},
    )


def record(root, *models, status=RunStatus.SUCCESS, end=None):
    """A run of these models; without an end it has died."""
    with open_ledger(root / STATE_FILE) as ledger:
        run_id = ledger.begin_run(a_run())
        for each in models:
            ledger.record_models(run_id, [ModelRecords(each)])
        if end is not None:
            ledger.finish_run(run_id, status, START + timedelta(milliseconds=end))
    return run_id


@pytest.fixture
def shown(rocky, monkeypatch):
    """The lines of a trace at a width."""

    def show(*words, width=80):
        monkeypatch.setenv("COLUMNS", str(width))
        return rocky("trace", *words, "-o", "table").out.splitlines()

    return show


CHAIN = (
    ran("stg_orders", 1000, 2000),
    ran("stg_payments", 1100, 1600),
    ran("fct_orders", 3000, 4000, "stg_orders", "stg_payments"),
    ran("fct_revenue", 4000, 5000, "fct_orders"),
)


def test_a_trace_is_bars_by_lane_totals_and_the_critical_path(shown, shop):
    record(shop, *CHAIN, end=5200)

    assert [
        f"{FIRST}: success, 4 models in 5.2 s",
        "",
        "LANE    MODEL           TIME  |1 s        |2 s         |3 s        |4 s",
        "1     * stg_orders     1.0 s  ████████████",
        "      * fct_orders     1.0 s              ░░░░░░░░░░░░░█████████████",
        "      * fct_revenue    1.0 s                                        ████████████",
        "2       stg_payments  500 ms  ░███████",
        "",
        "█ ran   ░ inputs done, waited to start   * critical path",
        "",
        "wall time            5.2 s  of which 1.0 s before the first model was built",
        "model time           3.5 s  in 2 lanes, 1.2 at a time",
        "longest chain        3.0 s  the least that any number of lanes could take",
        "biggest wait         1.0 s  `fct_orders`, with all its inputs done",
        "",
        "critical path: 3 models, 3.0 s, and 1.0 s of waiting",
        "MODEL        WAITED    RAN  OF WALL TIME",
        "stg_orders     0 ms  1.0 s           19%",
        "fct_orders    1.0 s  1.0 s           19%",
        "fct_revenue    0 ms  1.0 s           19%",
    ] == shown()


def test_the_document_has_all_numbers(rocky, shop):
    record(shop, *CHAIN, end=5200)
    document = rocky("trace").json

    assert [] == check(document, "trace")
    assert {
        "run_duration_ms": 5200,
        "startup_ms": 1000,
        "model_ms": 3500,
        "busy_ms": 3000,
        "longest_chain_ms": 3000,
        "lane_count": 2,
        "parallelism": 1.1667,
        "biggest_wait": {"model_name": "fct_orders", "wait_ms": 1000},
        "critical_path_whole": True,
        "models_left_out": 0,
        "not_started": [],
    }.items() <= document.items()
    assert {
        "model_name": "fct_orders",
        "status": "success",
        "decision": "build",
        "outcome": "built",
        "lane": 1,
        "start_offset_ms": 3000,
        "end_offset_ms": 4000,
        "duration_ms": 1000,
        "ready_offset_ms": 2000,
        "wait_ms": 1000,
        "inputs": ["stg_orders", "stg_payments"],
        "critical": True,
    } == document["models"][2]
    assert {
        "model_name": "fct_orders",
        "duration_ms": 1000,
        "wait_ms": 1000,
        "share": 0.1923,
        "wait_share": 0.1923,
    } == document["critical_path"][1]


def test_a_wider_terminal_has_a_longer_axis(shown, shop):
    record(shop, *CHAIN, end=5200)
    narrow, wide = shown(), shown(width=140)

    assert (80, 140) == (len(narrow[5]), len(wide[5]))


@pytest.mark.parametrize("width", [1, 60, 80, 100, 140, 300])
def test_no_line_is_wider_than_the_terminal(shown, shop, width):
    long = "a_model_with_a_name_that_goes_on_and_on_and_does_not_end_before_the_line_does"
    record(shop, *CHAIN, ran(long, 1000, 1200), end=5200)

    assert max(width, 80) >= max(len(line) for line in shown(width=width))


def test_a_long_name_loses_its_middle_and_keeps_it_where_there_is_room(shown, shop):
    record(shop, ran("stg_customers_of_the_old_shop_2024", 0, 10), end=20)

    assert "stg_customer…e_shop_2024" not in shown()[3]
    assert "stg_customer…d_shop_2024" in shown()[3]
    assert "stg_customers_of_the_old_shop_2024" in shown(width=140)[3]


def test_what_failed_was_reused_or_resumed_is_marked_and_drawn_differently(shown, shop):
    record(
        shop,
        ran("reused", 0, 1, status=ModelStatus.REUSED, decision="reuse"),
        ran("resumed", 1, 2, status=ModelStatus.SKIPPED, decision="resume"),
        ran("built", 1000, 2000),
        ran("broken", 2000, 3000, status=ModelStatus.FAILED, error="overflow"),
        ran("cut_off", 2000, 3000, status=ModelStatus.INTERRUPTED),
        status=RunStatus.INTERRUPTED,
        end=3000,
    )
    rows = {line[8:].split()[0]: line[8:].split()[3:] for line in shown()[3:8]}
    lines = shown()

    assert ["reused", "◆"] == rows["reused"]
    assert ["resumed", "◆"] == rows["resumed"]
    assert ["failed", "interrupted"] == [rows["broken"][0], rows["cut_off"][0]]
    assert ["█", "x", "▒"] == [
        "".join(set(rows[name][-1])) for name in ("built", "broken", "cut_off")
    ]
    assert "█ ran   x failed   ▒ interrupted   ◆ found built   * critical path" in lines


def test_what_never_started_is_listed_with_the_reason(rocky, shown, shop):
    reason = "waits for `stg_orders`, which failed"
    record(
        shop,
        ran("stg_orders", 0, 10, status=ModelStatus.FAILED),
        ran("fct_orders", 10, 10, status=ModelStatus.SKIPPED, decision="skip", reason=reason),
        status=RunStatus.FAILURE,
        end=20,
    )
    document = rocky("trace").json

    assert f"  fct_orders  held back: {reason}" in shown()
    assert [] == check(document, "trace")
    assert [
        {"model_name": "fct_orders", "status": "skipped", "outcome": "held back", "reason": reason}
    ] == document["not_started"]


def test_what_had_nothing_to_do_is_no_failure(rocky, shown, shop):
    record(
        shop,
        ran("view", 5, 5, decision="skip", reason="nothing to store, no reader to be built"),
        end=20,
    )

    assert "  view  unchanged: nothing to store, no reader to be built" == shown()[-1]
    assert [] == check(rocky("trace").json, "trace")


def test_a_path_that_begins_with_a_failure_says_that_it_may_be_another(rocky, shown, shop):
    record(shop, ran("a", 0, 10), ran("b", 12, 30, status=ModelStatus.FAILED), end=40)

    assert "what `b` waited for is not recorded: the path may be another" == shown()[-1]
    assert "wait_ms" not in rocky("trace").json["critical_path"][0]
    assert not rocky("trace").json["critical_path_whole"]


def test_without_a_run_it_is_the_latest(rocky, shop):
    record_past(shop)

    assert SECOND == rocky("trace").json["run_id"] == rocky("trace", "latest").json["run_id"]
    assert FIRST == rocky("trace", FIRST).json["run_id"]


def test_a_run_that_is_not_there_is_an_error(rocky, shop):
    record_past(shop)
    answer = rocky("trace", "run-20260530-110422-644")

    assert ExitCode.FAILED == answer.code
    assert f"no run `run-20260530-110422-644`; did you mean `{FIRST}`?" in answer.err


def test_a_run_that_goes_on_and_one_that_died_trace_to_the_last_model_that_ended(
    rocky, shown, shop
):
    with open_ledger(shop / STATE_FILE) as ledger:
        run_id = ledger.begin_run(a_run())
        ledger.record_models(run_id, [ModelRecords(ran("stg_orders", 100, 900))])
        going, alive = shown()[0], rocky("trace").json
    gone, dead = shown()[0], rocky("trace").json

    assert [] == check(alive, "trace") + check(dead, "trace")
    assert f"{FIRST}: running, 1 model, the last ended after 900 ms" == going
    assert f"{FIRST}: died, 1 model, the last ended after 900 ms" == gone
    assert [("Running", False), ("Failure", True)] == [
        (each["status"], each["died"]) for each in (alive, dead)
    ]


def test_a_run_that_died_before_its_first_model_ended_is_one_line(shown, shop):
    record(shop)

    assert [f"{FIRST}: died, 0 models"] == shown()


def test_a_run_of_no_models_is_one_line(rocky, shown, shop):
    record(shop, end=15)

    assert [f"{FIRST}: success, 0 models in 15 ms"] == shown()
    assert [] == check(rocky("trace").json, "trace")


def test_a_run_of_models_that_took_no_time_has_bars_all_the_same(rocky, shown, shop):
    record(
        shop,
        *(ran(f"m{n}", 5, 5, status=ModelStatus.REUSED, decision="reuse") for n in range(3)),
        end=6,
    )

    lines = shown()

    assert ["◆", "◆", "◆"] == [line.split()[-1] for line in lines[3:6]]
    assert (
        "wall time             6 ms  of which 5 ms before the first model was found built" in lines
    )
    assert "critical path: " not in "\n".join(lines)
    assert [] == check(rocky("trace").json, "trace")


def many(count):
    return [ran(f"m{n:03}", n * 10, n * 10 + 5 + n % 7) for n in range(count)]


@pytest.mark.slow
def test_of_many_models_the_longest_are_shown_and_the_rest_counted(rocky, shown, shop):
    record(shop, *many(500), end=6000)
    lines = shown()

    assert 50 == sum("█" in line for line in lines) - 1
    assert "450 shorter models left out: `--limit 500` shows all" in lines
    assert 500 == sum("█" in line for line in shown("--limit", "500")) - 1
    assert 500 == len(rocky("trace").json["models"])


def test_a_limit_holds_for_the_document_too(rocky, shop):
    record(shop, *CHAIN, end=5200)
    document = rocky("trace", "--limit", "3").json

    assert [] == check(document, "trace")
    assert (["stg_orders", "fct_orders", "fct_revenue"], 1) == (
        [each["model_name"] for each in document["models"]],
        document["models_left_out"],
    )


def test_a_limit_of_nothing_is_refused(rocky, shop):
    assert ExitCode.FAILED == rocky("trace", "--limit", "0").code


def test_a_long_critical_path_shows_its_longest_models_and_counts_the_rest(shown, shop):
    models = [ran("m0", 0, 10)]
    models += [ran(f"m{n}", n * 10, n * 10 + 10, f"m{n - 1}") for n in range(1, 9)]
    record(shop, *models, ran("end", 90, 200, "m8"), end=200)
    lines = shown("--limit", "2")

    assert ["m0", "end"] == [line.split()[0] for line in lines[-3:-1]]
    assert "8 shorter models left out" == lines[-1]


def test_a_reused_model_says_from_which_run(rocky, shop):
    record_past(shop)
    record_reuse(shop)
    document = rocky("trace").json
    models = {each["model_name"]: each for each in document["models"]}

    assert [] == check(document, "trace")
    assert ("reused", FIRST) == tuple(
        models["fct_revenue"][key] for key in ("outcome", "reused_from")
    )
    assert "resumed" == models["stg_payments"]["outcome"]


def test_an_output_that_cannot_show_blocks_gets_letters():
    run = replace(a_run(), models_executed=CHAIN)
    letters = render_trace(trace_run(run), None, Canvas(80, blocks=False))

    assert letters.isascii()
    assert "# ran   . inputs done, waited to start   * critical path" in letters


def test_colours_are_only_for_terminals(rocky, shop):
    record(shop, *CHAIN, end=5200)
    run = replace(a_run(), models_executed=CHAIN)
    coloured = render_trace(trace_run(run), None, Canvas(80, colour=True))

    assert "\x1b[" not in rocky("trace", "-o", "table").out
    assert "\x1b[36m█" in coloured
    assert "\x1b[32m█" in coloured


def test_an_auditor_needs_the_state_file_and_no_project(rocky, shop, tmp_path, monkeypatch):
    record(shop, *CHAIN, end=5200)
    (shop / STATE_FILE).rename(tmp_path / "evidence.db")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    assert 4 == len(rocky("trace", "--state-path", "../evidence.db").json["models"])


def test_the_guide_shows_what_the_command_prints(shown, shop):
    record(shop, *CHAIN, end=5200)
    guide = (Path(__file__).parents[2] / "docs/guides/trace-and-cost.md").read_text()

    assert "\n".join(shown()) in guide
