"""A compaction killed at any step: the table has its rows, and the next run and compaction go on."""

import signal

import pytest

from rocky.operations.compact import CompactRequest, compact
from tests.maintenance.shops import AppendedTemplate, compact_and_die
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
def template(tmp_path_factory) -> AppendedTemplate:
    return AppendedTemplate(tmp_path_factory.mktemp("appended"))


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_compaction_leaves_the_table_whole(template, monkeypatch, point):
    shop = template.reopen(monkeypatch)
    rows, rows_hash = shop.rows, shop.snapshot.configuration["rocky.rowsHash"]

    code, _, said = run_process(compact_and_die, str(shop.root), point)

    assert -signal.SIGKILL == code, said
    assert (rows, rows_hash) == (shop.rows, shop.snapshot.configuration["rocky.rowsHash"])
    assert set() == shop.findings()
    assert 0 == shop.build().exit_code
    compact(shop.workspace, CompactRequest())
    assert 1 == len(shop.snapshot.files)
    shop.write_orders(15)
    assert 0 == shop.build().exit_code
    assert [(n, "DE" if n % 3 else "FR") for n in range(1, 16)] == shop.rows
    assert set() == shop.findings()
