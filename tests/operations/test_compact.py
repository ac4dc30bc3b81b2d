"""Compacting: fewer files, the same rows, and nobody who reads, proves or replays them notices."""

import json
import subprocess

import pytest

from rocky.errors import (
    ChangeRefused,
    ForeignCommit,
    NothingSelected,
    RockyError,
    RunRefused,
    StoreUnreadable,
)
from rocky.ledger.run_records import ModelStatus, RunStatus
from rocky.maintenance import compaction
from rocky.maintenance.file_groups import FileGroup
from rocky.operations.execution.run import run
from rocky.operations.maintenance.compact import (
    CompactReport,
    CompactRequest,
    TableCompaction,
    compact,
)
from rocky.operations.maintenance.gc import GcRequest, gc
from rocky.operations.proof.replay import RebuildReport, ReplayRequest, replay
from rocky.operations.proof.seal import SealRequest, seal
from rocky.operations.proof.verify import VerifyRequest, verify
from rocky.plan.request import RunRequest
from rocky.replay.verdicts import Verdict
from rocky.run.record.table_memory import remember_table
from rocky.store.delta.snapshot import ROWS_HASH, WATERMARK
from rocky.store.warehouse import open_warehouse
from tests.maintenance.shops import RUNS, TABLE, AppendedShop, Template

pytestmark = pytest.mark.slow

REUSED = {"events": ModelStatus.REUSED, "totals": ModelStatus.REUSED}


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Template[AppendedShop]:
    return Template(tmp_path_factory.mktemp("appended"), AppendedShop)


@pytest.fixture
def shop(template, monkeypatch) -> AppendedShop:
    return template.reopen(monkeypatch)


def the_only(report: CompactReport) -> TableCompaction:
    (found,) = report.tables
    return found


def test_small_files_become_one_in_one_commit_that_changes_no_row(shop):
    before, rows = shop.snapshot, shop.rows
    assert RUNS == len(before.files)

    found = the_only(compact(shop.workspace, CompactRequest()))

    after = shop.snapshot
    assert ("compacted", RUNS, 1) == (found.status, found.files_before, found.files_after)
    assert (before.version + 1, 1) == (after.version, len(after.files))
    assert (rows, before.rows) == (shop.rows, after.rows)
    for name in (ROWS_HASH, WATERMARK):
        assert before.configuration[name] == after.configuration[name]
    actions = shop.actions(after.version)
    info = actions[0]["commitInfo"]
    assert ("OPTIMIZE", False) == (info["operation"], info["isBlindAppend"])
    changes = [
        one["dataChange"] for each in actions for one in each.values() if "dataChange" in one
    ]
    assert [False] * (RUNS + 1) == changes


def test_it_is_recorded_as_a_run_of_its_own_and_everything_verifies(shop):
    report = compact(shop.workspace, CompactRequest())

    newest = shop.records()[0]
    assert (report.run_id, (f"compact {TABLE}",)) == (newest.run_id, newest.selection)
    (execution,) = newest.models_executed
    said = (execution.decision, execution.reason, execution.rows_affected)
    assert ("compact", "4 files became 1, with the same rows", 0) == said
    assert set() == shop.findings()


def test_the_next_run_reuses_the_table_and_what_reads_it(shop):
    compact(shop.workspace, CompactRequest())
    compacted = shop.snapshot

    shop.build()

    assert REUSED == shop.statuses
    reader = next(each for each in shop.records()[0].models_executed if each.model_name == "totals")
    assert "written again with the same rows" in str(reader.reason)
    assert compacted.files == shop.snapshot.files
    assert set() == shop.findings()
    compact(shop.workspace, CompactRequest())
    shop.build()
    assert REUSED == shop.statuses


def test_a_table_whose_last_run_found_equal_inputs_is_reused_too(shop):
    """It is found by the hash of the inputs that it was last reused for, too."""
    shop.write("models/again.sql", "SELECT id, country FROM events")
    shop.write("models/again.toml", '[strategy]\ntype = "incremental"\ntimestamp_column = "id"\n')
    shop.build_all()
    shop.write_orders(3 * RUNS + 3)
    shop.build_all()
    compact(shop.workspace, CompactRequest(("events",)))
    shop.build_all()
    compact(shop.workspace, CompactRequest(("again",)))

    shop.build_all()

    assert ModelStatus.REUSED == shop.statuses["again"]
    assert set() == shop.findings()


def test_rows_that_come_later_are_appended_to_what_was_compacted(shop):
    compact(shop.workspace, CompactRequest())
    shop.write_orders(3 * RUNS + 3)

    shop.build()

    assert {ModelStatus.SUCCESS} == set(shop.statuses.values())
    assert 2 == len(shop.snapshot.files)
    assert list(range(1, 3 * RUNS + 4)) == [row[0] for row in shop.rows]
    assert "compacted" == the_only(compact(shop.workspace, CompactRequest())).status
    assert set() == shop.findings()


def test_a_second_time_finds_nothing_to_do_and_records_nothing(shop):
    compact(shop.workspace, CompactRequest())
    runs = len(shop.records())

    report = compact(shop.workspace, CompactRequest())

    assert ("unchanged", None) == (the_only(report).status, report.run_id)
    assert runs == len(shop.records())


def test_a_dry_run_says_what_would_be_done_and_does_nothing(shop):
    before = (shop.snapshot.version, len(shop.records()), len(shop.sessions))

    found = the_only(compact(shop.workspace, CompactRequest(dry_run=True)))

    assert ("pending", RUNS, 1) == (found.status, found.rewritten, found.files_after)
    assert found.to_version is None
    assert before == (shop.snapshot.version, len(shop.records()), len(shop.sessions))


def test_a_file_as_large_as_the_settings_want_it_stays(shop):
    shop.append("rocky.toml", '[maintenance]\ntarget_file_size = "1m"\n')

    assert 1 << 20 == compact(shop.workspace, CompactRequest(dry_run=True)).target_bytes


@pytest.mark.parametrize("size", ['"5"', "5", '"2g"', '"1k"', '"many"'])
def test_a_size_that_is_none_is_an_error_at_its_line(shop, size):
    shop.append("rocky.toml", f"[maintenance]\ntarget_file_size = {size}\n")

    with pytest.raises(RunRefused, match='is no size of a file: write one from "1m" to "1g"'):
        compact(shop.workspace, CompactRequest())


def test_seals_from_before_hold(shop, tmp_path_factory):
    key = tmp_path_factory.mktemp("keys") / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    line = f"me@example.com {key.with_suffix('.pub').read_text()}"
    (shop.root / "allowed_signers").write_text(line)
    seal(shop.workspace, SealRequest(key=str(key), principal="me@example.com"))

    compact(shop.workspace, CompactRequest())

    sealed = str(shop.root / "seals")
    asked = VerifyRequest(sealed=sealed, allowed_signers=shop.root / "allowed_signers")
    assert () == verify(shop.workspace, asked).findings


def test_runs_from_before_and_the_compaction_itself_are_replayed(shop):
    built = next(each.run_id for each in shop.records())
    report = compact(shop.workspace, CompactRequest())

    for run_id, verdict in ((built, Verdict.BIT_EXACT), (report.run_id, Verdict.ROW_EXACT)):
        found = replay(shop.workspace, ReplayRequest(str(run_id), execute=True))
        assert isinstance(found, RebuildReport)
        rebuilt = next(each for each in found.models if each.model == "events")
        assert (0, verdict) == (found.exit_code, rebuilt.verdict)


def test_the_former_files_stay_while_runs_need_them(shop):
    compact(shop.workspace, CompactRequest())

    collected = gc(shop.workspace, GcRequest())

    assert 0 == collected.summary.files_removed
    assert set() == shop.findings()


def test_a_table_that_a_build_replaces_is_left_alone_also_when_it_is_named(shop):
    found = the_only(compact(shop.workspace, CompactRequest(("totals",))))

    assert "left_alone" == found.status
    assert "`full_refresh`: only tables that are appended to are" in str(found.reason)


def test_a_name_that_no_table_has_is_refused(shop):
    with pytest.raises(NothingSelected, match="no table `event` is recorded; did you mean"):
        compact(shop.workspace, CompactRequest(("event",)))


def test_the_tables_of_a_branch_are_not_compacted(shop):
    with pytest.raises(
        RunRefused, match=r"branch `trial` are not compacted: .* promoted; promote it first"
    ):
        compact(shop.on(branch_name="trial"), CompactRequest())


def test_a_commit_that_no_run_made_does_not_become_a_runs(shop):
    newest, gone = shop.snapshot.version, shop.snapshot.files[0].path
    info = {**shop.actions(newest)[0]["commitInfo"], "runId": "run-20260131-120001-000"}
    metadata = next(each for each in shop.actions(newest) if "metaData" in each)
    forged = [{"commitInfo": info}, metadata, {"remove": {"path": gone, "dataChange": True}}]
    shop.commit(newest + 1).write_text("".join(f"{json.dumps(each)}\n" for each in forged))

    found = the_only(compact(shop.workspace, CompactRequest((TABLE,))))

    assert "left_alone" == found.status
    assert newest + 1 == shop.snapshot.version


def test_a_signed_looking_commit_of_nobody_with_the_right_hashes_is_refused(shop):
    newest = shop.snapshot.version
    info = {**shop.actions(newest)[0]["commitInfo"], "runId": "run-20260131-120001-000"}
    shop.commit(newest + 1).write_text(f"{json.dumps({'commitInfo': info})}\n")

    with pytest.raises(ForeignCommit, match="has a commit that no run made"):
        compact(shop.workspace, CompactRequest())

    assert newest + 1 == shop.snapshot.version


def test_a_file_that_is_not_what_its_name_says_does_not_come_out_as_one_that_is(shop):
    version, path = shop.snapshot.version, shop.folder / shop.snapshot.files[0].path
    data = bytearray(path.read_bytes())
    data[10] ^= 1
    path.write_bytes(bytes(data))

    with pytest.raises(StoreUnreadable, match="does not hold the bytes it is named by"):
        compact(shop.workspace, CompactRequest())

    assert (version, RunStatus.FAILURE) == (shop.snapshot.version, shop.records()[0].status)


def test_rows_that_are_lost_on_the_way_are_missed_before_anything_is_committed(shop, monkeypatch):
    version, rows = shop.snapshot.version, shop.rows
    monkeypatch.setattr(compaction, "column_list", lambda _: "DISTINCT 1 AS id, '' AS country")

    with pytest.raises(RockyError, match="12 rows were read and 1 written"):
        compact(shop.workspace, CompactRequest())

    assert (version, rows) == (shop.snapshot.version, shop.rows)
    assert set() == shop.findings()


def test_a_compaction_that_did_lose_rows_is_found_by_whoever_verifies(shop, monkeypatch):
    """A Rocky that somebody has changed says that no row changed, and signs and records it."""
    rewrite = compaction._CompactionWork._rewrite

    def lose(self: object, engine: object, group: FileGroup) -> object:
        return rewrite(self, engine, FileGroup(group.files[:1]))  # type: ignore[arg-type]

    monkeypatch.setattr(compaction._CompactionWork, "_rewrite", lose)
    monkeypatch.setattr(compaction._CompactionWork, "_compare_whole", lambda *_: None)
    monkeypatch.setattr("rocky.store.delta.change._refuse_other_rows", lambda *_: None)

    compact(shop.workspace, CompactRequest())

    assert {"rows_mismatch"} == shop.findings()


def test_the_store_itself_refuses_a_compaction_of_other_rows(shop, monkeypatch):
    version = shop.snapshot.version
    rewrite = compaction._CompactionWork._rewrite

    def lose(self: object, engine: object, group: FileGroup) -> object:
        return rewrite(self, engine, FileGroup(group.files[:1]))  # type: ignore[arg-type]

    monkeypatch.setattr(compaction._CompactionWork, "_rewrite", lose)
    monkeypatch.setattr(compaction._CompactionWork, "_compare_whole", lambda *_: None)

    with pytest.raises(ChangeRefused, match="12 rows would become 3"):
        compact(shop.workspace, CompactRequest())

    assert version == shop.snapshot.version


def test_other_rows_of_the_same_number_are_missed_too(shop, monkeypatch):
    version = shop.snapshot.version
    monkeypatch.setattr(compaction, "column_list", lambda _: "id, 'XX' AS country")

    with pytest.raises(RockyError, match="do not have the hash that is recorded"):
        compact(shop.workspace, CompactRequest())

    assert version == shop.snapshot.version


LOAD = """
[pipeline.files]
type = "load"
source_dir = "files"
target = { catalog = "c", schema = "files", table = "visits" }
"""


def test_what_a_pipeline_has_loaded_is_compacted_and_not_loaded_again(tmp_path, monkeypatch):
    shop = AppendedShop(tmp_path, monkeypatch)
    shop.append("rocky.toml", LOAD)
    for number in range(3):
        shop.write(f"files/{number}.csv", f"id\n{number}\n")
        run(shop.workspace, RunRequest(pipeline="files"))

    (found,) = compact(shop.workspace, CompactRequest(("c.files.visits",))).tables
    run(shop.workspace, RunRequest(pipeline="files"))
    shop.write("files/3.csv", "id\n3\n")
    run(shop.workspace, RunRequest(pipeline="files"))

    assert ("compacted", 3, 1) == (found.status, found.files_before, found.files_after)
    tables = {each.name: each for each in open_warehouse("warehouse", base=shop.root).tables()}
    snapshot = tables["c.files.visits"].snapshot()
    assert snapshot is not None
    assert (2, 4) == (len(snapshot.files), snapshot.rows)
    # A state that is lost is put back from the commits: the compaction hides none of them.
    memory = remember_table(tables["c.files.visits"], snapshot)
    assert memory.files is not None
    assert (4, 0) == (len(memory.files.parts), memory.files.since)
    assert set() == shop.findings()
