"""How a JVM warms up: when its compilers work, whose options win, and what it prepares meanwhile."""

import os
import subprocess

import pytest

from rocky.spark.java import choose_java, java_of_wheel
from rocky.spark.settings import OF_A_START
from rocky.spark.warmup import UNKNOWN_WORK, Work, compilation_options, expected_work, expecting
from tests.spark.scripts import run_script

SMALL = Work(is_small=True)
ONE_COMPILER = "-XX:TieredStopAtLevel=1"
PINNED = {setting.name: setting.value for setting in OF_A_START}
EXTRA = "spark.driver.extraJavaOptions"


def test_only_small_work_is_left_without_the_thorough_compiler():
    small = compilation_options(PINNED, {}, SMALL)
    other = compilation_options(PINNED, {}, UNKNOWN_WORK)

    assert (ONE_COMPILER,) == small
    assert other
    assert ONE_COMPILER not in other


@pytest.mark.parametrize(
    ("settings", "environment"),
    [
        ({EXTRA: "-XX:TieredStopAtLevel=4"}, {}),
        ({EXTRA: "-Da=b -Xint"}, {}),
        ({"spark.driver.defaultJavaOptions": "-XX:+UseZGC"}, {}),
        ({}, {"JDK_JAVA_OPTIONS": "-XX:CICompilerCount=8"}),
        ({}, {"JAVA_TOOL_OPTIONS": "-Xmixed"}),
    ],
)
def test_whoever_tunes_the_jvm_tunes_all_of_it(settings, environment):
    assert () == compilation_options(PINNED | settings, environment, SMALL)


@pytest.mark.parametrize("option", ["-Duser.timezone=UTC", "-Xss32m", ""])
def test_other_options_of_a_project_leave_the_compilers_to_us(option):
    assert (ONE_COMPILER,) == compilation_options(PINNED | {EXTRA: option}, {}, SMALL)


def test_work_is_expected_inside_only():
    with expecting(SMALL):
        inside = expected_work()

    assert (SMALL, UNKNOWN_WORK) == (inside, expected_work())


@pytest.mark.spark
@pytest.mark.parametrize("choose", [lambda: choose_java(os.environ), java_of_wheel])
@pytest.mark.parametrize("work", [SMALL, UNKNOWN_WORK])
def test_every_java_knows_the_options(choose, work):
    java = choose()
    if java is None:
        pytest.skip("the extra `java` is not installed")
    command = [java.program, *compilation_options({}, {}, work), "-version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    assert (0, "") == (done.returncode, done.stdout)
    assert "warning" not in done.stderr.lower()


# What the JVM itself says of its options, and whether the class of `upper` has been made ready
# before any query needed it.
STARTED = """
import json, sys, time
from pathlib import Path
from rocky.project.configuration.blocks import Adapter
from rocky.spark.session import connect_spark
from rocky.spark.warmup import CASE_CLASS, Work, expecting

small = sys.argv[1] == "small"
with expecting(Work(is_small=small, changes_case=small)):
    connection = connect_spark(Adapter(master="local[1]"), Path.cwd())
jvm = connection.session.sparkContext._jvm
beans = jvm.java.lang.management.ManagementFactory
bean = jvm.java.lang.Class.forName("com.sun.management.HotSpotDiagnosticMXBean")
options = beans.getPlatformMXBean(bean)
told = {name: options.getVMOption(name).getValue() for name in sys.argv[2:]}
text = connection.session.sql("SELECT upper('straße'), lower('ÀÇ'), initcap('a bc')").first()
connection.close()
print(json.dumps({"options": told, "text": list(text)}))
"""


@pytest.mark.spark
@pytest.mark.exhaustive
def test_a_spark_is_started_for_the_work_that_is_expected(tmp_path):
    names = ("TieredStopAtLevel", "Tier4InvocationThreshold")
    env = {"XDG_CACHE_HOME": str(tmp_path), "JDK_JAVA_OPTIONS": None}
    small = run_script(STARTED, "small", *names, env=env)
    other = run_script(STARTED, "other", *names, env=env)

    assert {"TieredStopAtLevel": "1", "Tier4InvocationThreshold": "5000"} == small.answer["options"]
    assert {"TieredStopAtLevel": "4", "Tier4InvocationThreshold": "150000"} == (
        other.answer["options"]
    )
    assert ["STRASSE", "àç", "A Bc"] == small.answer["text"] == other.answer["text"]
    assert ("", "") == (small.err, other.err)
