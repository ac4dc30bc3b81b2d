"""Sessions and connections on a Spark that runs already: ours is ours, the caller's stays his."""

from pathlib import Path

import pytest

from rocky.errors import AdapterUnusable, SparkUnavailable
from rocky.project.configuration.blocks import Adapter
from rocky.spark.connection import adopt_session, check_version, kind_of
from rocky.spark.session import connect_spark
from rocky.spark.settings import OF_A_SESSION, check_conf, explicit_settings, start_settings

HELD = [setting for setting in OF_A_SESSION if setting.held]


def refusal(call, *arguments):
    with pytest.raises(AdapterUnusable) as refused:
        call(*arguments)
    return str(refused.value)


def test_an_adapter_with_master_and_remote_is_refused():
    adapter = Adapter(master="local[1]", remote="sc://localhost")

    assert (
        "`[adapter]` has both `master` and `remote`: keep the one that models run on"
    ) == refusal(connect_spark, adapter, Path())


def test_ansi_off_is_refused_before_anything_starts():
    adapter = Adapter(conf={"spark.sql.ansi.enabled": "false"})

    assert (
        "`spark.sql.ansi.enabled = false` in `[adapter.conf]` cannot be used, because"
        " Rocky types as ANSI Spark does: leave it out, it is `true`"
    ) == refusal(connect_spark, adapter, Path())


@pytest.mark.parametrize("setting", HELD, ids=lambda setting: setting.name)
def test_a_held_setting_may_be_repeated_but_not_changed(setting):
    check_conf({setting.name: setting.value.upper()})

    assert setting.why in refusal(check_conf, {setting.name: "other"})


def test_a_value_that_spark_would_not_take_is_refused_before_anything_starts():
    conf = {"spark.sql.shuffle.partitions": "two"}

    assert (
        "`spark.sql.shuffle.partitions = two` in `[adapter.conf]` cannot be used, because Spark"
        " takes a whole number there: write a number such as `200`"
    ) == refusal(check_conf, conf)


def test_a_pinned_setting_that_is_not_held_is_the_projects_to_change():
    settings = start_settings({"spark.sql.mapKeyDedupPolicy": "LAST_WIN"}, local=True)

    assert "LAST_WIN" == settings["spark.sql.mapKeyDedupPolicy"]
    assert "FAIR" == settings["spark.scheduler.mode"]


@pytest.mark.parametrize(
    ("master", "kind"),
    [
        ("local", "local"),
        ("local[*]", "local"),
        ("local[2,3]", "local"),
        ("local-cluster[2,1,1024]", "cluster"),
        ("spark://host:7077", "cluster"),
        ("yarn", "cluster"),
    ],
)
def test_only_a_master_without_executors_of_its_own_is_local(master, kind):
    assert kind == kind_of(master)


def test_another_version_of_spark_is_refused():
    check_version("4.1.0", "the server")

    with pytest.raises(SparkUnavailable, match=r"the server is Spark 3\.5\.1, and Rocky needs"):
        check_version("3.5.1", "the server")


@pytest.mark.spark
def test_a_session_that_was_handed_in_keeps_its_settings_and_does_not_see_our_views(spark):
    mine = spark.newSession()
    mine.conf.set("spark.sql.session.timeZone", "Europe/Paris")
    mine.conf.set("spark.sql.ansi.enabled", "false")
    mine.range(3).createOrReplaceTempView("of_the_caller")
    connection = adopt_session(mine)
    connection.session.range(5).createOrReplaceTempView("of_rocky")
    connection.close()

    assert "local" == connection.kind
    assert "true" == connection.facts.settings["spark.sql.ansi.enabled"]
    assert "UTC" == connection.facts.settings["spark.sql.session.timeZone"]
    assert 3 == connection.session.table("of_the_caller").count()
    assert not mine.catalog.tableExists("of_rocky")
    assert "Europe/Paris" == mine.conf.get("spark.sql.session.timeZone")
    assert "false" == mine.conf.get("spark.sql.ansi.enabled")


@pytest.mark.spark
def test_what_was_set_on_a_session_is_told_as_spark_tells_it(spark):
    own = spark.newSession()
    own.conf.set("spark.note", "two\nlines, an \u00e9 and = signs")
    own.conf.set("spark.nothing", "")

    assert dict(own.conf.getAll) == explicit_settings(own)


@pytest.mark.spark
def test_a_spark_that_runs_in_this_process_is_shared_and_not_stopped(spark):
    conf = {"spark.sql.mapKeyDedupPolicy": "LAST_WIN", "spark.sql.shuffle.partitions": "7"}
    connection = connect_spark(Adapter(conf=conf), Path())
    connection.close()

    assert "LAST_WIN" == connection.facts.settings["spark.sql.mapKeyDedupPolicy"]
    assert spark.version == connection.facts.spark_version
    assert connection.facts.java_version is not None
    assert "7" == connection.session.conf.get("spark.sql.shuffle.partitions")
    assert "UTC" == spark.conf.get("spark.sql.session.timeZone")
    assert 3 == spark.range(3).count()


@pytest.mark.spark
def test_a_setting_that_a_running_spark_cannot_change_is_refused(spark):
    adapter = Adapter(conf={"spark.driver.memory": "3g"})

    assert (
        "`spark.driver.memory` cannot be set on a Spark that is already running: set it where that"
        " Spark is started, or leave it out of `[adapter.conf]`"
    ) == refusal(connect_spark, adapter, Path())


@pytest.mark.spark
def test_a_second_spark_of_another_kind_cannot_be_started_in_one_process(spark):
    adapter = Adapter(master="local-cluster[2,1,1024]")

    assert (
        '`master = "local-cluster[2,1,1024]"` cannot be started, because this process already'
        " runs Spark on `local[1]`: stop that one first, or pass its session"
    ) == refusal(connect_spark, adapter, Path())
