"""The end of a run on the command line: what failed is counted, and no result is lost."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rocky.errors import StateSyncFailed
from rocky.run.engine import spark
from rocky.run.prepare import session
from tests.cli.test_schemas import check
from tests.pipelines.lakes import LakeProject, at
from tests.run.memory_engine import MemoryEngine
from tests.run.runs import write

SILVER = """
[pipeline.silver]
models = "models/**"
"""


@pytest.fixture
def lake(tmp_path: Path, rocky, monkeypatch) -> LakeProject:
    """A lake of one table, and an engine without a JVM in the place of Spark."""

    @contextmanager
    def open_memory(adapter, root, spark=None, functions=None) -> Iterator[MemoryEngine]:
        yield MemoryEngine(root)

    monkeypatch.setattr(spark, "open_project_engine", open_memory)
    made = LakeProject(tmp_path)
    made.put([{"id": 1, "synced": at(1)}])
    return made


@pytest.fixture
def no_server(monkeypatch) -> None:
    """The state cannot be sent at the end of a run."""

    def fail(*_: object) -> None:
        raise StateSyncFailed("could not send the state: no server")

    monkeypatch.setattr(session, "_send_back", fail)


@pytest.mark.slow
def test_of_a_run_whose_state_could_not_be_sent_the_result_is_told(rocky, lake, no_server):
    config = lake.root / "rocky.toml"
    config.write_text(config.read_text() + SILVER)
    write(lake.root, {"models/one.sql": "SELECT 1 AS id\n"})
    said = (
        "the tables and records here stand, and the next run of this machine sends them:"
        " could not send the state: no server"
    )

    for document in (rocky("run", "--pipeline", name).json for name in ("bronze", "silver")):
        assert [] == check(document, "run")
        assert ("Success", 1, said) == (
            document["status"],
            document["tables_copied"],
            document["state_error"],
        )
    lake.put([{"id": 2, "synced": at(2)}], "customers")
    answer = rocky("run", "-o", "table")
    assert 1 == answer.code
    assert 2 == answer.out.splitlines().count(f"error: {said}")
    assert "staging__shopify.customers" in answer.out
    both = rocky("run").json
    assert [] == check(both, "run")
    assert [said, said] == [each["state_error"] for each in both["pipelines"]]


def test_of_seeds_whose_state_could_not_be_sent_that_is_told(rocky, lake, no_server):
    write(lake.root, {"seeds/codes.csv": "id\n1\n"})

    answer = rocky("seed")

    assert (1, 1) == (answer.code, answer.json["summary"]["loaded"])
    assert "error: the tables and records here stand" in answer.err


@pytest.mark.slow
def test_what_could_not_be_looked_at_is_counted_among_what_failed(rocky, lake):
    lake.put([{"id": 1, "synced": at(1)}], "items").write_bytes(b"no parquet at all")
    for name in ("customers", "notes"):
        write(lake.root, {f"lake/five/src__acme__shopify/{name}/read.me": "no table"})

    document, answer = rocky("run").json, rocky("run", "-o", "table")

    assert (3, 2) == (document["tables_failed"], len(document["failed_sources"]))
    assert "done in part: 3 failed, in" in answer.out
    assert [3, 3] == [each["totals"]["failed"] for each in rocky("history").json["runs"]]
    history = rocky("history", "-o", "table").out
    assert "1 unchanged, 3 failed" in history
    assert "1 built, 3 failed" in history


@pytest.mark.slow
def test_a_run_with_nothing_new_says_that_its_checks_failed(rocky, lake):
    count = '{{ type = "row_count_range", min = {} }}'
    config = lake.root / "rocky.toml"
    text = config.read_text()
    checks = "\n[pipeline.bronze.checks]\nenabled = true\nassertions = [ {} ]\n"
    rocky("run")
    config.write_text(text + checks.format(count.format(5)))
    assert "done in part: 1 check failed, in" in rocky("run", "-o", "table").out

    both = f"{count.format(5)}, {count.format(6)}"
    config.write_text(text + checks.format(both))
    assert "done in part: 2 checks failed, in" in rocky("run", "-o", "table").out
    history = rocky("history", "-o", "table").out
    assert "1 unchanged, 1 check failed" in history
    assert "1 unchanged, 2 checks failed" in history


@pytest.mark.slow
def test_a_quiet_run_prints_its_last_line_alone(rocky, lake):
    write(lake.root, {"models/one.sql": "SELECT 1 AS id\n"})
    config = lake.root / "rocky.toml"
    config.write_text(config.read_text() + SILVER)

    for name in ("bronze", "silver"):
        (line,) = rocky("run", "--pipeline", name, "-q", "-o", "table").out.splitlines()
        assert " done: 1 " in line


def test_a_quiet_run_prints_what_failed(rocky, lake):
    lake.put([{"id": 1, "synced": at(1)}], "items").write_bytes(b"no parquet at all")

    *failures, last = rocky("run", "-q", "-o", "table").out.splitlines()

    assert failures
    assert [] == [each for each in failures if not each.startswith("error: ")]
    assert "done in part: 1 built, 1 failed" in last
