"""The words and the width of a run: what was held back, what was resumed, 80 columns."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rocky.cli.live import describe_ending
from rocky.cli.render.run import render_run
from rocky.operations.run_report import report_models
from rocky.run.engine import spark
from tests.run.memory_engine import MemoryEngine
from tests.run.runs import Shop

BROKEN = "SELECT CAST(country AS BIGINT) AS id, country FROM raw.orders"
LONG = "a_model_whose_name_is_so_long_that_it_alone_is_wider_than_many_a_terminal_which_happens"


@pytest.fixture
def shop(tmp_path, rocky, monkeypatch) -> Shop:
    """A shop whose commands run on an engine without a JVM."""

    @contextmanager
    def open_memory(adapter, root, session=None) -> Iterator[MemoryEngine]:
        yield MemoryEngine(root)

    monkeypatch.setattr(spark, "open_project_engine", open_memory)
    return Shop(tmp_path)


def test_what_reads_a_failed_model_is_held_back_in_every_text_and_skipped_in_json(rocky, shop):
    shop.write("models/stg_orders.sql", BROKEN)

    answer = rocky("run", "-o", "table")
    rows = {line.split()[0]: line for line in answer.out.splitlines() if line.strip()}
    lines = answer.err.splitlines()

    assert rows["report"].split()[1:3] == ["held", "back"]
    assert "1 failed, 3 held back" in answer.out
    assert any("held back  report  because `stg_orders` failed" in line for line in lines)
    assert "skipped" not in answer.out + answer.err
    assert "3 held back" in rocky("history", "-o", "table").out
    assert "report  held back: waits for" in rocky("trace", "-o", "table").out
    assert {"skipped"} == {
        each["status"]
        for each in rocky("history").json["runs"][0]["models"]
        if each["model_name"] in ("report", "by_country")
    }


def test_what_an_unfinished_run_had_built_is_resumed(shop):
    shop.write("models/report.sql", "SELECT CAST('x' AS BIGINT) + max(n) AS most FROM by_country")
    shop.run()
    shop.write("models/report.sql", "SELECT max(n) AS most FROM by_country")

    report = shop.run()
    said = [describe_ending(each) for each in report.outcomes]

    assert any(each.startswith("resumed  alone  ") for each in said)
    assert "3 resumed" in render_run(report_models(report))


@pytest.mark.parametrize("width", [60, 80])
def test_the_table_of_a_run_fits_the_terminal_and_says_what_it_leaves_out(shop, width):
    shop.write("models/a_model_with_a_rather_long_name.sql", "SELECT 1 AS one")
    first = report_models(shop.run())
    again = report_models(shop.run())

    for run in (first, again):
        text = render_run(run, width=width)
        table = [line for line in text.splitlines()[:8] if not line.startswith("too narrow")]
        assert max(map(len, table)) <= width
        assert "too narrow for FILES, " in text
        assert "a_model_with_a_rather_long_name  " in text
    assert "too narrow" not in render_run(first)
    assert "FILES" in render_run(first)


def test_a_name_wider_than_the_terminal_loses_its_middle(shop):
    shop.write(f"models/{LONG}.sql", "SELECT 1 AS one")
    run = report_models(shop.run())

    (line,) = [each for each in render_run(run, width=80).splitlines() if each.startswith("a_mod")]
    assert len(line) <= 80
    assert "happens  build" in line
    assert LONG in render_run(run)


def test_the_command_asks_the_terminal_for_its_width(rocky, shop, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")

    answer = rocky("run", "--fresh", "-o", "table")

    table = answer.out.partition("too narrow")[0]
    assert "too narrow for FILES, " in answer.out
    assert max(map(len, table.splitlines())) <= 60
