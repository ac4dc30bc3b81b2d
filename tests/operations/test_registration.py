"""Tables registered in a Unity Catalog server: put, read back, put again when columns change."""

import json

import pytest

from rocky.governance.registration import StoredTable, registration_fact
from rocky.language.datatypes.text import parse_schema
from rocky.operations.execution.run import run
from rocky.operations.governance.catalogue import ApplyRequest, apply_governance, plan_governance
from rocky.operations.sources.drift import DriftRequest, drift
from rocky.plan.request import RunRequest
from rocky.project import load_project
from tests.servers.catalogues import TOKEN, start_catalogue

ORDERS = "spark_catalog.default.stg_orders"
SEED = "spark_catalog.default.countries"
GRANTS = """
[[grant]]
to = "ana@shop"
on = "spark_catalog.default.*"
privileges = ["SELECT"]
"""


@pytest.fixture(scope="module")
def _server():
    with start_catalogue("unity") as started:
        yield started


class Registered:
    """A shop whose tables a catalogue is told of."""

    def __init__(self, shop, server):
        self.shop, self.server = shop, server
        self.workspace = shop.on(environment={"T": TOKEN})
        base = (shop.root / "rocky.toml").read_text()
        told = f'[governance.catalog]\nkind = "unity"\nurl = "{server.url}"\ntoken = "${{T}}"\n'
        shop.write("rocky.toml", f"{base}{GRANTS}{told}retries = 0\nregister = true\n")

    def run(self):
        return run(self.workspace, RunRequest())

    def plan(self):
        return plan_governance(self.workspace)

    def columns(self, table=ORDERS):
        found = self.server.state["tables"][table]["columns"]
        return [(each["name"], each["type_text"], each["type_name"]) for each in found]


@pytest.fixture
def registered(shop, _server):
    names = [["catalog", "spark_catalog"], ["schema", "spark_catalog.default"]]
    _server.begin(users=["ana@shop", "bob@shop"], securables=names)
    return Registered(shop, _server)


@pytest.mark.slow
def test_a_run_registers_what_it_wrote_and_then_grants_on_it(registered):
    report = registered.run()
    assert (0, None) == (report.exit_code, report.run.governance_error)
    assert [("id", "bigint", "LONG"), ("country", "string", "STRING")] == registered.columns()
    table = registered.server.state["tables"][ORDERS]
    folder = registered.shop.root / "warehouse/spark_catalog/default/stg_orders"
    assert (f"file://{folder}", "EXTERNAL", "DELTA") == (
        table["storage_location"],
        table["table_type"],
        table["data_source_format"],
    )
    assert {"name": "id", "type": "long", "nullable": True, "metadata": {}} == json.loads(
        table["columns"][0]["type_json"]
    )
    assert {"ana@shop": ["SELECT"]} == registered.server.grants(f"table|{ORDERS}")


@pytest.mark.slow
def test_seeds_are_registered_and_granted_on_too(registered):
    registered.run()
    assert [("code", "string", "STRING"), ("label", "string", "STRING")] == registered.columns(SEED)
    assert {"ana@shop": ["SELECT"]} == registered.server.grants(f"table|{SEED}")


@pytest.mark.slow
def test_registering_again_does_nothing(registered):
    registered.run()
    before = len(registered.server.said)
    assert () == registered.plan().changes
    registered.run()
    assert before == len(registered.server.said)


@pytest.mark.slow
def test_changed_columns_are_registered_again_with_all_that_was_granted(registered):
    registered.run()
    state = registered.server.state
    state["grants"][f"table|{ORDERS}"]["bob@shop"] = ["MODIFY"]
    registered.server.tell(grants=state["grants"])
    registered.shop.write(
        "models/stg_orders.sql", "SELECT id, country, id + 1 AS n FROM raw.orders"
    )
    report = registered.run()
    assert (0, None) == (report.exit_code, report.run.governance_error)
    assert ["id", "country", "n"] == [each[0] for each in registered.columns()]
    # What somebody else granted is somebody else's still.
    assert {"ana@shop": ["SELECT"], "bob@shop": ["MODIFY"]} == (
        registered.server.grants(f"table|{ORDERS}")
    )
    assert ["MODIFY"] == [each.name for each in registered.plan().foreign]


@pytest.mark.slow
def test_another_table_of_the_same_name_is_left_alone_and_fails_the_run(registered):
    theirs = {
        "name": "stg_orders",
        "table_type": "MANAGED",
        "columns": [],
        "storage_location": "s3://x/y",
    }
    names = [*registered.server.state["securables"], ["table", ORDERS]]
    registered.server.tell(securables=names, tables={ORDERS: theirs})
    report = registered.run()
    assert 1 == report.exit_code
    assert "is registered as another table (MANAGED, `s3://x/y`)" in report.run.governance_error
    assert theirs == registered.server.state["tables"][ORDERS]


@pytest.mark.slow
def test_a_failed_registration_is_made_up_for_by_the_next_run(registered):
    registered.server.tell(faults=[{"method": "POST", "status": 500, "count": 9}])
    assert 1 == registered.run().exit_code
    assert {} == registered.server.state["grants"].get(f"table|{ORDERS}", {})
    registered.server.tell(faults=[])
    assert 0 == registered.run().exit_code
    assert {"ana@shop": ["SELECT"]} == registered.server.grants(f"table|{ORDERS}")


@pytest.mark.slow
def test_a_table_of_a_model_that_is_gone_is_taken_out_and_its_files_stay(registered):
    registered.run()
    (registered.shop.root / "models/alone.sql").unlink()
    apply_governance(registered.workspace, ApplyRequest())
    alone = "spark_catalog.default.alone"
    assert alone not in registered.server.state["tables"]
    assert (registered.shop.root / "warehouse/spark_catalog/default/alone/_delta_log").is_dir()


@pytest.mark.slow
def test_a_table_that_somebody_took_out_is_drift(registered):
    registered.run()
    names = [each for each in registered.server.state["securables"] if each[1] != ORDERS]
    registered.server.tell(securables=names)
    found = drift(registered.workspace, DriftRequest()).catalogue
    assert ["registration", "grant"] == sorted((each.kind for each in found.missing), reverse=True)


def test_tables_that_are_not_written_yet_are_not_registered(registered):
    assert [] == [each for each in registered.plan().changes if each.kind == "registration"]


SCHEMA = (
    "a DECIMAL(10,2), b ARRAY<INT> NOT NULL, c STRUCT<x: INT>, d TIMESTAMP_NTZ, e MAP<STRING, INT>"
)


def test_every_column_has_the_name_of_its_type_as_the_interface_lists_them():
    columns = parse_schema(SCHEMA)
    fields = tuple({"name": each.name, "nullable": each.nullable} for each in columns)
    fact = registration_fact(StoredTable("a.b.c", "/x/", columns, fields, ("a",)))
    body = json.loads(fact.definition)
    assert ["DECIMAL", "ARRAY", "STRUCT", "TIMESTAMP_NTZ", "MAP"] == [
        each["type_name"] for each in body["columns"]
    ]
    first = body["columns"][0]
    assert (10, 2, 0) == (first["type_precision"], first["type_scale"], first["partition_index"])
    assert fact.value.startswith("file:///x columns ")


@pytest.mark.parametrize("kind", ["databricks", "ranger", "none"])
def test_only_the_open_server_is_told_of_tables(tmp_path, kind):
    (tmp_path / "rocky.toml").write_text(
        f'[governance.catalog]\nkind = "{kind}"\nregister = true\n'
    )
    found = load_project(tmp_path, env={}).diagnostics
    assert any(f'`register` has no effect with `kind = "{kind}"`' == each.message for each in found)
