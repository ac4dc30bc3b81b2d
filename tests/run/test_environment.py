"""A result made in another environment is never taken over, so what counts must be in its hash."""

from dataclasses import replace

import pytest

from rocky.project.configuration.blocks import Adapter
from rocky.project.toml.variables import Substituted
from rocky.run.engine.protocol import EngineFacts
from rocky.run.prepare.environment import (
    Environment,
    describe_difference,
    observe_environment,
    predict_environment,
    result_settings,
)

PLAIN: dict[str, str] = {}


@pytest.fixture(autouse=True)
def no_driver(monkeypatch):
    """Another test of this process may have started Spark."""
    monkeypatch.setattr("pyspark.SparkContext._active_spark_context", None)


def foreseen(conf: dict[str, str] = PLAIN, env: dict[str, str] = PLAIN) -> Environment:
    found = predict_environment(Adapter(conf=conf), env)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "conf",
    [
        {"spark.executor.memory": "8g"},
        {"spark.sql.shuffle.partitions": "7"},
        {"spark.sql.adaptive.enabled": "false"},
        {"spark.sql.files.maxPartitionBytes": "1m"},
        {"spark.hadoop.fs.s3a.secret.key": "hidden"},
    ],
)
def test_where_and_how_fast_it_runs_does_not_count(conf):
    assert foreseen().hash == foreseen(conf).hash


@pytest.mark.parametrize(
    "conf",
    [
        {"spark.sql.legacy.timeParserPolicy": "LEGACY"},
        {"spark.sql.files.ignoreCorruptFiles": "true"},
        {"spark.driver.extraJavaOptions": "-Duser.language=tr"},
        {"spark.executor.extraClassPath": "other.jar"},
        {"spark.jars": "other.jar"},
        {"spark.submit.pyFiles": "other.zip"},
        {"spark.kubernetes.container.image": "other"},
        {"spark.nobody.knows": "what"},
    ],
)
def test_whatever_may_change_a_row_counts(conf):
    assert foreseen().hash != foreseen(conf).hash


@pytest.mark.parametrize(
    "name",
    ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "HADOOP_CONF_DIR", "TZ"],
)
def test_a_variable_that_java_reads_counts_and_is_not_shown(name):
    found = foreseen(env={name: "hunter2"})

    assert foreseen().hash != found.hash
    assert "hunter2" not in found.json


@pytest.mark.parametrize("variable", ["SPARK_CONF_DIR", "SPARK_HOME"])
@pytest.mark.parametrize("name", ["spark-defaults.conf", "spark-env.sh", "hive-site.xml"])
def test_files_that_spark_reads_when_it_starts_count(tmp_path, variable, name):
    folder = tmp_path / "conf" if variable == "SPARK_HOME" else tmp_path
    folder.mkdir(exist_ok=True)
    before = result_settings(Adapter(), {variable: str(tmp_path)})
    (folder / name).write_text("changed")

    assert {name} == result_settings(Adapter(), {variable: str(tmp_path)}).keys() - before.keys()


def test_the_settings_that_came_with_pyspark_count(tmp_path, monkeypatch):
    monkeypatch.setattr("rocky.run.prepare.environment._home_of_pyspark", lambda: str(tmp_path))
    before = foreseen().hash
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/spark-defaults.conf").write_text("spark.sql.mapKeyDedupPolicy LAST_WIN\n")

    assert before != foreseen().hash


@pytest.mark.parametrize("setting", ["spark.jars", "spark.submit.pyFiles"])
@pytest.mark.parametrize("named", ["lib/u.jar", "lib/*.jar", "missing.jar,lib/u.jar"])
def test_the_bytes_of_files_that_settings_name_count(tmp_path, setting, named):
    adapter = Adapter(conf={setting: named})
    (tmp_path / "lib").mkdir()
    found = []
    for content in ("one", "two"):
        (tmp_path / "lib/u.jar").write_text(content)
        found.append(predict_environment(adapter, {}, tmp_path))

    assert found[0].hash != found[1].hash


def test_settings_from_outside_the_project_count(tmp_path):
    (tmp_path / "spark-defaults.conf").write_text("spark.sql.ansi.enabled false\n")

    found = {
        foreseen().hash,
        foreseen(env={"SPARK_CONF_DIR": str(tmp_path)}).hash,
        foreseen(env={"PYSPARK_SUBMIT_ARGS": "--conf a=b pyspark-shell"}).hash,
    }

    assert 3 == len(found)


def test_a_value_that_may_be_a_secret_is_not_shown_and_counts():
    one = foreseen({"spark.some.token": Substituted("hunter2", "${TOKEN}")})
    two = foreseen({"spark.some.token": Substituted("hunter3", "${TOKEN}")})

    assert one.hash != two.hash
    assert "hunter" not in one.json


@pytest.mark.parametrize(
    "name",
    ["spark.ssl.keyPassword", "spark.sql.catalog.x.token", "spark.x.api.key", "spark.x.accessKey"],
)
def test_a_value_that_is_called_a_secret_is_not_shown_and_counts(name):
    found = foreseen({name: "hunter2"})

    assert found.hash != foreseen({name: "hunter3"}).hash
    assert "hunter" not in found.json


def test_a_setting_that_only_speaks_of_keys_is_shown():
    assert "LAST_WIN" in foreseen({"spark.sql.mapKeyDedupPolicy": "LAST_WIN"}).json


def test_a_spark_that_runs_in_this_process_already_is_not_foreseen(monkeypatch):
    monkeypatch.setattr("pyspark.SparkContext._active_spark_context", object())

    assert None is predict_environment(Adapter(), {})


@pytest.mark.parametrize("env", [{"SPARK_HOME": "elsewhere"}, {"SPARK_REMOTE": "sc://host"}])
def test_a_spark_of_others_is_not_foreseen(env):
    assert predict_environment(Adapter(), env) is None
    assert predict_environment(Adapter(remote="sc://host"), {}) is None


def test_what_was_foreseen_of_our_own_spark_is_what_is_found():
    expected = foreseen()
    facts = EngineFacts(expected.spark_version, expected.writer, {"spark.sql.ansi.enabled": "true"})

    assert expected.hash == observe_environment(facts, Adapter(), {}, own=True).hash
    remote = replace(facts, remote=True)
    assert expected.hash != observe_environment(remote, Adapter(), {}, own=False).hash


def observed(
    explicit: dict[str, str], settings: dict[str, str] = PLAIN, **conf: str
) -> Environment:
    """A session of the caller's in this process."""
    facts = EngineFacts(foreseen().spark_version, foreseen().writer, settings, explicit)
    return observe_environment(facts, Adapter(conf=conf), {}, own=False)


OF_EVERY_SESSION = {
    "spark.app.id": "local-1",
    "spark.app.name": "pyspark-shell",
    "spark.driver.extraJavaOptions": (
        "-Djava.net.preferIPv6Addresses=false -XX:+IgnoreUnrecognizedVMOptions"
        " --add-modules=jdk.incubator.vector --add-opens=java.base/java.lang=ALL-UNNAMED"
        " -Djdk.reflect.useDirectMethodHandle=false -Dio.netty.tryReflectionSetAccessible=true"
    ),
    "spark.master": "local[*]",
    "spark.rdd.compress": "True",
    "spark.serializer.objectStreamReset": "100",
    "spark.submit.deployMode": "client",
    "spark.submit.pyFiles": "",
    "spark.sql.warehouse.dir": "file:/somewhere",
}
"""What a session has on which nobody has set anything."""


@pytest.mark.parametrize(
    "explicit",
    [
        {},
        {"spark.sql.shuffle.partitions": "7", "spark.executor.memory": "8g"},
        {"spark.sql.repl.eagerEval.enabled": "true", "spark.sql.ui.retainedExecutions": "3"},
        {"spark.sql.catalogImplementation": "hive"},
        {"spark.serializer": "org.apache.spark.serializer.KryoSerializer"},
        {"parquet.hadoop.vectored.io.enabled": "false"},
        # Pinned: a run has it otherwise than the session that it was given.
        {"spark.sql.session.timeZone": "UTC", "spark.sql.ansi.enabled": "TRUE"},
    ],
)
def test_a_session_that_can_change_no_row_is_as_a_spark_of_ours(explicit):
    assert foreseen().json == observed(OF_EVERY_SESSION | explicit).json


@pytest.mark.parametrize(
    ("explicit", "said"),
    [
        (
            {"spark.sql.files.ignoreCorruptFiles": "true"},
            "`spark.sql.files.ignoreCorruptFiles` is `true` now and was not set in `run-1`",
        ),
        (
            {"spark.driver.extraJavaOptions": "-Duser.language=tr -Xmx2g"},
            "`spark.driver.extraJavaOptions` is not what it was in `run-1`",
        ),
        ({"spark.jars.packages": "a:b:1"}, "`spark.jars.packages` is "),
        (
            {"spark.sql.catalog.x.password": "hunter2"},
            "`spark.sql.catalog.x.password` is not what it was in `run-1`",
        ),
        ({"spark.nobody.knows": "hunter2"}, "`spark.nobody.knows` is not what it was in `run-1`"),
    ],
)
def test_what_may_change_a_row_counts_and_is_named(explicit, said):
    found = observed(OF_EVERY_SESSION | explicit)

    assert foreseen().hash != found.hash
    assert "hunter2" not in found.json
    assert describe_difference(foreseen().json, "run-1", found).startswith(said)


def test_a_setting_that_is_not_spark_s_default_is_named_with_both_values():
    then = observed({}, {"spark.sql.mapKeyDedupPolicy": "EXCEPTION"})
    now = observed({}, {"spark.sql.mapKeyDedupPolicy": "LAST_WIN"})
    name = "`spark.sql.mapKeyDedupPolicy`"

    assert foreseen().hash == then.hash
    assert f"{name} is `LAST_WIN` now and was `EXCEPTION` in `run-1`" == describe_difference(
        then.json, "run-1", now
    )
    assert f"{name} is `EXCEPTION` now and was `LAST_WIN` in `run-1`" == describe_difference(
        now.json, "run-1", foreseen()
    )
    conf = foreseen({"spark.sql.mapKeyDedupPolicy": "LAST_WIN"})
    assert f"{name} is `LAST_WIN` now and was `EXCEPTION` in `run-1`" == describe_difference(
        then.json, "run-1", conf
    )


def test_what_the_project_asks_for_is_no_difference_of_a_session_that_has_it():
    name, value = "spark.sql.legacy.timeParserPolicy", "LEGACY"
    found = observed({name: value}, {name: value}, **{name: value})

    assert foreseen({name: value}).json == found.json


def test_of_several_differences_the_first_is_told_and_how_many_there_are():
    other = Environment("4.0.0", "another", {"TZ": "blake3:1"})

    assert (
        f"Spark is `{foreseen().spark_version}` now and was `4.0.0` in `run-1`, and 2 more differ"
        == describe_difference(other.json, "run-1", foreseen())
    )


def test_of_a_server_everything_that_somebody_set_counts_and_is_not_shown():
    def asked(**explicit: str) -> Environment:
        named = {name.replace("_", "."): value for name, value in explicit.items()}
        facts = EngineFacts("4.1.4", "memory", {}, named, remote=True)
        return observe_environment(facts, Adapter(), {}, own=False)

    plain, legacy = asked(), asked(spark_sql_legacy="hunter2")

    assert plain.hash != legacy.hash
    assert plain.hash == asked(spark_sql_shuffle_partitions="7").hash
    assert "hunter2" not in legacy.json
