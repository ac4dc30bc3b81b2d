"""The page of the Python API on Spark, on a session of the caller's: all of its blocks, in order."""

import pytest

from tests.api.python_page import PAGE, run_page

pytestmark = pytest.mark.spark


def test_everything_is_as_the_page_says_and_the_session_is_left_as_it_was(
    spark, tmp_path, monkeypatch, bless
):
    monkeypatch.chdir(tmp_path)
    page, settings = PAGE.read_text(), spark.conf.getAll

    happened = run_page(page, tmp_path, {"sh", "python", "python spark"}, spark=spark)
    if bless:
        PAGE.write_text(happened)

    assert happened == PAGE.read_text()
    assert settings == spark.conf.getAll
    assert [] == spark.catalog.listTables()
