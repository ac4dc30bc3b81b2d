"""No secret of `[adapter.conf]` is in what Spark writes of itself."""

import re

import pytest

from rocky.project.toml.variables import Substituted
from rocky.spark.redaction import redaction_pattern, secret_settings, uncovered_settings
from rocky.spark.settings import start_settings
from tests.spark.scripts import OWN_SPARK, run_script

CONF = {
    "spark.hadoop.fs.s3a.access.key": "literal-1",
    "spark.hadoop.fs.azure.account.key": "literal-2",
    "spark.hadoop.my.connector.place": Substituted("literal-3", "${PLACE}"),
    "my.session.option": Substituted("literal-4", "${OPTION}"),
    "spark.driver.extraJavaOptions": Substituted("-Dmy.prop=literal-5", "-Dmy.prop=${PROP}"),
    "spark.executorEnv.NOTE": Substituted("literal-6", "${NOTE}"),
    "spark.app.name": "plain-name",
}


def test_a_secret_is_known_by_its_name_or_by_where_it_came_from():
    assert [each for each in sorted(CONF) if each != "spark.app.name"] == list(
        secret_settings(CONF)
    )


def test_the_pattern_covers_every_name_that_spark_shows_and_holds_no_value():
    pattern = start_settings(CONF, local=True)["spark.redaction.regex"]
    found = re.compile(pattern)

    for name in (*secret_settings(CONF), "fs.azure.account.key", "my.connector.place", "my.prop"):
        assert (name, True) == (name, bool(found.search(name)))
    assert not found.search("spark.app.name")
    assert not found.search("spark.sql.shuffle.partitions")
    assert "literal" not in pattern


def test_a_pattern_of_the_projects_own_stays():
    found = re.compile(redaction_pattern({**CONF, "spark.redaction.regex": "(?-i:Salary)"}))

    for name in ("hr.Salary", "db.PASSWORD", "my.connector.place"):
        assert (name, True) == (name, bool(found.search(name)))


def test_what_the_spark_of_others_would_show_is_known():
    assert ("my.session.option",) == tuple(
        each for each in uncovered_settings(CONF, None) if each.startswith("my.")
    )
    assert () == uncovered_settings(CONF, redaction_pattern(CONF))
    assert secret_settings(CONF) == uncovered_settings(CONF, "(")


LIFE = """
import json, sys, urllib.request
from pathlib import Path
from rocky.project.configuration.blocks import Adapter
from rocky.project.toml.variables import Substituted
from rocky.spark.session import connect_spark
logs = Path(sys.argv[1])
conf = {
    "spark.hadoop.fs.s3a.access.key": "literal-1",
    "spark.hadoop.fs.azure.account.key": "literal-2",
    "spark.hadoop.my.connector.place": Substituted("literal-3", "${PLACE}"),
    "my.session.option": Substituted("literal-4", "${OPTION}"),
    "spark.driver.extraJavaOptions": Substituted("-Dmy.prop=literal-5", "-Dmy.prop=${PROP}"),
    "spark.executorEnv.NOTE": Substituted("literal-6", "${NOTE}"),
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.eventLog.dir": logs.as_uri(),
    "spark.ui.enabled": "true",
    "spark.ui.port": "0",
}
connection = connect_spark(Adapter(master="local[1]", conf=conf), logs)
context = connection.session.sparkContext
connection.session.sql("SELECT count(*) FROM range(10)").collect()
application = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}"
page = urllib.request.urlopen(f"{application}/environment").read().decode()
pages = page + urllib.request.urlopen(f"{context.uiWebUrl}/environment/").read().decode()
connection.close()
print(json.dumps({"pages": pages}))
"""


@pytest.mark.spark
@pytest.mark.sampled(OWN_SPARK)
def test_neither_the_event_log_nor_the_pages_show_a_secret(tmp_path):
    said = run_script(LIFE, str(tmp_path))
    log = "".join(each.read_text() for each in tmp_path.rglob("*") if each.is_file())

    assert "my.connector.place" in log
    assert "my.session.option" in log
    for text in (log, said.answer["pages"]):
        assert [] == sorted(set(re.findall(r"literal-\d", text)))
