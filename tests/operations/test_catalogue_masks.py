"""Masks and row filters that a catalogue holds: declared, put before readers come, and kept."""

import re

import pytest

from rocky.compiler.passes import compile_project
from rocky.errors import CatalogueUnreachable, GovernanceRefused, RunRefused
from rocky.ledger.governance_records import load_governance
from rocky.operations.execution.apply import ApplyRequest as KeptRequest
from rocky.operations.execution.apply import apply
from rocky.operations.execution.run import run
from rocky.operations.findings import ErrorsFound
from rocky.operations.governance.catalogue import ApplyRequest, apply_governance, plan_governance
from rocky.operations.plan import plan
from rocky.plan.request import RunRequest
from rocky.project import load_project
from tests.servers.catalogues import TOKEN, start_catalogue

CATALOG, SCHEMA = "spark_catalog", "spark_catalog.default"
ORDERS = "spark_catalog.default.stg_orders"
SETTINGS = """
[classifications.tags.place]
clear_for = ["auditor"]
[mask]
place = "MASK"
[role.auditor]
members = ["olga@shop", "group:auditors"]
[role.reader]
permissions = ["SELECT"]
members = ["ana@shop"]
[[grant]]
to = "reader"
on = "spark_catalog.default.*"
[governance]
enforce = "catalog"
"""
FILTER = """
[[row_filter]]
on = "spark_catalog.default.stg_orders"
columns = ["country"]
expression = "country IN ('DE', 'FR')"
clear_for = ["auditor"]
"""


@pytest.fixture(scope="module")
def _databricks():
    with start_catalogue("databricks") as started:
        yield started


@pytest.fixture(scope="module")
def _ranger():
    with start_catalogue("ranger") as started:
        yield started


class Masked:
    """A shop whose countries a catalogue masks."""

    def __init__(self, shop, server, kind):
        self.shop, self.server, self.kind = shop, server, kind
        self.base = (shop.root / "rocky.toml").read_text()
        self.workspace = shop.on(environment={"T": TOKEN})
        shop.write("sources/raw.toml", CLASSIFIED)
        self.declare()

    def declare(self, text=SETTINGS, mask="redact", more=""):
        told = f'\n[governance.catalog]\nkind = "{self.kind}"\nurl = "{self.server.url}"\n'
        told += 'token = "${T}"\nretries = 0\n'
        told += 'user = "admin"\nservice = "spark"\n' if self.kind == "ranger" else WAREHOUSE
        self.shop.write("rocky.toml", self.base + more + text.replace("MASK", mask) + told)

    def run(self):
        return run(self.workspace, RunRequest())

    def apply(self):
        return apply_governance(self.workspace, ApplyRequest())

    def versions(self):
        """How many versions the table has."""
        folder = self.shop.root / "warehouse/spark_catalog/default/stg_orders/_delta_log"
        return len([*folder.glob("*.json")])


WAREHOUSE = 'warehouse_id = "wh1"\n'
CLASSIFIED = (
    '[[source]]\nname = "raw.orders"\nformat = "csv"\npath = "data/orders.csv"\n'
    'columns = [ { name = "id", type = "bigint" }, { name = "country", type = "string" } ]\n'
    'classification = { country = "place" }\n'
)
HELD = [["catalog", CATALOG], ["schema", SCHEMA], ["table", ORDERS]]


@pytest.fixture
def databricks(shop, _databricks):
    _databricks.begin(users=["ana@shop"], securables=HELD, columns={ORDERS: ["id", "country"]})
    return Masked(shop, _databricks, "databricks")


@pytest.fixture
def ranger(shop, _ranger):
    _ranger.begin(users=["ana@shop", "olga@shop"], groups=["auditors"])
    return Masked(shop, _ranger, "ranger")


@pytest.mark.slow
def test_a_mask_is_a_function_of_the_catalogue_and_what_is_written_is_clear(databricks):
    assert 0 == databricks.run().exit_code
    state = databricks.server.state
    name = state["masks"][ORDERS]["country"]
    assert (
        "IF((lower(current_user()) IN ('olga@shop') OR is_account_group_member('auditors')),"
        " `country`, IF(`country` IS NULL, `country`, '***'))"
    ) == state["functions"][name]
    project = load_project(databricks.shop.root, env={"T": TOKEN})
    masks = compile_project(project, cache=False).masks
    assert ({}, ["stg_orders"]) == (masks.tables, [*masks.catalog])


@pytest.mark.slow
def test_a_mask_is_there_before_anything_is_written_and_before_anything_is_granted(databricks):
    seen = []
    databricks.shop.before_write = lambda name: seen.append(
        (name, databricks.server.state["masks"], databricks.server.grants(f"table|{ORDERS}"))
    )
    databricks.run()
    _, masks, grants = next(each for each in seen if each[0].endswith("stg_orders"))
    assert (["country"], {}) == (list(masks[ORDERS]), grants)
    assert {"ana@shop": ["SELECT"]} == databricks.server.grants(f"table|{ORDERS}")


@pytest.mark.slow
def test_a_run_is_refused_and_writes_nothing_when_a_mask_cannot_be_put_in_place(databricks):
    databricks.run()
    before = (databricks.versions(), len(databricks.shop.records()))
    databricks.declare(mask="sha2")
    (databricks.shop.root / "data/orders.csv").write_text("id,country\n1,IT\n")
    fault = {"method": "POST", "status": 500, "count": 9, "holds": "SET MASK"}
    databricks.server.tell(faults=[fault])
    with pytest.raises(GovernanceRefused, match="so nothing was run"):
        databricks.run()
    assert before == (databricks.versions(), len(databricks.shop.records()))
    databricks.server.tell(faults=[])
    assert 0 == databricks.run().exit_code
    assert before[0] + 1 == databricks.versions()


def test_a_run_is_refused_and_writes_nothing_when_the_catalogue_does_not_answer(databricks):
    databricks.server.tell(faults=[{"method": "GET", "status": 503, "count": 99}])
    with pytest.raises((CatalogueUnreachable, GovernanceRefused)):
        databricks.run()
    assert () == databricks.shop.records()


@pytest.mark.slow
def test_a_table_with_a_column_that_cannot_be_masked_yet_is_closed_until_it_is(databricks):
    databricks.run()
    place = f"table|{ORDERS}"
    assert {"ana@shop": ["SELECT"]} == databricks.server.grants(place)
    databricks.shop.write(
        "models/stg_orders.sql", "SELECT id, country, upper(country) AS land FROM raw.orders"
    )
    open_to = []

    def written(name):
        open_to.append((name, databricks.server.grants(place)))
        if name.endswith("stg_orders"):
            databricks.server.tell(columns={ORDERS: ["id", "country", "land"]})

    databricks.shop.before_write = written
    assert 0 == databricks.run().exit_code
    assert {} == next(grants for name, grants in open_to if name.endswith("stg_orders"))
    assert {"country", "land"} == set(databricks.server.state["masks"][ORDERS])
    assert {"ana@shop": ["SELECT"]} == databricks.server.grants(place)


@pytest.mark.slow
def test_a_mask_that_fails_after_the_data_fails_the_run_and_leaves_the_table_closed(databricks):
    databricks.run()
    databricks.shop.write(
        "models/stg_orders.sql", "SELECT id, country, upper(country) AS land FROM raw.orders"
    )
    failed = databricks.run()
    assert 1 == failed.exit_code
    assert "FIELD_NOT_FOUND" in failed.run.governance_error
    assert {} == databricks.server.grants(f"table|{ORDERS}")
    databricks.server.tell(columns={ORDERS: ["id", "country", "land"]})
    assert 0 == databricks.run().exit_code
    assert {"ana@shop": ["SELECT"]} == databricks.server.grants(f"table|{ORDERS}")


def test_a_grant_on_a_schema_with_masked_tables_is_refused_where_masks_come_after_tables(
    databricks,
):
    wide = SETTINGS.replace('on = "spark_catalog.default.*"', 'on = "spark_catalog.default"')
    databricks.declare(wide)
    with pytest.raises(GovernanceRefused, match="before its masks and row filters are in place"):
        databricks.run()
    assert () == databricks.shop.records()


@pytest.mark.slow
def test_what_is_no_longer_masked_is_unmasked_last_and_by_its_declaration_alone(databricks):
    databricks.run()
    databricks.declare(mask="none")
    plan = plan_governance(databricks.workspace)
    assert [("remove", "mask")] == [(each.action, each.kind) for each in plan.changes]
    databricks.apply()
    assert {} == databricks.server.state["masks"][ORDERS]


@pytest.mark.slow
def test_the_statements_on_record_have_the_whole_mask(databricks):
    databricks.run()
    records = load_governance(databricks.shop.root / ".rocky-state.db")
    said = next(each for each in records if each.kind == "mask" and each.stage == "done")
    assert "CREATE OR REPLACE FUNCTION" in said.statement
    assert "'***'" in said.statement
    assert "[mask] of `place`: redact" == said.why


@pytest.mark.parametrize("mask", ["hash"])
def test_what_no_catalogue_can_hold_is_an_error_before_anything_runs(databricks, mask):
    databricks.declare(mask=mask)
    for attempt in (databricks.run, lambda: plan_governance(databricks.workspace)):
        with pytest.raises(ErrorsFound) as refused:
            attempt()
        (found,) = refused.value.diagnostics
        assert "a catalogue would have to be told the key" in found.message
    assert ([], ()) == (databricks.server.log, databricks.shop.records())


def test_a_mask_that_hides_from_nobody_is_an_error(databricks):
    databricks.declare(SETTINGS.replace('["auditor"]', '["*"]'))
    with pytest.raises(ErrorsFound) as refused:
        databricks.run()
    assert "has everybody in it" in refused.value.diagnostics[0].message


@pytest.mark.slow
def test_a_model_that_is_not_understood_stops_a_plan_rather_than_unmasking_its_table(databricks):
    databricks.run()
    databricks.shop.write("models/stg_orders.sql", "SELECT id, country FROM raw.nothing")
    with pytest.raises(ErrorsFound, match="what is to be masked is not known"):
        plan_governance(databricks.workspace)


@pytest.mark.slow
def test_ranger_masks_for_everybody_but_those_who_may_see_and_before_the_first_table(ranger):
    seen = []
    ranger.shop.before_write = lambda name: seen.append(
        (name, ranger.server.state["policies"].values())
    )
    assert 0 == ranger.run().exit_code
    policies = next(each for name, each in seen if name.endswith("stg_orders"))
    (policy,) = [each for each in policies if each["policyType"] == 1]
    assert ["default", "stg_orders", "country"] == [
        each["values"][0] for each in policy["resources"].values()
    ]
    (policy,) = [
        each for each in ranger.server.state["policies"].values() if each["policyType"] == 1
    ]
    items = [
        (*each["users"], *each["groups"], each["dataMaskInfo"])
        for each in policy["dataMaskPolicyItems"]
    ]
    # The first that fits decides, so everybody comes last.
    assert {"olga@shop", "auditors"} == {each[0] for each in items[:2]}
    assert [{"dataMaskType": "MASK_NONE"}] * 2 == [each[1] for each in items[:2]]
    mask = "IF(`{col}` IS NULL, `{col}`, '***')"
    assert ("public", {"dataMaskType": "CUSTOM", "valueExpr": mask}) == items[2]
    assert () == plan_governance(ranger.workspace).changes


def test_ranger_refuses_an_expression_that_it_could_not_keep(ranger):
    ranger.declare(mask="sql(concat(value, '" + "x" * 1100 + "'))")
    with pytest.raises(GovernanceRefused, match="Ranger keeps 1024 of an expression"):
        ranger.run()
    assert () == ranger.shop.records()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["databricks", "ranger"])
def test_a_row_filter_is_put_in_place_and_goes_with_its_declaration(request, kind):
    masked = request.getfixturevalue(kind)
    masked.declare(more=FILTER)
    assert 0 == masked.run().exit_code
    assert () == plan_governance(masked.workspace).changes
    state = masked.server.state
    if kind == "databricks":
        assert state["functions"][state["filters"][ORDERS]].endswith(
            " OR (country IN ('DE', 'FR'))"
        )
    else:
        (policy,) = [each for each in state["policies"].values() if each["policyType"] == 2]
        expressions = [
            each["rowFilterInfo"]["filterExpr"] for each in policy["rowFilterPolicyItems"]
        ]
        assert ["1 = 1", "1 = 1", "country IN ('DE', 'FR')"] == expressions
    masked.declare()
    masked.apply()
    state = masked.server.state
    assert {} == state["filters"]
    assert [] == [each for each in state["policies"].values() if each["policyType"] == 2]


FAULTY = [
    ("country IN ('DE'", "this is no condition for rows"),
    ("id > 1", "`id`"),
    ("upper(country)", "this is no condition for rows"),
    ("count(*) > 1", "this is no condition for rows"),
    ("country IN (SELECT country FROM stg_orders)", "this is no condition for rows"),
    ("rand() > 0.5", "another value each time"),
    ("TRUE) OR (TRUE", "this is no condition for rows"),
]


@pytest.mark.parametrize(("expression", "said"), FAULTY)
def test_a_row_filter_is_compiled_like_any_query(databricks, expression, said):
    databricks.declare(more=FILTER.replace("country IN ('DE', 'FR')", expression))
    with pytest.raises(ErrorsFound) as refused:
        databricks.run()
    (found,) = refused.value.diagnostics
    text = (databricks.shop.root / "rocky.toml").read_text()
    assert text.splitlines()[found.span.line - 1].startswith("expression")
    assert re.search(said, found.message)


PLACES = [
    (FILTER.replace("stg_orders", "nothing"), "names no table of the project"),
    (FILTER.replace('["country"]', '["land"]'), "has no column `land`"),
    (FILTER + FILTER, "has two row filters"),
    (FILTER.replace('["auditor"]', '["auditr"]'), "no role `auditr`"),
    (FILTER.replace(".default.stg_orders", ".default"), "a row filter is on tables"),
]


@pytest.mark.parametrize(("text", "said"), PLACES, ids=range(len(PLACES)))
def test_a_row_filter_that_fits_nothing_is_an_error_at_its_line(databricks, text, said):
    databricks.declare(more=text)
    with pytest.raises((ErrorsFound, RunRefused)) as refused:
        databricks.run()
    assert any(said in each.message for each in refused.value.diagnostics)


UNABLE = [
    ('kind = "unity"\nurl = "http://u"\n', "`unity` has none"),
    ("", "there is no `[governance.catalog]`"),
    ('kind = "databricks"\nurl = "http://u"\ntoken = "${T}"\n', "needs `warehouse_id`"),
]


@pytest.mark.parametrize(("catalog", "said"), UNABLE)
def test_a_level_that_the_catalogue_has_not_got_is_an_error_at_its_line(tmp_path, catalog, said):
    told = f"[governance.catalog]\n{catalog}" if catalog else ""
    text = f'[governance]\nenforce = "catalog"\n{told}'
    (tmp_path / "rocky.toml").write_text(text)
    found = compile_project(load_project(tmp_path, env={"T": "t"}), cache=False).diagnostics
    line = text.index("enforce"), text.index("\n", text.index("enforce"))
    (error,) = [each for each in found if each.span and line[0] <= each.span.start < line[1]]
    assert said in error.message


@pytest.mark.slow
def test_a_kept_plan_is_applied_with_the_masks_that_were_not_there_when_it_was_made(databricks):
    kept = plan(databricks.workspace, RunRequest())
    report = apply(databricks.workspace, KeptRequest(kept.plan_id))
    assert report.success
    assert ["country"] == [*databricks.server.state["masks"][ORDERS]]


@pytest.mark.slow
def test_a_table_that_becomes_known_meanwhile_and_cannot_be_masked_is_closed(databricks):
    place = f"table|{ORDERS}"
    databricks.server.tell(securables=HELD[:2])

    def written(name):
        if name.endswith("stg_orders"):
            granted = {place: {"ana@shop": ["SELECT"]}}
            databricks.server.tell(securables=HELD, columns={ORDERS: ["id"]}, grants=granted)

    databricks.shop.before_write = written
    failed = databricks.run()
    assert 1 == failed.exit_code
    assert f"closed until then: `{ORDERS}`" in failed.run.governance_error
    assert {} == databricks.server.grants(place)
