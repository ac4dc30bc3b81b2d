"""A result made in another environment is never taken over, so what counts must be in its hash."""

import pytest

from rocky.project.adapter import Adapter
from rocky.project.variables import Substituted
from rocky.run.engine import EngineFacts
from rocky.run.environment import Environment, foresee_environment, observe_environment

PLAIN: dict[str, str] = {}


def foreseen(conf: dict[str, str] = PLAIN, env: dict[str, str] = PLAIN) -> Environment:
    found = foresee_environment(Adapter(conf=conf), env)
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
        {"spark.nobody.knows": "what"},
    ],
)
def test_whatever_may_change_a_row_counts(conf):
    assert foreseen().hash != foreseen(conf).hash


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


@pytest.mark.parametrize("env", [{"SPARK_HOME": "elsewhere"}, {"SPARK_REMOTE": "sc://host"}])
def test_a_spark_of_others_is_not_foreseen(env):
    assert foresee_environment(Adapter(), env) is None
    assert foresee_environment(Adapter(remote="sc://host"), {}) is None


def test_what_was_foreseen_of_our_own_spark_is_what_is_found():
    expected = foreseen()
    facts = EngineFacts(expected.spark_version, expected.writer, {"spark.sql.ansi.enabled": "true"})

    assert expected.hash == observe_environment(facts, Adapter(), {}, own=True).hash
    assert expected.hash != observe_environment(facts, Adapter(), {}, own=False).hash
