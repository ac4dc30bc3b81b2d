"""Who removes data without an erasure, or tampers with what one has left, is found, or harms nobody."""

import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rocky.canonical import record_json
from rocky.errors import ErasureUnfinished, LedgerLocked
from rocky.ledger import open_ledger
from rocky.ledger.erasure_records import ERASURES, ErasedFile, ErasureRecord
from rocky.ledger.erasures import record_erasure
from rocky.maintenance.erasure import completion
from rocky.operations.governance.erase import EraseRequest, erase
from rocky.operations.proof.verify import VerifyRequest, verify
from tests.maintenance.erasures import PEOPLE, PeopleShop
from tests.maintenance.shops import Template
from tools.verify_run import Audit, load

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Template[PeopleShop]:
    return Template(tmp_path_factory.mktemp("people"), PeopleShop)


@pytest.fixture
def shop(template, monkeypatch) -> PeopleShop:
    return template.reopen(monkeypatch)


def ledger_of(shop: PeopleShop) -> sqlite3.Connection:
    return sqlite3.connect(shop.root / ".rocky-state.db")


def forged(shop: PeopleShop, name: str, file: str, run_id: str) -> ErasureRecord:
    """A certificate like the one there is, of one file."""
    (real,) = shop.certificates
    table = next(each for each in real.tables if each.target.endswith(f".{name}"))
    path = shop.root / f"warehouse/spark_catalog/default/{name}/{file}"
    gone = ErasedFile(path.stem, str(path), path.stat().st_size, 1)
    mine = replace(table, files=(gone,), commits=(), checkpoints=())
    return replace(real, run_id=run_id, erased_at=datetime.now(UTC), tables=(mine,))


def old_file(shop: PeopleShop, name: str) -> str:
    """A file that only an older version of a table has."""
    return min(shop.on_disk(name) - shop.names_at(name))


def test_a_certificate_to_which_a_file_was_added_explains_nothing(shop):
    shop.apply()
    victim = old_file(shop, "contacts")
    path = shop.root / f"warehouse/spark_catalog/default/contacts/{victim}"
    with closing(ledger_of(shop)) as connection, connection:
        ((value,),) = connection.execute("SELECT value FROM erasures").fetchall()
        document = json.loads(value)
        said = {"blake3_hash": path.stem, "file_path": str(path), "size_bytes": 1}
        document["tables"][0]["files"].append(said)
        connection.execute("UPDATE erasures SET value = ?", (record_json(document),))
    path.unlink()

    assert {"record_changed", "file_missing"} <= shop.findings()


def test_a_certificate_that_no_chain_has_explains_nothing(shop):
    shop.apply()
    victim = old_file(shop, "contacts")
    certificate = forged(shop, "contacts", victim, "run-20300101-000000-000")
    with closing(ledger_of(shop)) as connection, connection:
        row = (certificate.run_id, record_json(certificate.to_json()))
        connection.execute("INSERT INTO erasures VALUES (?, ?)", row)
    (shop.root / f"warehouse/spark_catalog/default/contacts/{victim}").unlink()

    assert {"record_unchained", "file_missing"} <= shop.findings()


def test_a_certificate_that_was_put_into_the_chain_for_a_run_that_is_over_is_found(shop):
    shop.apply()
    victim = old_file(shop, "contacts")
    with closing(open_ledger(shop.root / ".rocky-state.db")) as ledger:
        certificate = forged(shop, "contacts", victim, shop.records()[1].run_id)
        record_erasure(ledger, [], certificate)
    (shop.root / f"warehouse/spark_catalog/default/contacts/{victim}").unlink()

    assert "chain_broken" in shop.findings()
    # Nor does it help to let a run of Rocky's own come after it.
    shop.append("data/people.csv", "999,new@example.org,2026-01-04\n")
    shop.build()
    assert "chain_broken" in shop.findings()


def test_a_certificate_does_not_explain_that_a_file_of_the_newest_version_is_gone(shop):
    shop.apply()
    (victim,) = shop.names_at("contacts")
    with closing(open_ledger(shop.root / ".rocky-state.db")) as ledger:
        record_erasure(ledger, [], forged(shop, "contacts", victim, shop.records()[1].run_id))
    (shop.root / f"warehouse/spark_catalog/default/contacts/{victim}").unlink()

    assert "file_missing" in shop.findings()


def test_the_certificate_of_another_ledger_explains_nothing(shop, tmp_path, monkeypatch):
    other = PeopleShop(tmp_path / "other", monkeypatch)
    other.make_runs()
    other.apply()
    with closing(ledger_of(other)) as connection:
        rows = connection.execute("SELECT key, value FROM erasures").fetchall()
    for _, value in rows:
        for each in json.loads(value)["tables"]:
            for file in each.get("files", ()):
                path = Path(str(file["file_path"]).replace(str(other.root), str(shop.root)))
                path.unlink(missing_ok=True)
    moved = [(key, value.replace(str(other.root), str(shop.root))) for key, value in rows]
    with closing(ledger_of(shop)) as connection, connection:
        connection.executemany("INSERT INTO erasures VALUES (?, ?)", moved)

    assert {"record_unchained", "file_missing"} <= shop.findings()


def test_a_certificate_that_is_gone_leaves_what_it_explained_unexplained(shop):
    shop.apply()
    with closing(ledger_of(shop)) as connection, connection:
        connection.execute("DELETE FROM erasures")

    assert {"record_missing", "commit_changed"} <= shop.findings()


def test_a_removal_of_the_certificate_that_the_chain_has_is_found(shop):
    shop.apply()
    run_id = shop.certificates[0].run_id
    with (
        closing(open_ledger(shop.root / ".rocky-state.db")) as ledger,
        ledger.transaction() as rows,
    ):
        rows.remove(ERASURES, run_id)

    ours = {each.code.value for each in verify(shop.workspace, VerifyRequest()).findings}
    script = Audit(load(shop.root / ".rocky-state.db"), None)
    script.check()
    assert {"record_missing", "commit_changed"} <= ours
    assert {"record_changed", "commit_changed"} <= {
        each.partition(":")[0] for each in script.findings
    }


def test_other_bytes_under_the_name_of_an_erased_file_are_found(shop):
    report = shop.apply()
    (gone,) = next(each for each in shop.certificates[0].tables if each.target == PEOPLE).files
    Path(gone.file_path).write_bytes(b"something else")

    assert report.applied
    assert "erased_file_present" in shop.findings()


def test_statistics_that_were_put_back_from_a_backup_are_found(shop):
    log = shop.root / "warehouse/spark_catalog/default/people/_delta_log"
    kept = {path: path.read_bytes() for path in log.glob("*.json")}
    shop.apply()
    assert set() == shop.findings()
    changed = [path for path, data in kept.items() if path.read_bytes() != data]
    assert changed
    for path in changed:
        path.write_bytes(kept[path])

    assert {"erased_file_present"} == shop.findings()


def test_a_checkpoint_that_was_put_back_from_a_backup_is_found(shop):
    for day in range(4, 13):
        shop.append("data/people.csv", f"{day}000,d{day}@example.org,2026-01-{day:02d}\n")
        shop.build("people")
    log = shop.root / "warehouse/spark_catalog/default/people/_delta_log"
    (checkpoint,) = log.glob("*.checkpoint.parquet")
    data = checkpoint.read_bytes()
    shop.apply()
    checkpoint.write_bytes(data)

    assert "erased_file_present" in shop.findings()


def keep_journal(shop: PeopleShop, monkeypatch) -> tuple[Path, bytes]:
    """Erase, and keep a copy of the journal that it was made by."""
    kept = []
    remove = completion.remove_journal

    def copy(warehouse, run_id, folder):
        path = shop.root / f"warehouse/{folder}/{run_id}.json"
        kept.append((path, path.read_bytes()))
        remove(warehouse, run_id, folder)

    monkeypatch.setattr(completion, "remove_journal", copy)
    shop.apply()
    monkeypatch.setattr(completion, "remove_journal", remove)
    return kept[0]


def test_a_journal_that_is_put_back_when_all_is_done_harms_nobody(shop, monkeypatch):
    path, data = keep_journal(shop, monkeypatch)
    shop.append("data/people.csv", "999,new@example.org,2026-01-04\n")
    assert 0 == shop.build().exit_code
    rows = {name: shop.rows_of(name) for name in shop.names}
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    found = verify(shop.workspace, VerifyRequest()).findings
    assert {"erasure_unfinished"} == {each.code.value for each in found}
    with pytest.raises(ErasureUnfinished):
        shop.build()

    erase(shop.workspace, EraseRequest(resume=True))

    assert rows == {name: shop.rows_of(name) for name in shop.names}
    assert 1 == sum(each.completes is None for each in shop.certificates)
    assert set() == shop.findings()
    assert 0 == shop.build().exit_code


def test_a_journal_of_another_ledger_removes_nothing_and_is_found(shop, tmp_path, monkeypatch):
    other = PeopleShop(tmp_path / "other", monkeypatch)
    other.make_runs()
    path, data = keep_journal(other, monkeypatch)
    place = shop.root / "warehouse/_rocky/erasures" / path.name
    place.parent.mkdir(parents=True)
    place.write_bytes(data)

    with pytest.raises(ErasureUnfinished, match="put there by hand"):
        erase(shop.workspace, EraseRequest(resume=True))

    assert 32 == len(shop.rows_of("people"))
    found = verify(shop.workspace, VerifyRequest()).findings
    assert {"foreign_journal"} == {each.code.value for each in found}


def test_a_journal_that_cannot_be_read_is_found(shop):
    place = shop.root / "warehouse/_rocky/erasures/run-x.json"
    place.parent.mkdir(parents=True)
    place.write_text("{")

    found = verify(shop.workspace, VerifyRequest()).findings

    assert {"foreign_journal"} == {each.code.value for each in found}


def test_two_erasures_at_once_do_not_mix(shop):
    refused = []

    def meanwhile(_table: str) -> None:
        if not refused:
            refused.append("")
            with pytest.raises(LedgerLocked) as locked:
                shop.apply("person_id = 201")
            refused[0] = str(locked.value)

    shop.before_write = meanwhile
    assert shop.apply().applied
    shop.before_write = lambda _table: None

    assert refused[0]
    assert shop.apply("person_id = 201").applied
    assert 29 == len(shop.rows_of("people"))
    assert 2 == len(shop.certificates)
    assert set() == shop.findings()


def test_a_ledger_from_before_an_erasure_does_not_hide_it(shop):
    state = shop.root / ".rocky-state.db"
    shutil.copy(state, shop.root / "older.db")
    shop.apply()
    shutil.copy(shop.root / "older.db", state)
    for each in ("-wal", "-shm"):
        Path(f"{state}{each}").unlink(missing_ok=True)

    assert {"anchor_ahead", "commit_changed"} <= shop.findings()
