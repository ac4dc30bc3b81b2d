"""Erasing: a subject's rows leave every version of every table, and a certificate says so."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rocky.errors import InvalidRequest, LedgerLocked, LedgerUnreadable, RockyError, RunRefused
from rocky.evidence.seals import KeptHeads, KeptSeal, Seal, find_heads
from rocky.evidence.verification import verify_evidence
from rocky.ledger import open_evidence_reader, open_ledger
from rocky.ledger.erasure_records import load_erasures
from rocky.ledger.readers.heads import open_heads_reader
from rocky.maintenance.erasure.subject import parse_subject
from rocky.operations.branch.lifecycle import CreateRequest, DeleteRequest, create, delete
from rocky.operations.execution.run import run
from rocky.operations.governance.erase import EraseRequest, erase
from rocky.operations.maintenance.gc import GcRequest, gc
from rocky.operations.proof.replay import ReplayRequest, replay
from rocky.operations.proof.verify import VerifyRequest, verify
from rocky.plan.request import RunRequest
from rocky.store.warehouse import STAGING, open_warehouse
from tests.maintenance.erasures import (
    FIRST,
    LAST,
    PEOPLE,
    REASON,
    SOURCE,
    SUBJECT,
    WHERE,
    PeopleShop,
)
from tests.maintenance.shops import Template
from tests.run import memory_engine
from tests.run.memory_engine import MemoryEngine

pytestmark = pytest.mark.slow

SOURCES = ("data/",)


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Template[PeopleShop]:
    return Template(tmp_path_factory.mktemp("people"), PeopleShop)


@pytest.fixture
def shop(template, monkeypatch) -> PeopleShop:
    return template.reopen(monkeypatch)


def test_a_plan_says_which_tables_hold_rows_in_which_versions_and_changes_nothing(shop):
    before = shop.places_of(FIRST, LAST)

    report = shop.erase()

    assert not report.applied
    people, contacts = shop.table(report, "people"), shop.table(report, "contacts")
    assert ("pending", ("person_id",), 2, 1, (1, 2)) == (
        people.status,
        people.columns,
        people.rows,
        people.files,
        people.versions,
    )
    assert ("pending", ("who",), 2, 2) == (
        contacts.status,
        contacts.columns,
        contacts.rows,
        contacts.files,
    )
    assert {"mails", "counts"} == {each.name.rpartition(".")[2] for each in report.left}
    assert ["raw.people"] == [each.name for each in report.sources]
    assert before == shop.places_of(FIRST, LAST)
    assert () == shop.certificates


def test_rows_leave_every_version_and_the_logs(shop):
    shop.write_people(3, subject=False)
    others = [row for row in shop.rows_of("people") if row[0] != SUBJECT]

    report = shop.apply()

    assert report.applied
    assert ("erased", 2) == (shop.table(report, "people").status, shop.table(report, "people").rows)
    assert others == shop.rows_of("people")
    assert 30 == len(shop.rows_of("contacts"))
    derived = {"spark_catalog/default/mails", "spark_catalog/default/counts"}
    besides = (*SOURCES, *(f"warehouse/{each}" for each in derived))
    assert set() == shop.places_of(FIRST, LAST, str(SUBJECT), besides=besides)
    assert set() == shop.findings()


def test_the_certificate_says_what_is_gone_and_not_whose_it_was(shop):
    report = shop.apply()

    (certificate,) = shop.certificates
    assert (report.run_id, report.hmac) == (certificate.run_id, certificate.hmac)
    assert (REASON, "person_id") == (certificate.reason, certificate.column)
    people = next(each for each in certificate.tables if each.target == PEOPLE)
    assert people.rows_hash_before != people.rows_hash_after
    assert [2] == [each.rows for each in people.files]
    for each in people.files:
        assert each.blake3_hash in each.file_path
        assert each.size_bytes > 0
    notes = " ".join(verify(shop.workspace, VerifyRequest()).notes)
    assert f"by the certificate of `{report.run_id}`" in notes


def test_the_receipt_proves_whom_a_certificate_is_about(shop):
    report = shop.apply()

    subject = parse_subject(WHERE)
    assert report.hmac == subject.fingerprint(report.receipt)
    assert report.hmac != parse_subject("person_id = 7").fingerprint(report.receipt)
    ledger = (shop.root / ".rocky-state.db").read_bytes()
    assert report.hmac.encode() in ledger
    assert report.receipt.encode() not in ledger
    assert set() == shop.places_of(report.receipt)


def test_erasing_twice_finds_nothing_the_second_time_and_records_nothing(shop):
    shop.apply()
    runs = len(shop.records())

    again = shop.apply()

    assert not again.applied
    assert {"clean"} == {each.status for each in again.tables}
    assert (runs, 1) == (len(shop.records()), len(shop.certificates))


def test_nobody_of_that_key_changes_nothing(shop):
    before = shop.places_of(FIRST, LAST)

    report = shop.apply("person_id = 5")

    assert not report.applied
    assert () == shop.certificates
    assert before == shop.places_of(FIRST, LAST)


def test_a_second_subject_of_the_same_files_is_erased_as_well(shop):
    shop.apply()
    shop.apply("person_id = 201")

    assert 29 == len(shop.rows_of("people"))
    assert 2 == len(shop.certificates)
    assert set() == shop.findings()


def test_rows_of_versions_that_are_no_longer_the_newest_are_found(shop):
    shop.write_people(3, subject=False)
    run(shop.workspace, RunRequest(shop.names, full_refresh=True))

    report = shop.erase()

    assert (0, 1) == (shop.table(report, "people").rows, shop.table(report, "people").files)
    before = shop.rows_of("people")
    shop.apply()
    assert before == shop.rows_of("people")
    derived = ("warehouse/spark_catalog/default/mails", "warehouse/spark_catalog/default/counts")
    assert set() == shop.places_of(FIRST, LAST, str(SUBJECT), besides=(*SOURCES, *derived))
    assert set() == shop.findings()


def test_statistics_of_files_that_were_collected_before_are_redacted(shop):
    shop.write_people(3, subject=False)
    run(shop.workspace, RunRequest(shop.names, full_refresh=True))
    log = shop.root / "warehouse/spark_catalog/default/people/_delta_log"
    (held,) = [
        Path(each["add"]["path"]).name
        for path in log.glob("*.json")
        for each in map(json.loads, path.read_text().splitlines())
        if FIRST in each.get("add", {}).get("stats", "")
    ]
    (log.parent / held).unlink()

    report = shop.erase()

    people = shop.table(report, "people")
    assert ("pending", 0, 1) == (people.status, people.files, people.commits)
    shop.apply()
    assert FIRST not in "".join(path.read_text() for path in log.glob("*.json"))


def test_checkpoints_go_and_later_ones_come_back(shop):
    for day in range(4, 14):
        shop.append("data/people.csv", f"{day}000,d{day}@example.org,2026-01-{day:02d}\n")
        shop.build("people")
    log = shop.root / "warehouse/spark_catalog/default/people/_delta_log"
    assert [] != list(log.glob("*.checkpoint.parquet"))

    report = shop.apply()

    assert 1 == shop.table(report, "people").checkpoints
    assert [] == [*log.glob("*.checkpoint.parquet"), *log.glob("_last_checkpoint")]
    assert set() == shop.findings()
    for day in range(14, 24):
        shop.append("data/people.csv", f"{day}000,d{day}@example.org,2026-01-{day:02d}\n")
        shop.build("people")
    assert [] != list(log.glob("*.checkpoint.parquet"))
    assert set() == shop.findings()


def test_runs_go_on_afterwards_and_bring_nobody_back_who_is_out_of_the_source(shop):
    shop.write_people(3, subject=False)
    shop.apply()

    assert 0 == shop.build().exit_code

    assert 30 == len(shop.rows_of("contacts"))
    assert 30 == len(shop.rows_of("mails"))
    shop.append("data/people.csv", "999,new@example.org,2026-01-04\n")
    shop.build()
    assert 31 == len(shop.rows_of("people"))
    assert set() == shop.findings()


def test_what_was_erased_is_not_reused_and_the_run_says_why(shop):
    shop.write("models/direct.sql", "SELECT person_id, mail FROM raw.people")
    run(shop.workspace, RunRequest(("direct",)))
    report = shop.apply()

    run(shop.workspace, RunRequest(("direct",)))

    (direct,) = shop.records()[0].models_executed
    assert "build" == direct.decision
    assert f"was erased, by the certificate of `{report.run_id}`" in str(direct.reason)


def test_what_was_left_loses_its_past_once_it_was_built_anew(shop):
    shop.write_people(3, subject=False)
    shop.apply()
    assert not erase(shop.workspace, EraseRequest(resume=True)).applied
    assert shop.places_of(FIRST, LAST, besides=SOURCES)
    shop.build()

    report = erase(shop.workspace, EraseRequest(resume=True))

    assert {"mails", "counts"} == {each.table.rpartition(".")[2] for each in report.tables}
    assert set() == shop.places_of(FIRST, LAST, str(SUBJECT), besides=SOURCES)
    first, second = shop.certificates
    assert (first.run_id, first.hmac) == (second.completes, second.hmac)
    assert set() == shop.findings()
    assert not erase(shop.workspace, EraseRequest(resume=True)).applied
    shop.build()
    assert 30 == len(shop.rows_of("mails"))
    assert set() == shop.findings()


def test_a_table_that_reads_the_source_itself_is_never_taken_for_free(shop):
    shop.write("models/addresses.sql", "SELECT mail FROM raw.people")
    run(shop.workspace, RunRequest(("addresses",)))
    shop.write_people(3, subject=False)
    shop.apply()
    run(shop.workspace, RunRequest())

    report = erase(shop.workspace, EraseRequest(resume=True))

    assert {"mails", "counts"} == {each.table.rpartition(".")[2] for each in report.tables}


def test_collecting_believes_the_logs_that_lost_statistics(shop):
    shop.apply()

    report = gc(shop.workspace, GcRequest())

    assert {"left_alone"} & {each.status for each in report.tables} == set()


def test_a_file_that_is_missing_without_a_certificate_is_still_a_finding(shop):
    shop.apply()
    folder = shop.root / "warehouse/spark_catalog/default/people"
    next(each for each in folder.glob("*.parquet") if len(each.stem) == 64).unlink()

    assert "file_missing" in shop.findings()


def test_a_file_that_was_put_back_is_a_finding(shop):
    folder = shop.root / "warehouse/spark_catalog/default/people"
    kept = {each: each.read_bytes() for each in folder.glob("*.parquet")}
    shop.apply()
    for path, data in kept.items():
        path.write_bytes(data)

    assert {"erased_file_present"} == shop.findings()


def test_a_commit_that_was_changed_otherwise_is_still_a_finding(shop):
    shop.apply()
    commit = shop.root / "warehouse/spark_catalog/default/people/_delta_log" / f"{1:020d}.json"
    commit.write_text(commit.read_text().replace('"numOutputRows":"12"', '"numOutputRows":"10"'))

    assert {"commit_changed"} <= shop.findings()


def test_a_certificate_that_was_changed_explains_nothing(shop):
    shop.apply()
    with closing(sqlite3.connect(shop.root / ".rocky-state.db")) as connection, connection:
        connection.execute("UPDATE erasures SET value = replace(value, ?, 'another')", (REASON,))

    assert "record_changed" in shop.findings()
    with pytest.raises(LedgerUnreadable, match="certificate"):
        load_erasures(shop.root / ".rocky-state.db")


def test_replaying_what_read_erased_files_says_so(shop):
    newest = shop.records()[0].run_id
    report = shop.apply()

    found = replay(shop.workspace, ReplayRequest(newest, ("contacts",), execute=True))

    said = str(found.to_json() if hasattr(found, "to_json") else found.models)
    assert f"erased, by the certificate of {report.run_id}" in said


def test_a_table_whose_model_is_gone_is_named_and_not_passed_over(shop):
    (shop.root / "models/contacts.sql").unlink()

    report = shop.apply()

    named = {each.name: each.advice for each in report.left}
    assert "no model of the project writes it any more" in named["spark_catalog.default.contacts"]
    assert "spark_catalog.default.contacts" in shop.certificates[-1].left
    assert not any("alone" in each or "orders" in each for each in named)


def test_a_branch_that_holds_such_rows_is_in_the_way(shop):
    create(shop.workspace, CreateRequest("try"))

    report = shop.erase()

    assert {"try"} == {each.branch for each in report.branches}
    with pytest.raises(RunRefused, match="rocky branch delete try"):
        shop.apply()
    assert () == shop.certificates
    delete(shop.workspace, DeleteRequest("try"))
    assert shop.apply().applied


def test_branches_that_hold_such_rows_are_deleted_where_that_is_asked_for(shop):
    create(shop.workspace, CreateRequest("try"))
    with pytest.raises(RunRefused, match="value is of another type"):
        shop.apply("person_id = 'x'", with_branches=True)
    assert shop.erase().branches

    report = shop.apply(with_branches=True)

    assert (("try",), ()) == (report.branches_deleted, report.branches)
    derived = ("warehouse/spark_catalog/default/mails", "warehouse/spark_catalog/default/counts")
    assert set() == shop.places_of(FIRST, LAST, str(SUBJECT), besides=(*SOURCES, *derived))
    assert set() == shop.findings()


def test_a_branch_that_is_made_meanwhile_is_in_the_way_too(shop):
    made = []

    def branch(_table: str) -> None:
        if not made:
            made.append(create(shop.workspace, CreateRequest("late")))

    shop.before_write = branch
    with pytest.raises(RockyError, match="rocky branch delete late"):
        shop.apply()

    assert () == shop.certificates
    assert 32 == len(shop.rows_of("people"))
    assert not (shop.root / "warehouse/_rocky/erasures").exists()


def test_a_run_under_way_is_not_pulled_the_files_from_under(shop):
    ledger = open_ledger(shop.root / ".rocky-state.db")
    with closing(ledger):
        record = replace(shop.records()[0], models_executed=(), finished_at=None, reason=None)
        ledger.begin_run(replace(record, started_at=datetime.now(UTC)), [PEOPLE])
        with pytest.raises(LedgerLocked):
            shop.apply()
    with closing(open_ledger(shop.root / ".rocky-state.db")) as ledger:
        ledger.begin_run(replace(record, started_at=datetime.now(UTC)), ["a.b.c"])
        with pytest.raises(LedgerLocked, match="may read what is to be erased"):
            shop.apply()
    assert () == shop.certificates


def test_a_value_of_another_type_is_refused_and_says_how_to_write_it(shop):
    report = shop.erase("person_id = 'x'")

    assert {"refused"} == {each.status for each in report.tables}
    with pytest.raises(RunRefused, match="a text stands in quotes, a number does not"):
        shop.apply("person_id = 'x'")


def test_a_column_of_several_sources_has_to_be_told_whose(shop):
    shop.write("sources/other.toml", SOURCE.replace("raw.people", "raw.others"))

    with pytest.raises(InvalidRequest, match=r"`--from raw.others`, `--from raw.people`"):
        shop.erase()

    assert 2 == len(shop.erase(sources=("raw.people",)).tables)


def test_a_column_that_mixes_two_keys_is_in_the_way(shop):
    other = SOURCE.replace("raw.people", "raw.firms").replace("person_id", "firm_id")
    shop.write("sources/firms.toml", other.replace("people.csv", "firms.csv"))
    shop.write("data/firms.csv", "firm_id,mail,day\n1,a@example.org,2026-01-01\n")
    shop.write(
        "models/mixed.sql",
        "SELECT person_id FROM raw.people UNION ALL SELECT firm_id FROM raw.firms",
    )
    shop.write("models/counts.sql", "SELECT count(*) AS n FROM mixed")
    run(shop.workspace, RunRequest(("mixed",)))

    report = shop.erase()

    mixed = shop.table(report, "mixed")
    assert "refused" == mixed.status
    assert "`raw.firms.firm_id`" in mixed.reason
    with pytest.raises(RunRefused, match="--from"):
        shop.apply()


def test_a_table_that_holds_the_key_masked_is_in_the_way(shop):
    classified = SOURCE.replace(
        '"mail", type = "string"', '"mail", type = "string", classification = "pii"'
    )
    assert classified != SOURCE
    shop.write("sources/people.toml", classified)
    shop.write("models/reached.sql", "SELECT mail AS contact FROM raw.people")
    shop.write("models/again.sql", "SELECT contact FROM reached")
    settings = (shop.root / "rocky.toml").read_text()
    shop.write("rocky.toml", f'{settings}\n[mask]\npii = "redact"\n')
    run(shop.workspace, RunRequest(("reached", "again")))

    report = shop.erase("mail = 'a@example.org'")

    for name in ("reached", "again"):
        found = shop.table(report, name)
        assert "refused" == found.status
        assert "its key column is masked by `redact`" in found.reason
    with pytest.raises(RunRefused, match="masked by `redact`"):
        shop.apply("mail = 'a@example.org'")
    # What is named has the value as it is said.
    named = shop.erase("contact = '***'", sources=("reached",))
    assert {"pending"} == {shop.table(named, each).status for each in ("reached", "again")}


def test_a_project_that_does_not_compile_is_refused(shop):
    shop.write("models/broken.sql", "SELECT nothing FROM people")

    with pytest.raises(RunRefused, match="nobody knows which columns they carry"):
        shop.erase()


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (EraseRequest(), "whose rows"),
        (EraseRequest(WHERE, apply=True), "--reason"),
        (EraseRequest(WHERE, apply=True, reason="  "), "--reason"),
        (EraseRequest(WHERE, reason="why"), "--apply"),
        (EraseRequest(WHERE, resume=True), "--resume"),
        (EraseRequest(WHERE, with_branches=True), "--apply"),
    ],
)
def test_requests_that_are_not_whole_are_refused(shop, request_, why):
    with pytest.raises(InvalidRequest, match=why):
        erase(shop.workspace, request_)


def test_nothing_to_resume_is_said(shop):
    assert "" == erase(shop.workspace, EraseRequest(resume=True)).column


def test_the_value_is_in_no_query_that_spark_is_given(shop, monkeypatch):
    asked = []
    frame = MemoryEngine.frame
    monkeypatch.setattr(
        MemoryEngine, "frame", lambda self, sql: asked.append(sql) or frame(self, sql)
    )

    shop.apply()

    assert asked
    assert not any(str(SUBJECT) in each for each in asked)


def test_leftovers_of_dead_writers_go(shop):
    staged = shop.root / f"warehouse/spark_catalog/default/people/{STAGING}/x/part.parquet"
    staged.parent.mkdir(parents=True)
    staged.write_bytes(f"half a file of {FIRST}".encode())

    report = shop.apply()

    assert 1 == shop.table(report, "people").staged
    assert not staged.exists()


def test_a_seal_from_before_stays_explicable(shop):
    state = shop.root / ".rocky-state.db"
    reader = open_heads_reader(state)
    with reader:
        heads = find_heads(reader, lambda place: open_warehouse(place, base=Path()))
    seal = Seal(heads.ledger_id, heads.head, heads.tables, "ann@example.com", datetime.now(UTC))
    report = shop.apply()

    with open_evidence_reader(state) as evidence:
        kept = KeptHeads((KeptSeal("a.seal", seal),))
        found = verify_evidence(
            evidence, lambda place: open_warehouse(place, base=Path()), kept=kept
        )

    assert () == found.findings
    assert any("`a.seal`" in each and f"`{report.run_id}`" in each for each in found.notes)


class TimedShop(PeopleShop):
    """`visits` has a moment, a time without a zone, and a float of each person."""

    def __init__(self, root: Path, monkeypatch) -> None:
        super().__init__(root, monkeypatch)
        monkeypatch.setitem(memory_engine._TYPES, "timestamp[us]", "timestamp_ntz")
        self.write(
            "sources/visits.toml",
            '[[source]]\nname = "raw.visits"\nformat = "csv"\npath = "data/visits.csv"\ncolumns = ['
            ' { name = "seen", type = "timestamp" }, { name = "clock", type = "timestamp_ntz" },'
            ' { name = "weight", type = "double" } ]\n',
        )
        lines = [f"2026-01-0{day}T12:00:00.5Z,2026-01-0{day} 12:00:00,{day}.5" for day in (1, 2, 3)]
        self.write("data/visits.csv", "\n".join(["seen,clock,weight", *lines]) + "\n")
        self.write("models/visits.sql", "SELECT seen, clock, weight FROM raw.visits")

    names = ("visits",)

    def make_runs(self) -> None:
        assert 0 == self.build().exit_code


@pytest.mark.parametrize(
    "where",
    [
        "seen = TIMESTAMP '2026-01-02T13:00:00.5+01:00'",
        "clock = TIMESTAMP '2026-01-02 12:00:00'",
    ],
)
def test_rows_are_found_by_a_time(tmp_path, monkeypatch, where):
    shop = TimedShop(tmp_path, monkeypatch)
    shop.make_runs()

    report = shop.apply(where)

    assert 1 == shop.table(report, "visits").rows
    assert 2 == len(shop.rows_of("visits"))
    assert set() == shop.findings()
    assert not shop.apply(where).applied


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("seen = TIMESTAMP '2026-01-02 12:00:00'", "it says its zone"),
        ("clock = TIMESTAMP '2026-01-02T12:00:00Z'", "it has no zone"),
        ("seen = DATE '2026-01-02'", "it says its zone"),
        ("weight = 2.5", "two floats that look the same need not be equal"),
    ],
)
def test_a_time_of_another_kind_and_a_float_are_refused(tmp_path, monkeypatch, where, why):
    shop = TimedShop(tmp_path, monkeypatch)
    shop.make_runs()

    with pytest.raises(RunRefused, match=why):
        shop.apply(where)
