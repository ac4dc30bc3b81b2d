"""Pipelines on Spark: the examples of the reference, the samples, failures, names."""

import re
from collections import Counter
from pathlib import Path
from shutil import copytree

import pytest

import rocky
from rocky.language.dsl.lowering import lower_text
from rocky.language.dsl.mapped_text import MappedText
from rocky.language.dsl.tokens import WORDS
from tests.language.dsl.reference_page import examples, tables
from tests.spark.projects import build, errors_of, write_files

pytestmark = pytest.mark.spark
SAMPLES = Path(__file__).parents[2] / "examples/pipelines"
_SECTION = re.compile(r"^## (\w+)\n.*?\n(\|.*?)(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def shop(spark):
    for name, sql in tables().items():
        spark.sql(sql).createOrReplaceTempView(name)
    yield spark
    for name in tables():
        spark.catalog.dropTempView(name)


def test_every_example_gives_the_rows_of_the_sql_beside_it(shop):
    for each in examples():
        lowered = lower_text(each.pipeline)
        assert isinstance(lowered, MappedText)
        made, meant = shop.sql(lowered.text), shop.sql(each.sql)

        assert meant.columns == made.columns, each.pipeline
        ours, theirs = made.collect(), meant.collect()
        if each.ordered:
            assert theirs == ours, each.pipeline
        else:
            assert Counter(map(str, theirs)) == Counter(map(str, ours)), each.pipeline
        assert [field.dataType for field in meant.schema] == [f.dataType for f in made.schema]


def test_the_samples_give_the_rows_that_their_page_says(tmp_path, spark):
    copytree(SAMPLES, tmp_path / "samples")
    opened = rocky.open(tmp_path / "samples", spark=spark)
    opened.build()
    told = dict(_SECTION.findall((SAMPLES / "README.md").read_text()))

    assert {path.stem for path in (SAMPLES / "models").glob("*.rocky")} == told.keys()
    for name, table in told.items():
        head, _, *rows = [_cells(line) for line in table.strip().splitlines()]
        frame = opened.table(name)
        assert head == frame.columns
        found = [["" if cell is None else str(cell) for cell in row] for row in frame.collect()]
        assert sorted(rows) == sorted(found)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip()[1:-1].split("|")]


def test_a_value_that_fails_in_a_run_is_told_at_its_place_in_the_pipeline(tmp_path, spark):
    write_files(
        tmp_path,
        {
            "models/t.sql": "SELECT 'x' AS note, 1 AS n",
            "models/m.rocky": "-- é𝔘\nfrom t\nwhere n > 0\nderive {\n    a: n,\n    b: match note { 'y' => 0, _ => cast(note as int) },\n}\n",
        },
    )  # fmt: skip
    errors = errors_of(build(tmp_path, spark))

    assert ["m"] == list(errors)
    assert errors["m"].startswith("models/m.rocky:6:36: CAST_INVALID_INPUT")


@pytest.mark.exhaustive
def test_no_word_of_sql_is_read_as_anything_but_a_name(spark):
    keywords = [row[0].lower() for row in spark.sql("SELECT keyword FROM sql_keywords()").collect()]
    parser = spark._jsparkSession.sessionState().sqlParser()
    for word in {each for each in keywords if re.fullmatch(r"[a-z_]\w*", each)} - WORDS:
        plans = []
        for name in (word, f"`{word}`"):
            lowered = lower_text(
                f"from t as {name} where {name}.{name} > 0 derive {{ a: {name} + 1, b: -{name} }}"
                f" set {{ {name}: {name} + a }} group {name}, a {{ n: sum(b) }} sort -{name}"
                f" join u as {name} on {name} select {{ {name}, b: abs({name}) }} drop {name}"
            )
            assert isinstance(lowered, MappedText), word
            plans.append(re.sub(r"#\d+", "", parser.parsePlan(lowered.text).toString()))
        assert plans[0] == plans[1], word
