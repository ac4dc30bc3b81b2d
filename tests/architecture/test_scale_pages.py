"""The pages on clusters and faults: settings that exist, examples that load, tests that are there."""

import re
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pyspark
import pytest

from rocky.project import load_project
from rocky.project.configuration.spark_settings import misfit_of, setting_types
from tests.architecture.console import ROOT

SCALE = (ROOT / "docs/guides/scale.md").read_text()
RELIABILITY = (ROOT / "docs/internals/reliability.md").read_text()
SETTING = re.compile(r"(?<![\w/.])spark\.[a-z][\w.]*\w")
TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(test_\w+))?`")
EXAMPLE = re.compile(r"^```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)
JARS = Path(pyspark.__file__).parent / "jars"
# Families that a page speaks of with a star.
FAMILIES = {
    "spark.driver",
    "spark.executor",
    "spark.hadoop.fs",
    "spark.hadoop.fs.s3a",
    "spark.sql.shuffle",
}


def known_to_hadoop() -> set[str]:
    """What Hadoop's own list of defaults has."""
    (jar,) = JARS.glob("hadoop-client-api-*.jar")
    with zipfile.ZipFile(jar) as opened:
        listed = ET.fromstring(opened.read("core-default.xml"))
    return {f"spark.hadoop.{name.text}" for name in listed.iter("name")}


def is_spelt_by_spark(name: str) -> bool:
    """Whether Spark's own code declares a setting: the list that Rocky keeps has typed ones only."""
    for module in ("core", "kubernetes", "connect"):
        (jar,) = JARS.glob(f"spark-{module}_*.jar")
        with zipfile.ZipFile(jar) as opened:
            declared = [each for each in opened.namelist() if "config" in each.lower()]
            if any(name.encode() in opened.read(each) for each in declared):
                return True
    return False


def test_every_setting_of_the_page_on_scale_is_one_of_spark_or_hadoop():
    named = set(SETTING.findall(SCALE)) - FAMILIES
    unknown = named - set(setting_types()) - known_to_hadoop()

    assert "spark.speculation" in named
    assert [] == [name for name in sorted(unknown) if not is_spelt_by_spark(name)]


def test_the_example_of_the_page_on_scale_is_a_project(tmp_path):
    (example,) = EXAMPLE.findall(SCALE)
    (tmp_path / "rocky.toml").write_text(example + '\n[pipeline.p]\nmodels = "models/**"\n')
    (tmp_path / "models").mkdir()
    (tmp_path / "models/one.sql").write_text("SELECT 1 AS n\n")

    loaded = load_project(tmp_path, env={})

    assert [] == [each.message for each in loaded.diagnostics]
    conf = loaded.config.adapter["default"].conf
    assert {} == {name: value for name, value in conf.items() if misfit_of(name, value)}
    assert "true" == conf["spark.speculation"]


@pytest.mark.parametrize(("path", "name"), sorted(set(TEST.findall(RELIABILITY))))
def test_every_row_on_reliability_has_its_test(path, name):
    text = (ROOT / path).read_text()

    assert not name or f"def {name}(" in text


def test_every_fault_has_a_row_with_a_test():
    rows = [line for line in RELIABILITY.splitlines() if line.startswith("| ")]
    rows = [line for line in rows if not line.startswith(("| fault", "| ---"))]

    assert len(rows) > 20
    assert [] == [line for line in rows if not TEST.search(line) and "| the same |" not in line]
