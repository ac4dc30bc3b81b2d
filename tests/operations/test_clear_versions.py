"""Clearing versions: what a mask hides now leaves the past of tables too, and that is certified."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

import rocky as rocky_api
from rocky.cli.app import main
from rocky.errors import InvalidRequest, LedgerLocked, NothingSelected, RunRefused
from rocky.ledger import open_ledger
from rocky.ledger.erasure_records import load_erasures
from rocky.maintenance.erasure.holders import find_clear_branches
from rocky.maintenance.erasure.mask_history import masks_now
from rocky.operations.branch.lifecycle import CreateRequest, DeleteRequest, create, delete
from rocky.operations.execution.run import run
from rocky.operations.maintenance.clear_versions import ClearVersionsRequest, clear_versions
from rocky.operations.maintenance.gc import GcRequest, gc
from rocky.operations.proof.replay import ReplayRequest, replay
from rocky.operations.rows.show import ShowRequest, show
from rocky.operations.workspace import compile_workspace
from rocky.plan.request import RunRequest
from rocky.store.warehouse import open_warehouse
from tests.maintenance.erasures import FIRST, LAST, MaskedShop
from tests.maintenance.shops import Template

pytestmark = pytest.mark.slow

SOURCES = ("data/",)
CLEAR = (FIRST, LAST, "p11@example.org")


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Template[MaskedShop]:
    return Template(tmp_path_factory.mktemp("masked"), MaskedShop)


@pytest.fixture
def shop(template, monkeypatch) -> MaskedShop:
    return template.reopen(monkeypatch)


def test_a_dry_run_says_which_versions_hold_clear_values_and_changes_nothing(shop):
    before = shop.places_of(*CLEAR)

    report = clear_versions(shop.workspace, ClearVersionsRequest(dry_run=True))

    found = {each.table.rpartition(".")[2]: each for each in report.tables}
    # `contacts` and `mails` have no mask of their own: they take a masked column.
    assert {"people", "contacts", "mails"} == found.keys()
    assert {"pending"} == {each.status for each in found.values()}
    assert (0, 1, 2) == found["people"].versions
    assert (0, 1, 2) == found["contacts"].versions
    assert found["people"].runs >= 3
    assert before == shop.places_of(*CLEAR)
    assert () == shop.certificates


def test_no_clear_value_is_left_in_files_logs_or_records(shop):
    newest = {name: shop.rows_of(name) for name in shop.names}
    assert shop.places_of(*CLEAR, besides=SOURCES)

    report = shop.clear()

    assert {"cleared"} == {each.status for each in report.tables}
    assert set() == shop.places_of(*CLEAR, besides=SOURCES)
    assert newest == {name: shop.rows_of(name) for name in shop.names}
    assert set() == shop.findings()


def test_the_certificate_says_which_versions_went_and_what_their_rows_hashed_to(shop):
    report = shop.clear(reason="audit of 2026")

    (certificate,) = shop.certificates
    assert (report.run_id, "audit of 2026") == (certificate.run_id, certificate.reason)
    assert ("", "") == (certificate.column, certificate.hmac)
    people = next(each for each in certificate.tables if each.target.endswith(".people"))
    assert [0, 1, 2] == [each.version for each in people.cleared]
    assert all(each.rows_hash and each.masks is None for each in people.cleared)
    assert people.rows_hash_before == people.rows_hash_after
    assert people.to_version is None
    assert people.files


def test_clearing_twice_finds_nothing_the_second_time(shop):
    shop.clear()

    again = shop.clear()

    assert {"clean"} == {each.status for each in again.tables}
    assert (None, 1) == (again.run_id, len(shop.certificates))


def test_runs_go_on_and_tables_are_collected_as_ever(shop):
    shop.clear()

    shop.append("data/people.csv", "999,new@example.org,2026-01-04\n")
    assert 0 == shop.build().exit_code

    assert 33 == len(shop.rows_of("people"))
    report = gc(shop.workspace, GcRequest())
    assert "left_alone" not in {each.status for each in report.tables}
    assert set() == shop.findings()


def test_a_version_that_was_masked_otherwise_goes_too(shop):
    shop.clear()
    settings = (shop.root / "rocky.toml").read_text()
    shop.write("rocky.toml", settings.replace('"redact"', '"partial"'))
    assert 0 == shop.build().exit_code
    assert shop.places_of("aa***rg", besides=SOURCES)

    shop.write("rocky.toml", settings)
    assert 0 == shop.build().exit_code
    report = shop.clear()

    people = next(each for each in report.tables if each.table.endswith(".people"))
    assert (4,) == people.versions
    assert set() == shop.places_of("aa***rg", besides=SOURCES)
    assert set() == shop.findings()


def test_a_table_whose_newest_version_is_clear_is_in_the_way(shop):
    shop.write("rocky.toml", (shop.root / "rocky.toml").read_text().replace('"redact"', '"null"'))

    report = clear_versions(shop.workspace, ClearVersionsRequest(dry_run=True))

    assert {"refused"} == {each.status for each in report.tables}
    with pytest.raises(RunRefused, match=r"rocky run \+"):
        shop.clear()
    assert () == shop.certificates


def test_a_seed_that_was_loaded_masked_is_not_in_the_way_and_its_clear_version_goes(shop):
    shop.write("seeds/staff.csv", f"who,mail\n1,{FIRST}\n")
    tagged = 'columns = [ { name = "mail", type = "string", classification = "pii" } ]\n'
    shop.write("seeds/staff.toml", tagged)
    shop.write("models/logins.sql", "SELECT who, mail AS login FROM staff")
    for settings in (shop.unmasked, shop.masked):
        shop.write("rocky.toml", settings)
        assert 0 == run(shop.workspace, RunRequest((*shop.names, "logins"))).exit_code

    report = shop.clear()

    found = {each.table.rpartition(".")[2]: each for each in report.tables}
    assert ((0,), (0,)) == (found["staff"].versions, found["logins"].versions)
    assert set() == shop.places_of(*CLEAR, besides=(*SOURCES, "seeds/"))
    assert set() == shop.findings()


def test_a_branch_with_clear_values_is_in_the_way(shop):
    shop.write("rocky.toml", shop.unmasked)
    shop.build()
    create(shop.workspace, CreateRequest("old"))
    shop.write("rocky.toml", shop.masked)
    shop.build()

    report = clear_versions(shop.workspace, ClearVersionsRequest(dry_run=True))

    assert {"old"} == {each.branch for each in report.branches}
    with pytest.raises(RunRefused, match="rocky branch delete old"):
        shop.clear()
    delete(shop.workspace, DeleteRequest("old"))
    assert shop.clear().run_id is not None
    assert set() == shop.places_of(*CLEAR, besides=SOURCES)


def test_a_table_of_a_branch_that_was_made_from_clear_ones_counts_by_itself(shop):
    """Its files may be its own, and what it was made from may be gone from the branch."""
    shop.write("rocky.toml", shop.unmasked)
    shop.build()
    create(shop.workspace, CreateRequest("old"))
    shop.write("rocky.toml", shop.masked)
    shop.build()
    create(shop.workspace, CreateRequest("new"))
    now = masks_now(compile_workspace(shop.workspace))

    found = find_clear_branches(open_warehouse("warehouse", base=shop.root), now)

    assert {"people", "contacts", "mails"} == {each.table.rpartition(".")[2] for each in found}
    assert {"old"} == {each.branch for each in found}


def test_a_run_under_way_is_not_pulled_the_files_from_under(shop):
    with closing(open_ledger(shop.root / ".rocky-state.db")) as ledger:
        ledger.begin_run(shop.running_record(), ["a.b.c"])
        with pytest.raises(LedgerLocked, match="may read what is to be erased"):
            shop.clear()


def test_reading_a_cleared_version_says_why_it_cannot_be_read(shop):
    run_id = shop.clear().run_id

    with pytest.raises(NothingSelected, match=f"by the certificate of {run_id}"):
        show(shop.workspace, ShowRequest("people", version=1))


def test_a_replay_of_what_read_cleared_versions_says_so(shop):
    first = shop.records()[-1].run_id
    report = shop.clear()

    found = replay(shop.workspace, ReplayRequest(first, ("contacts",), execute=True))

    assert f"erased, by the certificate of {report.run_id}" in str(found.models)


def test_a_project_without_masks_has_nothing_to_clear(shop):
    shop.write("rocky.toml", shop.unmasked)

    assert () == shop.clear().tables


def test_an_empty_reason_is_refused(shop):
    with pytest.raises(InvalidRequest, match="--reason"):
        shop.clear(reason=" ")


def test_physical_delete_false_makes_it_a_dry_run(shop):
    shop.append("rocky.toml", "\n[gc]\nphysical_delete = false\n")

    report = shop.clear()

    assert report.dry_run
    assert () == shop.certificates


def test_a_file_of_a_masked_version_is_never_removed(shop):
    folder = shop.root / "warehouse/spark_catalog/default"
    log = folder / "people/_delta_log" / f"{3:020d}.json"
    kept = {
        Path(each["add"]["path"]).name
        for each in map(json.loads, log.read_text().splitlines())
        if "add" in each
    }

    shop.clear()

    assert kept == {each.name for each in (folder / "people").glob("?" * 64 + ".parquet")}


def test_versions_without_a_record_of_what_they_were_made_from_count_as_clear(shop):
    with closing(sqlite3.connect(shop.root / ".rocky-state.db")) as connection, connection:
        connection.execute("DELETE FROM input_provenance")

    report = clear_versions(shop.workspace, ClearVersionsRequest(dry_run=True))

    assert {"refused"} == {each.status for each in report.tables}
    assert () == load_erasures(shop.root / ".rocky-state.db")


def test_a_full_refresh_run_keeps_nothing_clear(shop):
    run(shop.workspace, RunRequest(shop.names, full_refresh=True))

    shop.clear()

    assert set() == shop.places_of(*CLEAR, besides=SOURCES)


def rocky(shop: MaskedShop, *arguments: str):
    return CliRunner().invoke(main, ["-c", str(shop.root), *arguments], catch_exceptions=False)


def test_the_command_shows_versions_and_what_can_no_longer_be_replayed(shop):
    shown = rocky(shop, "gc", "--clear-versions", "--dry-run")

    assert 0 == shown.exit_code
    assert "spark_catalog.default.people    0-2" in shown.output
    assert "no longer to be replayed" in shown.output
    assert "would remove" in shown.output
    done = rocky(shop, "gc", "--clear-versions", "--reason", "audit", "--output", "json")
    document = json.loads(done.stdout)
    assert ["cleared"] * 3 == [each["status"] for each in document["tables"]]
    assert shop.certificates[0].run_id == document["run_id"]
    again = rocky(shop, "gc", "--clear-versions")
    assert "every version that is left is masked as now" in again.output
    assert "nothing to remove" in again.output


def test_a_reason_without_versions_to_clear_is_refused(shop):
    answer = rocky(shop, "gc", "--reason", "audit")

    assert 0 != answer.exit_code
    assert "--clear-versions" in answer.output


def test_python_has_the_same(shop):
    report = rocky_api.open(shop.root).clear_versions(dry_run=True)

    assert 3 == len(report.tables)


def test_where_masks_hold_in_a_twin_nothing_is_cleared_and_that_is_said(shop):
    config = shop.root / "rocky.toml"
    level = '[governance]\nenforce = "twin"\nrestricted_schema = "restricted"\n'
    config.write_text(config.read_text() + level)

    with pytest.raises(RunRefused, match='with `enforce = "twin"`'):
        clear_versions(shop.workspace, ClearVersionsRequest(dry_run=True))
