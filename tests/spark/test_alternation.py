"""A notebook on a session of its own and the command line, by turns over the same tables."""

import pytest

from tests.spark.projects import write_files
from tests.spark.scripts import OWN_SPARK, run_script

pytestmark = pytest.mark.spark

FILES = {
    "models/things.sql": "SELECT id, upper(name) AS name FROM names",
    "models/counted.sql": "SELECT name, count(*) AS n FROM things GROUP BY name",
    "seeds/names.csv": "id,name\n1,ann\n2,bob\n",
}

SCRIPT = """
import json, subprocess, sys
from pathlib import Path

from pyspark.sql import SparkSession

import rocky
from rocky.spark.settings import DEFAULTS

root = Path(sys.argv[1])
heard = []

def command_line():
    code = "import sys; from rocky.cli.app import main; sys.exit(main())"
    line = [sys.executable, "-c", code, "run", "-o", "json"]
    said = subprocess.run(line, cwd=root, capture_output=True, text=True)
    document = json.loads(said.stdout)
    return {e["model"]: [e.get("decision"), e.get("reason")] for e in document["model_decisions"]}

def notebook():
    found = rocky.to_dict(rocky.open(root, spark=spark).run())
    return {e["model"]: [e.get("decision"), e.get("reason")] for e in found["model_decisions"]}

first = command_line()
spark = (
    SparkSession.builder.master("local[1]")
    .appName("mine")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "3")
    .config("spark.sql.session.timeZone", "Europe/Berlin")
    .config("spark.sql.repl.eagerEval.enabled", "true")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
defaults = {name: spark.conf.get(name) for name in DEFAULTS}
second = notebook()
(root / "models/counted.sql").write_text("SELECT name, count(*) + 1 AS n FROM things GROUP BY name")
third = notebook()
fourth = command_line()
spark.conf.set("spark.sql.mapKeyDedupPolicy", "LAST_WIN")
fifth = notebook()
print(json.dumps([first, second, third, fourth, fifth, defaults == DEFAULTS]))
"""


@pytest.mark.sampled(OWN_SPARK)
def test_a_notebook_and_the_command_line_reuse_each_other_s_tables(tmp_path):
    root = write_files(tmp_path, FILES)
    answer = run_script(SCRIPT, str(root)).answer
    first, second, third, fourth, fifth, are_defaults = answer

    assert are_defaults, "the defaults of Spark are those that Rocky expects"
    assert {"build"} == {first[each][0] for each in ("things", "counted")}
    assert {"reuse"} == {second[each][0] for each in ("things", "counted")}, second
    assert ["reuse", "build"] == [third[each][0] for each in ("things", "counted")], third
    assert {"reuse"} == {fourth[each][0] for each in ("things", "counted")}, fourth
    assert "build" == fifth["things"][0]
    assert fifth["things"][1].startswith(
        "`spark.sql.mapKeyDedupPolicy` is `LAST_WIN` now and was `EXCEPTION` in `run-"
    ), fifth
