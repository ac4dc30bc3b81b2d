"""Erasing what pipelines have copied, and what they have set aside."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from rocky.ledger.erasure_records import load_erasures
from rocky.operations.governance.erase import EraseRequest, erase
from tests.maintenance.erasures import memory_engine, workspace_at
from tests.pipelines.lakes import ORDERS, LakeProject, at
from tests.run.runs import verify

pytestmark = pytest.mark.slow

QUALITY = """
[pipeline.q]
type = "quality"
tables = [ { catalog = "acme_warehouse", schema = "staging__shopify", table = "orders" } ]
[pipeline.q.checks]
enabled = true
assertions = [ { type = "not_null", column = "mail" } ]
quarantine = { enabled = true, mode = "split" }
"""


def row(key: int, day: int, mail: str | None) -> dict[str, object]:
    return {"id": key, "mail": mail, "synced": at(day)}


def rows_with(root: Path, key: int) -> list[str]:
    """The tables whose files, of any version, have a row of a key."""
    found = set()
    for path in (root / "warehouse").rglob("*.parquet"):
        if len(path.stem) == 64:
            ids = pq.read_table(path, partitioning=None, columns=["id"])["id"].to_pylist()
            if key in ids:
                found.add(path.parent.name)
    return sorted(found)


def test_copies_and_what_was_set_aside_are_erased_from(tmp_path):
    lake = LakeProject(tmp_path, more=QUALITY)
    lake.put([row(1, 1, "a@example.org"), row(42, 1, None)])
    lake.run()
    lake.run(pipeline="q")
    lake.put([row(2, 2, "b@example.org"), row(42, 2, "c@example.org")], file="part-1.parquet")
    lake.run()
    lake.run(pipeline="q")
    assert ["orders", "orders__quarantine", "orders__valid"] == rows_with(tmp_path, 42)

    with memory_engine():
        request = EraseRequest("id = 42", (ORDERS,), apply=True, reason="request 17")
        report = erase(workspace_at(str(tmp_path)), request)

    names = {each.table.rpartition(".")[2]: each.status for each in report.tables}
    assert {"erased"} == set(names.values())
    assert [] == rows_with(tmp_path, 42), names
    assert 1 == len(load_erasures(tmp_path / ".rocky-state.db"))
    assert [] == verify(tmp_path)
