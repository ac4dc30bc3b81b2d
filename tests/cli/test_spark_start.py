"""While Spark starts a run says so, and how long it took; nobody waits before an empty screen."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import rocky as rocky_package
from rocky.cli.live import LineListener, LiveListener
from rocky.errors import SparkUnavailable
from rocky.run.engine import spark
from rocky.run.outcomes import StartListener
from rocky.run.prepare import session
from tests.pipelines.lakes import LakeProject, at
from tests.run.memory_engine import MemoryEngine
from tests.run.runs import Heard, Shop

pytestmark = pytest.mark.slow

UP = re.compile(r"^Spark is up, after \d+ ms$", re.MULTILINE)


class HeardStart(Heard):
    """A listener that also hears of a start."""

    def engine_starting(self, *, remote: bool) -> None:
        self.said.append(("starting", str(remote)))

    def engine_started(self, duration_ms: int) -> None:
        self.said.append(("started Spark", "ms" if duration_ms >= 0 else "?"))


class Session:
    """As much of a caller's session as is looked at."""

    def sql(self, query: str) -> None: ...


@pytest.fixture
def shop(tmp_path, rocky, monkeypatch) -> Shop:
    """A shop whose commands run on an engine without a JVM, in a process that has none."""

    @contextmanager
    def open_memory(adapter, root, session=None, functions=None) -> Iterator[MemoryEngine]:
        yield MemoryEngine(root)

    monkeypatch.setattr(spark, "open_project_engine", open_memory)
    monkeypatch.setattr(session, "has_driver", lambda: False)
    return Shop(tmp_path)


def test_a_run_says_that_spark_starts_and_how_long_it_took(rocky, shop):
    for style in ("table", "json"):
        answer = rocky("run", "--fresh", "-o", style)
        lines = answer.err.splitlines()
        assert lines.index("starting Spark ...") < lines.index(UP.search(answer.err)[0])
        assert "starting Spark" not in answer.out


def test_other_commands_that_wait_for_spark_say_so_too(rocky, shop):
    rocky("run")
    shop.write("seeds/more.csv", "id\n1\n")
    shop.write("models/one.toml", '[[tests]]\ntype = "not_null"\ncolumn = "one"\n')
    shop.write("models/one.sql", "SELECT 1 AS one")
    for line in (
        ("seed",),
        ("show", "--sql", "SELECT 1 AS x"),
        ("run", "one"),
        ("test", "one"),
        ("discover",),
        ("replay", "--execute"),
    ):
        answer = rocky(*line)
        assert 0 == answer.code, answer.err
        lines = answer.err.splitlines()
        assert lines.index("starting Spark ...") < lines.index(UP.search(answer.err)[0])
        assert "starting Spark" not in rocky(*line, "-q").err

    assert "starting Spark" not in rocky("show", "one").err


def test_looking_at_the_sources_of_a_pipeline_says_so_too(rocky, tmp_path, monkeypatch):
    @contextmanager
    def open_memory(adapter, root, session=None, functions=None) -> Iterator[MemoryEngine]:
        yield MemoryEngine(root)

    monkeypatch.setattr(spark, "open_project_engine", open_memory)
    monkeypatch.setattr(session, "has_driver", lambda: False)
    lake = LakeProject(tmp_path)
    lake.put([{"id": 1, "synced": at(1)}])
    rocky("run")
    lake.put([{"id": 2, "synced": at(2)}])

    for command in ("drift", "plan"):
        answer = rocky(command)
        assert 0 == answer.code, answer.err
        assert "starting Spark ...\nSpark is up" in answer.err
        assert "Spark" not in rocky(command, "-q").err


def test_a_server_is_connected_to(rocky, shop):
    shop.write("rocky.toml", '[adapter]\nremote = "sc://nowhere"\n[pipeline.shop]\n')

    assert "connecting to Spark ...\n" in rocky("run").err


def test_a_quiet_run_and_one_that_needs_no_spark_say_nothing(rocky, shop):
    shop.run()
    assert "Spark" not in rocky("run", "-q", "--fresh").err
    shop.write("rocky.toml", '[pipeline.none]\nmodels = "nowhere/**"\n')
    assert "Spark" not in rocky("run").err


def test_a_session_of_the_callers_own_does_not_start(shop):
    own, heard = HeardStart(), HeardStart()

    rocky_package.open(shop.root, listener=own, spark=Session()).run()
    rocky_package.open(shop.root, listener=heard).run(rebuild=True)

    assert [] == [each for each in own.said if "tart" in each[0] and each[0] != "started"]
    assert ("starting", "False") in heard.said
    assert ("started Spark", "ms") in heard.said


def test_a_listener_need_not_hear_of_a_start(shop):
    heard = Heard()

    rocky_package.open(shop.root, listener=heard).run()

    assert not isinstance(heard, StartListener)
    assert "queued" == heard.said[0][0]


def test_of_a_spark_that_does_not_start_no_seconds_are_told(rocky, shop, monkeypatch):
    @contextmanager
    def refuse(adapter, root, session=None, functions=None) -> Iterator[MemoryEngine]:
        raise SparkUnavailable("no Java here")
        yield

    monkeypatch.setattr(spark, "open_project_engine", refuse)

    said = rocky("run", "-o", "table").err

    assert "starting Spark ...\n" in said
    assert "Spark is up" not in said
    assert "error: no Java here" in said


def test_on_a_terminal_the_seconds_pass_and_one_line_stays(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    live = LiveListener(no_colour=True)

    live.engine_starting(remote=False)
    time.sleep(0.3)
    live.engine_started(5_300)
    live.rest()
    seen = capsys.readouterr().err

    assert re.search(r"starting Spark \.\.\.  \d+ ms", seen)
    assert "Spark is up, after 5.3 s" in seen
    assert all(isinstance(each, StartListener) for each in (live, LineListener()))
