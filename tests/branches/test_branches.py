"""Branches: made without copying, run without touching production, deleted without a trace."""

import json
import shutil

import pytest

import rocky
from rocky.errors import ChangeRefused, NothingSelected
from rocky.ledger import open_ledger
from rocky.ledger.branches import load_branches
from tests.branches.shops import BranchShop, Template, enter_shop

pytestmark = pytest.mark.slow

MORE = "SELECT id, country, id * 2 AS twice FROM raw.orders"


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Template:
    return Template(tmp_path_factory.mktemp("built"), lambda shop: shop.do("run"))


@pytest.fixture
def shop(built, monkeypatch) -> BranchShop:
    return built.put_back(monkeypatch)


def test_a_branch_has_every_table_as_production_has_it(shop):
    shop.do("branch", "create", "b1")

    files = {name: files for name, (_, files) in shop.contents().items()}
    assert files == {name: files for name, (_, files) in shop.contents("b1").items()}
    assert [] == shop.findings()
    assert [] == shop.findings("b1")


def test_making_one_copies_no_byte_of_data(shop):
    shop.do("branch", "create", "b1")

    for name in shop.contents():
        here, there = shop.table(name), shop.table(name, "b1")
        for file in here.snapshot().files:
            one, other = (each.place_of(file).local for each in (here, there))
            assert one.samefile(other)


def test_a_run_on_a_branch_of_the_same_code_builds_nothing(shop):
    shop.do("branch", "create", "b1")
    before = shop.contents("b1")

    shop.do("run", "--branch", "b1")

    # What is incremental looks for new rows and finds none.
    assert before == shop.contents("b1")


def test_a_run_on_a_branch_builds_what_the_code_makes_differently_and_leaves_production(shop):
    shop.do("branch", "create", "b1")
    production, state = shop.contents(), shop.state().read_bytes()
    shop.write(stg_orders=MORE)

    shop.do("run", "--branch", "b1")

    assert [(1, "DE", 2), (2, "DE", 4), (3, "FR", 6)] == shop.rows("stg_orders", "b1")
    assert [(1, "DE"), (2, "DE"), (3, "FR")] == shop.rows("stg_orders")
    assert production == shop.contents()
    assert state == shop.state().read_bytes()
    assert [] == shop.findings() + shop.findings("b1")


def test_an_incremental_table_goes_on_from_where_production_was(shop):
    shop.do("branch", "create", "b1")
    events = shop.root / "data/events.csv"
    events.write_text(events.read_text() + "3,2026-01-03T00:00:00\n")

    shop.do("run", "--branch", "b1")

    table = shop.table("events", "b1")
    assert 3 == table.snapshot().rows
    assert 2 == len(table.snapshot().files)
    assert 2 == shop.table("events").snapshot().rows


def test_a_branch_can_be_made_of_what_a_run_left(shop):
    first = shop.do("history").splitlines()
    run_id = next(word for line in first for word in line.split() if word.startswith("run-"))
    shop.write(stg_orders=MORE)
    shop.do("run")

    shop.do("branch", "create", "old", "--from", run_id)

    assert [(1, "DE"), (2, "DE"), (3, "FR")] == shop.rows("stg_orders", "old")
    assert [] == shop.findings("old")


def test_a_branch_can_be_made_of_a_commit_that_was_run(shop):
    commit = shop.git("rev-parse", "HEAD")
    shop.write(stg_orders=MORE)
    shop.commit("twice")
    shop.do("run")

    shop.do("branch", "create", "old", "--from", commit[:10])

    assert [(1, "DE"), (2, "DE"), (3, "FR")] == shop.rows("stg_orders", "old")


def test_a_branch_can_be_made_of_another(shop):
    shop.do("branch", "create", "b1")
    shop.write(stg_orders=MORE)
    shop.do("run", "--branch", "b1")

    shop.do("branch", "create", "b2", "--from", "b1")

    assert shop.rows("stg_orders", "b1") == shop.rows("stg_orders", "b2")
    assert [] == shop.findings("b2")


def test_what_is_neither_branch_run_nor_commit_is_refused(shop):
    answer = shop.rocky("branch", "create", "b1", "--from", "nothing")

    assert 1 == answer.code
    assert "`nothing` is not a branch, a run or a commit" in answer.err
    assert () == load_branches(shop.state())


@pytest.mark.parametrize("name", ["", "-x", "a/b", "..", "x" * 65, "a b"])
def test_a_name_that_is_no_folder_is_refused(shop, name):
    answer = shop.rocky("branch", "create", "--", name)

    assert 1 == answer.code
    assert "cannot be the name of a branch" in answer.err


def test_a_second_branch_of_a_name_is_refused_whatever_its_case(shop):
    shop.do("branch", "create", "b1")

    assert "there is a branch `b1` already" in shop.rocky("branch", "create", "B1").err


def test_an_unknown_branch_is_refused_with_the_nearest_name(shop):
    shop.do("branch", "create", "feature")

    for command in (["run"], ["show", "report"], ["history"], ["plan"], ["verify"]):
        answer = shop.rocky(*command, "--branch", "featur")
        assert (command, 1) == (command, answer.code)
        assert "no branch `featur`; did you mean `feature`?" in answer.err


def test_a_deleted_branch_leaves_production_and_its_record(shop):
    before = shop.contents()
    shop.do("branch", "create", "b1")
    shop.do("branch", "delete", "b1")

    assert before == shop.contents()
    assert not (shop.root / "warehouse/branch__b1").exists()
    assert not shop.state("b1").exists()
    assert ["deleted"] == [each.status for each in load_branches(shop.state())]
    assert [] == shop.findings()


def test_a_branch_can_be_made_again_under_the_name_of_a_deleted_one(shop):
    shop.do("branch", "create", "b1")
    shop.do("branch", "delete", "b1")
    shop.do("branch", "create", "b1")

    assert [] == shop.findings() + shop.findings("b1")


def test_what_a_creation_that_died_has_left_is_cleared_away(shop, monkeypatch):
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("rocky.branches.lifecycle.replace_state", die)
        assert 130 == shop.rocky("branch", "create", "b1").code
    assert () == load_branches(shop.state())

    shop.do("branch", "create", "b1")

    assert [] == shop.findings() + shop.findings("b1")


def test_production_cannot_have_a_catalog_that_looks_like_a_branch(shop):
    shop.write(odd="SELECT 1 AS one")
    (shop.root / "models/odd.toml").write_text('[target]\ncatalog = "branch__x"\n')

    answer = shop.rocky("run", "--model", "odd")

    assert 1 == answer.code
    assert "branch__x" in answer.err + answer.out


def test_a_branch_can_be_run_from_python(shop):
    shop.do("branch", "create", "b1")
    shop.write(stg_orders=MORE)
    before = shop.contents()

    report = rocky.open(shop.root, branch="b1", env={}).run()

    assert 0 == report.exit_code
    assert [(1, "DE", 2), (2, "DE", 4), (3, "FR", 6)] == shop.rows("stg_orders", "b1")
    assert before == shop.contents()
    with pytest.raises(NothingSelected, match="no branch `b9`"):
        rocky.open(shop.root, branch="b9", env={}).run()


def test_what_a_clone_took_is_no_estimate_of_a_build(shop):
    shop.do("branch", "create", "b1")
    shop.write(stg_orders=MORE)

    document = json.loads(shop.rocky("plan", "--branch", "b1", "-o", "json").out)

    assert 0 == document["estimate"].get("from_runs", 0)
    assert "duration_ms" not in document["estimate"]


def test_a_branch_of_another_state_file_is_not_overwritten(shop):
    """Two people with one warehouse, each with a state file of their own."""
    shop.do("branch", "create", "b1")
    mine = shop.contents("b1")
    colleague = shop.root / "colleague.db"
    shutil.copyfile(shop.root / ".rocky-state.db", colleague)
    with open_ledger(colleague) as ledger, ledger.transaction() as rows:
        rows.remove("branches", "b1")

    workspace = rocky.open(shop.root, state_path=colleague)
    with pytest.raises(ChangeRefused, match="of a branch `b1` that this state file did not make"):
        workspace.branch("b1").create()

    assert mine == shop.contents("b1")
    assert [] == shop.findings("b1")


def test_why_a_model_is_built_names_the_inputs_that_changed_and_no_other(tmp_path, monkeypatch):
    enter_shop(tmp_path, monkeypatch)
    shop = BranchShop(tmp_path)
    shop.create()
    shop.write(joined="SELECT e.id FROM stg_orders AS o JOIN events AS e ON e.id = o.id")
    shop.commit("two inputs")
    shop.do("run")
    shop.do("branch", "create", "b1")
    shop.write(stg_orders="SELECT id, country FROM raw.orders WHERE id > 1")

    said = shop.rocky("run", "--branch", "b1").err
    (line,) = (each for each in said.splitlines() if "built  joined" in each)
    assert line.endswith("`stg_orders` changed")

    shop.commit("fewer orders")
    shop.do("branch", "promote", "b1")
    shop.write(stg_orders="SELECT id, country FROM raw.orders WHERE id > 2")
    said = shop.rocky("run").err
    (line,) = (each for each in said.splitlines() if "built  joined" in each)
    assert line.endswith("`stg_orders` changed")
