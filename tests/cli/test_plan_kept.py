"""What `rocky plan` keeps: everything a run would do, under the hash of it, and no secret."""

import json
import subprocess

import pytest
from blake3 import blake3

from tests.cli.kept_plans import KeptPlans
from tests.cli.test_schemas import check


@pytest.fixture
def kept(tmp_path, rocky, monkeypatch) -> KeptPlans:
    return KeptPlans(tmp_path, rocky, monkeypatch)


def step(document, name):
    (found,) = [each for each in document["payload"]["runs"][0]["steps"] if each["name"] == name]
    return found


def test_the_id_is_the_hash_of_kind_and_payload_that_anyone_can_compute(kept):
    plan_id = kept.plan()
    document = kept.kept(plan_id)

    covered = {"kind": document["kind"], "payload": document["payload"]}
    text = json.dumps(covered, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert plan_id == document["plan_id"] == blake3(text.encode()).hexdigest()
    assert {"version", "plan_id", "kind", "created_at", "created_by", "payload", "outlook"} == set(
        document
    )


@pytest.mark.slow
def test_the_same_plan_made_twice_is_one_file_and_needs_no_spark(kept):
    kept.rocky("run")
    kept.opened = 0

    first = kept.rocky("plan", "-o", "json")
    before = kept.file(first.json["plan_id"]).read_bytes()
    second = kept.rocky("plan", "-o", "json")

    assert first.json == second.json
    assert before == kept.file(first.json["plan_id"]).read_bytes()
    assert 1 == len(list((kept.root / ".rocky/plans").iterdir()))
    assert 0 == kept.opened


def test_a_plan_says_where_it_is_kept_and_what_to_do_with_it(kept):
    answer = kept.rocky("plan", "-o", "table")
    plan_id = kept.plan()

    assert (
        f"plan {plan_id} is saved in .rocky/plans; `rocky apply {plan_id[:12]}` runs it\n"
        == answer.err.splitlines(keepends=True)[-1]
    )
    assert "" == kept.rocky("plan", "-o", "table", "--quiet").err


def test_plans_are_for_git_and_the_cache_is_not(kept):
    subprocess.run(["git", "init", "-q", str(kept.root)], check=True)
    kept.write(".rocky/cache/x", "")
    plan_id = kept.plan()

    said = subprocess.run(
        ["git", "-C", str(kept.root), "status", "--porcelain", "-uall", ".rocky"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert {f".rocky/plans/{plan_id}.json", ".rocky/.gitignore"} == {
        line.split()[1] for line in said.splitlines()
    }


def test_a_step_holds_its_code_its_decision_and_its_place(kept):
    found = step(kept.kept(kept.plan()), "by_country")

    assert {
        "kind": "build",
        "target": "spark_catalog.default.by_country",
        "strategy": "full_refresh",
        "decision": "build",
        "reason": "first build",
        "waits_for": ["countries", "stg_orders"],
        "reads": ["model:large", "seed:countries"],
        "layer": 2,
        "selected": True,
    }.items() <= found.items()
    assert found["sql"].startswith("SELECT c.label")
    assert all(len(found[each]) == 64 for each in ("recipe_hash", "skip_hash", "settings_hash"))


@pytest.mark.slow
def test_what_is_relied_on_is_in_the_plan(kept):
    kept.rocky("run")

    relied = kept.kept(kept.plan("report"))["payload"]["runs"][0]["relies_on"]

    run_id = kept.records()[0].run_id
    assert {"report": run_id} == relied["last_runs"]
    assert ["spark_catalog.default.by_country"] == list(relied["inputs"])
    assert 0 == relied["inputs"]["spark_catalog.default.by_country"]["version"]
    assert ["spark_catalog.default.report"] == list(relied["tables"])
    assert {} == relied["sources"]


def test_the_document_lists_statements_models_and_layers(kept):
    kept.rocky("run", "alone")
    answer = kept.rocky("plan", "-o", "json")

    assert [] == check(answer.json, "plan")
    assert "run" == answer.json["plan_kind"]
    assert [
        ("build", "spark_catalog.default.stg_orders"),
        ("bind", "spark_catalog.default.large"),
        ("build", "spark_catalog.default.by_country"),
        ("build", "spark_catalog.default.report"),
    ] == [(each["purpose"], each["target"]) for each in answer.json["statements"]]
    assert ["alone", "stg_orders", "large", "by_country", "report"] == answer.json["models"]
    assert [
        ["alone", "countries", "stg_orders"], ["large"], ["by_country"], ["report"],
    ] == answer.json["execution_layers"]  # fmt: skip
    assert ("none", False, []) == tuple(
        answer.json[each]
        for each in ("breaking_verdict", "has_budget_errors", "budget_diagnostics")
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sql", "verdict", "rules"),
    [
        ("SELECT 1 AS one, 2 AS two", "info", ["column_added"]),
        ("SELECT 1L AS one", "warning", ["column_type_widened"]),
        ("SELECT 'x' AS one", "breaking", ["column_type_changed"]),
        ("SELECT 1 AS two", "breaking", ["column_removed", "column_added"]),
    ],
)
def test_the_columns_of_live_tables_are_held_against_what_would_be_built(kept, sql, verdict, rules):
    kept.rocky("run", "alone")
    kept.write("models/alone.sql", sql)

    answer = kept.rocky("plan", "alone", "-o", "json")
    shown = kept.rocky("plan", "alone", "-o", "table")

    assert verdict == answer.json["breaking_verdict"]
    columns = [each["column"] for each in answer.json["schema_changes"]]
    assert rules == [each["rule"] for each in answer.json["schema_changes"]]
    assert rules == [
        each["rule"] for each in step(kept.kept(answer.json["plan_id"]), "alone")["schema_changes"]
    ]
    assert f"{verdict}: alone: {rules[0]} `{columns[0]}`" in shown.out


def test_a_table_that_cannot_be_read_makes_the_verdict_unknown(kept):
    kept.rocky("run", "alone")
    log = kept.root / "warehouse/spark_catalog/default/alone/_delta_log"
    for file in log.glob("*.json"):
        file.write_text("broken")

    answer = kept.rocky("plan", "alone", "-o", "json")

    assert "unknown" == answer.json["breaking_verdict"]
    assert 1 == len(answer.json["inputs_unreadable"])


SECRETS = """
[adapter]
type = "spark"
remote = "sc://host:15002/;token=T0KEN"
[adapter.conf]
"spark.hadoop.fs.s3a.secret.key" = "SECRETKEY"
"spark.my.password" = "PASSWORD"
"spark.from.variable" = "${FROM_VARIABLE}"
"""
STATE = '[state]\nvalkey_url = "redis://:STATEPW@host/0"\n'
JDBC = """
[[source]]
name = "db.orders"
format = "jdbc"
options = { url = "jdbc:x://h/d?password=INURL", password = "INOPTION", user = "${WHO}" }
columns = [ { name = "id", type = "bigint" } ]
"""


def test_no_secret_reaches_a_plan(kept, monkeypatch):
    monkeypatch.setenv("FROM_VARIABLE", "HIDDEN")
    monkeypatch.setenv("WHO", "SOMEBODY")
    kept.write("rocky.toml", SECRETS + (kept.root / "rocky.toml").read_text())
    kept.write("sources/db.toml", JDBC)
    kept.write("models/of_db.sql", "SELECT id FROM db.orders")
    answer = kept.rocky("plan", "-o", "json")

    text = kept.file(answer.json["plan_id"]).read_text() + answer.out + answer.err
    secrets = ("T0KEN", "SECRETKEY", "PASSWORD", "HIDDEN", "INURL", "INOPTION", "SOMEBODY")
    assert [] == [each for each in secrets if each in text]
    assert "spark.my.password" in text

    kept.write("rocky.toml", STATE + (kept.root / "rocky.toml").read_text())
    for style in ("json", "table"):
        answer = kept.rocky("plan", "-o", style)
        assert 1 == answer.code
        assert "STATEPW" not in answer.out + answer.err


def test_a_secret_that_changes_changes_no_declaration_in_the_plan(kept, monkeypatch):
    monkeypatch.setenv("WHO", "SOMEBODY")
    kept.write("sources/db.toml", JDBC)
    kept.write("models/of_db.sql", "SELECT id FROM db.orders")
    relied = kept.kept(kept.plan("of_db"))["payload"]["runs"][0]["relies_on"]["sources"]
    monkeypatch.setenv("WHO", "SOMEBODY ELSE")
    again = kept.kept(kept.plan("of_db"))["payload"]["runs"][0]["relies_on"]["sources"]

    # A hash of a password can be guessed from: none is kept.
    assert relied == again


def test_a_plan_that_cannot_be_kept_fails(kept):
    kept.write(".rocky/plans", "a file where the folder should be")

    answer = kept.rocky("plan", "-o", "json")

    assert 1 == answer.code
    assert [] == check(answer.json, "error")


def test_a_variable_that_is_called_as_secrets_are_is_in_no_plan(kept):
    kept.write("models/alone.sql", "SELECT '@var(api_token)' AS one")

    answer = kept.rocky("plan", "alone", "--var", "api_token=S3CRET")

    assert 1 == answer.code
    assert "the variable `api_token` has the name of a secret" in answer.err
    assert not (kept.root / ".rocky/plans").exists()
