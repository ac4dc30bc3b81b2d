"""Logs on the command line: of a run that failed its stacks, of others that there is none."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import rocky as package
from rocky.errors import NothingSelected
from rocky.run.engine import spark
from tests.cli.test_schemas import check
from tests.run.memory_engine import MemoryEngine

CONFIG = """\
[adapter]
type = "spark"
warehouse = "{warehouse}"
[adapter.conf]
"spark.hadoop.fs.s3a.secret.key" = "hunter2"
"""


class Engines:
    """Engines without a JVM in the place of Spark; `fails` is what a write of `b` raises."""

    def __init__(self) -> None:
        self.opened = 0
        self.fails: Exception | None = None

    @contextmanager
    def open(self, adapter, root, spark=None, functions=None) -> Iterator[MemoryEngine]:
        self.opened += 1
        engine = MemoryEngine(root)
        engine.before_write = self._before_write
        yield engine

    def _before_write(self, table: str) -> None:
        if self.fails is not None and table.endswith(".b"):
            raise self.fails


@pytest.fixture
def engines(tmp_path, monkeypatch) -> Engines:
    made = Engines()
    monkeypatch.setattr(spark, "open_project_engine", made.open)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "a.sql").write_text("SELECT 1 AS id\n")
    (tmp_path / "models" / "b.sql").write_text("SELECT id FROM a\n")
    (tmp_path / "rocky.toml").write_text(CONFIG.format(warehouse="warehouse"))
    return made


@pytest.mark.slow
def test_the_stack_of_a_failed_model_is_in_the_log_and_not_on_the_terminal(
    rocky, engines, tmp_path
):
    engines.fails = ConnectionResetError("the key hunter2 was refused")
    told = rocky("run", "-o", "table")
    document = rocky("run", "--force-rebuild").json
    path = document["log"]
    shown, answer = rocky("logs", "-o", "table"), rocky("logs", document["run_id"]).json

    assert 2 == told.code
    assert "\nlog: .rocky/logs/run-" in told.out
    assert "Traceback" not in told.out + told.err
    assert [] == check(document, "run")
    assert [] == check(answer, "logs")
    assert (f".rocky/logs/{document['run_id']}.log", path) == (path, answer["path"])
    assert (tmp_path / path).read_text() == answer["text"] == shown.out
    assert "`b` failed: " in shown.out
    assert "ConnectionResetError: the key *** was refused" in shown.out
    assert "hunter2" not in shown.out
    assert 2 == len(list((tmp_path / ".rocky" / "logs").glob("*.log")))
    assert answer["text"] == package.open(tmp_path).logs(document["run_id"]).text


def test_a_run_in_which_nothing_failed_has_no_log(rocky, engines, tmp_path):
    document = rocky("run").json
    told = rocky("logs", "-o", "table")

    assert "log" not in document
    assert 1 == told.code
    assert told.err.startswith(f"error: run `{document['run_id']}` has no log here: ")
    with pytest.raises(NothingSelected, match="no run `run-x`"):
        package.open(tmp_path).logs("run-x")


@pytest.mark.parametrize(
    ("warehouse", "file", "there"),
    [("/proc/rocky", "file", "/proc"), ("tables", "tables/spark_catalog", "{root}/tables/spark_catalog")],
)  # fmt: skip
def test_a_place_that_cannot_be_written_stops_a_run_before_spark(
    rocky, engines, tmp_path, warehouse, file, there
):
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("")
    (tmp_path / "rocky.toml").write_text(CONFIG.format(warehouse=warehouse))
    told = rocky("run", "-o", "table")

    assert (1, 0) == (told.code, engines.opened)
    place = there.format(root=tmp_path)
    assert f"error: `a` cannot be built: `{place}` cannot be written: " in told.err
