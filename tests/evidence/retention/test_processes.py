"""Collectors and runs in processes of their own, at once."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from rocky.evidence.retention.collection import CLAIM_DELAY, CollectionRequest, collect_files
from tests.evidence.retention.histories import KEEP_NOTHING, Past
from tests.processes import Running, run_program
from tests.store.tables import read_ids

pytestmark = pytest.mark.slow

ROUNDS = 15

PRELUDE = """
import sys, time
from datetime import UTC, datetime
from pathlib import Path
import pyarrow.parquet as pq
from rocky.errors import LedgerLocked
from rocky.ledger import STATE_FILE, ModelRecords, open_ledger
from rocky.ledger.run_records import ModelExecution, ModelStatus, RunStatus
from rocky.store.warehouse import open_warehouse
from tests.evidence.retention.histories import a_run
from tests.processes import Running, run_program
from tests.store.tables import Name, ids, replace_with

root, rounds = Path(sys.argv[1]), int(sys.argv[2])
warehouse = open_warehouse("warehouse", base=root)
orders = warehouse.table(Name("shop", "core", "orders"))
totals = warehouse.table(Name("shop", "core", "totals"))

def write(table, model, number, before=lambda: None):
    with open_ledger(root / STATE_FILE) as ledger:
        while True:
            try:
                now = datetime.now(UTC)
                run_id = ledger.begin_run(a_run(now), [table.name])
                break
            except LedgerLocked:
                time.sleep(0.005)
        before()
        file = ids(table, number)
        info = {"runId": run_id, "ledgerId": ledger.ledger_id}
        committed = replace_with(table, file, info=info)
        version = committed.snapshot.version
        execution = ModelExecution(
            model, ModelStatus.SUCCESS, now, now, 1, target=table.name, commit_version=version
        )
        ledger.record_models(run_id, [ModelRecords(execution)])
        ledger.finish_run(run_id, RunStatus.SUCCESS, now)
"""

# Few numbers: files that were collected come back.
WRITER = """
for number in range(rounds):
    write(orders, "orders", number % 3)
    time.sleep(0.02)
"""

# Pins what it reads when it has begun, and reads it when it has long been replaced.
READER = """
def read():
    snapshot = orders.snapshot()
    time.sleep(0.15)
    for file in snapshot.files if snapshot else ():
        pq.read_table(orders.objects.local_path(f"{orders.prefix}/{file.path}"))

for number in range(rounds // 2):
    write(totals, "totals", number, read)
"""

KILLED = """
import os
from datetime import UTC, datetime
from rocky.evidence.retention import collection
from tests.evidence.retention.histories import KEEP_NOTHING, Past

def die(*_):
    os._exit(9)

{patch} = die
Past(Path(sys.argv[1])).collect()
"""


def start(program: str, root: Path) -> Running:
    return Running(run_program, PRELUDE + program, str(root), str(ROUNDS))


@pytest.mark.slow
def test_collectors_beside_writers_and_readers_lose_nothing(tmp_path):
    past = Past(tmp_path)
    removed = 0
    with start(WRITER, tmp_path) as writer, start(READER, tmp_path) as reader:
        while writer.poll() is None or reader.poll() is None:
            # As hard as it may be: nothing is too young but what is newer than the collector.
            orders = CollectionRequest(
                KEEP_NOTHING, dry_run=False, now=datetime.now(UTC) + CLAIM_DELAY
            )
            found = collect_files(past.state, [past.warehouse], orders)
            assert [None] * len(found.tables) == [each.failed for each in found.tables]
            removed += sum(len(each.removals) for each in found.tables)
        assert ["", ""] == [writer.communicate()[1], reader.communicate()[1]]

    assert (0, 0) == (writer.returncode, reader.returncode)
    assert removed > 0
    assert [(ROUNDS - 1) % 3] == read_ids(past.table("orders"))
    assert [ROUNDS // 2 - 1] == read_ids(past.table("totals"))


@pytest.mark.parametrize(
    ("patch", "recorded", "stored"),
    [("collection.Ledger.record_collected", 0, 2), ("collection.remove_files", 1, 2)],
)
def test_a_collector_that_is_killed_is_made_good_by_the_next(tmp_path, patch, recorded, stored):
    past = Past(tmp_path)
    past.build("orders", 30, 1)
    past.build("orders", 20, 2)
    with start(KILLED.replace("{patch}", patch), tmp_path) as process:
        _, said = process.communicate()

    assert (9, "") == (process.returncode, said)
    assert [recorded, stored] == [len(past.recorded()), len(past.stored("orders"))]
    past.collect()
    assert past.versions["orders"][-1].files == past.stored("orders")
    assert [2] == read_ids(past.table("orders"))
