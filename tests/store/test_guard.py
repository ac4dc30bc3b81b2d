"""The guard: a folder that is read as Parquet gives an error, never the rows of several versions."""

import os
import time
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from rocky.errors import StoreUnreadable, StoreUnwritable
from rocky.store.branch_folder import drop_branch_folder
from rocky.store.clone import clone_table
from rocky.store.guard import GUARD
from rocky.store.warehouse import Table, open_warehouse
from tests.store.tables import ORDERS, append, delta, ids, latest, read_ids, replace_with, table_in
from tests.table_files import data_files


@pytest.fixture
def table(tmp_path) -> Table:
    """A table that was built twice: its folder holds the files of both versions."""
    found = table_in(tmp_path)
    replace_with(found, ids(found, *range(99)))
    replace_with(found, ids(found, *range(100)))
    return found


def folder_of(table: Table) -> Path:
    found = table.objects.local_path(table.prefix)
    assert found is not None
    return found


def test_the_guard_comes_before_every_hash():
    hashes = [f"{letter * 64}.parquet" for letter in "0123456789abcdef"]

    assert [GUARD, *hashes] == sorted([*hashes, GUARD])


@pytest.mark.parametrize("pattern", ["", "/*", "/*.parquet", "/**/*.parquet"])
def test_duckdb_reads_no_folder_and_no_glob(table, pattern):
    with duckdb.connect() as connection, pytest.raises(duckdb.Error, match=GUARD):
        connection.execute(f"SELECT count(*) FROM read_parquet('{folder_of(table)}{pattern}')")


@pytest.mark.parametrize("read", [pd.read_parquet, pq.read_table, ds.dataset])
def test_pandas_and_arrow_read_no_folder(table, read):
    with pytest.raises(ValueError, match=GUARD):
        read(str(folder_of(table)))


@pytest.mark.parametrize("pattern", ["", "/*.parquet", "/**/*.parquet"])
def test_polars_reads_no_folder_and_no_glob(table, pattern):
    with pytest.raises(pl.exceptions.PolarsError):
        pl.read_parquet(f"{folder_of(table)}{pattern}")


def test_delta_readers_do_not_meet_it(table):
    assert list(range(100)) == read_ids(table)
    assert list(range(99)) == read_ids(table, 0)
    assert 100 == len(pl.read_delta(str(folder_of(table))))


def test_a_table_that_has_none_gets_one_with_the_next_commit(table):
    (folder_of(table) / GUARD).unlink()

    append(table, ids(table, 1000))

    assert (folder_of(table) / GUARD).is_file()


def test_a_vacuum_of_others_takes_it_no_sooner_than_the_files_it_guards(table):
    hours = 200
    past = time.time() - hours * 3600
    for path in (folder_of(table) / GUARD, *data_files(folder_of(table))):
        os.utime(path, (past, past))
    replace_with(table, ids(table, 7))

    delta(table).vacuum(168, dry_run=False, full=True)

    assert 3 == len(data_files(folder_of(table)))
    assert (folder_of(table) / GUARD).is_file()


def test_a_clone_has_one_of_its_own_and_a_branch_takes_it_away(table, tmp_path):
    branch = open_warehouse("warehouse/branch__b", base=tmp_path)
    clone = branch.table(ORDERS)
    clone_table(table, latest(table), clone)

    assert 1 == (folder_of(clone) / GUARD).stat().st_nlink
    drop_branch_folder(branch)
    assert not (tmp_path / "warehouse/branch__b").exists()
    assert (folder_of(table) / GUARD).is_file()


def test_a_link_in_its_place_is_not_written_through(table, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (folder_of(table) / GUARD).unlink()
    (folder_of(table) / GUARD).symlink_to(victim)

    with pytest.raises((StoreUnwritable, StoreUnreadable), match="symbolic link"):
        append(table, ids(table, 1000))

    assert "mine" == victim.read_text()
    assert 1 == latest(table).version
