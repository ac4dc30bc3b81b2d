"""Values of Spark's settings are judged where they are written, by what Spark itself takes."""

import pytest

from rocky.project.configuration.spark_settings import judge, misfit_of, setting_types
from tests.project.projects import findings, helps, load

WRONG = [
    ('spark.sql.shuffle.partitions = "two"', '"two"', "a whole number", "`two`"),
    ("spark.sql.shuffle.partitions = 0", "0", "a whole number of 1 or more", "`0`"),
    ('spark.driver.memory = "2 gigs"', '"2 gigs"', "a size", "`2 gigs`"),
    ('spark.network.timeout = "soon"', '"soon"', "a time", "`soon`"),
    ('spark.sql.adaptive.enabled = "yes"', '"yes"', "`true` or `false`", "`yes`"),
    ('spark.memory.fraction = "most"', '"most"', "a number", "`most`"),
]


@pytest.mark.parametrize(("line", "span", "wanted", "shown"), WRONG)
def test_a_setting_of_a_wrong_type_is_an_error_at_its_line(tmp_path, line, span, wanted, shown):
    name, _, value = line.partition(" = ")
    project = load(tmp_path, {"rocky.toml": f'[adapter.conf]\n"{name}" = {value}\n'})

    column = len(name) + 6
    assert [
        f"E018 rocky.toml:2:{column} '{span}' the Spark setting `{name}` takes {wanted}, not {shown}"
    ] == findings(project)


def test_a_setting_written_as_nested_tables_has_its_whole_name(tmp_path):
    config = '[adapter.main.conf.spark.sql]\nshuffle.partitions = "two"\n'
    project = load(tmp_path, {"rocky.toml": config})

    assert [
        "E018 rocky.toml:2:22 '\"two\"' the Spark setting `spark.sql.shuffle.partitions` takes"
        " a whole number, not `two`"
    ] == findings(project)
    assert ["write a number such as `200`"] == helps(project)


def test_a_choice_lists_what_there_is(tmp_path):
    config = '[adapter.conf]\n"spark.sql.mapKeyDedupPolicy" = "FIRST_WIN"\n'
    (said,) = findings(load(tmp_path, {"rocky.toml": config}))

    assert "takes one of `EXCEPTION`, `LAST_WIN`, not `FIRST_WIN`" in said


def test_the_value_of_a_variable_is_not_shown(tmp_path):
    config = '[adapter.conf]\n"spark.sql.shuffle.partitions" = "${PARTITIONS}"\n'
    project = load(tmp_path, {"rocky.toml": config}, env={"PARTITIONS": "hunter2"})
    (said,) = findings(project)

    assert said.endswith("not the value of `${PARTITIONS}`")
    assert "hunter2" not in repr(project.diagnostics)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.sql.shuffle.partitions", " 200 "),
        ("spark.sql.adaptive.enabled", "TRUE"),
        ("spark.driver.memory", "2g"),
        ("spark.driver.memory", "2048"),
        ("spark.network.timeout", "800s"),
        ("spark.sql.mapKeyDedupPolicy", "last_win"),
        ("spark.memory.fraction", "6e-1"),
        ("spark.sql.autoBroadcastJoinThreshold", "-1"),
        ("spark.hadoop.fs.s3a.connection.maximum", "many"),
        ("spark.sql.catalog.lake", "org.example.Catalog"),
        ("com.example.anything", "two"),
    ],
)
def test_what_spark_takes_and_what_is_not_its_own_stays_quiet(name, value):
    assert None is misfit_of(name, value)


def test_a_whole_number_has_the_size_of_javas():
    types = setting_types()
    most = 2**31

    assert judge(types["spark.sql.shuffle.partitions"], str(most - 1)) is None
    assert judge(types["spark.sql.shuffle.partitions"], str(most)) is not None


@pytest.mark.parametrize(
    "master",
    ["local", "local[*]", "local[4]", "local[*, 3]", "local-cluster[2,1,1024]", "yarn",
     "spark://host:7077", "spark://a:1,b:2", "spark://[::1]:7077", "k8s://https://host:443"],
)  # fmt: skip
def test_a_master_that_spark_knows_stays_quiet(tmp_path, master):
    assert [] == findings(load(tmp_path, {"rocky.toml": f'[adapter]\nmaster = "{master}"\n'}))


@pytest.mark.parametrize(
    "master",
    ["loca[2]", "local[two]", "local[0]", "yarn-cluster", "", "http://host",
     "spark://host", "spark://a:1,b", "spark://:7077"],
)  # fmt: skip
def test_a_master_that_spark_does_not_know_is_an_error_at_its_line(tmp_path, master):
    project = load(tmp_path, {"rocky.toml": f'[adapter]\nmaster = "{master}"\n'})

    assert [
        f"E018 rocky.toml:2:10 '\"{master}\"' `{master}` is not a master of Spark's"
    ] == findings(project)


@pytest.mark.parametrize("remote", ["nowhere:15002", "http://host:15002", "sc://"])
def test_a_remote_that_is_no_address_of_connect_is_an_error_at_its_line(tmp_path, remote):
    project = load(tmp_path, {"rocky.toml": f'[adapter]\nremote = "{remote}"\n'})

    assert [
        f"E018 rocky.toml:2:10 '\"{remote}\"' `{remote}` is not an address of Spark Connect"
    ] == findings(project)
