"""The words and the width of a run: what was held back, what was resumed, 80 columns."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pyspark.errors import PySparkException

from rocky.cli.live import describe_ending
from rocky.cli.render.run import render_run
from rocky.operations.execution.run_report import report_models
from rocky.run.engine import spark
from rocky.run.prepare.resources import RunParameters
from tests.run.memory_engine import MemoryEngine
from tests.run.runs import PROJECT, Shop

BROKEN = "SELECT CAST(country AS BIGINT) AS id, country FROM raw.orders"
LONG = "a_model_whose_name_is_so_long_that_it_alone_is_wider_than_many_a_terminal_which_happens"


@pytest.fixture
def shop(tmp_path, rocky, monkeypatch) -> Shop:
    """A shop whose commands run on an engine without a JVM."""

    @contextmanager
    def open_memory(adapter, root, session=None, functions=None) -> Iterator[MemoryEngine]:
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
    assert {("skipped", "held back")} == {
        (each["status"], each["outcome"])
        for each in rocky("history").json["runs"][0]["models"]
        if each["model_name"] in ("report", "by_country")
    }


def test_a_build_that_found_the_rows_of_its_table_says_so(rocky, shop):
    shop.write("models/kept.sql", "SELECT label, n FROM by_country")
    shop.write("models/kept.toml", '[strategy]\ntype = "merge"\nunique_key = ["label"]\n')
    first = rocky("run", "-o", "table")
    again = rocky("run", "kept", "--fresh", "-o", "table")
    rows = [
        line
        for each in (first, again)
        for line in each.out.splitlines()
        if line.split()[:1] == ["kept"]
    ]

    assert [False, True] == ["rows as before" in row for row in rows]
    assert [False, True] == ["  rows as before" in each.err for each in (first, again)]


@pytest.mark.slow
def test_what_an_unfinished_run_had_built_is_resumed(shop):
    shop.write("models/report.sql", "SELECT CAST('x' AS BIGINT) + max(n) AS most FROM by_country")
    shop.run()
    shop.write("models/report.sql", "SELECT max(n) AS most FROM by_country")

    report = shop.run()
    said = [describe_ending(each) for each in report.outcomes]

    assert any(each.startswith("resumed  alone  ") for each in said)
    assert "3 resumed" in render_run(report_models(report))


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_name_wider_than_the_terminal_loses_its_middle(shop):
    shop.write(f"models/{LONG}.sql", "SELECT 1 AS one")
    run = report_models(shop.run())

    (line,) = [each for each in render_run(run, width=80).splitlines() if each.startswith("a_mod")]
    assert len(line) <= 80
    assert "happens  build" in line
    assert LONG in render_run(run)


@pytest.mark.slow
def test_the_command_asks_the_terminal_for_its_width(rocky, shop, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")

    answer = rocky("run", "--fresh", "-o", "table")

    table = answer.out.partition("too narrow")[0]
    assert "too narrow for FILES, " in answer.out
    assert max(map(len, table.splitlines())) <= 60


def test_an_interrupted_run_counts_what_it_did_not_come_to_in_text_notebook_and_json(shop):
    def interrupt(name: str) -> None:
        if name.endswith("stg_orders"):
            shop.stop.set()
            assert shop.engine.jobs.cancel_event.wait(30)
            raise PySparkException("[SPARK_JOB_CANCELLED] Job 1 cancelled")

    report = report_models(shop.run(before_write=interrupt))

    said = "2 built, 4 interrupted"
    assert f" interrupted: {said}, in " in render_run(report).splitlines()[-1]
    assert f": {said} (run {report.run_id})" in repr(report)
    assert {"built": 2, "interrupted": 4} == report.outcomes
    assert {"interrupted": 4, "built": 2} == Counter(
        each.outcome for each in report.model_decisions
    )


@pytest.mark.slow
def test_a_notebook_has_the_words_of_the_terminal_for_what_is_held_back_and_resumed(shop):
    shop.write("models/by_country.sql", "SELECT CAST(country AS BIGINT) AS n FROM large")
    failed = report_models(shop.run())
    assert "1 failed, 1 held back" in repr(failed)
    assert "skipped" not in repr(failed) + failed._repr_html_()

    shop.write("models/by_country.sql", PROJECT["models/by_country.sql"])
    again = report_models(shop.run(options=RunParameters(reuse=False)))
    assert "4 built, 2 resumed" in repr(again)
    assert "<td>resumed</td>" in again._repr_html_()


@pytest.mark.slow
def test_progress_counts_what_the_report_counts(rocky, shop):
    rocky("run")

    for selector in ((), ("by_country",), ("report",)):
        answer = rocky("run", *selector, "--fresh", "-o", "table")
        told = [each.split() for each in answer.err.splitlines() if "/" in each.split()[0]]
        listed = answer.out.splitlines()[1:-1]
        assert [f"{place}/{len(listed)}" for place in range(1, len(listed) + 1)] == [
            each[0] for each in told
        ]
        assert {line.split()[0] for line in listed} == {each[2] for each in told}


@pytest.mark.slow
def test_a_view_that_nothing_reads_is_not_said_to_have_readers(rocky, shop):
    shop.write("models/lone.sql", "SELECT id FROM stg_orders")
    shop.write("models/lone.toml", '[strategy]\ntype = "view"\n')

    answer = rocky("run", "-o", "table")

    (line,) = (each for each in answer.err.splitlines() if "built  lone" in each)
    assert line.endswith("nothing reads it; Spark has checked it")
    models = {each["model_name"]: each for each in rocky("history").json["runs"][0]["models"]}
    assert "nothing reads it; Spark has checked it" == models["lone"]["reason"]
    assert "its readers need it" == models["large"]["reason"]
    again = rocky("run", "lone", "-o", "table").out.splitlines()
    assert ["lone", "unchanged"] == again[1].split()[:2]
    assert "lone   unchanged  no reader" in rocky("plan", "lone", "-o", "table").out
