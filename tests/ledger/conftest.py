"""A ledger in a folder of its own, and records that say just enough."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rocky.ledger import Ledger, open_ledger
from rocky.ledger.run_records import ModelExecution, ModelStatus, RunRecord

START = datetime(2026, 5, 30, 11, 4, 22, 643494, tzinfo=UTC)


def a_run(started_at=START, **fields):
    return RunRecord(started_at, "Manual", "a54e8a0f", "host", "0.3.0", **fields)


def a_model(name="fct_revenue", after_ms=1000, **fields):
    begun = START + timedelta(milliseconds=after_ms)
    fields = {"sql_hash": "9b74c989", "rows_affected": 14820, **fields}
    status = fields.pop("status", ModelStatus.SUCCESS)
    return ModelExecution(name, status, begun, begun + timedelta(milliseconds=812), 812, **fields)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".rocky-state.db"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    with open_ledger(path) as opened:
        yield opened


def recorded_run(ledger, run_id):
    with ledger.reader() as reader:
        return reader.run(run_id)
