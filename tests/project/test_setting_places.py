"""A Spark that is not to be had names the lines at which it was asked for."""

import pytest

from rocky.errors import AdapterUnusable, SparkUnavailable
from rocky.project.setting_places import placed_settings, setting_place
from tests.project.projects import load

BARE = """\
[adapter]
master = "spark://host:7077"

[adapter.conf]
"spark.jars.packages" = "org.nowhere:nothing:1.0"
spark.hadoop.fs.s3a.secret.key = "${KEY}"
spark.app.name = "hunter2hunter2"
"""
NAMED = """\
[adapters.small]
conf = { "spark.driver.memory" = "1g" }

[adapters.large.conf]
spark.driver.memory = "9g"
"""


def test_a_setting_is_found_however_it_is_nested(tmp_path):
    project = load(tmp_path, {"rocky.toml": BARE}, env={"KEY": "hunter2"})
    adapter = project.config.adapter["default"]
    names = ("master", "spark.jars.packages", "spark.hadoop.fs.s3a.secret.key", "remote", "spark.x")

    assert ["rocky.toml:2", "rocky.toml:5", "rocky.toml:6", None, None] == [
        setting_place(project, adapter, each) for each in names
    ]


def test_a_setting_of_one_of_several_adapters_is_found_at_its_own_line(tmp_path):
    project = load(tmp_path, {"rocky.toml": NAMED})

    assert {"small": "rocky.toml:2", "large": "rocky.toml:5"} == {
        name: setting_place(project, each, "spark.driver.memory")
        for name, each in project.config.adapter.items()
    }


def test_a_failure_of_spark_names_lines_and_what_to_do_and_no_secret(tmp_path):
    project = load(tmp_path, {"rocky.toml": BARE}, env={"KEY": "hunter2hunter2"})
    adapter = project.config.adapter["default"]
    names = ("spark.jars.packages", "spark.hadoop.fs.s3a.secret.key")
    with pytest.raises(SparkUnavailable) as raised, placed_settings(project, adapter):
        raise SparkUnavailable("no: hunter2hunter2", settings=names, advice="mend it", output="o")

    assert (
        "no: ***\n"
        "  --> rocky.toml:5: `spark.jars.packages = org.nowhere:nothing:1.0`\n"
        "  --> rocky.toml:6: `spark.hadoop.fs.s3a.secret.key = ***`\n"
        "  = help: mend it"
    ) == str(raised.value)
    assert "o" == raised.value.output


def test_a_setting_that_cannot_be_is_named_with_its_line(tmp_path):
    project = load(tmp_path, {"rocky.toml": BARE}, env={"KEY": "hunter2hunter2"})
    adapter = project.config.adapter["default"]
    with pytest.raises(AdapterUnusable) as raised, placed_settings(project, adapter):
        raise AdapterUnusable("it runs already", settings=("spark.jars.packages",))

    assert (
        "it runs already\n  --> rocky.toml:5: `spark.jars.packages = org.nowhere:nothing:1.0`"
    ) == str(raised.value)


def test_a_failure_that_no_setting_is_to_blame_for_stays_as_it_is(tmp_path):
    project = load(tmp_path, {"rocky.toml": BARE}, env={"KEY": "x"})
    failure = SparkUnavailable("no Java")
    with (
        pytest.raises(SparkUnavailable) as raised,
        placed_settings(project, project.config.adapter["default"]),
    ):
        raise failure

    assert failure is raised.value
