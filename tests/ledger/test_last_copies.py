import sqlite3
from contextlib import closing
from datetime import timedelta

import pytest

from rocky.errors import LedgerUnreadable
from rocky.ledger.readers.lookup import LastCopy
from rocky.ledger.run_records import ModelStatus
from rocky.ledger.writer import ModelRecords
from tests.ledger.conftest import START, a_model, a_run

TABLE = "acme.eu__shopify.orders"
COPIED = LastCopy(ModelStatus.SUCCESS, 4, "2026-05-01 06:00:00", "ab" * 32)


def record(ledger, hour, **fields):
    run_id = ledger.begin_run(a_run(START + timedelta(hours=hour)))
    ledger.record_models(run_id, [ModelRecords(a_model(TABLE, **fields))])
    return run_id


def test_the_newest_copy_is_found_with_its_run_however_it_ended(ledger):
    record(ledger, 0, commit_version=4, watermark=COPIED.watermark, source_marker="ab" * 32)
    with ledger.lookups() as lookups:
        first = lookups.last_copies([TABLE.upper(), "never"])
    failed = record(ledger, 1, status=ModelStatus.FAILED)
    with ledger.lookups() as lookups:
        second = lookups.last_copies([TABLE])

    assert {TABLE.upper(): COPIED} == {name: each.copy for name, each in first.items()}
    assert (failed, ModelStatus.FAILED) == (second[TABLE].run_id, second[TABLE].copy.status)


@pytest.mark.parametrize("value", ["[]", "{}", '{"status":"nobody knows"}'])
def test_a_row_that_is_no_use_is_not_taken_for_a_copy(ledger, path, value):
    record(ledger, 0)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE model_executions SET value = ?", (value,))

    with ledger.lookups() as lookups, pytest.raises(LedgerUnreadable, match=TABLE):
        lookups.last_copies([TABLE])
