"""Whoever can write the warehouse, and nothing else, cannot have a run read what no run wrote.

Each test alters a table before a run and would put it back after: what the run must not do is build
on it.
"""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.run.runs import Shop, statuses

FILES = {
    "sources/raw.toml": (
        '[[source]]\nname = "raw.orders"\nformat = "csv"\npath = "data/orders.csv"\n'
        'columns = [ { name = "id", type = "bigint" }, { name = "amount", type = "bigint" } ]\n'
    ),
    "data/orders.csv": "id,amount\n1,10\n2,20\n3,30\n",
    "models/ev.sql": "SELECT id, amount FROM raw.orders",
    "models/ev.toml": '[strategy]\ntype = "merge"\nunique_key = ["id"]\n',
    "models/total.sql": "SELECT max(amount) AS total FROM ev",
}
OTHERS = ("stg_orders.sql", "by_country.sql", "report.sql", "alone.sql", "large.sql", "large.toml")


def shop_of(root: Path) -> Shop:
    shop = Shop(root, FILES)
    for name in OTHERS:
        (root / "models" / name).unlink()
    return shop


def error_of(report, model: str) -> str:
    (found,) = [each.execution for each in report.outcomes if each.step.name == model]
    return found.error or ""


def commit(shop: Shop, version: int) -> Path:
    return shop.folder("ev") / f"_delta_log/{version:020d}.json"


def edit(path: Path, change) -> bytes:
    """Change the actions of a commit; what was there before."""
    before = path.read_bytes()
    actions = [json.loads(line) for line in before.splitlines()]
    changed = change(actions) or actions
    path.write_text("".join(json.dumps(each) + "\n" for each in changed))
    return before


def alter_rows(shop: Shop) -> Path:
    (file,) = shop.folder("ev").glob("*.parquet")
    schema = pq.read_schema(file)
    rows = {"id": [1, 2, 3], "amount": [10, 20, 3_000_000]}
    pq.write_table(pa.table(rows, schema=schema), file)
    return file


def test_a_size_that_the_log_exaggerates_does_not_spare_a_file_from_being_hashed(tmp_path):
    shop = shop_of(tmp_path)
    shop.run()
    alter_rows(shop)

    def enlarge(actions):
        for each in actions:
            if "add" in each:
                each["add"]["size"] = 1 << 40

    edit(commit(shop, 0), enlarge)
    shop.write("models/total.sql", "SELECT max(amount) AS total, count(*) AS n FROM ev")

    report = shop.run("total")

    assert {"total": "failed"} == statuses(report)
    assert "bytes, and the log says 1099511627776" in error_of(report, "total")


def test_a_merge_does_not_build_on_a_file_of_its_own_that_was_altered(tmp_path):
    shop = shop_of(tmp_path)
    shop.run()
    alter_rows(shop)
    shop.write("data/orders.csv", "id,amount\n1,11\n2,21\n")

    report = shop.run("ev")

    assert {"ev": "failed"} == statuses(report)
    assert "is damaged" in error_of(report, "ev")


def test_a_merge_hashes_its_own_files_whatever_their_size_and_time(tmp_path):
    shop = shop_of(tmp_path)
    shop.run()
    (file,) = shop.folder("ev").glob("*.parquet")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    shop.write("data/orders.csv", "id,amount\n1,11\n2,21\n")

    assert "its bytes do not match its name" in error_of(shop.run("ev"), "ev")
