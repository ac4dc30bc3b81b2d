"""A table that somebody other than a run has written: not read until it is accepted or restored."""

import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from blake3 import blake3

import rocky
from rocky.errors import InvalidRequest, NothingSelected, RunRefused
from tests.run.runs import Shop, statuses, verify
from tools.verify_run import Audit, load

pytestmark = pytest.mark.slow

TABLE = "spark_catalog.default.by_country"


@pytest.fixture
def shop(tmp_path) -> Shop:
    shop = Shop(tmp_path)
    shop.run()
    return shop


def plant(shop: Shop, name: str | None = None) -> Path:
    """A commit of nobody: a file of the table replaced by one with other bytes."""
    folder = shop.folder("by_country")
    (old,) = shop.snapshot("by_country").files
    rows = pq.read_table(folder / old.path)
    data = write_rows(rows.append_column("planted", pa.array([True] * len(rows))))
    path = name or f"{blake3(data).hexdigest()}.parquet"
    (folder / path).write_bytes(data)
    lines = [
        json.loads(line) for line in (folder / f"_delta_log/{0:020d}.json").read_text().splitlines()
    ]
    add = next(each["add"] for each in lines if "add" in each)
    forged = [
        {"commitInfo": {**lines[0]["commitInfo"], "runId": "run-20260131-120001-000"}},
        {"remove": {"path": old.path, "dataChange": True, "deletionTimestamp": 1}},
        {"add": {**add, "path": path, "size": len(data)}},
    ]
    text = "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in forged)
    (folder / f"_delta_log/{1:020d}.json").write_text(text)
    return folder / path


def write_rows(rows: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(rows, sink)
    return sink.getvalue()


def codes(shop: Shop) -> set[str]:
    script = Audit(load(shop.root / ".rocky-state.db"), None)
    script.check()
    found = {each.partition(":")[0] for each in verify(shop.root)}
    assert found == {each.partition(":")[0] for each in script.findings}
    return found


def test_a_foreign_commit_is_found_and_its_readers_are_refused(shop):
    plant(shop)
    (shop.root / "models/report.sql").write_text("SELECT min(n) AS least FROM by_country")

    report = shop.run("report")

    assert {"report": "failed"} == statuses(report)
    (outcome,) = report.outcomes
    assert "foreign_commit" == outcome.execution.failure_kind
    assert f"`rocky state restore {TABLE}` puts back what was recorded" in str(
        outcome.execution.error
    )
    assert {"foreign_commit"} == codes(shop)


def test_what_was_recorded_is_put_back_and_the_rest_is_rejected(shop):
    before = shop.rows("by_country")
    plant(shop)

    done = rocky.open(shop.root).restore_table(TABLE, message="nobody knows who did this")

    assert ("rejected", (1,), 2) == (done.verdict, done.versions, done.commit_version)
    assert before == shop.rows("by_country")
    assert set() == codes(shop)
    (shop.root / "models/report.sql").write_text("SELECT min(n) AS least FROM by_country")
    assert {"report": "success"} == statuses(shop.run("report"))
    execution = shop.records()[0].models_executed[0]
    assert "nobody knows who did this" == execution.reason
    assert ["rejected"] == [each.foreign for each in execution.adopted]


def test_a_table_is_taken_as_it_is_when_somebody_says_so(shop):
    plant(shop)

    done = rocky.open(shop.root).accept_table(TABLE, message="a repair by hand")

    assert ("accepted", (1,), 1) == (done.verdict, done.versions, done.commit_version)
    assert set() == codes(shop)


def test_what_was_accepted_is_checked_from_then_on(shop):
    file = plant(shop)
    rocky.open(shop.root).accept_table(TABLE, message="a repair by hand")
    file.write_bytes(b"\1" + file.read_bytes()[1:])

    assert {"file_changed"} == codes(shop)


def test_files_that_nobody_could_check_are_not_accepted(shop):
    plant(shop, "part-00000.parquet")

    with pytest.raises(RunRefused, match="not named by the hash of its bytes"):
        rocky.open(shop.root).accept_table(TABLE, message="Spark wrote it")
    rocky.open(shop.root).restore_table(TABLE, message="then back")

    assert set() == codes(shop)


def test_a_table_without_foreign_commits_is_left_alone(shop):
    workspace = rocky.open(shop.root)
    for settle in (workspace.accept_table, workspace.restore_table):
        with pytest.raises(NothingSelected, match="has no foreign commit"):
            settle(TABLE, message="why")
        with pytest.raises(NothingSelected, match=r"no table `a\.b\.c` is recorded"):
            settle("a.b.c", message="why")
        with pytest.raises(InvalidRequest, match="say why"):
            settle(TABLE, message=" ")

    assert 0 == shop.snapshot("by_country").version
    assert 1 == len(shop.records())
    assert set() == codes(shop)


def test_a_recorded_commit_copied_as_another_version_is_foreign(shop):
    """The bytes are a run's own, the place is not."""
    (shop.root / "models/by_country.sql").write_text(
        "SELECT 'x' AS label, count(*) AS n FROM large"
    )
    shop.run()
    log = shop.folder("by_country") / "_delta_log"
    (log / f"{2:020d}.json").write_bytes((log / f"{1:020d}.json").read_bytes())
    (shop.root / "models/report.sql").write_text("SELECT min(n) AS least FROM by_country")

    report = shop.run("report")

    assert ["foreign_commit"] == [each.execution.failure_kind for each in report.outcomes]
