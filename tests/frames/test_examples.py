"""PySpark's own examples, type-checked without a JVM, are what live Spark said they are."""

import inspect

import pytest
from pyspark.sql.dataframe import DataFrame

from tests.frames import cases
from tests.frames.agreement import ANSWERS, Tally, compare
from tests.frames.examples import Example, examples

KNOWN = [each for each in examples() if ANSWERS.get(each.name, {}).get("digest") == each.digest]
"""Examples whose text is the one that Spark was asked about; another PySpark has others."""
NOT_LOOKED_AT = {
    *("plot", "pandas_api", "rdd", "toJSON", "executionInfo", "metadataColumn"),
    *("withWatermark", "dropDuplicatesWithinWatermark", "isStreaming", "writeStream"),
}
"""What is of Spark itself or of streams, and makes no frame that could be checked."""


def agreement(chosen: list[Example]) -> Tally:
    tally = Tally()
    for each in chosen:
        compare(each, tally)
    return tally


def test_every_twentieth_example_agrees_with_spark() -> None:
    tally = agreement(KNOWN[7::20])

    differing = [each for each in tally.told if each[0] in ("wrong", "false reject", "lost")]
    assert [] == differing
    assert tally.counts["exact"] > 100 or len(KNOWN) < len(ANSWERS)


@pytest.mark.exhaustive
def test_examples_agree_with_spark_as_the_guide_says() -> None:
    if len(KNOWN) < len(ANSWERS):
        pytest.skip("the answers are of another PySpark: `python tools/record_frames.py examples`")
    tally = agreement(KNOWN)

    assert 3098 == tally.accepted
    assert "99.3" == f"{tally.exact:.1f}"
    assert 0 == tally.counts["false reject"] + tally.counts["lost"]
    assert ["functions.builtin.lit 16 (16.10)"] == [
        place for verdict, place, *_ in tally.told if verdict == "wrong"
    ]
    assert 100.0 == tally.refused


def test_every_method_of_a_frame_is_in_a_recorded_example_or_case() -> None:
    texts = [text for each in KNOWN for text in each.statements]
    texts.append(inspect.getsource(cases))
    written = "\n".join(texts)
    methods = {name for name, value in vars(DataFrame).items() if not name.startswith("_")}

    missing = {name for name in methods - NOT_LOOKED_AT if f".{name}" not in written}
    assert set() == missing


def test_answers_hold_digests_and_schemas_and_no_text() -> None:
    assert all(set(each) == {"digest", "frames", "refused"} for each in ANSWERS.values())
