"""Masked twins in the life of a project: branches, promotions, erasure, retention, seeds and proofs."""

import json

import deltalake
import pytest

from rocky.governance.catalogues import open_catalogue
from rocky.operations.governance.declaration import declared_by
from rocky.operations.placement import place_tables
from rocky.operations.workspace import Workspace, load_workspace
from tests.branches.shops import BranchShop, Template
from tests.run.runs import write
from tests.run.test_twins import CONFIG, EMAILS, FILES, find_clear

pytestmark = pytest.mark.slow

DATED = """
[[source]]
name = "raw.visits"
format = "csv"
path = "data/visits.csv"
columns = [
  { name = "id", type = "bigint" },
  { name = "email", type = "string", classification = "pii" },
  { name = "day", type = "date" },
]
"""
VISITS = f"id,email,day\n1,{EMAILS[0]},2020-01-01\n2,{EMAILS[1]},2100-01-01\n"


def prepare(shop: BranchShop) -> None:
    for name in ("events", "latest"):
        for suffix in ("sql", "toml"):
            (shop.root / f"models/{name}.{suffix}").unlink()
    (shop.root / "models/large.toml").unlink()
    (shop.root / "sources/events.toml").unlink()
    write(shop.root, FILES)
    shop.commit("people")
    shop.do("run")


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Template:
    return Template(tmp_path_factory.mktemp("twins"), prepare)


@pytest.fixture
def shop(built, monkeypatch) -> BranchShop:
    return built.put_back(monkeypatch)


def rows(shop: BranchShop, schema: str, table: str, branch: str | None = None) -> list[tuple]:
    root = shop.root / "warehouse" / (f"branch__{branch}" if branch else "")
    found = deltalake.DeltaTable(root / "spark_catalog" / schema / table).to_pyarrow_table()
    return sorted(tuple(each.values()) for each in found.to_pylist())


def test_a_branch_has_both_and_a_promotion_moves_both(shop):
    shop.do("branch", "create", "b1")
    assert 2 == len(rows(shop, "restricted", "people", "b1"))
    shop.write(people="SELECT id + 10 AS id, email FROM raw.people")
    shop.do("run", "--branch", "b1")
    assert [(11, "***"), (12, "***")] == rows(shop, "default", "people", "b1")

    shop.do("branch", "promote", "b1")

    assert [(11, "***"), (12, "***")] == rows(shop, "default", "people")
    assert [(11, EMAILS[0]), (12, EMAILS[1])] == rows(shop, "restricted", "people")
    assert [] == find_clear(shop.root)
    assert [] == shop.findings()
    before = shop.contents()
    shop.do("run")
    assert before == shop.contents()


def test_what_a_branch_changed_is_shown_without_values(shop):
    shop.do("branch", "create", "b1")
    shop.write(people="SELECT id, concat(email, '!') AS email FROM raw.people")
    shop.do("run", "--branch", "b1")

    said = shop.do("branch", "diff", "b1")

    assert "restricted.people" in said
    assert not any(each in said for each in EMAILS)


def test_erasing_takes_a_subject_out_of_both(shop):
    answer = shop.do("erase", "--where", "id = 1", "--apply", "--reason", "asked for")

    assert "restricted.people" in answer, answer
    for schema in ("restricted", "default"):
        assert [2] == [each[0] for each in rows(shop, schema, "people")]
    assert [] == shop.findings()


def test_erasing_by_what_a_twin_masks_leaves_it_to_the_next_run(shop):
    said = shop.do(
        "erase",
        "--where",
        f"email = '{EMAILS[0]}'",
        "--from",
        "raw.people",
        "--apply",
        "--reason",
        "asked for",
    )

    assert "spark_catalog.default.people" in said, said
    assert [2] == [each[0] for each in rows(shop, "restricted", "people")]
    write(shop.root, {"data/people.csv": f"id,email\n2,{EMAILS[1]}\n"})
    shop.do("run")
    assert [2] == [each[0] for each in rows(shop, "default", "people")]
    shop.do("erase", "--resume")
    assert [] == shop.findings()


def test_a_seed_is_loaded_with_its_twin_and_once(shop):
    write(shop.root, {"seeds/staff.csv": f"name,email\nBert,{EMAILS[1]}\n"})

    assert "staff__masked" in shop.do("seed", "staff")
    assert [("Bert", "***")] == rows(shop, "default", "staff")
    before = shop.contents()
    said = shop.do("seed", "staff")
    assert before == shop.contents()
    assert "failed" not in said


def test_a_name_shows_the_clear_table_with_its_values_hidden(shop):
    said = shop.do("show", "people")

    assert "spark_catalog.restricted.people" in said
    assert not any(each in said for each in EMAILS)
    assert "spark_catalog.default.people" in shop.do("show", "people__masked")


def test_old_rows_leave_the_clear_table_and_with_the_next_run_its_twin(shop):
    visits = {"sources/visits.toml": DATED, "data/visits.csv": VISITS}
    kept = 'retention = "30d"\n[strategy]\ntype = "incremental"\ntimestamp_column = "day"\n'
    visits |= {"models/visits.sql": "SELECT id, email, day FROM raw.visits"}
    write(shop.root, visits | {"models/visits.toml": kept})
    shop.do("run", "visits")
    assert 2 == len(rows(shop, "default", "visits"))

    said = shop.do("retention", "visits")

    assert "spark_catalog.restricted.visits" in said, said
    assert [2] == [each[0] for each in rows(shop, "restricted", "visits")]
    shop.do("run", "visits")
    assert [2] == [each[0] for each in rows(shop, "default", "visits")]
    assert [] == shop.findings()


def test_what_nothing_needs_is_collected_of_both_and_both_stay_readable(shop):
    write(shop.root, {"data/people.csv": f"id,email\n2,{EMAILS[1]}\n"})
    shop.do("run")
    shop.do("gc")

    assert [(2, EMAILS[1])] == rows(shop, "restricted", "people")
    assert [(2, "***")] == rows(shop, "default", "people")
    assert [] == shop.findings()


def test_a_plan_and_compliance_say_at_which_level_a_mask_holds(shop):
    plan = json.loads(shop.rocky("-o", "json", "plan").out)
    found = json.loads(shop.rocky("compliance", "-o", "json").out)

    assert {("people__masked", "redact", "twin")} == {
        (each["model"], each["resolved_strategy"], each["level"])
        for each in plan["mask_actions"]
        if each["model"].startswith("people")
    }
    assert {("people", "masked", "twin")} == {
        (each["model"], env["state"], env["level"])
        for each in found["per_column"]
        for env in each["envs"]
        if each["model"].startswith("people")
    }


def test_other_projects_are_told_of_the_masked_table(shop):
    name = '[publish]\nname = "people"\n'
    write(shop.root, {"rocky.toml": f"{CONFIG}{name}"})

    told = json.loads(shop.rocky("publish", "people", "people__masked", "-o", "json").out)
    found = json.loads((shop.root / told["path"]).read_text())

    assert [("people", "spark_catalog.default.people")] == [
        (each["name"], each["target"]) for each in found["tables"]
    ]


def test_a_template_for_every_schema_grants_nothing_of_the_restricted_one(shop):
    grants = """
[[grant]]
to = ["ana@shop"]
on = "spark_catalog.{schema}"
privileges = ["SELECT"]
[[grant]]
to = ["bob@shop"]
on = "spark_catalog.restricted"
privileges = ["SELECT"]
[governance.catalog]
kind = "unity"
url = "http://localhost"
"""
    write(shop.root, {"rocky.toml": f"{CONFIG}{grants}"})
    project = place_tables(load_workspace(Workspace(shop.root)))

    found = declared_by(project, open_catalogue(project.config.governance.catalog), None)

    assert {
        ("ana@shop", "spark_catalog.default"),
        ("bob@shop", "spark_catalog.restricted"),
    } == {(each.subject, each.on) for each in found}


def test_back_at_write_tables_are_loaded_whole_and_a_history_goes_on_masked(shop):
    kept = '[strategy]\ntype = "snapshot"\nunique_key = ["id"]\n'
    write(shop.root, {"models/history.sql": "SELECT id, email FROM raw.people"})
    write(shop.root, {"models/history.toml": kept})
    shop.do("run", "history")
    write(shop.root, {"rocky.toml": CONFIG.replace('"twin"', '"write"')})

    assert "all rows are loaded" in shop.rocky("run", "grown").err
    assert [(1, "***"), (2, "***")] == rows(shop, "default", "grown")
    write(shop.root, {"data/people.csv": f"id,email\n1,{EMAILS[0]}\n3,{EMAILS[2]}\n"})
    shop.do("run", "history")
    assert [(1, "***"), (2, "***"), (3, "***")] == [
        each[:2] for each in rows(shop, "default", "history")
    ]
    assert [] == find_clear(shop.root)
    assert [] == shop.findings()
