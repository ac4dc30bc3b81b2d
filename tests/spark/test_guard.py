"""A table's folder that is read as Parquet: an error that names the guard, never rows of two versions."""

import pytest

from rocky.store.guard import GUARD
from tests.spark.projects import build, data_files, table_folder, write_files

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def folder(tmp_path_factory, spark):
    """The folder of a table of 100 rows that was built twice."""
    root = tmp_path_factory.mktemp("guard")
    for rows in (99, 100):
        query = f"SELECT id, id % 2 = 0 AS even FROM range({rows})\n"
        write_files(root, {"models/numbers.sql": query})
        assert 0 == build(root, spark).exit_code
    found = table_folder(root, "numbers")
    assert 2 <= len(data_files(found))
    return str(found)


@pytest.mark.parametrize("pattern", ["", "/*.parquet", "/[0-9]*"])
def test_neither_the_folder_nor_a_glob_is_read(spark, folder, pattern):
    with pytest.raises(Exception, match=GUARD):
        spark.read.parquet(f"{folder}{pattern}")


def test_columns_that_are_given_do_not_help(spark, folder):
    with pytest.raises(Exception, match=GUARD):
        spark.read.schema("id bigint, even boolean").parquet(folder).collect()


def test_no_table_of_parquet_is_made_of_it(spark, folder):
    with pytest.raises(Exception, match=GUARD):
        spark.sql(f"CREATE TABLE plain USING parquet LOCATION '{folder}'")
