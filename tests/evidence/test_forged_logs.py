"""What somebody who writes the warehouse puts into logs, and into the place of removed files."""

import json
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from rocky.errors import LedgerUnwritable, StoreUnreadable
from rocky.ledger import open_ledger
from rocky.ledger.chain import Head
from rocky.ledger.provenance import CollectedFile
from rocky.ledger.writer import Ledger
from rocky.project.models import Target
from rocky.store.anchor import Anchor, write_anchor
from rocky.store.file_usage import read_lifetimes
from rocky.store.warehouse import open_warehouse
from tests.evidence.shops import STATE, audit, codes, script_codes, verify
from tests.run.runs import Shop, statuses
from tests.table_files import data_files

pytestmark = pytest.mark.slow

FILES = {
    "models/events.sql": "SELECT id, country FROM raw.orders",
    "models/events.toml": '[strategy]\ntype = "incremental"\ntimestamp_column = "id"\n',
}
LOW, HIGH = 1, 5


def orders(root: Path, upto: int) -> None:
    rows = "".join(f"{each},DE\n" for each in range(1, upto + 1))
    (root / "data/orders.csv").write_text(f"id,country\n{rows}")


@pytest.fixture
def shop(tmp_path):
    """An incremental table of two versions, ids 1 to 4."""
    made = Shop(tmp_path / "shop", FILES)
    for upto in (3, 4):
        orders(made.root, upto)
        assert {"events": "success"} == statuses(made.run("events"))
    return made


def folder(shop: Shop, name: str = "events") -> Path:
    return shop.root / "warehouse/spark_catalog/default" / name


def log(shop: Shop) -> Path:
    return folder(shop) / "_delta_log"


def ids(shop: Shop) -> list[int]:
    place = open_warehouse("warehouse", base=shop.root)
    found = place.table(Target("spark_catalog", "default", "events")).snapshot()
    assert found is not None
    read = (pq.read_table(folder(shop) / each.path)["id"].to_pylist() for each in found.files)
    return sorted(each for some in read for each in some)


def checkpoint(shop: Shop, *marks: int) -> Path:
    """Put a checkpoint beside the newest commit; with marks one that has the second for the first."""
    copy = shop.root.parent / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder(shop), copy)
    newest = max((copy / "_delta_log").glob("*.json"))
    if marks:
        text = newest.read_text()
        said = re.search(r'"rocky.watermark":"(.*?[^\\])"', text)
        assert said is not None
        forged = said[0].replace(str(marks[0]), str(marks[1]))
        assert forged != said[0]
        newest.write_text(text.replace(said[0], forged))
    DeltaTable(str(copy)).create_checkpoint()
    made = newest.name.replace(".json", ".checkpoint.parquet")
    shutil.copy(copy / "_delta_log" / made, log(shop))
    return log(shop) / made


def both(shop: Shop) -> tuple[list[str], list[str]]:
    return codes(verify(shop.root).findings), script_codes(audit(shop.root))


def die(shop: Shop) -> None:
    """A run that commits and dies before it can record that."""

    def full(self: object, *_: object) -> None:
        raise LedgerUnwritable("no space left")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ledger, "record_models", full)
        with pytest.raises(LedgerUnwritable):
            shop.run("events")


@pytest.mark.parametrize("mark", [LOW, HIGH])
def test_a_run_reads_the_commits_and_not_a_checkpoint_that_no_record_has(shop, mark):
    forged = checkpoint(shop, 4, mark)
    assert (["log_file_unknown"], ["log_file_unknown"]) == both(shop)
    orders(shop.root, 6)

    shop.run("events")
    forged.unlink()

    assert [1, 2, 3, 4, 5, 6] == ids(shop)
    assert ([], []) == both(shop)


def test_a_forged_checkpoint_in_place_of_commits_that_are_gone_is_not_read(shop):
    checkpoint(shop, 4, HIGH)
    (log(shop) / f"{0:020d}.json").unlink()
    orders(shop.root, 6)

    report = shop.run("events")

    assert {"events": "failed"} == statuses(report)
    assert "no record has the checkpoint" in str(shop.heard.outcomes[0].execution)


def test_a_recorded_checkpoint_is_believed_only_as_that_of_its_version(shop, monkeypatch):
    monkeypatch.setattr("rocky.store.delta.log.CHECKPOINT_INTERVAL", 2)
    orders(shop.root, 5)
    shop.run("events")
    made = log(shop) / f"{2:020d}.checkpoint.parquet"
    assert made.is_file()
    orders(shop.root, 6)
    shop.run("events")
    shutil.copy(made, log(shop) / f"{3:020d}.checkpoint.parquet")
    orders(shop.root, 7)

    shop.run("events")

    assert [1, 2, 3, 4, 5, 6, 7] == ids(shop)


def test_a_forged_checkpoint_of_a_commit_that_is_not_recorded_is_found_and_not_adopted(shop):
    orders(shop.root, 5)
    die(shop)
    assert ([], []) == both(shop)
    forged = checkpoint(shop, 5, LOW)

    assert (["commit_changed"], ["log_file_unknown"]) == both(shop)
    orders(shop.root, 6)
    shop.run("events")

    assert [1, 2, 3, 4, 5, 6] == ids(shop)
    adopted = [each for model in shop.records()[0].models_executed for each in model.adopted]
    assert [(2, None)] == [(each.version, each.checkpoint_blake3) for each in adopted]
    assert (["log_file_unknown"], ["log_file_unknown"]) == both(shop)
    forged.unlink()
    assert ([], []) == both(shop)


def test_an_honest_checkpoint_of_a_commit_that_is_not_recorded_is_adopted(shop, monkeypatch):
    monkeypatch.setattr("rocky.store.delta.log.CHECKPOINT_INTERVAL", 2)
    orders(shop.root, 5)
    die(shop)
    assert (log(shop) / f"{2:020d}.checkpoint.parquet").is_file()

    assert [] == both(shop)[0]
    orders(shop.root, 6)
    shop.run("events")

    assert ([], []) == both(shop)


def test_a_checkpoint_made_out_of_a_forged_one_is_not_recorded(shop, monkeypatch):
    monkeypatch.setattr("rocky.store.delta.log.CHECKPOINT_INTERVAL", 2)
    first = (log(shop) / f"{0:020d}.json").read_text()
    forged = checkpoint(shop, 4, HIGH)
    rows = pq.read_table(forged)
    lost = [bool(each) and each["path"] in first for each in rows["add"].to_pylist()]
    pq.write_table(rows.filter([not each for each in lost]), forged)
    orders(shop.root, 5)

    shop.run("events")

    (commit,) = shop.records()[0].models_executed[0].commits
    assert (2, None) == (commit.version, commit.checkpoint_blake3)
    assert "log_file_unknown" in both(shop)[0]


def collect(shop: Shop, path: Path, at: datetime) -> None:
    """A record that a file was removed, with an anchor that covers it."""
    size, target = path.stat().st_size, "spark_catalog.default.events"
    with open_ledger(shop.root / STATE) as ledger:
        ledger.record_collected([CollectedFile(path.stem, str(path), target, size, at, "old")])
        head = ledger.head()
        write_anchor(
            open_warehouse("warehouse", base=shop.root),
            ledger.ledger_id,
            Anchor(head.entry_hash, head.seq, shop.records()[0].run_id, datetime.now(UTC)),
            lambda found: ledger.knows(Head(found.seq, found.head)),
        )


def test_a_file_that_is_said_to_be_collected_and_is_there_is_hashed(shop):
    path = min(data_files(folder(shop)))
    collect(shop, path, datetime.now(UTC))
    assert ([], []) == both(shop)
    data = bytearray(path.read_bytes())
    data[40] ^= 1
    path.write_bytes(data)

    assert (["file_changed"], ["file_changed"]) == both(shop)


def test_a_file_of_the_newest_version_cannot_have_been_collected(shop):
    path = min(data_files(folder(shop)))
    collect(shop, path, datetime.now(UTC))
    path.unlink()

    assert (["file_missing"], ["file_missing"]) == both(shop)


def test_no_file_was_collected_in_times_to_come(shop):
    collect(shop, min(data_files(folder(shop))), datetime.now(UTC) + timedelta(days=999))

    assert (["record_inconsistent"], ["record_inconsistent"]) == both(shop)


@pytest.mark.parametrize("name", ["00000000099999999999.json", "99999999999999999999.json"])
def test_a_commit_of_a_very_high_version_is_found_at_once(shop, name):
    (log(shop) / name).write_text('{"commitInfo":{"operation":"NOTHING"}}\n')

    found, by_script = both(shop)

    assert {"commit_missing", "foreign_commit"} <= {*found}
    assert {"commit_missing", "foreign_commit"} <= {*by_script}
    assert {"events": "failed"} == statuses(shop.run("events"))


def test_a_checkpoint_of_a_very_high_version_does_not_make_a_log_endless(shop):
    honest = checkpoint(shop)
    for end in (".json", ".checkpoint.parquet"):
        shutil.copy(honest, log(shop) / f"00000000099999999999{end}")
    shutil.copy(log(shop) / f"{0:020d}.json", log(shop) / "00000000099999999999.json")
    table = open_warehouse("warehouse", base=shop.root).table(
        Target("spark_catalog", "default", "events")
    )

    with pytest.raises(StoreUnreadable, match="the commit is missing"):
        read_lifetimes(table.log)


def test_nothing_is_built_on_a_table_that_lacks_a_file_meanwhile(shop):
    first = log(shop) / f"{0:020d}.json"
    text = first.read_text()
    kept = [line for line in text.splitlines() if "add" not in json.loads(line)]
    first.write_text("\n".join(kept) + "\n")
    orders(shop.root, 5)

    assert {"events": "failed"} == statuses(shop.run("events"))
    first.write_text(text)

    assert ([], []) == both(shop)
