"""A branch of tables in a bucket, from making it to deleting it: no file is copied for it."""

from pathlib import Path

import pytest

from rocky.evidence.verification import verify_evidence
from rocky.ledger import open_evidence_reader
from rocky.store.data_file import is_addressed
from rocky.store.warehouse import Warehouse, open_warehouse
from tests.branches.shops import BranchShop, enter_shop
from tests.store.test_s3 import options

__all__ = ["options"]
pytestmark = [pytest.mark.slow, pytest.mark.server]

ROOT = "s3://lake/branched ä"
ADAPTER = f'[adapter]\nwarehouse = "{ROOT}"\n'
OTHERS = "SELECT id, CASE WHEN id = 2 THEN 'PL' ELSE country END AS country FROM stg_orders"


@pytest.fixture
def shop(options, tmp_path, monkeypatch) -> BranchShop:
    for name, value in options.items():
        monkeypatch.setenv(name, value)
    enter_shop(tmp_path, monkeypatch)
    made = BranchShop(tmp_path)
    made.create()
    settings = tmp_path / "rocky.toml"
    settings.write_text(settings.read_text() + ADAPTER)
    made.commit("in a bucket")
    made.do("run")
    return made


def data_files(warehouse: Warehouse) -> set[str]:
    paths = (info.path for info in warehouse.objects.list(""))
    return {path for path in paths if is_addressed(path.rpartition("/")[2])}


def test_a_branch_in_a_bucket_lives_on_the_files_of_production(shop, options):
    def verify(branch: str | None = None) -> list[str]:
        reader = open_evidence_reader(shop.state(branch))
        assert reader is not None
        with reader:
            found = verify_evidence(reader, open_place)
        return [f"{each.where}: {each.message}" for each in found.findings]

    def open_place(place: str) -> Warehouse:
        return open_warehouse(place, base=Path(), options=options)

    warehouse = open_place(ROOT)
    before = data_files(warehouse)

    shop.do("branch", "create", "b1")
    shop.do("run", "--branch", "b1")
    assert before == data_files(warehouse)
    assert [] == verify("b1")

    events = shop.root / "data/events.csv"
    events.write_text(events.read_text() + "3,2026-01-03T00:00:00\n")
    shop.write(latest=OTHERS)
    shop.commit("another country")
    shop.do("run", "--branch", "b1")
    new = data_files(warehouse) - before
    assert 2 == len(new)
    assert all(path.startswith("branch__b1/") for path in new)
    assert [] == verify() + verify("b1")
    assert "id = 2: country DE -> PL" in shop.do("branch", "diff", "b1")

    shop.do("branch", "promote", "b1")
    placed = {path.removeprefix("branch__b1/") for path in new}
    assert before | new | placed == data_files(warehouse)
    assert [] == verify()

    shop.do("branch", "revert", "b1")
    shop.do("branch", "delete", "b1")
    assert before | placed == data_files(warehouse)
    assert [] == verify()
