"""Collecting in an S3-compatible server on loopback."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer

from rocky.collect.collecting import Orders, collect_files
from rocky.collect.decisions import Keep
from rocky.ledger import STATE_FILE, open_evidence, open_ledger
from rocky.ledger.records import ModelExecution, ModelStatus, RunStatus
from rocky.store.anchors import anchored_ledgers
from rocky.store.warehouse import open_warehouse
from tests.collect.histories import KEEP_NOTHING, a_run
from tests.store.tables import Name, ids, read_ids, replace_with
from tests.store.test_s3 import make_bucket

pytestmark = [pytest.mark.slow, pytest.mark.server]


@pytest.fixture
def options() -> Iterator[dict[str, str]]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    endpoint = f"http://127.0.0.1:{port}"
    make_bucket(endpoint)
    yield {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
    }
    server.stop()


def test_files_in_a_bucket_are_collected(options, tmp_path):
    warehouse = open_warehouse("s3://lake/wh ä", base=Path(), options=options)
    table = warehouse.table(Name("shop", "core", "orders"))
    now = datetime.now(UTC)
    with open_ledger(tmp_path / STATE_FILE) as ledger:
        for number in range(3):
            run_id = ledger.begin_run(a_run(now), [table.name])
            info = {"runId": run_id, "ledgerId": ledger.ledger_id}
            replace_with(table, ids(table, number), info=info)
            execution = ModelExecution(
                "orders", ModelStatus.SUCCESS, now, now, 1, target=table.name
            )
            ledger.record_model(run_id, execution)
            ledger.finish_run(run_id, RunStatus.SUCCESS, now)
    table.objects.put(f"{table.prefix}/{table.new_staging()}/part-0.parquet", b"half a file")
    orders = Orders(KEEP_NOTHING, dry_run=False, now=now + timedelta(days=1))
    (found,) = collect_files(tmp_path / STATE_FILE, [warehouse], orders).tables

    assert (2, 1, [Keep.LIVE]) == (
        len(found.removals),
        len(found.staged),
        [each.why for each in found.kept],
    )
    assert [2] == read_ids(table)
    names = [each.path for each in table.objects.list(table.prefix)]
    assert 1 == sum(name.endswith(".parquet") for name in names)
    reader = open_evidence(tmp_path / STATE_FILE)
    assert reader is not None
    with reader:
        assert [
            f"s3://lake/wh ä/shop/core/orders/{each.blake3_hash}.parquet"
            for each in reader.collected()
        ] == [each.file_path for each in reader.collected()]
    assert 1 == len(anchored_ledgers(warehouse))
