import json
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.errors import PySparkException

from rocky.errors import LedgerUnreadable
from rocky.evidence.scope import EVERYTHING, VerificationScope
from rocky.evidence.verification import verify_ledger
from rocky.ledger import open_ledger
from rocky.ledger.chain import Head
from rocky.ledger.provenance import CollectedFile
from rocky.project.models import Target
from rocky.store.anchor import Anchor, write_anchor
from rocky.store.delta.log import Log, write_checkpoint
from rocky.store.warehouse import Warehouse, open_warehouse
from tests.evidence.shops import Recorded, audit, codes, script_codes, verify, write_orders
from tests.run.runs import TABLE, Shop
from tests.run.test_crash_points import kill_at
from tests.table_files import data_files

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> Recorded:
    return Recorded.make(tmp_path_factory.mktemp("shop"))


@pytest.fixture
def project(recorded):
    yield recorded
    recorded.restore()


def both(project: Recorded) -> tuple[list[str], list[str]]:
    """The codes that the library and the script find."""
    return codes(verify(project.root).findings), script_codes(audit(project.root))


def same(*found: str) -> tuple[list[str], list[str]]:
    return sorted(found), sorted(found)


def edit(project: Recorded, *statements: str) -> None:
    with closing(sqlite3.connect(project.state)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def table(project: Recorded, name: str) -> Path:
    return project.warehouse / "spark_catalog" / "default" / name


def test_a_changed_file_is_named_and_nothing_else_is(project):
    (path,) = data_files(table(project, "alone"))
    path.write_bytes(path.read_bytes() + b"x")

    (finding,) = verify(project.root).findings
    assert str(path) == finding.where
    assert same("file_changed") == both(project)


def test_a_missing_file_is_named(project):
    (path,) = data_files(table(project, "alone"))
    path.unlink()

    (finding,) = verify(project.root).findings
    assert str(path) == finding.where
    assert same("file_missing") == both(project)


def test_a_changed_record_is_named_by_its_table_and_key(project):
    edit(
        project,
        "UPDATE output_artifacts SET value = json_set(value, '$.size_bytes', 1)"
        " WHERE key LIKE '%|alone|%'",
    )

    found = [each for each in verify(project.root).findings if each.code == "record_changed"]
    assert ["output_artifacts"] * 4 == [each.where.split()[0] for each in found]
    assert "record_changed" in script_codes(audit(project.root))


def test_a_removed_record_is_missing_and_an_inserted_one_unchained(project):
    edit(
        project,
        "UPDATE partitions SET key = key",
        "INSERT INTO watermarks VALUES ('a.b.c', '{}')",
        "DELETE FROM input_index WHERE key = (SELECT max(key) FROM input_index)",
    )

    library, script = both(project)
    assert ["record_malformed", "record_missing", "record_unchained"] == library
    assert ["record_missing", "record_unchained"] == script


def test_a_ledger_that_was_rolled_back_is_found_by_anchor_and_tables(project):
    project.state.write_bytes(project.older[0])

    found, by_script = both(project)
    assert ["anchor_ahead", "foreign_commit"] == found
    # The script cannot read a checkpoint that no record has.
    assert ["anchor_ahead", "foreign_commit", "log_file_unknown"] == by_script


def test_a_rollback_is_found_by_the_tables_alone_when_the_anchor_is_gone(project):
    project.state.write_bytes(project.older[0])
    project.anchor().unlink()

    found, by_script = both(project)
    assert ["anchor_missing", "foreign_commit"] == found
    assert ["anchor_missing", "foreign_commit", "log_file_unknown"] == by_script


def test_a_commit_by_somebody_else_is_found(project):
    log = table(project, "report") / "_delta_log"
    last = max(log.glob("*.json"))
    foreign = {"commitInfo": {"operation": "DELETE"}}
    (log / f"{int(last.stem) + 1:020d}.json").write_text(json.dumps(foreign))

    assert same("foreign_commit") == both(project)


def test_another_ledger_in_its_place_knows_none_of_the_commits(project, tmp_path):
    other = Recorded.make(tmp_path / "other")
    shutil.copy(other.state, project.state)

    library = codes(verify(project.root, warehouse=project.warehouse).findings)
    script = script_codes(audit(project.root, project.warehouse))

    assert ["anchor_missing", "commit_changed"] == library == script


def test_a_moved_warehouse_verifies_where_it_is_now(project, tmp_path):
    moved = tmp_path / "elsewhere"
    shutil.copytree(project.warehouse, moved)
    shutil.move(project.warehouse, tmp_path / "gone")
    try:
        assert () == verify(project.root, warehouse=moved).findings
        assert {} == audit(project.root, moved).findings
        assert {"commit_missing", "file_missing"} <= set(codes(verify(project.root).findings))
    finally:
        shutil.move(tmp_path / "gone", project.warehouse)


def test_a_scope_leaves_out_other_tables_and_runs(project):
    (path,) = data_files(table(project, "alone"))
    path.write_bytes(b"")
    runs = sorted(json.loads(line)["run_id"] for line in run_rows(project))

    assert (
        ()
        == verify(project.root, VerificationScope(target="spark_catalog.default.report")).findings
    )
    assert () == verify(project.root, VerificationScope(run_id=runs[1])).findings
    assert 1 == len(
        verify(project.root, VerificationScope(target="spark_catalog.default.ALONE")).findings
    )
    assert 1 == len(verify(project.root, VerificationScope(run_id=runs[0])).findings)


def run_rows(project: Recorded) -> list[str]:
    with closing(sqlite3.connect(project.state)) as connection:
        return [value for (value,) in connection.execute("SELECT value FROM run_history")]


def unused(project: Recorded) -> set[Path]:
    """The files of a table that its newest version does not have."""
    folder = table(project, "stg_orders")
    place = open_warehouse(str(project.warehouse), base=project.root)
    newest = place.table(Target("spark_catalog", "default", "stg_orders")).snapshot()
    assert newest is not None
    return {*data_files(folder)} - {folder / each.path for each in newest.files}


def test_a_file_that_was_collected_is_not_missed(project):
    path = min(unused(project), key=lambda each: each.stat().st_size)
    size = path.stat().st_size
    path.unlink()
    now = datetime.now(UTC)
    target = "spark_catalog.default.stg_orders"
    with open_ledger(project.state) as ledger:
        ledger.record_collected([CollectedFile(path.stem, str(path), target, size, now, "old")])
        unanchored = both(project)
        head, run_id = ledger.head(), max(json.loads(line)["run_id"] for line in run_rows(project))
        anchor = Anchor(head.entry_hash, head.seq, run_id, now)
        write_anchor(
            open_warehouse(str(project.warehouse), base=project.root),
            ledger.ledger_id,
            anchor,
            lambda found: ledger.knows(Head(found.seq, found.head)),
        )

    assert same("anchor_behind") == unanchored
    assert same() == both(project)


def test_a_failed_run_and_the_one_that_resumes_it_leave_whole_evidence(tmp_path):
    shop = Shop(tmp_path)

    def fail(name: str) -> None:
        if name == f"{TABLE}by_country":
            raise PySparkException("[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012")

    shop.run(before_write=fail)
    assert ((), {}) == (verify(tmp_path).findings, audit(tmp_path).findings)
    shop.run()

    assert ((), {}) == (verify(tmp_path).findings, audit(tmp_path).findings)


def test_a_commit_of_a_killed_run_is_a_note_until_the_next_run_adopts_it(tmp_path):
    shop = Shop(tmp_path)
    shop.run()
    (tmp_path / "data/orders.csv").write_text("id,country\n9,DE\n")
    kill_at(tmp_path, "after commit", 1)

    for found in (verify(tmp_path), audit(tmp_path)):
        assert (0, 1) == (len(found.findings), len(found.notes))
    shop.run()
    for found in (verify(tmp_path), audit(tmp_path)):
        assert (0, 0) == (len(found.findings), len(found.notes))


def test_a_ledger_without_a_chain_is_refused(project):
    edit(project, "UPDATE metadata SET value = '1' WHERE key = 'schema_version'")

    with pytest.raises(LedgerUnreadable, match="has no chain"):
        verify(project.root)


def test_a_model_that_was_renamed_may_reuse_what_its_old_name_made(tmp_path):
    shop = Shop(tmp_path)
    shop.run()
    (tmp_path / "models/alone.sql").rename(tmp_path / "models/lonely.sql")
    (tmp_path / "models/lonely.toml").write_text('[target]\ntable = "alone"\n')
    shop.run()

    assert ((), {}) == (verify(tmp_path).findings, audit(tmp_path).findings)


def test_a_run_that_ends_while_its_tables_are_looked_at_is_no_finding(tmp_path):
    shop = Shop(tmp_path)
    shop.run()
    runs = iter([True])

    def open_later(place: str) -> Warehouse:
        # The ledger has been read by now, and the tables have not.
        for _ in runs:
            (tmp_path / "data/orders.csv").write_text("id,country\n9,DE\n")
            shop.run()
        return open_warehouse(place, base=tmp_path)

    stale = verify_ledger(shop.root / ".rocky-state.db", open_later, lambda _: EVERYTHING)

    assert stale is not None
    assert () == stale[1].findings
    assert 2 == stale[1].checked["runs"]


def test_a_project_that_was_moved_and_run_again_is_whole(tmp_path):
    root = tmp_path / "one"
    shop = Shop(root)
    shop.run()
    moved = tmp_path / "two"
    root.rename(moved)
    shop.root = moved
    write_orders(moved, 4)
    shop.run()
    now = moved / "warehouse"

    assert ((), ()) == (verify(moved, warehouse=now).findings, verify(moved, warehouse=now).notes)
    assert {} == audit(moved, now).findings


def test_a_table_whose_name_has_a_dot_is_found(tmp_path):
    shop = Shop(tmp_path, {"models/alone.toml": '[target]\ntable = "a.b"\n'})
    shop.run()

    assert ((), {}) == (verify(tmp_path).findings, audit(tmp_path).findings)


def drop_and_rebuild(root: Path) -> Shop:
    """A table of three versions, dropped and made again."""
    shop = Shop(root)
    for rows in (3, 4, 5):
        write_orders(root, rows)
        shop.run()
    shutil.copytree(shop.folder("stg_orders"), root / "dropped")
    shutil.rmtree(shop.folder("stg_orders"))
    write_orders(root, 7)
    shop.run()
    return shop


def test_a_table_that_was_dropped_and_made_anew_is_a_note(tmp_path):
    drop_and_rebuild(tmp_path)
    runs = VerificationScope(run_id="run-20260131-120001-000")

    for found in (verify(tmp_path), audit(tmp_path), verify(tmp_path, runs)):
        assert (0, 1) == (len(found.findings), len(found.notes))


@pytest.mark.parametrize("name", ["*.parquet", "_delta_log/*1.json", "_delta_log/*2.json"])
def test_a_table_of_which_something_former_is_left_was_tampered_with(tmp_path, name):
    shop = drop_and_rebuild(tmp_path)
    (path, *_) = (tmp_path / "dropped").glob(name)
    shutil.copy(path, shop.folder("stg_orders") / path.relative_to(tmp_path / "dropped"))

    assert verify(tmp_path).findings
    assert audit(tmp_path).findings


def test_a_checkpoint_whose_maker_failed_is_recorded_and_needs_no_hint(tmp_path, monkeypatch):
    def write_half(log: Log, version: int) -> str:
        write_checkpoint(log, version)
        log.objects.delete([f"{log.prefix}/_delta_log/_last_checkpoint"])
        return "no checkpoint of table: the hint could not be written"

    monkeypatch.setattr("rocky.store.delta.log.CHECKPOINT_INTERVAL", 2)
    monkeypatch.setattr("rocky.store.warehouse.write_checkpoint", write_half)
    shop = Shop(tmp_path)
    for number in range(4):
        shop.write("models/alone.sql", f"SELECT {number} AS one")
        shop.run("alone")

    assert ((), {}) == (verify(tmp_path).findings, audit(tmp_path).findings)


def test_runs_beside_each_other_are_whole(tmp_path):
    shop, other = Shop(tmp_path), Shop(tmp_path)
    other._now += timedelta(milliseconds=500)
    began: list[str] = []

    def run_other(table: str) -> None:
        if not began:
            began.append(table)
            other.run("alone")

    shop.run("stg_orders", "by_country", before_write=run_other)

    assert 2 == len(shop.records())
    assert ((), {}) == (verify(tmp_path).findings, audit(tmp_path).findings)
