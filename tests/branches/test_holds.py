"""Holds: what was reverted stays reverted until git says otherwise, or somebody forces a run."""

import json

import pytest

import rocky
from rocky.ledger import open_history_reader
from rocky.ledger.branches import load_promotions
from tests.branches.shops import BranchShop, Template
from tests.run.runs import write

pytestmark = pytest.mark.slow

OLD = "SELECT id, country FROM raw.orders"
NEW = "SELECT id, upper(country) AS country FROM raw.orders WHERE id < 3"
OTHER = "SELECT id, lower(country) AS country FROM raw.orders"


def prepare(shop: BranchShop) -> None:
    """A model and a seed that were changed on a branch, promoted, merged and reverted."""
    shop.do("run")
    shop.do("branch", "create", "b1")
    shop.write(stg_orders=NEW)
    write(shop.root, {"seeds/countries.csv": "code,label\nDE,Deutschland\nFR,Frankreich\n"})
    shop.commit("another way")
    shop.do("run", "--branch", "b1")
    shop.do("branch", "promote", "b1")
    shop.do("branch", "revert", "b1")


@pytest.fixture(scope="module")
def reverted(tmp_path_factory) -> Template:
    return Template(tmp_path_factory.mktemp("reverted"), prepare)


@pytest.fixture
def shop(reverted, monkeypatch) -> BranchShop:
    return reverted.put_back(monkeypatch)


def revert_id(shop: BranchShop) -> str:
    return load_promotions(shop.state())[-1].run_id


def decisions(shop: BranchShop) -> dict[str, tuple[str | None, str | None]]:
    """What the newest run decided of each model, and why."""
    with open_history_reader(shop.state()) as reader:
        run = reader.run("latest")
    assert run is not None
    return {each.model_name: (each.decision, each.reason) for each in run.models_executed}


def held_by(shop: BranchShop) -> str:
    return f"held: reverted by {revert_id(shop)};"


def test_a_plain_run_does_not_bring_back_what_was_reverted(shop):
    before = shop.contents()

    out = shop.do("run")

    assert before == shop.contents()
    assert [(1, "DE"), (2, "DE"), (3, "FR")] == shop.rows("stg_orders")
    assert f"stg_orders {held_by(shop)} its code is still what was reverted" in out
    assert "2 held" in out
    decision, reason = decisions(shop)["stg_orders"]
    assert ("hold", True) == (decision, (reason or "").startswith(held_by(shop)))
    assert [] == shop.findings()


def test_it_is_held_in_every_run_however_much_is_asked_for(shop):
    before = shop.contents()

    for asked in ((), ("--full-refresh", "stg_orders"), ("--fresh",), ("--no-reuse", "stg_orders")):
        shop.do("run", *asked)

        assert before["stg_orders"] == shop.contents()["stg_orders"]


def test_readers_of_a_held_table_are_built_on_what_stands(shop):
    shop.write(latest="SELECT id, country, 1 AS more FROM stg_orders")
    shop.commit("a reader")

    shop.do("run", "--full-refresh", "latest", "stg_orders", "report")

    assert [(1, "DE", 1), (2, "DE", 1), (3, "FR", 1)] == shop.rows("latest")
    assert ("build", "hold") == (decisions(shop)["latest"][0], decisions(shop)["stg_orders"][0])
    assert [] == shop.findings()


def test_what_needs_a_column_that_the_held_table_has_not_is_held_too(shop):
    shop.git("revert", "--no-edit", "HEAD")
    shop.do("run")
    shop.do("branch", "create", "b2")
    shop.write(stg_orders=f"SELECT *, 2 * id AS twice FROM ({OLD})")
    shop.write(extra="SELECT id, twice FROM stg_orders", more="SELECT twice FROM extra")
    shop.commit("twice")
    shop.do("run", "--branch", "b2")
    shop.do("branch", "promote", "b2")
    shop.do("branch", "revert", "b2")

    out = shop.do("run", "--no-reuse")

    assert "extra held: `stg_orders`, which it reads, is held and has no column `twice`" in out
    assert [(1, 2), (2, 4), (3, 6)] == shop.rows("extra")
    assert "build" == decisions(shop)["more"][0]
    assert [] == shop.findings()


def test_a_seed_that_was_reverted_is_held_too(shop):
    shop.do("run", "--force", "stg_orders")

    assert shop.rows("countries") == [("DE", "Germany"), ("FR", "France")]
    assert held_by(shop) in shop.do("seed")
    assert shop.rows("countries") == [("DE", "Germany"), ("FR", "France")]


def test_git_agrees_when_the_code_is_what_it_was(shop):
    shop.git("revert", "--no-edit", "HEAD")

    out = shop.do("run")

    assert "held" not in out
    assert "reuse" == decisions(shop)["stg_orders"][0]


def test_git_agrees_when_another_commit_has_changed_the_model(shop):
    shop.write(stg_orders=OTHER)
    shop.commit("a third way")

    shop.do("run")

    assert [(1, "de"), (2, "de"), (3, "fr")] == shop.rows("stg_orders")


def test_a_change_that_is_not_committed_is_not_gits(shop):
    shop.write(stg_orders=OTHER)

    out = shop.do("run")

    assert f"{held_by(shop)} its new code is not committed: commit it in git" in out
    assert [(1, "DE"), (2, "DE"), (3, "FR")] == shop.rows("stg_orders")


def test_a_commit_that_leaves_the_model_alone_changes_nothing(shop):
    shop.write(alone="SELECT 2 AS one", stg_orders=f"-- the same, with words\n{NEW}")
    shop.commit("something else")

    shop.do("run")

    assert ("hold", "build") == (decisions(shop)["stg_orders"][0], decisions(shop)["alone"][0])


def test_outside_git_another_code_is_enough(shop):
    (shop.root / ".git").rename(shop.root / "elsewhere")
    shop.do("run")
    assert "hold" == decisions(shop)["stg_orders"][0]

    shop.write(stg_orders=OTHER)
    shop.do("run")

    assert [(1, "de"), (2, "de"), (3, "fr")] == shop.rows("stg_orders")


def test_a_forced_run_brings_it_back_and_ends_the_hold(shop):
    shop.do("run", "--force")
    assert [(1, "DE"), (2, "DE")] == shop.rows("stg_orders")

    out = shop.do("run")

    assert "held" not in out
    assert [] == shop.findings()


def test_a_promotion_ends_the_hold(shop):
    shop.do("branch", "promote", "b1")

    assert "held" not in shop.do("run")
    assert [(1, "DE"), (2, "DE")] == shop.rows("stg_orders")


def test_a_revert_that_is_reverted_holds_the_other_code(shop):
    shop.do("branch", "revert", revert_id(shop))
    assert [(1, "DE"), (2, "DE")] == shop.rows("stg_orders")
    assert "held" not in shop.do("plan")

    shop.git("revert", "--no-edit", "HEAD")

    assert held_by(shop) in shop.do("run")
    assert [(1, "DE"), (2, "DE")] == shop.rows("stg_orders")


def test_what_was_built_since_the_promotion_is_held_when_the_revert_discards_it(shop):
    shop.do("run", "--force")
    shop.write(stg_orders=OTHER)
    shop.commit("a third way")
    shop.do("run")
    shop.do("branch", "create", "b2")
    shop.write(stg_orders=NEW)
    shop.commit("and a fourth")
    shop.do("run", "--branch", "b2")
    shop.do("branch", "promote", "b2")
    shop.write(stg_orders=OLD)
    shop.commit("a fifth")
    shop.do("run")

    shop.do("branch", "revert", "b2", "--discard-later")
    shop.do("run")

    assert "hold" == decisions(shop)["stg_orders"][0]
    assert [(1, "de"), (2, "de"), (3, "fr")] == shop.rows("stg_orders")


def test_a_table_that_is_gone_is_built(shop):
    (shop.root / "warehouse/spark_catalog/default/stg_orders").rename(shop.root / "gone")

    shop.do("run", "stg_orders", "--force")

    assert [(1, "DE"), (2, "DE")] == shop.rows("stg_orders")


def test_a_branch_is_not_held(shop):
    shop.do("branch", "create", "b2")

    assert "held" not in shop.do("run", "--branch", "b2")
    assert [(1, "DE"), (2, "DE")] == shop.rows("stg_orders", "b2")


def test_plan_list_and_history_say_why(shop, monkeypatch):
    # Room for the whole reason: 80 columns cut it.
    monkeypatch.setenv("COLUMNS", "200")
    plan = json.loads(shop.do("plan", "-o", "json"))
    (outlook,) = (each for each in plan["model_decisions"] if each["model"] == "stg_orders")
    assert ("hold", True) == (outlook["decision"], outlook["reason"].startswith(held_by(shop)))
    assert "2 held" in shop.do("plan")

    listed = json.loads(shop.do("list", "-o", "json"))
    told = {each["name"]: each.get("held") for each in (*listed["models"], *listed["seeds"])}
    assert {"stg_orders", "countries"} == {name for name, why in told.items() if why}
    assert f"note: stg_orders {held_by(shop)}" in shop.rocky("list").err

    shop.do("run")
    assert held_by(shop)[:-1] in shop.do("history", "--model", "stg_orders")
    (newest,) = json.loads(shop.do("history", "-o", "json", "--limit", "1"))["runs"]
    assert newest["run_id"] != revert_id(shop)


def test_an_applied_plan_holds_as_it_said_and_forces_as_it_said(shop):
    held = json.loads(shop.do("plan", "-o", "json"))["plan_id"]
    shop.do("apply", held)
    assert "hold" == decisions(shop)["stg_orders"][0]

    forced = json.loads(shop.do("plan", "--force", "-o", "json"))["plan_id"]
    shop.do("apply", forced)
    assert [(1, "DE"), (2, "DE")] == shop.rows("stg_orders")


def test_python_holds_and_forces_the_same(shop):
    workspace = rocky.open(shop.root)

    workspace.run()
    assert [(1, "DE"), (2, "DE"), (3, "FR")] == shop.rows("stg_orders")

    workspace.run(force=True)
    assert [(1, "DE"), (2, "DE")] == shop.rows("stg_orders")


def test_a_revert_says_that_runs_hold_what_it_moved_back(shop):
    out = shop.do("branch", "revert", revert_id(shop))

    assert "until then runs hold what was moved back" in out


def test_other_rows_that_were_reverted_stay_reverted_although_no_code_changed(
    reverted, monkeypatch
):
    shop = reverted.put_back(monkeypatch)
    shop.do("run", "--force")
    shop.do("branch", "create", "b2")
    data = shop.root / "data/orders.csv"
    data.write_text(data.read_text() + "0,XX\n")
    shop.do("run", "--branch", "b2")
    shop.do("branch", "promote", "b2")
    shop.do("branch", "revert", "b2")
    before = shop.contents()

    shop.do("run")
    decision, why = decisions(shop)["stg_orders"]
    assert ("hold", True) == (decision, "no code was promoted, only other rows" in (why or ""))
    assert before == shop.contents()
    shop.do("run", "--force")
    assert "hold" != decisions(shop)["stg_orders"][0]
    assert before != shop.contents()


def test_nothing_is_built_from_a_table_that_is_held_clear(shop):
    config = (shop.root / "rocky.toml").read_text() if (shop.root / "rocky.toml").exists() else ""
    write(shop.root, {"models/stg_orders.toml": '[classification]\ncountry = "pii"\n'})
    shop.git("revert", "--no-edit", "HEAD")
    shop.do("run")
    shop.do("branch", "create", "b2")
    write(shop.root, {"rocky.toml": f'{config}\n[mask]\npii = "redact"\n'})
    shop.commit("masked")
    shop.do("run", "--branch", "b2")
    shop.do("branch", "promote", "b2")
    shop.do("branch", "revert", "b2")
    shop.write(latest="SELECT id, country, 1 AS more FROM stg_orders")
    shop.commit("a reader")

    answer = shop.rocky("run")

    assert answer.code == 1
    assert "`stg_orders` is held as a revert left it, with other masks" in answer.out + answer.err
    assert "more" not in str(shop.contents()["latest"])
