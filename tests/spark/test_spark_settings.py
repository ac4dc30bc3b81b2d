"""What is known of Spark's settings is what Spark itself says of them."""

import sys
from pathlib import Path

import pytest

from rocky.project.configuration.spark_settings import DATA, judge, setting_types
from rocky.spark.failures import SPARK_ERRORS

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from record_spark_settings import ask_settings

pytestmark = pytest.mark.spark

# One setting of each type, and texts at the edge of what it takes.
EDGES = {
    "spark.sql.shuffle.partitions": ["200", " 7 ", "+7", "0", "-1", "1.5", "1k", "", "two", "2147483648"],
    "spark.driver.memory": ["2g", "2G", "2gb", " 2g ", "2 gigs", "2.5g", "512", "", "g", "2x"],
    "spark.network.timeout": ["120s", "2min", "2m", "1h", "1d", "500ms", "10us", "120", "1.5s", "soon", "2 s"],
    "spark.sql.adaptive.enabled": ["true", "FALSE", " true ", "yes", "1", ""],
    "spark.memory.fraction": ["0.6", ".6", "6e-1", "1", "most", "0,6", "0.6f"],
    "spark.sql.mapKeyDedupPolicy": ["LAST_WIN", "last_win", "FIRST_WIN", " LAST_WIN"],
    "spark.sql.orc.impl": ["native", "NATIVE", "none"],
    "spark.sql.files.maxPartitionBytes": ["128MB", "1t", "many"],
}  # fmt: skip


@pytest.mark.parametrize("name", EDGES)
def test_rocky_and_spark_take_the_same_texts(spark, name):
    entry = spark._jvm.org.apache.spark.internal.config.ConfigEntry.findEntry(name)
    ours = {text: judge(setting_types()[name], text) is None for text in EDGES[name]}

    assert {text: takes(entry.valueConverter(), text) for text in EDGES[name]} == ours


def takes(converter, text: str) -> bool:
    try:
        converter.apply(text)
    except SPARK_ERRORS:
        return False
    return True


@pytest.mark.exhaustive
def test_the_recorded_types_are_those_of_this_spark(spark):
    asked = {f"{name} {found}" for name, found in ask_settings(spark)}

    # Spark registers some settings only when a class that reads them is loaded: others may be more.
    assert set() == set(DATA.read_text().splitlines()) - asked
