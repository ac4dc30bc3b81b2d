"""Runs inside GitHub Actions: progress that folds, failures at their lines."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rocky.cli.live import GroupListener
from rocky.run.engine import spark
from tests.pipelines.lakes import LakeProject, at
from tests.run.memory_engine import MemoryEngine
from tests.run.runs import Shop, write

SILVER = '\n[pipeline.silver]\nmodels = "models/**"\n'


@pytest.fixture
def shop(tmp_path, rocky, monkeypatch) -> Shop:
    """A shop whose commands run on an engine without a JVM, in a job of GitHub."""

    @contextmanager
    def open_memory(adapter, root, session=None, functions=None) -> Iterator[MemoryEngine]:
        yield MemoryEngine(root)

    monkeypatch.setattr(spark, "open_project_engine", open_memory)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("ROCKY_OUTPUT", "table")
    return Shop(tmp_path)


def commands(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("::")]


def built_in(lines: list[str]) -> list[str]:
    """The models that these lines of progress say are built."""
    return [line.split()[2] for line in lines if "  built  " in line]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["run", "build"])
def test_the_progress_of_each_pipeline_is_a_group(rocky, shop, tmp_path, monkeypatch, command):
    lake = LakeProject(tmp_path / "lake")
    lake.put([{"id": 1, "synced": at(1)}])
    config = lake.root / "rocky.toml"
    config.write_text(config.read_text() + SILVER)
    write(lake.root, {"models/late.sql": "SELECT 1 AS one"})
    monkeypatch.chdir(lake.root)

    answer = rocky(command)
    lines = answer.err.splitlines()

    assert 0 == answer.code
    assert ["::group::run-", "::endgroup::", "::group::run-", "::endgroup::"] == [
        line[:13] for line in commands(answer.err)
    ]
    first, last = [place for place, line in enumerate(lines) if line == "::endgroup::"]
    assert ["acme_warehouse.staging__shopify.orders"] == built_in(lines[:first])
    assert ["late"] == built_in(lines[first:last])
    assert [] == built_in(lines[last:])
    assert [] == commands(answer.out)


@pytest.mark.slow
def test_a_single_run_closes_its_group_before_its_table(rocky, shop):
    lines = rocky("run").err.splitlines()

    assert 1 == lines.count("::endgroup::")
    assert [] == built_in(lines[lines.index("::endgroup::") :])


@pytest.mark.parametrize("command", ["run", "build"])
def test_a_failure_with_a_place_is_an_annotation_there(rocky, shop, command):
    (shop.root / "data/orders.csv").unlink()

    answer = rocky(command)

    (found,) = [line for line in commands(answer.err) if line.startswith("::error")]
    assert found.startswith("::error file=sources/raw.toml,line=4,endLine=4,col=8,")
    assert ",title=E044 " in found
    assert 2 == answer.code


def test_an_annotation_is_at_the_path_that_git_knows(rocky, shop, tmp_path, monkeypatch):
    inner = Shop(tmp_path / "inner")
    (inner.root / "data/orders.csv").unlink()

    found = commands(rocky("-c", "inner", "run").err)[-1]

    assert found.startswith("::error file=inner/sources/raw.toml,line=4,")


def test_what_stops_a_run_before_it_begins_is_annotated_too(rocky, shop):
    shop.write("models/alone.sql", "SELECT nothing AS one FROM countries")

    answer = rocky("run")

    assert ["::error file=models/alone.sql,line=1,"] == [each[:37] for each in commands(answer.err)]
    assert "error[E003 unknown-column]" in answer.err


@pytest.mark.slow
def test_json_has_no_annotations_and_a_quiet_run_no_groups(rocky, shop):
    (shop.root / "data/orders.csv").unlink()

    as_json, quiet = rocky("run", "-o", "json"), rocky("run", "-q")

    assert [] == [each for each in commands(as_json.err) if each.startswith("::error")]
    assert "PartialFailure" == as_json.json["status"]
    assert ["::error"] == [each[:7] for each in commands(quiet.err)]


def test_elsewhere_there_is_none_of_it(rocky, shop, monkeypatch):
    monkeypatch.delenv("GITHUB_ACTIONS")
    (shop.root / "data/orders.csv").unlink()

    assert [] == commands(rocky("run").err)


@pytest.mark.slow
def test_a_line_of_progress_is_no_command(shop):
    said: list[str] = []
    listener = GroupListener(said.append)
    shop.write("models/alone.sql", "SELECT CAST(label AS BIGINT) AS one FROM countries")
    report = shop.run()
    failed = next(each for each in report.outcomes if each.execution.error)
    object.__setattr__(failed.execution, "error", "no\n::stop-commands::x\r\n::error::y")

    listener.queued(report.run_id, [failed.step])
    listener.finished(failed)
    listener.rest()
    listener.rest()

    assert [f"::group::{report.run_id}", "::endgroup::"] == commands("\n".join(said))
