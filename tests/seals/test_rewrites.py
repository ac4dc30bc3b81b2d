"""Records that were sealed, changed by entries that somebody puts on top of the chain."""

import json
from collections.abc import Mapping

import pytest

from rocky.canonical import record_json
from rocky.ledger.database import connect_writer, transaction
from rocky.ledger.schema import RowWriter, load_head
from tests.seals.conftest import SealedShop
from tests.seals.test_attacks import both, script_codes

pytestmark = pytest.mark.slow

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAID9CX4JPxJ9vnCsixkzavhRKxPl+rU9vyo5wLEJ/+8P7"


def rows_of(shop: SealedShop, table: str) -> dict[str, dict]:
    connection = connect_writer(shop.state())
    found = connection.execute(f"SELECT key, value FROM {table}").fetchall()
    connection.close()
    return {key: json.loads(value) for key, value in found}


def put_on_top(shop: SealedShop, table: str, rows: Mapping[str, dict]) -> None:
    """Rows with fitting entries, and an anchor that knows of them."""
    connection = connect_writer(shop.state())
    with transaction(connection):
        writer = RowWriter(connection, shop.state())
        for key, document in rows.items():
            writer.put(table, key, record_json(document))
    head = load_head(connection, shop.state())
    connection.close()
    assert head is not None
    (anchor,) = (shop.root / "warehouse/_rocky").glob("*.json")
    said = json.loads(anchor.read_text()) | {"seq": head.seq, "head": head.entry_hash}
    anchor.write_text(record_json(said))


def expect_found(shop: SealedShop, capsys: pytest.CaptureFixture[str], where: str) -> None:
    """That Rocky and the script find a record that was changed."""
    assert "record_changed" in shop.codes("--sealed", "seals")
    assert "record_changed" in script_codes(shop, capsys, "--sealed", "seals")
    assert where in shop.rocky("verify").out


FORGED = [
    {"triggering_identity": "ceo@x", "git_commit": "0" * 40, "hostname": "trusted"},
    {"totals": {"duration_ms": 0, "models": 0, "failed": 0}},
    {"status": "Failure", "reason": "the process ended without finishing"},
    {"warehouse": None, "engine": None},
]


@pytest.mark.parametrize("forged", FORGED, ids=lambda each: next(iter(each)))
@pytest.mark.parametrize("key", [{}, {"commit_key": KEY}], ids=["plain", "key"])
def test_the_entry_that_ends_a_run_is_its_last(shop, capsys, forged, key):
    """A run that built nothing has no key: with one, it might have been written once more."""
    shop.do("run")
    shop.seal()
    runs = rows_of(shop, "run_history")
    run_id = next(each for each, run in runs.items() if "commit_key" not in run)
    changed = {**runs[run_id], **forged, **key}
    said = {name: value for name, value in changed.items() if value is not None}

    assert [] == both(shop, capsys, "seals")
    put_on_top(shop, "run_history", {run_id: said})
    expect_found(shop, capsys, f"run_history {run_id}: it was written anew")


def test_a_run_that_ended_does_not_go_on(shop, capsys):
    runs = rows_of(shop, "run_history")
    run_id, run = next(iter(runs.items()))
    open_again = {**run, "status": "Running", "models_executed": []}
    put_on_top(shop, "run_history", {run_id: open_again})

    expect_found(shop, capsys, f"run_history {run_id}: it was written anew")
