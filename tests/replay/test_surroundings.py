"""Settings are set again as they were recorded; what cannot be is named."""

import pytest

from rocky.project.configuration.blocks import Adapter
from rocky.project.secrets import hide
from rocky.project.toml.variables import Substituted
from rocky.replay.recipe import RecordedEnvironment, restore_settings
from rocky.run.engine.protocol import EngineFacts
from rocky.run.prepare.environment import result_settings

ARGUMENTS = {"PYSPARK_SUBMIT_ARGS": "--conf a=b pyspark-shell"}


def test_recorded_settings_take_the_place_of_todays():
    now = Adapter(conf={"spark.x": "now", "spark.executor.memory": "8g"})

    restored, lost = restore_settings(now, {}, {"spark.x": "then", "spark.y": "too"})

    assert {"spark.x": "then", "spark.y": "too", "spark.executor.memory": "8g"} == restored.conf
    assert () == lost


def test_a_secret_is_taken_from_the_project_while_it_is_the_same():
    adapter = Adapter(conf={"spark.x": Substituted("one", "${X}")})
    recorded = result_settings(adapter, {})
    changed = Adapter(conf={"spark.x": Substituted("two", "${X}")})

    assert (adapter, ()) == restore_settings(adapter, {}, recorded)
    assert ("`spark.x` is not what it was, and its value was not recorded",) == (
        restore_settings(changed, {}, recorded)[1]
    )


@pytest.mark.parametrize("env", [ARGUMENTS, {"TZ": "Asia/Tokyo"}])
def test_a_variable_is_no_setting_of_the_adapter(env):
    adapter = Adapter()
    (name,) = env

    assert (adapter, ()) == restore_settings(adapter, env, result_settings(adapter, env))
    assert (f"there is `{name}` now and was none then",) == restore_settings(adapter, env, {})[1]


def test_what_was_set_on_a_spark_of_others_and_is_not_any_more_is_named():
    recorded = RecordedEnvironment(explicit={"spark.sql.x": hide("then"), "spark.sql.y": hide("y")})
    facts = EngineFacts("4.1.4", "memory", {}, {"spark.sql.x": "now", "spark.sql.y": "y"})

    assert ("`spark.sql.x` is not what it was",) == recorded.differences(facts)
