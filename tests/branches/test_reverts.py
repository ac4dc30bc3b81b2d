"""Reverts: what production remembers of a table goes back with it, and going back is said once."""

from datetime import UTC, datetime, timedelta

import pytest

from rocky.branches.promotion.reversals import find_promotion
from rocky.ledger import open_history_reader, open_ledger
from rocky.ledger.branch_records import PromotionRecord
from rocky.ledger.branches import load_branches, load_promotions, record_promotion_tables
from rocky.ledger.record import RunId
from rocky.operations.branch import promotion as operation
from rocky.store.delta.change import Change
from rocky.store.parquet.rows import load_rows
from tests.branches.shops import TABLE, BranchShop, Template
from tests.run.runs import write

pytestmark = pytest.mark.slow

TODAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
DAYS = [f"{TODAY - timedelta(days=back):%Y-%m-%d}" for back in (3, 2, 1)]
MORE = {
    "rocky.toml": (
        '[pipeline.shop]\nmodels = "models/**"\n[pipeline.files]\ntype = "load"\n'
        'source_dir = "files"\ntarget = { catalog = "c", schema = "files", table = "t" }\n'
    ),
    "files/one.csv": "id\n1\n",
    "sources/visits.toml": (
        '[[source]]\nname = "raw.visits"\nformat = "csv"\npath = "data/visits.csv"\ncolumns ='
        ' [ { name = "id", type = "bigint" }, { name = "seen", type = "timestamp",'
        " nullable = false } ]\n"
    ),
    "data/visits.csv": "id,seen\n"
    + "".join(f"{at},{day}T00:00:00\n" for at, day in enumerate(DAYS)),
    "models/daily.sql": (
        "SELECT id, seen FROM raw.visits WHERE seen >= @start_date AND seen < @end_date"
    ),
    "models/daily.toml": (
        '[strategy]\ntype = "time_interval"\ntime_column = "seen"\ngranularity = "day"\n'
        f'first_partition = "{DAYS[0]}"\n'
    ),
    "models/none.sql": "SELECT id FROM raw.orders WHERE id > 100",
    "models/scaled.sql": "SELECT id, seen, id AS value FROM raw.events",
    "models/log.sql": "SELECT id, seen, value FROM scaled",
    "models/log.toml": '[strategy]\ntype = "incremental"\ntimestamp_column = "seen"\n',
}
SCALED = "SELECT id, seen, id * 100 AS value FROM raw.events"


def prepare(shop: BranchShop) -> None:
    write(shop.root, MORE)
    shop.commit("more of the shop")
    shop.do("run", "--model", "daily", "--partition", DAYS[0])
    shop.do("run")
    shop.do("branch", "create", "b1")
    write(shop.root, {"files/two.csv": "id\n2\n"})
    shop.write(none="SELECT id, 1 AS one FROM raw.orders WHERE id > 100", scaled=SCALED)
    shop.do("run", "--branch", "b1")
    shop.do("run", "--branch", "b1", "--model", "daily", "--missing")
    shop.do("branch", "promote", "b1")


@pytest.fixture(scope="module")
def promoted(tmp_path_factory) -> Template:
    return Template(tmp_path_factory.mktemp("promoted"), prepare)


@pytest.fixture
def shop(promoted, monkeypatch) -> BranchShop:
    """A shop that has promoted `b1`: another file, two more days, two changed models."""
    return promoted.put_back(monkeypatch)


def loaded(shop: BranchShop, branch: str | None = None) -> list[int]:
    (table,) = (each for each in shop.warehouse(branch).tables() if each.name == "c.files.t")
    return sorted(number for (number,) in load_rows(table, table.snapshot(), 100))


def days(shop: BranchShop, branch: str | None = None) -> list[str]:
    return [f"{seen:%Y-%m-%d}" for _, seen in shop.rows("daily", branch)]


def test_files_that_were_loaded_on_the_branch_are_loaded_again_after_a_revert(shop):
    assert [1, 2] == loaded(shop)

    shop.do("branch", "revert", "b1")
    assert [1] == loaded(shop)

    shop.do("run", "--pipeline", "files")
    assert [1, 2] == loaded(shop)
    assert [] == shop.findings()


def test_files_that_were_loaded_since_are_loaded_again_after_a_revert_that_drops_them(shop):
    write(shop.root, {"files/three.csv": "id\n3\n"})
    shop.do("run", "--pipeline", "files")

    shop.do("branch", "revert", "b1", "--discard-later")
    shop.do("run", "--pipeline", "files")

    assert [1, 2, 3] == loaded(shop)
    assert [] == shop.findings()


def test_a_load_that_fails_after_a_revert_does_not_take_files_for_loaded(shop):
    write(shop.root, {"files/three.csv": "id\n3\n"})
    shop.do("run", "--pipeline", "files")
    shop.do("branch", "revert", "b1", "--discard-later")
    write(shop.root, {"files/two.csv": "number\nx\n"})
    assert 0 != shop.rocky("run", "--pipeline", "files").code

    write(shop.root, {"files/two.csv": "id\n2\n"})
    shop.do("run", "--pipeline", "files")

    assert [1, 2, 3] == loaded(shop)


def test_days_that_were_built_on_the_branch_are_missing_again_after_a_revert(shop):
    assert DAYS == days(shop)

    shop.do("branch", "revert", "b1")
    assert DAYS[:1] == days(shop)

    shop.do("run", "--model", "daily", "--missing")
    assert DAYS == days(shop)
    assert [] == shop.findings()


def test_a_revert_that_is_reverted_brings_back_what_was_remembered_too(shop):
    shop.do("branch", "revert", "b1")
    shop.do("branch", "revert", load_promotions(shop.state())[-1].run_id)

    shop.do("run", "--pipeline", "files")
    shop.do("run", "--model", "daily", "--missing")

    assert ([1, 2], DAYS) == (loaded(shop), days(shop))
    assert [] == shop.findings()


def test_a_branch_of_a_former_run_knows_only_what_was_known_then(shop):
    with open_history_reader(shop.state()) as reader:
        before_promotion = [each.run_id for each in reader.runs()][1]

    shop.do("branch", "create", "old", "--from", before_promotion)
    assert ([1], DAYS[:1]) == (loaded(shop, "old"), days(shop, "old"))

    shop.do("run", "--branch", "old", "--pipeline", "files")
    shop.do("run", "--branch", "old", "--model", "daily", "--missing")
    assert ([1, 2], DAYS) == (loaded(shop, "old"), days(shop, "old"))
    assert [] == shop.findings("old")


def test_reverting_a_branch_twice_does_not_bring_it_back(shop):
    shop.do("branch", "revert", "b1")
    before = shop.contents()
    promotion, revert = load_promotions(shop.state())

    answer = shop.rocky("branch", "revert", "b1")

    assert 1 == answer.code
    assert f"`{promotion.run_id}` was reverted already, by `{revert.run_id}`" in answer.err
    assert before == shop.contents()


def test_a_promotion_whose_revert_was_reverted_can_be_reverted(shop):
    shop.do("branch", "revert", "b1")
    before = {name: files for name, (_, files) in shop.contents().items()}
    shop.do("branch", "revert", load_promotions(shop.state())[-1].run_id)

    shop.do("branch", "revert", "b1")

    assert before == {name: files for name, (_, files) in shop.contents().items()}


def test_a_revert_that_was_undone_stands_in_nobodys_way(shop, monkeypatch):
    revert = operation.revert_tables

    def meddle(step: str) -> None:
        if step == "commits":
            table = shop.table("none")
            now = table.snapshot()
            table.commit(Change("REPLACE", now, now.schema, (), now.files, info={"by": "me"}))

    with monkeypatch.context() as patch:
        patch.setattr(operation, "revert_tables", lambda *a, **k: revert(*a, **k, watch=meddle))
        assert 1 == shop.rocky("branch", "revert", "b1").code
    assert "undone" == load_promotions(shop.state())[-1].kind

    shop.do("branch", "revert", "b1")
    assert [1] == loaded(shop)


def test_a_promotion_is_found_by_the_id_of_the_run_that_began_it(tmp_path):
    state = tmp_path / "state.db"
    record = PromotionRecord(RunId("run-2"), "promote", "b1", "ann", TODAY, recovers=RunId("run-1"))
    with open_ledger(state) as ledger:
        record_promotion_tables(ledger, record.run_id, [], record)

    assert record == find_promotion(state, "run-1")


def test_columns_of_an_empty_table_that_have_changed_since_are_not_thrown_away_unasked(shop):
    shop.write(none="SELECT id, 1 AS one, 2 AS two FROM raw.orders WHERE id > 100")
    shop.do("run", "--model", "none")

    answer = shop.rocky("branch", "revert", "b1")

    assert 1 == answer.code
    assert f"`{TABLE}none` was promoted as version 1 and is at 2" in answer.err


def test_a_revert_names_tables_that_keep_rows_made_of_what_it_moves_back(shop):
    events = shop.root / "data/events.csv"
    events.write_text(events.read_text() + "3,2026-01-03T00:00:00\n")
    shop.do("run")
    assert [1, 2, 300] == [value for _, _, value in shop.rows("log")]

    said = shop.do("branch", "revert", "b1", "--discard-later")

    assert f"{TABLE}log: it still has rows that were built from tables which are moved back" in said
    assert "`rocky run --model log --full-refresh` rebuilds it" in said


def test_what_was_collected_since_can_be_built_again_by_the_code_from_before(shop):
    table = shop.table("scaled")
    (old,) = table.snapshot(0).files
    table.place_of(old).local.unlink()

    answer = shop.rocky("branch", "revert", "b1")

    assert 1 == answer.code
    assert "was collected since; go back to the code from before, and `rocky run`" in answer.err


def test_a_branch_can_be_promoted_again(shop):
    shop.write(scaled="SELECT id, seen, id * 1000 AS value FROM raw.events")
    shop.do("run", "--branch", "b1")
    shop.do("branch", "promote", "b1")

    assert [1000, 2000] == [value for _, _, value in shop.rows("scaled")]
    shop.do("branch", "revert", "b1")
    assert [100, 200] == [value for _, _, value in shop.rows("scaled")]
    assert [] == shop.findings()


def test_a_branch_can_be_mended_and_promoted_again_after_a_revert(shop):
    shop.do("branch", "revert", "b1")
    shop.write(scaled="SELECT id, seen, id * 1000 AS value FROM raw.events")
    shop.do("run", "--branch", "b1")

    shop.do("branch", "promote", "b1")

    assert [1000, 2000] == [value for _, _, value in shop.rows("scaled")]
    assert [1, 2] == loaded(shop)
    assert [] == shop.findings()


def test_what_production_changes_after_a_promotion_is_not_overwritten_by_the_next(shop):
    shop.write(scaled="SELECT id, seen, id * 10 AS value FROM raw.events")
    shop.do("run", "--model", "scaled")
    shop.write(scaled="SELECT id, seen, id * 1000 AS value FROM raw.events")
    shop.do("run", "--branch", "b1")

    answer = shop.rocky("branch", "promote", "b1")

    assert 1 == answer.code
    assert f"`{TABLE}scaled` was at version 1 and is at version 2" in answer.err


def test_a_branch_that_was_made_anew_is_made_of_production_as_it_was_then(shop):
    shop.do("branch", "rebase", "b1")
    (record,) = load_branches(shop.state())
    assert {} == record.at

    shop.do("branch", "revert", "b1")

    (after,) = load_branches(shop.state())
    assert record == after
