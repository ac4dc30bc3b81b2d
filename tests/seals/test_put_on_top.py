"""History that was sealed, explained away by the records of a run that somebody puts on top."""

import json
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from blake3 import blake3
from deltalake import DeltaTable

from rocky.canonical import record_json
from rocky.ledger.database import connect_writer, transaction
from rocky.ledger.record import format_time
from rocky.ledger.schema import RowWriter, load_head
from tests.seals.conftest import SealedShop
from tests.seals.test_attacks import both, script_codes
from tests.seals.test_rewrites import rows_of

pytestmark = pytest.mark.slow

TARGET = "spark_catalog.default.stg_orders"
BEGUN = (
    "config_hash",
    "full_refresh",
    "hostname",
    "rocky_version",
    "selection",
    "session_source",
    "trigger",
    "triggering_identity",
    "warehouse",
)

Row = tuple[str, str, dict[str, Any] | None]
"""Table, key and document; None for a row that is removed."""


def put_rows(shop: SealedShop, rows: Sequence[Row], anchor: Mapping[str, Any] = {}) -> None:
    """Rows with fitting entries, and an anchor that knows of them."""
    connection = connect_writer(shop.state())
    with transaction(connection):
        writer = RowWriter(connection, shop.state())
        for table, key, document in rows:
            if document is None:
                writer.remove(table, key)
            else:
                writer.put(table, key, record_json(document))
    head = load_head(connection, shop.state())
    connection.close()
    assert head is not None
    (path,) = (shop.root / "warehouse/_rocky").glob("*.json")
    said = json.loads(path.read_text()) | {"seq": head.seq, "head": head.entry_hash, **anchor}
    path.write_text(record_json(said))


RUN = "RUN"
"""Stands for the id of a run that is yet to be put there."""


def _named(said: dict[str, Any] | None, run_id: str) -> dict[str, Any] | None:
    return said and {key: run_id if each == RUN else each for key, each in said.items()}


def put_run(shop: SealedShop, execution: Mapping[str, Any], more: Sequence[Row] = ()) -> str:
    """A run that nobody made, which says of a model what `execution` does; and its id."""
    now = datetime.now(UTC)
    at, run_id = format_time(now), f"run-{now:%Y%m%d-%H%M%S}-{now.microsecond // 1000:03d}"
    runs = rows_of(shop, "run_history")
    run = {key: runs[max(runs)][key] for key in BEGUN} | {"run_id": run_id, "started_at": at}
    usual = {"duration_ms": 0, "sql_hash": "", "status": "success", "strategy": "full_refresh"}
    done = {**usual, "model_name": "stg_orders", "target": TARGET, **execution}
    done |= {"started_at": at, "finished_at": at}
    totals = {"duration_ms": 0, "failed": 0, "models": 1}
    ended = {**run, "status": "Success", "finished_at": at, "anchored": True, "totals": totals}
    rows: list[Row] = [
        ("run_history", run_id, {**run, "status": "Running", "models_executed": []}),
        ("model_executions", f"{run_id}|stg_orders", done),
        *((table, key.replace(RUN, run_id), _named(said, run_id)) for table, key, said in more),
        ("run_history", run_id, {**ended, "models_executed": [done]}),
    ]
    put_rows(shop, rows, {"run_id": run_id, "recorded_at": format_time(datetime.now(UTC))})
    return run_id


def log_of(shop: SealedShop) -> Path:
    return shop.root / "warehouse/spark_catalog/default/stg_orders/_delta_log"


def digest(path: Path) -> str:
    return blake3(path.read_bytes()).hexdigest()


@pytest.fixture
def month(shop) -> SealedShop:
    """Three runs, each sealed."""
    for rows in (6, 7):
        shop.run(rows=rows)
        shop.seal()
    return shop


def test_a_sealed_commit_is_not_rewritten_by_a_record_that_accepts_it(month, capsys):
    """Version 0 as it is and version 1 as it is not: the table seems to be made again."""
    log = log_of(month)
    changed = log / f"{1:020d}.json"
    changed.write_bytes(changed.read_bytes() + b"\n")
    adopted = [
        {"version": each, "blake3_hash": digest(log / f"{each:020d}.json"), "foreign": "accepted"}
        for each in (0, 1)
    ]
    files: list[Row] = [
        (
            "output_artifacts",
            key.replace(row["run_id"], RUN),
            row | {"run_id": RUN, "written_at": format_time(datetime.now(UTC))},
        )
        for key, row in rows_of(month, "output_artifacts").items()
        if row["model_name"] == "stg_orders" and row["commit_version"] < 2
    ]
    run_id = put_run(month, {"adopted": adopted, "commit_version": 2}, files)

    found = both(month, capsys, "seals")

    assert {"commit_changed", "record_inconsistent", "seal_table_changed"} <= {*found}
    assert f"`{run_id}` recorded it otherwise" in month.rocky("verify").out


def test_a_commit_that_was_sealed_gets_no_checkpoint_by_a_later_record(month, capsys):
    """The checkpoint has the newest version without the rows that it has."""
    log = log_of(month)
    copy = month.root.parent / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(log.parent, copy)
    newest = copy / "_delta_log" / f"{2:020d}.json"
    lines = [each for each in newest.read_text().splitlines() if not each.startswith('{"add"')]
    newest.write_text("\n".join(lines) + "\n")
    DeltaTable(copy).create_checkpoint()
    for name in (f"{2:020d}.checkpoint.parquet", "_last_checkpoint"):
        shutil.copy2(copy / "_delta_log" / name, log)
    runs = rows_of(month, "run_history")
    again = {
        "version": 2,
        "blake3_hash": digest(log / f"{2:020d}.json"),
        "checkpoint_blake3": digest(log / f"{2:020d}.checkpoint.parquet"),
        "run_id": max(runs),
        "model_name": "stg_orders",
    }
    put_run(month, {"adopted": [again], "commit_version": 2})

    for found in (
        month.codes("--sealed", "seals"),
        script_codes(month, capsys, "--sealed", "seals"),
    ):
        assert {"log_file_unknown", "record_inconsistent"} <= {*found}


@pytest.mark.parametrize("how", ["adopted", "foreign"])
def test_no_sweep_forgets_a_run_that_left_something_in_a_table(month, capsys, how):
    """The run is forgotten, and another says what it said, in another name."""
    runs = sorted(rows_of(month, "run_history"))
    gone = runs[1]
    executions = {
        key: row
        for key, row in rows_of(month, "model_executions").items()
        if key.startswith(f"{gone}|")
    }
    at = format_time(datetime.now(UTC))
    removed = {"run_history": 1, "model_executions": len(executions)}
    sweep = {"at": at, "cutoff": at, "reason": "age", "runs": [gone], "removed": removed}
    rows: list[Row] = [("sweeps", at, sweep), ("run_history", gone, None)]
    put_rows(month, [*rows, *(("model_executions", key, None) for key in executions)])
    (commit,) = executions[f"{gone}|stg_orders"]["commits"]
    named = {"run_id": gone, "model_name": "stg_orders"} if how == "adopted" else {}
    named |= {"foreign": "accepted"} if how == "foreign" else {}
    put_run(month, {"adopted": [commit | named], "commit_version": 2})

    assert "record_missing" in month.codes("--sealed", "seals")
    assert "record_missing" in script_codes(month, capsys, "--sealed", "seals")
    said = month.rocky("verify").out
    assert f"run_history {gone}: a sweep says that it forgot the run" in said
