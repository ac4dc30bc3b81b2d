"""Masks at the levels `twin` and `view` on Spark: clear values stay in the restricted schema, readers see masks."""

import os
import subprocess
import sys
from pathlib import Path

import deltalake
import pytest

from rocky.language.names import quote_name
from tests.spark import test_masked_runs as masked
from tests.spark.scripts import OWN_SPARK
from tests.spark.test_masked_runs import (
    CLEAR,
    CONFIG,
    EMAILS,
    KEY,
    hashed,
    opened,
    shop,
)

pytestmark = pytest.mark.spark

TWIN = CONFIG.replace(
    "[governance]\n", '[governance]\nenforce = "twin"\nrestricted_schema = "restricted"\n'
)
VIEW = (
    TWIN.replace('"twin"', '"view"').replace('pii = "hash"', 'pii = "sha2"')
    + "[adapter]\nregister = true\n"
)
TABLES = ("whole", "parts", "coded")

__all__ = ["shop"]


def find_open(root: Path) -> list[str]:
    """The files that hold a clear value or the key, outside the restricted schema."""
    found = masked.find_clear(root)
    return [each for each in found if not each.startswith("warehouse/spark_catalog/restricted/")]


def emails_in(root: Path, schema: str, table: str) -> set[str]:
    folder = root / "warehouse" / "spark_catalog" / schema / table
    return set(
        deltalake.DeltaTable(folder).to_pyarrow_table(columns=["email"])["email"].to_pylist()
    )


def test_no_file_outside_the_restricted_schema_holds_a_clear_value(shop, spark):
    (shop / "rocky.toml").write_text(TWIN)
    work = opened(shop, spark)
    assert work.run(*TABLES, "colleagues").succeeded

    assert [] == find_open(shop)
    for table in (*TABLES, "staff"):
        clear, shown = emails_in(shop, "restricted", table), emails_in(shop, "shop", table)
        assert EMAILS[0] in clear, table
        assert {hashed(each) for each in clear} == shown, table
    # What is made of clear values and has none of them is open, and has no twin.
    assert not (shop / "warehouse/spark_catalog/restricted/colleagues").exists()
    assert 1 == len(masked.rows_now(shop, "colleagues"))
    seen = {(each.saw, each.restricted) for each in work.compliance(probe=True).probed}
    assert {("masked", False), ("clear", True)} == seen - {("absent", False), ("absent", True)}
    report = work.replay(execute=True)
    assert {"bit_exact"} == {str(each.verdict) for each in report.models}
    assert not work.verify().findings


def test_a_masked_view_shows_what_the_restricted_table_holds(shop, spark, tmp_path, monkeypatch):
    def register_plainly(session, name, uri):
        """A table of Parquet in the place of Delta's connector, which need not be at hand."""
        session.sql(f"CREATE SCHEMA IF NOT EXISTS {quote_name(name[1])}")
        full = ".".join(map(quote_name, name))
        place = tmp_path / "plain" / name[2]
        if not place.exists():
            session.read.parquet(*deltalake.DeltaTable(uri).file_uris()).write.parquet(str(place))
        session.sql(f"CREATE TABLE IF NOT EXISTS {full} USING parquet LOCATION '{place}'")

    monkeypatch.setattr("rocky.run.engine.spark.open_catalogue", lambda _session: None)
    monkeypatch.setattr("rocky.run.engine.spark.register_table", register_plainly)
    spark.sql("CREATE SCHEMA IF NOT EXISTS shop")
    (shop / "rocky.toml").write_text(VIEW)
    work = opened(shop, spark)
    try:
        assert work.run("whole", "coded").succeeded

        found = spark.newSession().table("spark_catalog.shop.whole").collect()
        assert {"***"} == {each["phone"] for each in found}
        assert all(len(each["email"]) == 64 for each in found)
        assert {"1987-01-01", "1990-01-01"} == {str(each["born"]) for each in found}
        assert not (shop / "warehouse/spark_catalog/shop/whole").exists()
        report = work.compliance(probe=True)
        seen = {
            (each.table.partition(".")[2], each.column, each.through): each.saw
            for each in report.probed
        }
        assert "masked" == seen["shop.whole", "email", "catalogue"]
        assert "masked" == seen["shop.whole", "address.street", "catalogue"]
        assert "clear" == seen["restricted.whole", "email", "catalogue"]
        assert "clear" == seen["restricted.whole", "email", "files"]
        assert "absent" == seen["shop.merged", "email", "catalogue"]
        assert not report.exceptions
    finally:
        for schema in ("shop", "restricted"):
            spark.sql(f"DROP SCHEMA IF EXISTS {schema} CASCADE")


@pytest.mark.slow
@pytest.mark.sampled(OWN_SPARK)
def test_event_logs_and_output_hold_no_clear_value(shop):
    (shop / "events").mkdir()
    conf = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (shop / "events").as_uri(),
        "spark.eventLog.compress": "false",
        "spark.sql.ui.explainMode": "extended",
    }
    said = "".join(f'"{name}" = "{value}"\n' for name, value in conf.items())
    (shop / "rocky.toml").write_text(f"{TWIN}\n[adapter.conf]\n{said}")
    command = [sys.executable, "-m", "rocky.cli", "run", "whole", "merged", "history"]
    done = subprocess.run(
        command,
        cwd=shop,
        env={**os.environ, "MASK_KEY": KEY},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stderr
    assert any(each.is_file() for each in (shop / "events").rglob("*"))

    assert [] == find_open(shop)
    assert not any(text in done.stdout + done.stderr for text in (*CLEAR, KEY))
