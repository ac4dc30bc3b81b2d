"""Erasing from tables that Iceberg readers know: its metadata begins anew, and names nothing gone."""

import json
from pathlib import Path

import pytest
from pyiceberg.table import StaticTable

from rocky.operations.execution.run import run
from rocky.plan.request import RunRequest
from tests.maintenance.erasures import FIRST, LAST, SUBJECT, PeopleShop
from tests.maintenance.shops import Template

pytestmark = pytest.mark.slow


class IcebergShop(PeopleShop):
    def __init__(self, root, monkeypatch) -> None:
        super().__init__(root, monkeypatch)
        self.append("rocky.toml", "\n[adapter]\niceberg = true\n")


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Template[IcebergShop]:
    return Template(tmp_path_factory.mktemp("iceberg"), IcebergShop)


@pytest.fixture
def shop(template, monkeypatch) -> IcebergShop:
    return template.reopen(monkeypatch)


def metadata_of(shop: IcebergShop, name: str) -> Path:
    folder = shop.root / f"warehouse/spark_catalog/default/{name}/metadata"
    version = (folder / "version-hint.text").read_text()
    return folder / f"v{version}.metadata.json"


def bounds_in(path: Path) -> str:
    """All that the manifests of a table's metadata say of its files."""
    return str(StaticTable.from_metadata(str(path)).inspect.all_data_files().to_pylist())


def assert_one_snapshot(shop: IcebergShop, name: str, rows: int) -> None:
    """Its only metadata is that of the newest version, and reads as Delta does."""
    path = metadata_of(shop, name)
    assert [path] == sorted(path.parent.glob("*.metadata.json"))
    (snapshot,) = json.loads(path.read_text())["snapshots"]
    manifests = StaticTable.from_metadata(str(path)).inspect.all_manifests().to_pylist()
    places = {snapshot["manifest-list"], *(each["path"] for each in manifests)}
    assert {Path(each).name for each in places} == {
        each.name for each in path.parent.glob("*.avro")
    }
    assert FIRST not in bounds_in(path)
    found = StaticTable.from_metadata(str(path)).scan().to_arrow()
    assert (rows, rows) == (found.num_rows, len(shop.rows_of(name)))
    assert SUBJECT not in found.column(0).to_pylist()


def test_no_metadata_names_an_erased_file_or_bounds_of_its_values(shop):
    shop.write_people(3, subject=False)
    assert FIRST in bounds_in(metadata_of(shop, "people"))

    assert shop.apply().applied

    for name in ("people", "contacts"):
        assert_one_snapshot(shop, name, 30)
    derived = ("warehouse/spark_catalog/default/mails", "warehouse/spark_catalog/default/counts")
    assert set() == shop.places_of(FIRST, LAST, str(SUBJECT), besides=("data/", *derived))
    assert set() == shop.findings()
    shop.append("data/people.csv", "999,new@example.org,2026-01-04\n")
    assert 0 == shop.build().exit_code
    found = StaticTable.from_metadata(str(metadata_of(shop, "people"))).scan().to_arrow()
    assert 31 == found.num_rows


def test_a_table_whose_newest_version_stays_as_it_is_begins_anew_too(shop):
    shop.write_people(3, subject=False)
    run(shop.workspace, RunRequest(shop.names, full_refresh=True))
    version = metadata_of(shop, "contacts")
    assert FIRST in bounds_in(version)

    shop.apply()

    assert version == metadata_of(shop, "contacts")
    assert_one_snapshot(shop, "contacts", 30)
    assert set() == shop.findings()
