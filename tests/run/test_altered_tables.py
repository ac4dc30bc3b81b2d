"""Whoever can write the warehouse, and nothing else, cannot have a run read what no run wrote.

Each test alters a table before a run and would put it back after: what the run must not do is build
on it.
"""

import json
import mmap
from dataclasses import replace
from pathlib import Path
from shutil import copytree, rmtree

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from rocky.errors import StoreUnreadable
from rocky.project.models import Target
from rocky.run.checksums import Checksums
from rocky.run.prepare.pins import PinnedTable, refuse_damaged_files
from rocky.run.prepare.resources import RunParameters
from rocky.store.warehouse import open_warehouse
from tests.evidence.shops import audit, script_codes
from tests.run.runs import Shop, statuses, verify
from tests.run.test_marks import fail_at, five_days
from tests.table_files import data_files

pytestmark = pytest.mark.slow

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
    (file,) = data_files(shop.folder("ev"))
    schema = pq.read_schema(file)
    rows = {"id": [1, 2, 3], "amount": [10, 20, 3_000_000]}
    pq.write_table(pa.table(rows, schema=schema), file)
    return file


def test_a_size_that_the_log_exaggerates_does_not_spare_a_file_from_being_hashed(tmp_path):
    shop = shop_of(tmp_path)
    shop.run()
    alter_rows(shop)
    snapshot = shop.snapshot("ev")
    assert snapshot is not None
    huge = tuple(replace(each, size=1 << 40) for each in snapshot.files)
    table = open_warehouse("warehouse", base=tmp_path).table(
        Target("spark_catalog", "default", "ev")
    )

    with pytest.raises(StoreUnreadable, match="bytes, and the log says 1099511627776"):
        refuse_damaged_files(PinnedTable(table, replace(snapshot, files=huge)), Checksums(tmp_path))


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
    (file,) = data_files(shop.folder("ev"))
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    shop.write("data/orders.csv", "id,amount\n1,11\n2,21\n")

    assert "its bytes do not match its name" in error_of(shop.run("ev"), "ev")


def plant_older_content(shop: Shop) -> None:
    """A commit on top of the table that gives it the rows it had before."""
    first, second = (
        [json.loads(line) for line in commit(shop, each).read_bytes().splitlines()]
        for each in (0, 1)
    )
    removes = [
        {"remove": {"path": each["add"]["path"], "deletionTimestamp": 1, "dataChange": True}}
        for each in second
        if "add" in each
    ]
    adds = [each for each in first if "add" in each or "metaData" in each]
    planted = [{"commitInfo": {"timestamp": 1, "operation": "WRITE"}}, *removes, *adds]
    commit(shop, 2).write_text("".join(json.dumps(each) + "\n" for each in planted))


def test_a_result_is_not_reused_over_a_commit_that_no_run_made(tmp_path):
    shop = shop_of(tmp_path)
    shop.run()
    shop.write("data/orders.csv", "id,amount\n1,10\n2,20\n3,31\n")
    shop.run("ev")
    plant_older_content(shop)

    report = shop.run("total")

    assert {"total": "failed"} == statuses(report)
    assert "has a commit that no run made, version 2" in error_of(report, "total")


def forge_bounds(actions) -> None:
    """Say of files that they hold other keys than they do."""
    for each in actions:
        if "add" in each:
            stats = json.loads(each["add"]["stats"])
            stats |= {"minValues": {"id": 900}, "maxValues": {"id": 901}, "nullCount": {"id": 0}}
            each["add"]["stats"] = json.dumps(stats)


def append_shop(root: Path) -> Shop:
    """A table of two files, each of its own commit."""
    shop = shop_of(root)
    shop.write("models/ev.toml", '[strategy]\ntype = "incremental"\ntimestamp_column = "id"\n')
    shop.run()
    shop.write("data/orders.csv", "id,amount\n4,40\n")
    shop.run()
    return shop


def test_a_run_does_not_build_on_an_older_commit_that_was_altered(tmp_path):
    shop = append_shop(tmp_path)
    before = edit(commit(shop, 0), forge_bounds)
    shop.write("data/orders.csv", "id,amount\n5,50\n")

    report = shop.run("ev")

    assert {"ev": "failed"} == statuses(report)
    assert "version 0 is not the commit that was recorded" in error_of(report, "ev")
    commit(shop, 0).write_bytes(before)
    assert {"ev": "success"} == statuses(shop.run("ev"))


def test_a_run_does_not_read_an_input_whose_older_commit_was_altered(tmp_path):
    shop = append_shop(tmp_path)
    edit(commit(shop, 0), lambda actions: [each for each in actions if "add" not in each])

    report = shop.run("total")

    assert {"total": "failed"} == statuses(report)
    assert "version 0 is not the commit that was recorded" in error_of(report, "total")


def test_a_table_that_is_built_whole_needs_nothing_of_an_older_commit(tmp_path):
    shop = append_shop(tmp_path)
    edit(commit(shop, 0), forge_bounds)

    report = shop.run(options=RunParameters(parallel=1, full_refresh=True))

    assert {"ev": "success", "total": "success"} == statuses(report)
    assert {"success", "reused"} >= set(statuses(shop.run()).values())


def plant(shop: Shop, donor: Path) -> None:
    """A table of somebody else's where a model's is to be."""
    made = shop_of(donor)
    made.write("data/orders.csv", "id,amount\n66,666\n")
    made.run("ev")
    copytree(made.folder("ev"), shop.folder("ev"))

    def disown(actions):
        info = {"commitInfo": {"timestamp": 1, "operation": "WRITE"}}
        return [info, *(each for each in actions[1:] if "txn" not in each)]

    edit(commit(shop, 0), disown)


@pytest.mark.parametrize("model", ["ev", "total"])
def test_a_table_that_was_planted_before_its_first_build_is_not_read(tmp_path, model):
    shop = shop_of(tmp_path / "shop")
    shop.write("models/one.sql", "SELECT 1 AS x")
    shop.run("one")
    plant(shop, tmp_path / "donor")

    report = shop.run(model)

    assert {model: "failed"} == statuses(report)
    said = error_of(report, model)
    assert "was made by no run that is recorded" in said
    assert "remove the table, or `rocky run --model ev --full-refresh` builds it" in said
    assert "If another project or another ledger writes it, do neither: " in said
    assert "`rocky state restore --from-tables`" in said
    whole = RunParameters(parallel=1, full_refresh=True)
    assert {"ev": "success"} == statuses(shop.run("ev", options=whole))
    assert [(1, 10), (2, 20), (3, 30)] == shop.rows("ev")
    assert {"total": "success"} == statuses(shop.run("total"))


def test_a_table_that_is_gone_is_not_loaded_anew_in_silence(tmp_path):
    shop = shop_of(tmp_path)
    shop.run()
    rmtree(shop.folder("ev"))
    shop.write("data/orders.csv", "id,amount\n9,9\n")

    (warning,) = shop.run("ev").warnings

    assert "`spark_catalog.default.ev` is gone: the state has its version 0" in warning
    whole = RunParameters(parallel=1, full_refresh=True)
    rmtree(shop.folder("ev"))
    assert () == shop.run("ev", options=whole).warnings
    assert () == shop.run("ev").warnings


CHANCE = {"models/ev.sql": "SELECT id, amount, current_date() AS day FROM raw.orders"}


@pytest.mark.parametrize("more", [{}, CHANCE], ids=["deterministic", "by chance"])
def test_a_file_that_was_hidden_while_a_table_was_replaced_is_not_read_beside_the_new(
    tmp_path, more
):
    shop = shop_of(tmp_path)
    for name, text in more.items():
        shop.write(name, text)
    shop.run()
    before = edit(commit(shop, 0), lambda found: [each for each in found if "add" not in each])
    shop.write("data/orders.csv", "id,amount\n1,10\n2,21\n")
    whole = RunParameters(parallel=1, full_refresh=True)
    assert {"ev": "success"} == statuses(shop.run("ev", options=whole))
    commit(shop, 0).write_bytes(before)

    # Both are in the log now: the new commit could not remove what it did not see.
    report = shop.run()

    assert {"ev": "failed", "total": "skipped"} == statuses(report)
    assert "it has other files than its version 1 says" in error_of(report, "ev")
    assert any("commit_changed" in each and "other files" in each for each in verify(tmp_path))
    assert "commit_changed" in script_codes(audit(tmp_path))
    assert {"ev": "success"} == statuses(shop.run("ev", options=whole))
    assert [(1, 10), (2, 21)] == [row[:2] for row in shop.rows("ev")]
    assert {"total": "success"} == statuses(shop.run("total"))


def test_a_time_that_no_clock_shows_is_not_handed_on(tmp_path):
    shop = shop_of(tmp_path)
    shop.write("models/ev.toml", '[strategy]\ntype = "full_refresh"\n')
    shop.run()

    def far_ahead(actions: list[dict]) -> None:
        actions[0]["commitInfo"]["timestamp"] = 10**30

    before = edit(commit(shop, 0), far_ahead)
    shop.write("data/orders.csv", "id,amount\n1,11\n")
    assert {"ev": "success"} == statuses(shop.run("ev"))
    commit(shop, 0).write_bytes(before)

    read = DeltaTable(str(shop.folder("ev"))).to_pyarrow_table().to_pylist()

    assert [{"id": 1, "amount": 11}] == read
    assert [] == verify(tmp_path)


def test_a_fencing_token_that_no_run_had_is_not_counted_from(tmp_path):
    shop = shop_of(tmp_path)
    shop.write("models/other.sql", "SELECT count(*) AS n FROM raw.orders")
    shop.run()
    planted = {"txn": {"appId": "rocky/fence", "version": 2**63 - 1, "lastUpdated": 1}}
    lines = [{"commitInfo": {"timestamp": 1}}, planted]
    commit(shop, 1).write_text("".join(json.dumps(each) + "\n" for each in lines))
    shop.write("data/orders.csv", "id,amount\n1,11\n")

    assert "success" == statuses(shop.run())["other"]

    newest = shop.snapshot("other")
    assert newest is not None
    assert newest.transactions["rocky/fence"] < 10


def test_a_run_does_not_go_on_where_a_commit_of_a_failed_run_is_gone(tmp_path):
    shop = five_days(tmp_path, "microbatch")
    shop.run(before_write=fail_at(4))
    assert [1, 2, 3] == sorted(row[0] for row in shop.rows("ev"))
    commit(shop, 2).unlink()
    # The source no longer has what the run before has loaded.
    shop.write("data/orders.csv", "id,ts\n4,2026-05-04 00:00:00\n5,2026-05-05 00:00:00\n")

    report = shop.run()

    assert "it went from version 2 to 1" in error_of(report, "ev")


def test_the_bytes_of_an_input_are_read_each_time_where_the_settings_say_so(tmp_path):
    shop = shop_of(tmp_path)
    config = (tmp_path / "rocky.toml").read_text()
    shop.write("rocky.toml", config + '[reuse]\nsources = "bytes"\n')
    shop.run()
    shop.keeps_checksums = True
    (file,) = data_files(shop.folder("ev"))
    shop.write("models/total.sql", "SELECT max(amount) + 0 AS total FROM ev")
    assert {"total": "success"} == statuses(shop.run("total"))
    with file.open("r+b") as opened, mmap.mmap(opened.fileno(), 0) as mapped:
        # On some file systems this changes neither time: the file looks as it was.
        mapped[4:5] = bytes([mapped[4] ^ 1])
    shop.write("models/total.sql", "SELECT max(amount) + 1 AS total FROM ev")

    assert "its bytes do not match its name" in error_of(shop.run("total"), "total")
