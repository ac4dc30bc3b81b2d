"""Governance: a plan, exactly that plan, records of it, and a run that fails where it must."""

import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rocky.errors import GovernanceRefused, LedgerUnreadable, PlanOutdated, RunRefused
from rocky.ledger.governance_records import load_governance
from rocky.operations.execution.run import run
from rocky.operations.governance.catalogue import (
    ApplyRequest,
    WhoRequest,
    apply_governance,
    plan_governance,
    who_can_read,
)
from rocky.operations.health.doctor import DoctorRequest, doctor
from rocky.operations.proof.verify import VerifyRequest, verify
from rocky.operations.sources.drift import DriftRequest, drift
from rocky.operations.workspace import Workspace
from rocky.plan.request import RunRequest
from tests.servers.catalogues import TOKEN, start_catalogue
from tools import verify_run

ORDERS = "table|spark_catalog.default.stg_orders"
SCHEMA = "schema|spark_catalog.default"
CATALOG = "catalog|spark_catalog"


@pytest.fixture(scope="module")
def server():
    with start_catalogue("unity") as started:
        yield started


GRANTS = """
[role.reader]
permissions = ["USE CATALOG", "USE SCHEMA", "SELECT"]

[role.analyst]
inherits = ["reader"]
members = ["ana@shop"]

[[grant]]
to = "reader"
on = "spark_catalog.default.stg_*"
"""


class Governed:
    """A shop, its catalogue and what is declared."""

    def __init__(self, shop, server):
        self.shop, self.server = shop, server
        self.base = (shop.root / "rocky.toml").read_text()
        self.workspace = shop.on(environment={"UC_TOKEN": TOKEN, "ROCKY_IDENTITY": "olga"})
        names = [
            ["catalog", "spark_catalog"],
            ["schema", "spark_catalog.default"],
            *(["table", f"spark_catalog.default.{path.stem}"] for path in models_of(shop.root)),
        ]
        server.begin(users=["ana@shop", "bob@shop"], securables=names)
        self.declare(GRANTS)

    def declare(self, text, foreign="report"):
        settings = (
            f'\n[governance]\nforeign = "{foreign}"\n'
            f'[governance.catalog]\nkind = "unity"\nurl = "{self.server.url}"\n'
            'token = "${UC_TOKEN}"\nretries = 0\n'
        )
        self.shop.write("rocky.toml", self.base + text + settings)

    def plan(self):
        return plan_governance(self.workspace)

    def apply(self, plan_id=None):
        return apply_governance(self.workspace, ApplyRequest(plan_id))

    def run(self):
        return run(self.workspace, RunRequest())

    def records(self):
        return load_governance(self.shop.root / ".rocky-state.db")

    def grants(self):
        return {place: self.server.grants(place) for place in (CATALOG, SCHEMA, ORDERS)}


def models_of(root: Path):
    return sorted(root.glob("models/*.sql"))


@pytest.fixture
def governed(shop, server):
    return Governed(shop, server)


IN_PLACE = {
    CATALOG: {"ana@shop": ["USE CATALOG"]},
    SCHEMA: {"ana@shop": ["USE SCHEMA"]},
    ORDERS: {"ana@shop": ["SELECT"]},
}


def said(report):
    return [(each.action, each.name, each.on, each.subject) for each in report.changes]


def test_a_plan_tells_the_catalogue_nothing_and_an_application_exactly_what_it_says(governed):
    plan = governed.plan()
    assert [] == governed.server.said
    assert [
        ("add", "SELECT", "spark_catalog.default.stg_orders", "ana@shop"),
        ("add", "USE CATALOG", "spark_catalog", "ana@shop"),
        ("add", "USE SCHEMA", "spark_catalog.default", "ana@shop"),
    ] == sorted(said(plan), key=lambda each: each[1])
    done = governed.apply(plan.plan_id)
    assert said(plan) == said(done)
    assert IN_PLACE == governed.grants()


def test_applying_again_does_nothing(governed):
    governed.apply()
    before = len(governed.server.said)
    again = governed.apply()
    assert ((), 3) == (again.changes, again.in_place)
    assert before == len(governed.server.said)


def test_what_is_no_longer_declared_is_removed(governed):
    governed.apply()
    governed.declare(GRANTS.replace('members = ["ana@shop"]', 'members = ["bob@shop"]'))
    plan = governed.plan()
    removed = [each for each in plan.changes if each.action == "remove"]
    assert {"no longer declared"} == {each.why for each in removed}
    # Nobody has rights too many while others are added.
    assert ["remove"] * 3 + ["add"] * 3 == [each.action for each in plan.changes]
    governed.apply()
    assert {"bob@shop": ["SELECT"]} == governed.server.grants(ORDERS)


@pytest.mark.parametrize("foreign", ["keep", "report", "remove"])
def test_what_somebody_else_granted_is_kept_reported_or_removed(governed, foreign):
    governed.apply()
    governed.declare(GRANTS, foreign)
    theirs = {"ana@shop": ["SELECT"], "bob@shop": ["MODIFY"]}
    grants = {**governed.server.state["grants"], ORDERS: theirs}
    governed.server.tell(grants=grants)
    plan = governed.apply()
    assert (foreign == "report") == bool(plan.foreign)
    assert (foreign == "remove") == bool(plan.changes)
    kept = {"ana@shop": ["SELECT"]} if foreign == "remove" else theirs
    assert kept == governed.server.grants(ORDERS)


def test_what_was_there_already_is_adopted_and_goes_with_its_declaration(governed):
    governed.server.tell(grants={ORDERS: {"ana@shop": ["SELECT"]}})
    assert "adopt" in {each.action for each in governed.apply().changes}
    governed.declare("")
    governed.apply()
    assert {CATALOG: {}, SCHEMA: {}, ORDERS: {}} == governed.grants()


def test_a_plan_is_refused_when_the_catalogue_has_moved(governed):
    plan = governed.plan()
    governed.server.tell(grants={ORDERS: {"bob@shop": ["SELECT"]}})
    before = governed.server.said
    with pytest.raises(PlanOutdated, match="has changed since; nothing was done"):
        governed.apply(plan.plan_id)
    assert before == governed.server.said
    assert () == governed.records()


def test_tables_that_the_catalogue_has_not_got_wait(governed):
    governed.server.tell(securables=[["catalog", "spark_catalog"]])
    plan = governed.apply()
    assert [("add", "USE CATALOG")] == [(each.action, each.name) for each in plan.changes]
    assert {"SELECT", "USE SCHEMA"} == {each.name for each in plan.waiting}


@pytest.mark.slow
def test_each_statement_is_on_record_with_who_and_why_and_the_chain_holds(governed):
    governed.run()
    records = governed.records()
    done = [each for each in records if each.stage == "done"]
    assert 3 == len(done)
    assert {("olga", "[[grant]] 1, role `reader`")} == {(each.by, each.why) for each in done}
    assert all("PATCH /api/2.1/unity-catalog/permissions/" in each.statement for each in done)
    assert {governed.shop.records()[0].run_id} == {each.run_id for each in records}
    governed.apply()
    report = verify(governed.workspace, VerifyRequest())
    assert () == report.findings
    root = governed.shop.root
    state, warehouse = str(root / ".rocky-state.db"), str(root / "warehouse")
    assert 0 == verify_run.main([state, "--warehouse", warehouse])


def test_the_token_is_in_no_record_and_no_report(governed):
    governed.server.tell(faults=[{"method": "PATCH", "status": 400, "count": 1, "message": TOKEN}])
    report = governed.apply()
    assert report.failed
    assert TOKEN not in repr(report) + str(report.changes)
    assert TOKEN.encode() not in (governed.shop.root / ".rocky-state.db").read_bytes()


@pytest.mark.slow
def test_a_record_that_somebody_changed_is_found(governed):
    import sqlite3  # noqa: PLC0415

    governed.run()
    with sqlite3.connect(governed.shop.root / ".rocky-state.db") as file:
        file.execute("UPDATE governance SET value = replace(value, 'olga', 'oleg')")
    file.close()
    assert verify(governed.workspace, VerifyRequest()).findings
    with pytest.raises(LedgerUnreadable, match="so nothing is done by it"):
        governed.plan()


def test_a_failed_change_keeps_later_grants_back_and_the_next_application_makes_up_for_it(governed):
    governed.apply()
    governed.declare(GRANTS.replace('members = ["ana@shop"]', 'members = ["bob@shop"]'))
    governed.server.tell(
        faults=[{"method": "PATCH", "status": 500, "count": 1, "holds": "USE SCHEMA"}]
    )
    report = governed.apply()
    assert report.failed
    assert {"bob@shop"} == {each.subject for each in report.changes if each.status == "not_tried"}
    assert any("still open to somebody" in each for each in report.warnings)
    assert not governed.apply().failed
    assert {place: {"bob@shop": names["ana@shop"]} for place, names in IN_PLACE.items()} == (
        governed.grants()
    )


def test_a_grant_that_a_server_made_and_failed_to_say_goes_with_its_declaration(governed):
    governed.server.tell(faults=[{"method": "PATCH", "status": 500, "count": 9, "holds": "SELECT"}])
    assert governed.apply().failed
    governed.server.tell(faults=[], grants={ORDERS: {"ana@shop": ["SELECT"]}})

    governed.declare("", "keep")
    governed.apply()

    assert {} == governed.server.grants(ORDERS)
    assert () == verify(governed.workspace, VerifyRequest()).findings


def test_a_revoke_that_the_catalogue_takes_and_forgets_is_a_failure(governed):
    governed.apply()
    governed.server.tell(deaf=["ana@shop"])
    governed.declare(GRANTS.replace('members = ["ana@shop"]', 'members = ["bob@shop"]'))
    report = governed.apply()
    assert "the catalogue took it, and still holds it" in {each.error for each in report.changes}


@pytest.mark.slow
@pytest.mark.parametrize("foreign", ["keep", "report"])
def test_a_revoke_that_was_forgotten_is_ours_still_and_made_again(governed, foreign):
    settings = GRANTS.replace('members = ["ana@shop"]', 'members = ["bob@shop"]')
    governed.apply()
    governed.server.tell(deaf=["ana@shop"])
    governed.declare(settings, foreign)
    assert governed.apply().failed
    assert governed.apply().failed

    governed.server.tell(deaf=[])
    assert not governed.apply().failed
    assert not any("ana@shop" in names for names in governed.grants().values())
    assert () == verify(governed.workspace, VerifyRequest()).findings


KILLED = """
import os, signal, sys
from pathlib import Path
from rocky.governance.unity import UnityCatalogue
from rocky.operations.governance.catalogue import ApplyRequest, apply_governance
from rocky.operations.workspace import Workspace

put, calls = UnityCatalogue.put, []
def dying(self, fact, before):
    calls.append(fact)
    if len(calls) == 2 and sys.argv[3] == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    put(self, fact, before)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
UnityCatalogue.put = dying
workspace = Workspace(Path(sys.argv[1]), environment={"UC_TOKEN": os.environ["UC_TOKEN"]})
apply_governance(workspace, ApplyRequest(sys.argv[2]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_crash_in_the_middle_is_gone_on_from_by_the_same_plan(governed, moment):
    plan = governed.plan()
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(governed.shop.root), plan.plan_id, moment],
        env={**os.environ, "UC_TOKEN": TOKEN},
        check=False,
        capture_output=True,
    )
    assert -signal.SIGKILL == killed.returncode, killed.stderr.decode()
    assert IN_PLACE != governed.grants()
    resumed = governed.apply(plan.plan_id)
    assert not resumed.failed
    assert IN_PLACE == governed.grants()
    # All of it is ours: it goes when nobody declares it any more.
    governed.declare("")
    governed.apply()
    assert {CATALOG: {}, SCHEMA: {}, ORDERS: {}} == governed.grants()


def test_what_a_catalogue_cannot_do_refuses_plan_and_run_before_anything_happens(governed):
    governed.declare(GRANTS.replace('"SELECT"]', '"SELECT", "MANAGE"]'))
    for attempt in (governed.plan, governed.apply, governed.run):
        with pytest.raises(GovernanceRefused, match="has no privilege `MANAGE`"):
            attempt()
    assert ([], ()) == (governed.server.log, governed.shop.records())


def test_a_grant_on_nothing_is_refused(governed):
    governed.declare(GRANTS + '\n[[grant]]\nto = "bob@shop"\non = "x.*"\nprivileges = ["SELECT"]\n')
    with pytest.raises(GovernanceRefused, match=r"\[\[grant\]\] 2 of rocky.toml is on nothing"):
        governed.plan()


def test_placeholders_name_who_is_granted(governed):
    governed.server.tell(users=["default@shop"])
    governed.declare(
        '[[grant]]\nto = "{schema}@shop"\non = "spark_catalog.{schema}"\nprivileges = ["SELECT"]\n'
    )
    governed.apply()
    assert {"default@shop": ["SELECT"]} == governed.server.grants(SCHEMA)


@pytest.mark.slow
def test_a_run_governs_the_tables_that_it_wrote(governed):
    report = governed.run()
    assert (0, None) == (report.exit_code, report.run.governance_error)
    assert IN_PLACE == governed.grants()


@pytest.mark.slow
def test_a_run_that_writes_nothing_asks_the_catalogue_nothing(governed):
    governed.run()
    before = len(governed.server.log)
    assert 0 == governed.run().exit_code
    assert before == len(governed.server.log)


@pytest.mark.slow
def test_a_run_fails_when_a_revoke_could_not_be_made_and_the_next_one_makes_it(governed):
    governed.run()
    governed.declare(GRANTS.replace('members = ["ana@shop"]', 'members = ["bob@shop"]'))
    governed.server.tell(faults=[{"method": "PATCH", "status": 500, "count": 9}])
    failed = governed.run()
    assert 1 == failed.exit_code
    assert "not governed as declared" in (failed.run.governance_error or "")
    assert not failed.succeeded
    assert {"unanswered"} == {each.stage for each in governed.records() if each.error is not None}
    governed.server.tell(faults=[])
    assert 0 == governed.run().exit_code
    assert {"bob@shop": ["SELECT"]} == governed.server.grants(ORDERS)


def test_a_branch_is_not_governed(governed):
    with pytest.raises(RunRefused, match="branch `b` is not governed"):
        plan_governance(replace(governed.workspace, branch_name="b"))


def test_drift_shows_what_the_catalogue_holds_otherwise_than_it_was_told(governed):
    governed.apply()
    governed.server.tell(grants={ORDERS: {"bob@shop": ["SELECT"]}})
    found = drift(governed.workspace, DriftRequest()).catalogue
    assert found is not None
    assert 3 == len(found.missing)
    assert ["SELECT on table spark_catalog.default.stg_orders to bob@shop"] == [
        each.said for each in found.foreign
    ]


def test_who_can_read_a_table_is_answered_from_declaration_and_catalogue(governed):
    governed.apply()
    grants = governed.server.state["grants"]
    grants[ORDERS]["bob@shop"] = ["SELECT"]
    governed.server.tell(grants=grants)
    report = who_can_read(governed.workspace, WhoRequest("stg_orders"))
    found = {each.principal: (each.standing, each.lacks) for each in report.readers}
    assert {
        "ana@shop": ("declared_and_held", ()),
        "bob@shop": ("foreign", ("USE CATALOG", "USE SCHEMA")),
    } == found
    assert {"reader": (), "analyst": ("ana@shop",)} == report.roles


def test_without_a_catalogue_who_can_read_is_said_as_it_is(shop):
    report = who_can_read(shop.workspace, WhoRequest("stg_orders"))
    assert (None, ()) == (report.catalogue, report.readers)


@pytest.fixture(scope="module")
def databricks():
    with start_catalogue("databricks") as started:
        yield started


@pytest.mark.slow
def test_a_pipeline_tags_its_tables_and_isolates_their_catalog_on_databricks(shop, databricks):
    names = [["catalog", "spark_catalog"], ["schema", "spark_catalog.default"]]
    names += [["table", f"spark_catalog.default.{each.stem}"] for each in models_of(shop.root)]
    databricks.begin(securables=names)
    base = (shop.root / "rocky.toml").read_text()
    settings = (
        f'[governance]\ntags = {{ product = "shop", team = "all" }}\n[governance.catalog]\n'
        f'kind = "databricks"\nurl = "{databricks.url}"\ntoken = "${{T}}"\nwarehouse_id = "wh1"\n'
    )
    target = (
        "[pipeline.shop.target.governance]\n"
        'tags = { team = "core" }\nisolated = true\nworkspaces = [7, 8]\n'
    )
    workspace = shop.on(environment={"T": TOKEN})
    shop.write("rocky.toml", base + target + settings)
    assert not apply_governance(workspace, ApplyRequest()).failed
    state = databricks.state
    assert {"product": "shop", "team": "core"} == state["tags"][ORDERS]
    assert {"product": "shop", "team": "all"} == state["tags"][CATALOG]
    assert "ISOLATED" == state["isolation"]["spark_catalog"]
    assert {"1", "7", "8"} == set(state["bindings"]["spark_catalog"])
    again = plan_governance(workspace)
    # Databricks binds the workspace that isolates: nobody here has said so.
    assert ((), ["1"]) == (again.changes, [each.name for each in again.foreign])
    shop.write("rocky.toml", base + target.replace("7, 8", "8") + settings)
    apply_governance(workspace, ApplyRequest())
    assert {"1", "8"} == set(databricks.state["bindings"]["spark_catalog"])
    shop.write("rocky.toml", base + settings)
    apply_governance(workspace, ApplyRequest())
    assert "OPEN" == databricks.state["isolation"]["spark_catalog"]
    assert {"product": "shop", "team": "all"} == databricks.state["tags"][ORDERS]


@pytest.mark.slow
def test_the_doctor_says_what_each_catalogue_can_hold_and_whether_ours_answers(governed, shop):
    asked = DoctorRequest(("governance",))
    (without,) = doctor(Workspace(shop.root, environment={"UC_TOKEN": TOKEN}), asked).checks
    assert re.match(r"unity 127.0.0.1:\d+ answers; ", without.message)
    governed.shop.write("rocky.toml", governed.base)
    (matrix,) = doctor(shop.workspace, asked).checks
    rows = {line[:13].strip(): line[13:].split() for line in matrix.details}
    assert ["unity", "databricks", "ranger"] == rows[""]
    assert ["no", "yes", "yes"] == rows["masks"]
    assert ["no", "yes", "no"] == rows["tags"]
    assert "unity*" in without.details[0].split()
    governed.declare(GRANTS.replace('"SELECT"]', '"SELECT", "BROWSE"]'))
    (unable,) = doctor(governed.workspace, asked).checks
    assert ("critical", True) == (unable.health, "no privilege `BROWSE`" in unable.message)
