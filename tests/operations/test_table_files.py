"""The files of a table: all that its log names now, each with the hash that is its name."""

from pathlib import Path

import pytest
from blake3 import blake3

from rocky.errors import NothingSelected
from rocky.operations.execution.run import run
from rocky.operations.rows.files import FilesRequest, list_files
from rocky.plan.request import RunRequest
from tests.operations.shops import OpenShop


@pytest.fixture
def shop(tmp_path, monkeypatch) -> OpenShop:
    found = OpenShop(tmp_path, monkeypatch)
    run(found.workspace, RunRequest())
    return found


@pytest.mark.slow
def test_each_file_has_the_hash_of_its_bytes_and_the_rows_add_up(shop):
    found = list_files(shop.workspace, FilesRequest("stg_orders"))

    assert found.files
    assert found.is_local
    assert found.rows == sum(each.rows for each in found.files)
    assert found.bytes == sum(each.size_bytes for each in found.files)
    assert [each.blake3_hash for each in found.files] == [
        blake3(Path(each.path).read_bytes()).hexdigest() for each in found.files
    ]
    assert shop.records()[0].run_id == found.run_id


@pytest.mark.slow
def test_a_table_goes_by_its_full_name_and_at_a_version_too(shop):
    now = list_files(shop.workspace, FilesRequest("spark_catalog.default.stg_orders"))

    assert now == list_files(shop.workspace, FilesRequest("stg_orders", version=now.version))


@pytest.mark.slow
def test_columns_are_those_the_table_was_built_with(shop):
    built = list_files(shop.workspace, FilesRequest("stg_orders")).columns
    shop.write("models/stg_orders.sql", "SELECT id AS other FROM raw.orders")

    assert "id" in built
    assert built == list_files(shop.workspace, FilesRequest("stg_orders")).columns


@pytest.mark.slow
def test_what_has_no_table_is_said(shop):
    with pytest.raises(NothingSelected, match="nobody"):
        list_files(shop.workspace, FilesRequest("nobody"))
    with pytest.raises(NothingSelected, match="has no version 7"):
        list_files(shop.workspace, FilesRequest("stg_orders", version=7))
