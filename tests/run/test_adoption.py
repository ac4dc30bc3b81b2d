"""Every commit is on record, also one whose making failed, or that nobody came to record."""

import json

import pytest
from pyspark.errors import PySparkException

from rocky.errors import LedgerUnwritable, StoreUnwritable
from rocky.ledger.run_records import RunStatus
from rocky.ledger.writer import Ledger
from rocky.run.materialize.build import Build, Built
from rocky.run.materialize.strategy import materialize
from rocky.run.prepare.resources import RunParameters
from rocky.store.delta.signature import SigningKey, is_commit_signed
from tests.run.runs import Shop, statuses, verify

LOST = PySparkException("ExecutorLostFailure (executor 1 exited)")


def failing_after(error: Exception, times: int = 1):
    """A strategy whose commit is made, and which fails all the same."""
    failed = 0

    def build(order: Build) -> Built:
        nonlocal failed
        built = materialize(order)
        if order.model.name == "alone" and failed < times:
            failed += 1
            raise error
        return built

    return build


def test_a_model_that_failed_after_its_commit_records_the_commit(tmp_path):
    shop = Shop(tmp_path)

    report = shop.run("alone", build_table=failing_after(StoreUnwritable("no metadata")))

    assert {"alone": "failed"} == statuses(report)
    (execution,) = shop.records()[0].models_executed
    assert [(0, report.run_id)] == [(each.version, each.run_id) for each in execution.adopted]
    assert [] == verify(tmp_path)


def test_a_commit_of_an_attempt_that_failed_is_recorded_with_the_one_that_did_not(tmp_path):
    shop = Shop(tmp_path)

    report = shop.run("alone", build_table=failing_after(LOST))

    assert {"alone": "success"} == statuses(report)
    (execution,) = shop.records()[0].models_executed
    assert [0] == [each.version for each in execution.adopted]
    assert [1] == [each.version for each in execution.commits]
    assert [] == verify(tmp_path)


@pytest.mark.slow
def test_a_run_whose_ledger_could_not_be_written_fails_and_the_next_one_adopts(tmp_path):
    shop = Shop(tmp_path)

    def full(self: object, *_: object) -> None:
        raise LedgerUnwritable("no space left")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ledger, "record_models", full)
        with pytest.raises(LedgerUnwritable):
            shop.run("alone")
    first = shop.records()[0]
    assert (RunStatus.FAILURE, "no space left") == (first.status, first.reason)
    assert [] == verify(tmp_path)

    report = shop.run("alone")

    assert {"alone": "success"} == statuses(report)
    (execution,) = shop.records()[0].models_executed
    assert [(0, first.run_id)] == [(each.version, each.run_id) for each in execution.adopted]
    assert [] == verify(tmp_path)


def test_a_model_that_was_renamed_since_adopts_what_it_left_under_its_old_name(tmp_path):
    shop = Shop(tmp_path, {"models/alone.toml": '[target]\ntable = "kept"\n'})

    def full(self: object, *_: object) -> None:
        raise LedgerUnwritable("no space left")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ledger, "record_models", full)
        with pytest.raises(LedgerUnwritable):
            shop.run("alone")
    for suffix in ("sql", "toml"):
        (tmp_path / f"models/alone.{suffix}").rename(tmp_path / f"models/solo.{suffix}")

    shop.run("solo")

    (execution,) = shop.records()[0].models_executed
    assert ["alone"] == [each.model_name for each in execution.adopted]
    assert [] == verify(tmp_path)


def test_a_commit_of_another_tool_is_not_adopted(tmp_path):
    shop = Shop(tmp_path)
    shop.run("alone")
    log = tmp_path / "warehouse/spark_catalog/default/alone/_delta_log"
    (log / f"{1:020d}.json").write_text('{"commitInfo":{"operation":"NOTHING"}}\n')
    (tmp_path / "models/alone.sql").write_text("SELECT 2 AS one")

    shop.run("alone")

    (finding,) = verify(tmp_path)
    assert "foreign_commit" in finding
    assert "another tool changed the table" in finding


def test_a_ledger_that_is_younger_than_the_tables_records_their_files(tmp_path):
    shop = Shop(tmp_path)
    shop.run("alone")
    for file in tmp_path.glob(".rocky-state.db*"):
        file.unlink() if file.is_file() else file.rmdir()

    shop.run("alone", options=RunParameters(parallel=1, full_refresh=True, start_anew=True))

    # The commit of the ledger that is gone is nobody's, but this run's own record is whole.
    assert ["foreign_commit"] == [each.partition(":")[0] for each in verify(tmp_path)]


def forge(shop: Shop, version: int, **changes: str) -> None:
    """A commit that looks like one of the run that died, with another's bytes or none of its."""
    log = shop.root / "warehouse/spark_catalog/default/alone/_delta_log"
    first = (log / f"{0:020d}.json").read_text().splitlines()
    info = json.loads(first[0])["commitInfo"] | changes
    lines = [json.dumps({"commitInfo": info}, separators=(",", ":")), *first[1:]]
    (log / f"{version:020d}.json").write_text("\n".join(lines) + "\n")


def die(shop: Shop, *models: str) -> str:
    """A run that commits and dies before it can record that."""

    def full(self: object, *_: object) -> None:
        raise LedgerUnwritable("no space left")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ledger, "record_models", full)
        with pytest.raises(LedgerUnwritable):
            shop.run(*models)
    return shop.records()[0].run_id


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"operation": "MERGE"},
        {"signature": ""},
    ],
)
def test_a_commit_in_the_name_of_a_dead_run_is_foreign_unless_that_run_signed_it(tmp_path, changes):
    shop = Shop(tmp_path)
    die(shop, "alone")
    # The same bytes as another version, other bytes, or no signature at all.
    forge(shop, 1, **changes)

    (finding,) = verify(tmp_path)
    assert finding.startswith("foreign_commit: ")

    shop.run("alone")

    (execution,) = shop.records()[0].models_executed
    assert () == execution.adopted
    assert {"foreign_commit"} == {each.partition(":")[0] for each in verify(tmp_path)}


def test_the_key_of_a_run_is_recorded_before_its_first_commit_and_never_kept(tmp_path):
    shop = Shop(tmp_path)
    run_id = die(shop, "alone")
    key = shop.records()[0].commit_key
    assert key is not None
    assert key.startswith("ssh-ed25519 ")
    data = (
        tmp_path / f"warehouse/spark_catalog/default/alone/_delta_log/{0:020d}.json"
    ).read_bytes()

    assert is_commit_signed(key, "spark_catalog/default/alone", 0, data)
    assert not is_commit_signed(key, "spark_catalog/default/alone", 1, data)
    assert not is_commit_signed(key, "spark_catalog/default/other", 0, data)
    assert not is_commit_signed(SigningKey().public, "spark_catalog/default/alone", 0, data)
    assert run_id in data.decode()
