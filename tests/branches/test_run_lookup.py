"""A run is found by its id or the beginning of one, in production and on branches, and told whole."""

import pytest

import rocky as rocky_package
from rocky.errors import NothingSelected
from rocky.ledger import open_history_reader
from rocky.ledger.branches import load_promotions
from rocky.operations.rows.frame import TableRequest, table_frame
from rocky.operations.workspace import Workspace
from tests.branches.shops import BranchShop, Template

pytestmark = pytest.mark.slow


def prepare(shop: BranchShop) -> None:
    shop.do("run")
    shop.do("branch", "create", "fix")
    shop.write(stg_orders="SELECT id, country, 1 AS one FROM raw.orders")
    shop.do("run", "--branch", "fix")


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Template:
    return Template(tmp_path_factory.mktemp("built"), prepare)


@pytest.fixture
def shop(built, monkeypatch) -> BranchShop:
    """A shop that was run, and then on the branch `fix`."""
    return built.put_back(monkeypatch)


def run_ids(shop: BranchShop, branch: str | None = None) -> tuple[str, ...]:
    reader = open_history_reader(shop.state(branch))
    assert reader is not None
    with reader:
        return reader.run_ids()


@pytest.mark.parametrize("command", ["history", "trace", "cost", "replay"])
def test_a_run_of_a_branch_is_found_without_naming_the_branch(shop, command):
    run_id = run_ids(shop, "fix")[0]

    answer = shop.rocky(command, run_id)

    assert 0 == answer.code
    assert run_id in answer.out
    assert f"note: `{run_id}` is a run of branch `fix`" in answer.err
    assert answer.out == shop.do(command, run_id, "--branch", "fix")


def test_its_log_is_looked_for_under_its_own_id(shop):
    run_id = run_ids(shop, "fix")[0]

    assert f"run `{run_id}` has no log here" in shop.rocky("logs", run_id[:-1]).err


def test_a_branch_says_that_production_has_a_run_and_a_table_that_a_branch_has(shop):
    own, of_branch = run_ids(shop)[0], run_ids(shop, "fix")[0]

    said = shop.rocky("history", own, "--branch", "fix").err
    assert f"no run `{own}` in branch `fix`; production has `{own}`: leave `--branch` out" in said
    workspace = Workspace(shop.root, spark="a session")
    with pytest.raises(NothingSelected, match=f"branch `fix` has `{of_branch}`"):
        table_frame(workspace, TableRequest("stg_orders", run=of_branch))


@pytest.mark.parametrize("command", ["history", "trace", "cost", "replay", "verify"])
def test_the_beginning_of_an_id_is_enough_where_one_run_begins_so(shop, command):
    (run_id,) = run_ids(shop)

    assert shop.do(command, run_id) == shop.do(command, run_id[:-1])


def test_a_beginning_that_several_have_lists_them(shop):
    shop.do("run")
    ids = run_ids(shop)
    beginning = ids[0][: len("run-2026")]

    for command in ("history", "logs", "trace", "cost", "replay", "verify"):
        answer = shop.rocky(command, beginning)
        assert 1 == answer.code
        assert f"`{beginning}` begins the ids of 2 runs; give more of it:" in answer.err
        assert all(f"\n  {each}" in answer.err for each in ids)
    assert "no run `run-`" in shop.rocky("history", "run-").err


def test_a_promotion_and_its_revert_tell_what_was_moved_and_by_whom(shop):
    shop.commit("one more column")
    shop.do("branch", "promote", "fix", "-m", "the column is wanted")
    promotion = load_promotions(shop.state())[-1]
    told = shop.do("history", promotion.run_id).splitlines()

    assert told[0].startswith(f"{promotion.run_id}: success, started ")
    assert told[1].startswith("by ")
    assert "from commit " in told[1]
    assert "promoted branch `fix`: the column is wanted" in told
    (table,) = (each for each in promotion.tables if each.model_name == "stg_orders")
    moved = [each.split() for each in told if each.startswith(table.target)]
    versions = [str(table.from_version), str(table.to_version)]
    assert [[table.target, *versions, table.built_by]] == moved

    shop.do("branch", "revert", promotion.run_id[:-1])
    revert = load_promotions(shop.state())[-1]
    told = shop.do("history", revert.run_id).splitlines()
    assert f"took back {promotion.run_id}, the promotion of branch `fix`" in told
    account = rocky_package.open(shop.root).history(run=revert.run_id)
    assert revert == account.promotion
