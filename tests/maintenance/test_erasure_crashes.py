"""An erasure killed at any step: nothing has happened, or it is finished by whoever comes next."""

import signal

import pytest

from rocky.errors import ErasureUnfinished
from rocky.ledger.writer import Ledger
from rocky.maintenance.erasure import completion, work
from rocky.operations.governance.erase import EraseRequest, erase
from rocky.operations.maintenance.clear_versions import ClearVersionsRequest, clear_versions
from rocky.operations.maintenance.gc import GcRequest, gc
from tests.maintenance.erasures import (
    FIRST,
    LAST,
    REASON,
    SUBJECT,
    WHERE,
    MaskedShop,
    PeopleShop,
    memory_engine,
    workspace_at,
)
from tests.maintenance.shops import Template
from tests.processes import run_process
from tests.run.crash import dying
from tests.run.memory_engine import MemoryEngine

pytestmark = [pytest.mark.slow, pytest.mark.sampled]

OWNERS = {
    "begin": (Ledger, "begin_run"),
    "write": (MemoryEngine, "write"),
    "journal": (work, "write_journal"),
    "commit": (completion, "commit_exactly"),
    "record": (completion, "record_erasure"),
    "redact": (completion, "_redact_log"),
    "checkpoints": (completion, "_remove_checkpoints"),
    "remove": (completion, "remove_files"),
    "end": (completion, "remove_journal"),
    "finish": (Ledger, "finish_run"),
}
NOTHING_DONE = [
    ("after begin", 1),
    ("before write", 1),
    ("after write", 1),
    ("after write", 2),
    ("before journal", 1),
]
BEGUN = [
    ("after journal", 1),
    ("after commit", 1),
    ("before commit", 2),
    ("after commit", 2),
    ("before record", 1),
    ("after record", 1),
    ("before redact", 2),
    ("after redact", 2),
    ("before checkpoints", 1),
    ("before remove", 1),
    ("after remove", 1),
    ("after remove", 2),
    ("before end", 1),
]
DONE = [("after end", 1), ("before finish", 1), ("after finish", 1)]
DERIVED = (
    "data/",
    "warehouse/spark_catalog/default/mails",
    "warehouse/spark_catalog/default/counts",
)


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Template[PeopleShop]:
    return Template(tmp_path_factory.mktemp("people"), PeopleShop)


@pytest.fixture(scope="module")
def masked(tmp_path_factory) -> Template[MaskedShop]:
    return Template(tmp_path_factory.mktemp("masked"), MaskedShop)


def clear_and_die(root: str, point: str, times: int) -> None:
    when, _, name = point.partition(" ")
    owner, attribute = OWNERS[name]
    with memory_engine() as patch:
        function = getattr(owner, attribute)
        patch.setattr(owner, attribute, dying(function, times, before=when == "before"))
        clear_versions(workspace_at(root), ClearVersionsRequest())


CLEARED = [(point, times) for point, times in BEGUN if point.split()[1] != "commit"]


@pytest.mark.parametrize(("point", "times"), [("before journal", 1), *CLEARED, ("after end", 1)])
def test_clearing_versions_may_be_killed_at_any_step(masked, monkeypatch, point, times):
    shop = masked.reopen(monkeypatch)

    code, _, said = run_process(clear_and_die, str(shop.root), point, times)

    assert -signal.SIGKILL == code, said
    if (point, times) in CLEARED:
        with pytest.raises(ErasureUnfinished, match="rocky erase --resume"):
            shop.build()
        with pytest.raises(ErasureUnfinished):
            shop.clear()
        assert erase(shop.workspace, EraseRequest(resume=True)).applied
    shop.clear()
    assert set() == shop.places_of(FIRST, LAST, besides=("data/",))
    assert 1 == len(shop.certificates)
    assert set() == shop.findings()
    assert 0 == shop.build().exit_code


def erase_and_die(root: str, point: str, times: int, resume: bool) -> None:
    when, _, name = point.partition(" ")
    owner, attribute = OWNERS[name]
    with memory_engine() as patch:
        function = getattr(owner, attribute)
        patch.setattr(owner, attribute, dying(function, times, before=when == "before"))
        request = (
            EraseRequest(resume=True) if resume else EraseRequest(WHERE, apply=True, reason=REASON)
        )
        erase(workspace_at(root), request)


def kill(shop: PeopleShop, point: str, times: int, *, resume: bool = False) -> None:
    code, _, said = run_process(erase_and_die, str(shop.root), point, times, resume)
    assert -signal.SIGKILL == code, said


def assert_gone(shop: PeopleShop) -> None:
    assert set() == shop.places_of(FIRST, LAST, str(SUBJECT), besides=DERIVED)
    assert 1 == len(shop.certificates)
    assert 30 == len(shop.rows_of("people"))
    assert 30 == len(shop.rows_of("contacts"))
    assert set() == shop.findings()
    shop.write_people(3, subject=False)
    assert 0 == shop.build().exit_code
    assert set() == shop.findings()
    assert not shop.apply().applied


@pytest.mark.parametrize(("point", "times"), NOTHING_DONE)
def test_before_the_journal_nothing_has_happened(template, monkeypatch, point, times):
    shop = template.reopen(monkeypatch)

    kill(shop, point, times)

    assert 32 == len(shop.rows_of("people"))
    assert () == shop.certificates
    assert set() == shop.findings()
    assert 0 == shop.build().exit_code
    assert shop.apply().applied
    assert_gone(shop)


@pytest.mark.parametrize(("point", "times"), BEGUN)
def test_after_the_journal_nobody_writes_until_it_is_finished(template, monkeypatch, point, times):
    shop = template.reopen(monkeypatch)

    kill(shop, point, times)

    with pytest.raises(ErasureUnfinished, match="rocky erase --resume"):
        shop.build()
    with pytest.raises(ErasureUnfinished):
        shop.apply()
    assert "erase --resume" in str(gc(shop.workspace, GcRequest()).refused)
    assert set() == shop.places_of(str(SUBJECT), besides=("data/", "warehouse/spark_catalog/"))
    report = erase(shop.workspace, EraseRequest(resume=True))
    assert report.applied
    assert shop.certificates[0].hmac == report.hmac
    assert_gone(shop)


@pytest.mark.parametrize(("point", "times"), DONE)
def test_after_the_journal_is_gone_all_is_done(template, monkeypatch, point, times):
    shop = template.reopen(monkeypatch)

    kill(shop, point, times)

    assert_gone(shop)


@pytest.mark.parametrize("point", ["after commit", "after record", "after remove"])
def test_whoever_finishes_it_may_die_too(template, monkeypatch, point):
    shop = template.reopen(monkeypatch)
    kill(shop, "after journal", 1)

    kill(shop, point, 1, resume=True)

    erase(shop.workspace, EraseRequest(resume=True))
    assert_gone(shop)


@pytest.mark.parametrize("point", ["after journal", "after record", "after remove"])
def test_clearing_what_was_built_anew_may_be_killed_too(template, monkeypatch, point):
    shop = template.reopen(monkeypatch)
    shop.write_people(3, subject=False)
    shop.apply()
    shop.build()

    kill(shop, point, 1, resume=True)

    with pytest.raises(ErasureUnfinished):
        shop.build()
    erase(shop.workspace, EraseRequest(resume=True))
    assert set() == shop.places_of(FIRST, LAST, str(SUBJECT), besides=("data/",))
    assert 2 == len(shop.certificates)
    assert set() == shop.findings()


def test_a_journal_that_nobody_signed_removes_nothing(template, monkeypatch):
    shop = template.reopen(monkeypatch)
    kill(shop, "after journal", 1)
    (journal,) = (shop.root / "warehouse/_rocky/erasures").glob("*.json")
    journal.write_text(journal.read_text().replace(REASON, "another one"))

    with pytest.raises(ErasureUnfinished, match="put there by hand"):
        erase(shop.workspace, EraseRequest(resume=True))

    assert 32 == len(shop.rows_of("people"))


def test_a_table_that_somebody_else_changed_meanwhile_is_named(template, monkeypatch):
    shop = template.reopen(monkeypatch)
    kill(shop, "after journal", 1)
    log = shop.root / "warehouse/spark_catalog/default/people/_delta_log"
    newest = max(log.glob("*.json"))
    (log / f"{int(newest.stem) + 1:020d}.json").write_text(
        '{"commitInfo":{"timestamp":1,"operation":"SET TBLPROPERTIES"}}\n'
    )

    report = erase(shop.workspace, EraseRequest(resume=True))

    assert ["spark_catalog.default.contacts"] == [each.table for each in report.tables]
    assert any("erase again" in each.advice for each in report.left)
