"""`rocky governance`: what people see of a plan, of what came of it, and of who can read a table."""

import json

import pytest
from click.testing import CliRunner

from rocky.cli.app import main
from tests.servers.catalogues import TOKEN, start_catalogue

SETTINGS = """
[pipeline.shop]
target = { catalog = "shop", schema = "marts" }
[role.reader]
permissions = ["USE CATALOG", "USE SCHEMA", "SELECT"]
members = ["ana@shop"]
[[grant]]
to = "reader"
on = "shop.marts.*"
[governance.catalog]
kind = "unity"
url = "${URL}"
token = "${UC_TOKEN}"
retries = 0
"""
ORDERS = ["table", "shop.marts.orders"]


@pytest.fixture(scope="module")
def server():
    with start_catalogue("unity") as started:
        yield started


@pytest.fixture
def rocky(tmp_path, monkeypatch, server):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("URL", server.url)
    monkeypatch.setenv("UC_TOKEN", TOKEN)
    (tmp_path / "rocky.toml").write_text(SETTINGS)
    (tmp_path / "models").mkdir()
    (tmp_path / "models/orders.sql").write_text("SELECT 1 AS one")
    (tmp_path / "models/later.sql").write_text("SELECT 2 AS two")
    names = [["catalog", "shop"], ["schema", "shop.marts"], ORDERS]
    server.begin(users=["ana@shop"], securables=names)

    def call(*words, output="table"):
        done = CliRunner().invoke(main, ["-o", output, *words], catch_exceptions=False)
        return done.exit_code, done.stdout, done.stderr

    return call


def test_a_plan_shows_each_statement_why_and_what_waits(rocky, server):
    code, out, _ = rocky("governance", "plan")
    *lines, last = out.strip().splitlines()
    assert 0 == code
    assert [
        "+ PATCH /api/2.1/unity-catalog/permissions/catalog/shop add USE CATALOG for ana@shop",
        "    [[grant]] 1, role `reader`",
    ] == lines[:2]
    assert "  SELECT on table shop.marts.later to ana@shop" in lines
    assert last.startswith("3 changes of unity 127.0.0.1")
    _, out, _ = rocky("governance", "plan", output="json")
    assert last.endswith(f"plan {json.loads(out)['plan_id'][:12]}")


def test_what_is_applied_is_said_and_then_nothing_is_left(rocky):
    code, out, _ = rocky("governance", "apply")
    assert (0, True) == (code, "3 of 3 changes in place in unity" in out)
    code, out, _ = rocky("governance", "apply")
    assert (0, True) == (code, "nothing to do (3 in place, 1 waiting)" in out)


def test_what_could_not_be_put_in_place_is_said_with_the_exit_code(rocky, server):
    server.tell(users=[])
    code, out, _ = rocky("governance", "apply")
    assert (1, True) == (code, "failed: `127.0.0.1" in out)
    assert "User not found: ana@shop" in out
    assert "not tried: a change before failed" in out


def test_who_can_read_a_table_is_one_command(rocky, server):
    rocky("governance", "apply")
    code, out, _ = rocky("governance", "who", "orders")
    assert 0 == code
    assert "ana@shop  SELECT on table shop.marts.orders  declared, and held" in out
    assert "whoever can read its files needs no grant" in out
    _, out, _ = rocky("governance", "who", "later")
    assert "declared, and not held yet" in out


def test_a_table_is_found_as_sql_names_it_and_so_are_seeds_and_copies(rocky, tmp_path):
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds/staff.csv").write_text("id\n1\n")
    (tmp_path / "rocky.toml").write_text(
        SETTINGS + '[pipeline.landing]\ntype = "load"\nsource_dir = "in"\n'
        'target = { catalog = "shop", schema = "raw", table = "people" }\n'
    )

    for name, table in {
        "marts.orders": "shop.marts.orders",
        "staff": "shop.marts.staff",
        "raw.people": "shop.raw.people",
    }.items():
        code, out, err = rocky("governance", "who", name)
        assert 0 == code, err
        assert table in out


@pytest.mark.slow
def test_drift_of_the_catalogue_is_shown(rocky, server):
    rocky("governance", "apply")
    server.tell(grants={"|".join(ORDERS): {"ana@shop": ["SELECT", "MODIFY"]}})
    code, out, _ = rocky("drift")
    assert 0 == code
    assert "gone: USE SCHEMA on schema shop.marts to ana@shop" in out
    assert "foreign: MODIFY on table shop.marts.orders to ana@shop" in out
