"""Tables that pipelines copy are granted on and tagged, also those that nobody knew before."""

import pytest

from rocky.errors import GovernanceRefused
from rocky.governance.component_tags import component_tags
from rocky.operations.execution.run import run
from rocky.operations.governance.catalogue import plan_governance
from rocky.operations.workspace import Workspace
from rocky.plan.request import RunRequest
from rocky.project import load_project
from rocky.project.configuration.pipelines import ReplicationPipeline, ReplicationTarget
from rocky.run.engine import spark
from tests.pipelines.lakes import ORDERS, LakeProject, at
from tests.run.memory_engine import MemoryEngine
from tests.servers.catalogues import TOKEN, start_catalogue

MORE = """
[pipeline.bronze.target.governance]
tags = { team = "core" }
component_tags = true
tag_prefix = "src_"

[[grant]]
to = "ana@shop"
on = "acme_warehouse.staging__shopify.*"
privileges = ["SELECT"]

[governance]
tags = { product = "shop" }
[governance.catalog]
kind = "databricks"
url = "URL"
token = "${T}"
warehouse_id = "wh1"
retries = 0
"""


@pytest.fixture(scope="module")
def server():
    with start_catalogue("databricks") as started:
        yield started


@pytest.fixture
def lake(tmp_path, monkeypatch, server):
    from contextlib import contextmanager  # noqa: PLC0415

    @contextmanager
    def open_memory(adapter, root, spark=None, functions=None):
        yield MemoryEngine(root)

    monkeypatch.setattr(spark, "open_project_engine", open_memory)
    made = LakeProject(tmp_path, more=MORE.replace("URL", server.url))
    made.put([{"id": 1, "amount": 2.5, "synced": at(1)}])
    catalog, schema, _ = ORDERS.split(".")
    names = [["catalog", catalog], ["schema", f"{catalog}.{schema}"], ["table", ORDERS]]
    server.begin(users=["ana@shop"], securables=names)
    return Workspace(tmp_path, environment={"T": TOKEN})


@pytest.mark.slow
def test_a_run_of_a_pipeline_grants_on_what_it_copied_and_tags_it(lake, server):
    report = run(lake, RunRequest(pipeline="bronze"))
    assert (0, None) == (report.exit_code, report.run.run.governance_error)
    assert {"ana@shop": ["SELECT"]} == server.grants(f"table|{ORDERS}")
    assert {
        "product": "shop",
        "team": "core",
        "src_tenant": "acme",
        "src_connector": "shopify",
    } == server.state["tags"][f"table|{ORDERS}"]
    assert () == plan_governance(lake).changes


def _named(catalog, schema="staging"):
    target = ReplicationTarget(catalog_template=catalog, schema_template=schema)
    return ReplicationPipeline(target=target)


def test_components_are_read_back_from_the_names_that_templates_made():
    assert {"tenant": "acme"} == component_tags(_named("{tenant}_lake"), "ACME_lake".lower(), "x")
    assert {"a": "x", "b": "y"} == component_tags(_named("{a}_{b}_{a}"), "x_y_x", "staging")
    assert {} == component_tags(_named("{tenant}_lake"), "other", "staging")


def test_a_name_that_can_be_read_in_two_ways_is_refused():
    with pytest.raises(GovernanceRefused, match="can be read in two ways"):
        component_tags(_named("{a}_{b}"), "x_y_z", "staging")


REFUSED = [
    ("isolation = { enabled = true }", "write `isolated` and `workspaces`"),
    ('grants = [ { principal = "x" } ]', "write `[[grant]]`"),
    ("auto_create_schemas = true", "remove it"),
]


@pytest.mark.parametrize(("key", "help_text"), REFUSED)
def test_what_is_said_otherwise_here_is_refused_with_how(tmp_path, key, help_text):
    text = f"[pipeline.shop]\n[pipeline.shop.target.governance]\n{key}\n"
    (tmp_path / "rocky.toml").write_text(text)
    found = load_project(tmp_path, env={}).diagnostics
    assert any(help_text in (each.help or "") for each in found)


IDLE = [
    ("component_tags = true", "`component_tags` has no effect"),
    ('tag_prefix = "x"', "`tag_prefix` has no effect"),
]


@pytest.mark.parametrize(("key", "said"), IDLE)
def test_a_key_without_effect_is_an_error_at_its_line(tmp_path, key, said):
    text = f"[pipeline.shop]\n[pipeline.shop.target.governance]\n{key}\n"
    (tmp_path / "rocky.toml").write_text(text)
    found = load_project(tmp_path, env={}).diagnostics
    assert any(each.message.startswith(said) for each in found)
