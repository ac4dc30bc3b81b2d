"""Records that were sealed, changed by entries that somebody puts on top of the chain."""

import json
from collections.abc import Mapping

import pytest

from rocky.canonical import record_json
from rocky.ledger.database import connect_writer, transaction
from rocky.ledger.schema import RowWriter, load_head
from tests.run.runs import write
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


@pytest.mark.sampled
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


def make_branch(shop: SealedShop) -> None:
    shop.git("checkout", "-q", "-B", "work")
    shop.do("branch", "create", "work")


MADE = {"created_by": "ceo@x", "base_commit": "0" * 40}


@pytest.mark.parametrize(
    "forged", [MADE, {**MADE, "created_at": "2999-01-01T00:00:00.000000Z"}], ids=["old", "new"]
)
def test_a_branch_that_was_sealed_stays_as_it_was_made(shop, capsys, forged):
    make_branch(shop)
    shop.seal()
    assert [] == both(shop, capsys, "seals")

    put_on_top(shop, "branches", {"work": rows_of(shop, "branches")["work"] | forged})

    expect_found(shop, capsys, "branches work: it was written anew and not only deleted")


def test_a_branch_that_was_deleted_stays_as_it_was_made(shop, capsys):
    make_branch(shop)
    shop.seal()
    row = rows_of(shop, "branches")["work"] | {"created_by": "ceo@x"}
    deleted = {"status": "deleted", "deleted_at": row["created_at"], "deleted_by": "ceo@x"}
    put_on_top(shop, "branches", {"work": row | deleted})

    expect_found(shop, capsys, "branches work: it was written anew and not only deleted")


def test_a_branch_whose_name_another_gets_keeps_its_row(shop, capsys):
    for _ in range(3):
        make_branch(shop)
        shop.seal()
        shop.do("branch", "delete", "work")
    assert [] == both(shop, capsys, "seals")
    make_branch(shop)

    rows = rows_of(shop, "branches")
    assert 4 == len(rows)
    assert ["deleted", "deleted", "deleted", "open"] == sorted(
        each["status"] for each in rows.values()
    )
    assert [] == both(shop, capsys, "seals")
    listed = json.loads(shop.do("-o", "json", "branch", "list", "--all"))["branches"]
    assert ["open"] == [each["status"] for each in listed]
    # Nor does the former one change now.
    former = next(key for key in rows if key != "work")
    put_on_top(shop, "branches", {former: rows[former] | {"created_by": "ceo@x"}})
    expect_found(shop, capsys, f"branches {former}: it was written anew")


def test_a_branch_that_is_deleted_after_a_promotion_is_as_it_was_made(shop, capsys):
    make_branch(shop)
    shop.seal()
    write(shop.root, {"data/orders.csv": "id,country\n1,DE\n2,FR\n"})
    shop.do("run", "--branch", "work")
    shop.do("branch", "promote", "work")
    shop.do("branch", "delete", "work")

    assert [] == both(shop, capsys, "seals")
