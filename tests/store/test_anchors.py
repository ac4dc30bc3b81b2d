"""Anchors: what the warehouse remembers of a ledger's chain."""

from datetime import UTC, datetime

import pytest

from rocky.errors import ChangeRefused, InternalError, StoreUnreadable, StoreUnwritable
from rocky.store.anchor import Anchor, anchor_path, anchored_ledgers, read_anchor, write_anchor
from rocky.store.warehouse import open_warehouse
from tests.store.tables import Name, ids, replace_with

LEDGER = "0123456789abcdef0123456789abcdef"
ANCHOR = Anchor(
    "ab" * 32, 7, "run-20260530-110422-643", datetime(2026, 5, 30, 11, 4, 22, 643494, tzinfo=UTC)
)
LATER = Anchor("cd" * 32, 9, "run-20260530-120000-000", datetime(2026, 5, 30, 12, tzinfo=UTC))


def known(*anchors):
    return lambda found: found in anchors


@pytest.fixture
def warehouse(tmp_path):
    return open_warehouse("warehouse ä", base=tmp_path)


def stored(warehouse):
    return warehouse.objects.local_path(anchor_path(LEDGER))


def test_there_is_no_anchor_before_the_first(warehouse):
    assert None is read_anchor(warehouse, LEDGER)
    assert [] == anchored_ledgers(warehouse)


def test_an_anchor_is_canonical_json_in_a_folder_of_rockys_own(warehouse):
    assert write_anchor(warehouse, LEDGER, ANCHOR, known())

    assert f"_rocky/{LEDGER}.json" == anchor_path(LEDGER)
    assert (
        '{"head":"' + "ab" * 32 + '","recorded_at":"2026-05-30T11:04:22.643494Z",'
        '"run_id":"run-20260530-110422-643","seq":7}'
    ) == stored(warehouse).read_text()
    assert ANCHOR == read_anchor(warehouse, LEDGER)
    assert [LEDGER] == anchored_ledgers(warehouse)


def test_an_anchor_moves_on_with_its_ledger(warehouse):
    write_anchor(warehouse, LEDGER, ANCHOR, known())

    assert write_anchor(warehouse, LEDGER, LATER, known(ANCHOR))
    assert LATER == read_anchor(warehouse, LEDGER)
    assert [stored(warehouse).name] == [each.name for each in stored(warehouse).parent.iterdir()]


def test_an_anchor_that_another_run_has_moved_further_stays_there(warehouse):
    write_anchor(warehouse, LEDGER, LATER, known())

    assert write_anchor(warehouse, LEDGER, ANCHOR, known(LATER))
    assert LATER == read_anchor(warehouse, LEDGER)


def test_an_older_anchor_that_was_written_at_the_same_time_is_replaced(warehouse, monkeypatch):
    write_anchor(warehouse, LEDGER, ANCHOR, known())
    older, put, late = stored(warehouse).read_bytes(), type(warehouse.objects).put, [True]

    def put_and_lose(objects, path, data):
        put(objects, path, older if late.pop() else data)
        late.append(False)

    monkeypatch.setattr(type(warehouse.objects), "put", put_and_lose)

    assert write_anchor(warehouse, LEDGER, LATER, known(ANCHOR))
    assert LATER == read_anchor(warehouse, LEDGER)


def test_a_ledger_that_was_rolled_back_does_not_wipe_out_the_trace(warehouse):
    write_anchor(warehouse, LEDGER, ANCHOR, known())
    before = stored(warehouse).read_bytes()

    assert not write_anchor(warehouse, LEDGER, LATER, known(LATER))
    assert before == stored(warehouse).read_bytes()


def test_ledgers_have_an_anchor_each(warehouse):
    other = "f" * 32
    write_anchor(warehouse, LEDGER, ANCHOR, known())
    write_anchor(warehouse, other, LATER, known())

    assert (ANCHOR, LATER) == (read_anchor(warehouse, LEDGER), read_anchor(warehouse, other))
    assert [LEDGER, other] == anchored_ledgers(warehouse)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:-1],
        lambda text: "",
        lambda text: "[]",
        lambda text: "7",
        lambda text: text.replace('"seq":7', '"seq":"7"'),
        lambda text: text.replace('"seq":7', '"seq":true'),
        lambda text: text.replace("ab", "AB", 1),
        lambda text: text.replace('"run_id"', '"run"'),
        lambda text: text.replace('"run_id":"run-20260530-110422-643"', '"run_id":3'),
        lambda text: text.replace("2026-05-30T", "soon"),
        lambda text: text.replace("643494Z", "643494"),
        lambda text: text.replace(",", ", "),
        lambda text: text + "\n",
    ],
)
def test_a_damaged_anchor_is_not_an_absent_one(warehouse, change):
    write_anchor(warehouse, LEDGER, ANCHOR, known())
    stored(warehouse).write_text(change(stored(warehouse).read_text()))

    with pytest.raises(StoreUnreadable, match=rf"could not read `.*/_rocky/{LEDGER}.json`: it is"):
        read_anchor(warehouse, LEDGER)
    with pytest.raises(StoreUnreadable):
        write_anchor(warehouse, LEDGER, LATER, known(ANCHOR))


def test_an_anchor_that_cannot_be_written_is_told(warehouse):
    stored(warehouse).parent.parent.mkdir()
    stored(warehouse).parent.write_text("in the way")

    with pytest.raises((StoreUnreadable, StoreUnwritable), match="a file lies where a folder"):
        write_anchor(warehouse, LEDGER, ANCHOR, known())


@pytest.mark.parametrize("name", ["", "../x", "run", "A" * 32])
def test_only_the_id_of_a_ledger_names_an_anchor(warehouse, name):
    with pytest.raises(InternalError, match="is not the id of a ledger"):
        read_anchor(warehouse, name)


def test_the_folder_of_anchors_is_no_catalog(warehouse):
    table = warehouse.table(Name("shop", "core", "orders"))
    replace_with(table, ids(table, 1))
    write_anchor(warehouse, LEDGER, ANCHOR, known())
    # What looks like a table there is none either.
    warehouse.objects.put("_rocky/s/t/_delta_log/00000000000000000000.json", b"{}")

    assert ["shop.core.orders"] == [each.name for each in warehouse.tables()]


@pytest.mark.parametrize("catalog", ["_rocky", "_Rocky"])
def test_a_catalog_may_not_be_called_as_the_folder_of_anchors(warehouse, catalog):
    with pytest.raises(ChangeRefused, match=r"Rocky keeps things of its own in `_rocky`; name ano"):
        warehouse.table(Name(catalog, "s", "t"))
