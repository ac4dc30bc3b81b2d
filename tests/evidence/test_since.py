"""What is checked after a point in the chain, what is not, and that the report says which."""

import sqlite3
from contextlib import closing

import pytest

from rocky.evidence.scope import Point, VerificationScope
from rocky.ledger.record import load_record
from tests.evidence.shops import STATE, codes, verify
from tests.run.long_histories import LongHistory
from tests.run.runs import Shop

pytestmark = pytest.mark.slow


def after(seq: int, digest: str | None = None) -> VerificationScope:
    return VerificationScope(since=Point(seq, digest))


@pytest.fixture
def shop(tmp_path) -> Shop:
    """A shop that was built, built again and left as it was."""
    shop = Shop(tmp_path)
    shop.run()
    shop.write("data/orders.csv", "id,country\n1,DE\n2,DE\n4,FR\n")
    shop.run()
    shop.run()
    return shop


def ends(shop: Shop) -> list[int]:
    with closing(sqlite3.connect(shop.root / STATE)) as file:
        found = file.execute(
            "SELECT max(key) FROM evidence_chain WHERE value ->> 'table' = 'run_history'"
            " GROUP BY value ->> 'key' ORDER BY 1"
        )
        return [int(last) for (last,) in found]


def test_only_runs_after_the_point_are_judged_and_only_their_own_files_read(shop):
    first, _, third = ends(shop)
    whole = verify(shop.root)
    late, none = verify(shop.root, after(first)), verify(shop.root, after(third))

    assert ((), (), ()) == (whole.findings, late.findings, none.findings)
    assert (3, 2, 0) == tuple(each.checked["runs"] for each in (whole, late, none))
    assert (1, 3) == (late.checked["earlier_runs"], none.checked["earlier_runs"])
    # Three tables were built anew; the others, and all of the third run, were there already.
    assert whole.checked["files"] > late.checked["files"] > none.checked["files"] == 0
    assert late.checked["unread"] > 0
    # The chain holds as a whole or not at all.
    for each in (late, none):
        assert whole.checked["entries"] == each.checked["entries"]
        assert whole.checked["records"] == each.checked["records"]


def test_a_file_of_an_earlier_run_is_not_covered_and_one_of_a_later_run_is(shop):
    first, second, _ = ends(shop)
    names = {each.name for each in shop.snapshot("stg_orders").files}
    (path,) = (shop.folder("stg_orders") / name for name in names)
    path.write_bytes(path.read_bytes() + b"x")

    assert ["file_changed"] == codes(verify(shop.root, after(first)).findings)
    assert [] == codes(verify(shop.root, after(second)).findings)


def test_a_record_from_before_the_point_that_was_changed_is_found_all_the_same(shop):
    with closing(sqlite3.connect(shop.root / STATE)) as file:
        file.execute(
            "UPDATE model_executions SET value = json_set(value, '$.rows_affected', 99)"
            " WHERE key = (SELECT min(key) FROM model_executions)"
        )
        file.commit()

    assert "record_changed" in codes(verify(shop.root, after(ends(shop)[-1])).findings)


def test_nothing_is_left_out_by_a_seal_that_the_chain_does_not_have(shop):
    first, _, last = ends(shop)

    assert verify(shop.root, after(first, "0" * 64)).since is None
    assert verify(shop.root, after(last + 1000)).since is None
    assert 3 == verify(shop.root, after(first, "0" * 64)).checked["runs"]


def test_idle_runs_from_before_the_point_are_not_even_decoded(tmp_path, monkeypatch):
    past = LongHistory(tmp_path, builds=1)
    past.grow(100)
    end = verify(tmp_path).head.seq
    past.idle()
    loaded = []

    def counted(kind, *row):
        loaded.append(kind)
        return load_record(kind, *row)

    monkeypatch.setattr("rocky.evidence.records.load_record", counted)
    found = verify(tmp_path, after(end))

    assert ((), 1) == (found.findings, found.checked["runs"])
    assert len(loaded) < 60
