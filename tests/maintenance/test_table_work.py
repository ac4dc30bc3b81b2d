"""Tables that maintenance leaves alone, each with why."""

from dataclasses import replace

import pytest

from rocky.ledger.branch_records import REVERTED
from rocky.maintenance.table_work import find_obstacle
from rocky.maintenance.tables import RecordedTable, find_tables, load_table_records
from rocky.store.delta.snapshot import ROWS_HASH
from rocky.store.warehouse import open_warehouse
from tests.maintenance.shops import AppendedShop

pytestmark = pytest.mark.slow


@pytest.fixture
def found(tmp_path, monkeypatch) -> RecordedTable:
    shop = AppendedShop(tmp_path, monkeypatch)
    shop.build()
    records = load_table_records(shop.root / ".rocky-state.db")
    (found,) = find_tables(records, open_warehouse("warehouse", base=shop.root), ["events"])
    assert find_obstacle(found) is None
    return found


def test_a_table_that_was_reverted_stays_as_it_is_held(found):
    """Else a run would take the commit for a newer state, and bring back what was reverted."""
    known = replace(found.known, execution=replace(found.known.execution, decision=REVERTED))

    said = find_obstacle(found._replace(known=known))
    assert "it stays as a revert left it until a run writes it" == said


def test_a_table_without_a_hash_of_its_rows_is_left_alone(found):
    configuration = {
        name: value for name, value in found.snapshot.configuration.items() if name != ROWS_HASH
    }
    snapshot = replace(found.snapshot, configuration=configuration)

    assert "no hash of its rows is recorded" in str(
        find_obstacle(found._replace(snapshot=snapshot))
    )


def test_a_table_with_files_of_other_tools_is_left_alone(found):
    files = (replace(found.snapshot.files[0], path="part-0.parquet"),)

    said = find_obstacle(found._replace(snapshot=replace(found.snapshot, files=files)))
    assert "it has files that are not named by their bytes" == said
