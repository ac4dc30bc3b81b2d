"""Promotion: production moves to what a branch has made, all tables or none, and back again."""

import pytest

from rocky.ledger.branches import load_promotions
from rocky.ledger.readers.commits import open_lookup_reader
from rocky.store.delta.comments import Comments, comments_of
from tests.branches.shops import TABLE, BranchShop, Template

pytestmark = pytest.mark.slow

MORE = "SELECT id, country, id * 2 AS twice FROM raw.orders"


def prepare(shop: BranchShop) -> None:
    shop.do("run")
    shop.do("branch", "create", "b1")
    shop.write(stg_orders=MORE, extra="SELECT id, twice FROM stg_orders")
    shop.do("run", "--branch", "b1")


@pytest.fixture(scope="module")
def branched(tmp_path_factory) -> Template:
    return Template(tmp_path_factory.mktemp("branched"), prepare)


@pytest.fixture
def shop(branched, monkeypatch) -> BranchShop:
    """A shop whose branch `b1` has other code than production, and its tables built."""
    return branched.put_back(monkeypatch)


def test_production_gets_the_files_of_the_branch_and_nothing_is_built(shop):
    shop.do("branch", "promote", "b1")

    assert [(1, "DE", 2), (2, "DE", 4), (3, "FR", 6)] == shop.rows("stg_orders")
    assert [(1, 2), (2, 4), (3, 6)] == shop.rows("extra")
    files = {name: files for name, (_, files) in shop.contents("b1").items()}
    assert files == {name: files for name, (_, files) in shop.contents().items()}
    assert [] == shop.findings()


def test_the_next_run_of_production_builds_nothing(shop):
    shop.do("branch", "promote", "b1")
    before = shop.contents()

    said = shop.do("run")

    assert before == shop.contents()
    assert "built by" not in said
    assert [] == shop.findings()


def test_the_ledger_says_who_what_and_from_where(shop):
    shop.do("branch", "promote", "b1", "-m", "twice as much")

    (promotion,) = load_promotions(shop.state())
    assert ("promote", "b1", "ann@example.com", "twice as much") == (
        promotion.kind,
        promotion.branch,
        promotion.by,
        promotion.reason,
    )
    moved = {each.target: each for each in promotion.tables}
    assert {f"{TABLE}stg_orders", f"{TABLE}extra"} <= set(moved)
    assert 0 == moved[f"{TABLE}stg_orders"].from_version
    assert moved[f"{TABLE}extra"].from_version is None
    assert all(each.built_by is not None for each in promotion.tables)
    assert shop.git("rev-parse", "HEAD") == promotion.base_commit


def test_a_promoted_table_can_be_proved_and_is_indexed_in_production(shop):
    shop.do("branch", "promote", "b1")

    (promotion,) = load_promotions(shop.state())
    lookups = open_lookup_reader(shop.state())
    with lookups:
        made = lookups.provenance(promotion.run_id, "stg_orders")
        assert MORE in made.model_ir_canonical_json
        assert [made.input_hash] == list(lookups.index_entries([made.input_hash]))
        assert 1 == made.output_version


def test_what_production_has_changed_too_is_never_overwritten(shop):
    data = shop.root / "data/orders.csv"
    code = (shop.root / "models/stg_orders.sql").read_text()
    shop.git("stash", "-q", "--include-untracked")
    data.write_text(data.read_text() + "4,FR\n")
    shop.do("run")
    data.write_text("id,country\n1,DE\n2,DE\n3,FR\n")
    shop.git("stash", "pop", "-q")
    assert code == (shop.root / "models/stg_orders.sql").read_text()
    before = shop.contents()

    answer = shop.rocky("branch", "promote", "b1")

    assert 1 == answer.code
    assert "production has changed since the branch was made" in answer.err
    assert f"`{TABLE}stg_orders` was at version 0 and is at version 1" in answer.err
    assert before == shop.contents()

    shop.do("branch", "rebase", "b1")
    shop.do("run", "--branch", "b1")
    shop.do("branch", "promote", "b1")
    assert [] == shop.findings()


def test_a_branch_whose_code_has_changed_since_it_ran_is_refused(shop):
    shop.write(stg_orders="SELECT id, country, id * 3 AS twice FROM raw.orders")

    answer = shop.rocky("branch", "promote", "b1")

    assert 1 == answer.code
    assert "do not match the code" in answer.err
    assert "rocky run --branch b1" in answer.err


def test_a_branch_that_has_changed_nothing_is_refused(shop):
    shop.do("branch", "promote", "b1")

    answer = shop.rocky("branch", "promote", "b1")

    assert 1 == answer.code


def test_a_change_that_breaks_readers_is_refused(shop):
    shop.write(stg_orders="SELECT id, country, id * 2 AS twice FROM raw.orders WHERE id > 0")
    shop.write(alone="SELECT 1 AS two")
    shop.do("run", "--branch", "b1")
    before = shop.contents()

    answer = shop.rocky("branch", "promote", "b1")

    assert 1 == answer.code
    assert "the change breaks readers: alone" in answer.err
    assert "--allow-breaking" in answer.err
    assert before == shop.contents()


def test_a_branch_of_a_branch_is_not_promoted(shop):
    shop.do("branch", "create", "b2", "--from", "b1")

    assert "was made from branch `b1`" in shop.rocky("branch", "promote", "b2").err


def test_a_revert_gives_production_what_it_had(shop):
    shop.git("stash", "-q", "--include-untracked")
    before = {name: files for name, (_, files) in shop.contents().items()}
    shop.git("stash", "pop", "-q")
    shop.do("branch", "promote", "b1")

    shop.do("branch", "revert", "b1", "-m", "too much")

    after = {name: files for name, (_, files) in shop.contents().items()}
    assert before == {name: files for name, files in after.items() if name != "extra"}
    assert [] == shop.findings()
    promotion, revert = load_promotions(shop.state())
    assert ("revert", promotion.run_id, "too much") == (revert.kind, revert.reverts, revert.reason)
    assert [f"{TABLE}extra"] == list(revert.left)


def test_after_a_revert_the_old_code_builds_nothing(shop):
    shop.do("branch", "promote", "b1")
    shop.do("branch", "revert", "b1")
    shop.git("stash", "-q", "--include-untracked")
    before = shop.contents()

    shop.do("run")

    assert {name: files for name, (_, files) in before.items()} == {
        name: files for name, (_, files) in shop.contents().items()
    }
    assert [] == shop.findings()


def test_a_revert_can_be_reverted(shop):
    shop.do("branch", "promote", "b1")
    promoted = {name: files for name, (_, files) in shop.contents().items()}
    shop.do("branch", "revert", "b1")
    revert = load_promotions(shop.state())[-1].run_id

    shop.do("branch", "revert", revert)

    assert promoted == {name: files for name, (_, files) in shop.contents().items()}
    assert [] == shop.findings()


def test_what_was_built_since_is_not_thrown_away_unasked(shop):
    shop.do("branch", "promote", "b1")
    data = shop.root / "data/orders.csv"
    data.write_text(data.read_text() + "4,FR\n")
    shop.do("run")

    answer = shop.rocky("branch", "revert", "b1")
    assert 1 == answer.code
    assert f"`{TABLE}stg_orders` was promoted as version 1 and is at 2" in answer.err

    shop.do("branch", "revert", "b1", "--discard-later")
    assert [(1, "DE"), (2, "DE"), (3, "FR")] == shop.rows("stg_orders")
    assert [] == shop.findings()


def test_an_incremental_table_keeps_its_place_when_it_is_promoted_and_reverted(shop):
    events = shop.root / "data/events.csv"
    events.write_text(events.read_text() + "3,2026-01-03T00:00:00\n")
    shop.do("run", "--branch", "b1")
    shop.do("branch", "promote", "b1")
    assert 3 == len(shop.rows("events"))

    events.write_text(events.read_text() + "4,2026-01-04T00:00:00\n")
    shop.do("run")
    assert 4 == len(shop.rows("events"))

    shop.do("branch", "revert", "b1", "--discard-later")
    assert 2 == len(shop.rows("events"))
    shop.do("run")
    assert 4 == len(shop.rows("events"))
    assert [] == shop.findings()


def test_the_branch_can_be_deleted_afterwards(shop):
    shop.do("branch", "promote", "b1")
    shop.do("branch", "delete", "b1")

    assert [] == shop.findings()
    assert [(1, 2), (2, 4), (3, 6)] == shop.rows("extra")


def test_the_commit_in_the_log_names_the_branch_and_who_built_it(shop):
    shop.do("branch", "promote", "b1")

    table = shop.table("stg_orders")
    info = table.history()[0]
    (promotion,) = load_promotions(shop.state())
    built_by = {each.target: each.built_by for each in promotion.tables}[table.name]
    assert ("b1", promotion.run_id, built_by) == (
        info["promotedFrom"],
        info["runId"],
        info["builtBy"],
    )


def test_descriptions_go_with_the_tables_and_come_back_with_a_revert(shop):
    (shop.root / "models/stg_orders.toml").write_text('description = "orders, twice"\n')
    shop.do("run", "--branch", "b1")
    shop.do("branch", "promote", "b1")
    promoted = shop.table("stg_orders").snapshot()
    before = shop.contents()
    shop.do("run")

    assert "orders, twice" == comments_of(shop.table("stg_orders", "b1").snapshot()).table
    assert "orders, twice" == comments_of(promoted).table
    assert before == shop.contents()
    assert [] == shop.findings()

    (promotion,) = load_promotions(shop.state())
    shop.do("branch", "revert", promotion.run_id)
    assert Comments() == comments_of(shop.table("stg_orders").snapshot())
    assert [] == shop.findings()
