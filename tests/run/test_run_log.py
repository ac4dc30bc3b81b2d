"""The log of a run: stacks go there, secrets do not, and old ones go away."""

import os
import stat

import pytest

from rocky.errors import SparkUnavailable
from rocky.run.run_log import LOGS_FOLDER, LOGS_KEPT, RunLog, logged_start, read_log


def test_a_run_in_which_nothing_failed_has_no_log(tmp_path):
    log = RunLog(tmp_path, "run-1")
    log.add("nothing", " \n")

    assert (None, None) == (log.path, read_log(tmp_path, "run-1"))
    assert not (tmp_path / ".rocky").exists()


def test_entries_are_in_a_file_that_only_its_owner_reads_and_git_ignores(tmp_path):
    log = RunLog(tmp_path, "run-1", lambda text: text.replace("hunter2", "***"))
    log.add("`a` failed: hunter2", "Traceback\n  password=hunter2\n")
    log.add("what Spark printed", "ERROR\n")
    path = tmp_path / LOGS_FOLDER / "run-1.log"
    said = path.read_text()

    assert f"{LOGS_FOLDER}/run-1.log" == log.path
    assert "`a` failed: ***\nTraceback\n  password=***\n\n== " in said
    assert said.endswith("what Spark printed\nERROR\n\n")
    assert 0o600 == stat.S_IMODE(path.stat().st_mode)
    assert "*\n" == path.with_name(".gitignore").read_text()


def test_only_the_newest_logs_are_kept(tmp_path):
    folder = tmp_path / LOGS_FOLDER
    folder.mkdir(parents=True)
    for number in range(LOGS_KEPT + 5):
        path = folder / f"run-{number}.log"
        path.write_text("old")
        os.utime(path, (number, number))
    RunLog(tmp_path, "run-new").add("a", "b")
    left = {each.name for each in folder.glob("*.log")}

    assert LOGS_KEPT == len(left)
    assert "run-new.log" in left
    assert "run-5.log" not in left
    assert f"run-{LOGS_KEPT + 4}.log" in left


def test_an_endless_stack_loses_its_middle(tmp_path):
    log = RunLog(tmp_path, "run-1")
    log.add("a", "first " + "x" * 3_000_000 + " last")
    said = read_log(tmp_path, "run-1")

    assert len(said) < 1_100_000
    assert "first " in said
    assert said.rstrip().endswith(" last")
    assert "characters left out" in said


@pytest.mark.parametrize(
    "make", [lambda path: path.write_text(""), lambda path: path.symlink_to("/dev")]
)
def test_a_log_that_cannot_be_written_fails_nothing(tmp_path, make):
    make(tmp_path / ".rocky")
    log = RunLog(tmp_path, "run-1")
    log.add("a", "b")

    assert None is log.path


def test_what_a_spark_that_would_not_start_printed_is_kept_and_named(tmp_path):
    log = RunLog(tmp_path, "run-1")
    with pytest.raises(SparkUnavailable) as raised, logged_start(log):
        raise SparkUnavailable("Spark would not start: no", output="all of it\n")

    assert f"Spark would not start: no\n  = log: {LOGS_FOLDER}/run-1.log" == str(raised.value)
    assert "all of it" in read_log(tmp_path, "run-1")


def test_what_spark_printed_of_an_exception_is_not_kept_where_columns_are_classified(tmp_path):
    log = RunLog(tmp_path, "run-1")
    log.add_output("WARN a slow disk", "raw.people.email")
    log.add_output(
        "ERROR Executor: [CAST_INVALID_INPUT] 'ada@secret.example' SQLSTATE: 22018",
        "raw.people.email",
    )
    log.add_output("java.lang.RuntimeException: a value that may be told")

    text = (tmp_path / log.path).read_text()

    assert "a slow disk" in text
    assert "it may hold values of `raw.people.email`, classified" in text
    assert "ada@" not in text
    assert "a value that may be told" in text
