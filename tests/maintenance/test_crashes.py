"""Maintenance killed at any step: the table is whole, and the next run and maintenance go on."""

import signal

import pytest

from rocky.operations.maintenance.compact import CompactRequest, compact
from rocky.operations.maintenance.retention import RetentionRequest, retention
from rocky.store.delta.snapshot import ROWS_HASH
from tests.maintenance.shops import AppendedShop, Template, VisitShop, maintain_and_die
from tests.processes import run_process

pytestmark = [pytest.mark.slow, pytest.mark.sampled]

POINTS = [
    "after begin",
    "before write",
    "after write",
    "before commit",
    "after commit",
    "before record",
    "after record",
    "before finish",
    "after finish",
]


@pytest.fixture(scope="module")
def appended(tmp_path_factory) -> Template[AppendedShop]:
    return Template(tmp_path_factory.mktemp("appended"), AppendedShop)


@pytest.fixture(scope="module")
def visited(tmp_path_factory) -> Template[VisitShop]:
    return Template(tmp_path_factory.mktemp("visited"), VisitShop)


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_compaction_leaves_the_table_whole(appended, monkeypatch, point):
    shop = appended.reopen(monkeypatch)
    rows, rows_hash = shop.rows, shop.snapshot.configuration[ROWS_HASH]

    code, _, said = run_process(maintain_and_die, str(shop.root), "compact", point)

    assert -signal.SIGKILL == code, said
    assert (rows, rows_hash) == (shop.rows, shop.snapshot.configuration[ROWS_HASH])
    assert set() == shop.findings()
    assert 0 == shop.build().exit_code
    compact(shop.workspace, CompactRequest())
    assert 1 == len(shop.snapshot.files)
    shop.write_orders(15)
    assert 0 == shop.build().exit_code
    assert [(n, "DE" if n % 3 else "FR") for n in range(1, 16)] == shop.rows
    assert set() == shop.findings()


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_deletion_has_deleted_all_old_rows_or_none(visited, monkeypatch, point):
    shop = visited.reopen(monkeypatch)

    code, _, said = run_process(maintain_and_die, str(shop.root), "retention", point)

    assert -signal.SIGKILL == code, said
    assert [row[0] for row in shop.rows] in (list(range(1, 16)), list(range(1, 31)))
    assert set() == shop.findings()
    assert 0 == shop.build().exit_code
    retention(shop.workspace, RetentionRequest())
    assert list(range(1, 16)) == [row[0] for row in shop.rows]
    shop.visit(30, 0)
    assert 0 == shop.build().exit_code
    assert list(range(16)) == [row[0] for row in shop.rows]
    assert set() == shop.findings()
