"""What was damaged is not read, whatever its size and time say."""

import os

import pytest

from rocky.run.prepare.resources import RunParameters
from tests.run.runs import Shop, statuses
from tests.table_files import data_files


def damage(shop: Shop, table: str) -> None:
    """Change a byte in the middle of a file and give it back its time."""
    (file,) = data_files(shop.root / f"warehouse/spark_catalog/default/{table}")
    before, data = file.stat(), bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.slow
def test_a_model_over_a_damaged_file_fails_and_names_it(tmp_path):
    shop = Shop(tmp_path)
    shop.run()
    damage(shop, "by_country")
    (tmp_path / "models/report.sql").write_text("SELECT min(n) AS most FROM by_country")

    report = shop.run()

    assert "failed" == statuses(report)["report"]
    (failed,) = [each.execution for each in report.outcomes if each.step.name == "report"]
    assert "is damaged: its bytes do not match its name" in (failed.error or "")


@pytest.mark.slow
def test_building_the_damaged_table_again_heals_it(tmp_path):
    shop = Shop(tmp_path)
    shop.run()
    damage(shop, "by_country")
    (tmp_path / "models/report.sql").write_text("SELECT min(n) AS most FROM by_country")
    shop.run("by_country", options=RunParameters(parallel=1, rebuild=True))

    assert "success" == statuses(shop.run())["report"]
