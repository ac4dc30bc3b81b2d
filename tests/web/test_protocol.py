"""The protocol: answers are the reports of operations, kept until something changes."""

import json
import os
import subprocess
import sys
import time
from http.client import HTTPConnection

import pytest
from jsonschema import Draft202012Validator

from rocky.operations.execution.run import run
from rocky.operations.graph.lineage import LineageRequest, lineage
from rocky.operations.page.project_page import load_page
from rocky.operations.records.history import HistoryRequest, history
from rocky.operations.records.trace import TraceRequest, trace
from rocky.operations.report import encode_report
from rocky.operations.state.kept_state import show_state
from rocky.plan.request import RunRequest
from rocky.protocol.endpoint import without_quotes
from rocky.protocol.endpoints import ENDPOINTS
from rocky.protocol.first_endpoints import names_of
from rocky.protocol.kept_index import read_index
from rocky.protocol.memory import Memory
from rocky.web import answers
from rocky.web.answers import Answers
from rocky.web.guard import HEADERS
from tests.operations.projects import GOOD, open_project
from tests.web.servers import ask, serving
from tools.generate_openapi import FILE, format_openapi

OPENAPI = json.loads(FILE.read_text())


def told(server, path, **more):
    answer = ask(server, f"/api/v1/{path}", **more)
    assert 200 == answer.status, answer.body
    return answer.document


def without_head(document):
    return {name: each for name, each in document.items() if name not in ("version", "endpoint")}


def wait_for(condition):
    deadline = time.monotonic() + 10
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


def test_the_document_of_the_protocol_is_that_of_its_types():
    assert FILE.read_text() == format_openapi(), "`make schemas` writes it"


@pytest.mark.slow
def test_an_answer_is_the_report_of_its_operation_and_fits_the_document(shop):
    run(shop.workspace, RunRequest())
    questions = {
        "project": "project",
        "details": "details?part=0",
        "overlay": "overlay?name=replay",
        "lineage": "lineage?target=stg_orders&downstream=true",
        "trace": "trace?run=latest",
        "suppose": "suppose?column=raw.orders.id&dropped=true",
    }
    plain = (
        "compile", "list", "catalog", "dag", "history", "run", "cost", "plan", "branches",
        "compliance", "state", "verify", "record",
    )  # fmt: skip
    with serving(shop.workspace) as server:
        for name, question in (questions | {each: each for each in plain}).items():
            found = told(server, question)
            kind = OPENAPI["paths"][f"/api/v1/{name}"]["get"]["responses"]["200"]
            schema = kind["content"]["application/json"]["schema"]
            whole = {**schema, "components": OPENAPI["components"]}
            errors = [each.message[:200] for each in Draft202012Validator(whole).iter_errors(found)]
            assert [] == errors, name
        report = encode_report(trace(shop.workspace, TraceRequest()))
        assert json.loads(json.dumps(report)) == without_head(told(server, "trace?run=latest"))
        report = encode_report(
            lineage(shop.workspace, LineageRequest("stg_orders", downstream=True))
        )
        assert json.loads(json.dumps(report)) == without_head(told(server, questions["lineage"]))


def test_an_argument_that_nobody_declared_is_refused_with_the_nearest(tmp_path):
    with serving(open_project(tmp_path, GOOD)) as server:
        for question, status, said in (
            ("lineage?taget=good", 400, "target"),
            ("lineage?target=god", 404, "good"),
            ("details?part=x", 400, "number"),
            ("details?part=99", 404, "part 99"),
            ("details", 400, "missing"),
            ("overlay?name=other", 400, "governance"),
            ("lineage?target=a&target=b", 400, "more than once"),
            ("lineage?target=%ff", 400, "name=value"),
            (f"lineage?target={'x' * 3000}", 400, "longer"),
            ("run", 404, "no run"),
            ("nothing", 404, "there is project"),
        ):
            answer = ask(server, f"/api/v1/{question}")
            assert status == answer.status, answer.body
            assert said in answer.document["error"]["message"], question


@pytest.mark.slow
def test_a_save_is_told_and_the_next_answer_is_new(tmp_path):
    with serving(open_project(tmp_path, GOOD)) as server:
        assert 3 == len(told(server, "project")["tables"])
        # Nothing is missed once the first look is over.
        time.sleep(0.5)
        before = server.notices.last
        (tmp_path / "models/more.sql").write_text("SELECT order_id FROM good\n")
        wait_for(lambda: server.notices.last > before)

        assert 4 == len(wait_for(lambda: told(server, "project")["tables"]))
        events = server.notices.after(before, 0)
        assert [("change", {"kinds": ["files"]})] == [(e.event, json.loads(e.data)) for e in events]


@pytest.mark.slow
def test_who_only_looks_causes_no_change_and_a_run_does(shop):
    run(shop.workspace, RunRequest())
    with serving(shop.workspace) as server:
        time.sleep(0.5)
        before = server.notices.last
        for name in ("project", "state", "history", "trace", "verify", "plan", "record"):
            told(server, name)
        time.sleep(0.5)
        assert [] == list(server.notices.after(before, 0))
        run(shop.workspace, RunRequest())
        wait_for(lambda: server.notices.last > before)
        assert {"ledger"} == {
            kind
            for each in server.notices.after(before, 0)
            for kind in json.loads(each.data)["kinds"]
        }
        assert 2 == told(server, "history")["count"]


@pytest.mark.slow
def test_the_stream_says_what_happens(tmp_path):
    with serving(open_project(tmp_path, GOOD)) as server:
        connection = HTTPConnection("127.0.0.1", server.server_port, timeout=10)
        cookie = f"{server.guard.cookie}={server.guard.token}"
        connection.request("GET", "/api/v1/events", headers={"Cookie": cookie})
        answer = connection.getresponse()
        assert "text/event-stream; charset=utf-8" == answer.headers["Content-Type"]
        assert b": here\n" == answer.readline()
        server.notices.tell("change", kinds=["files"])
        lines = [answer.readline() for _ in range(4)]
        assert b'event: change\ndata: {"kinds": ["files"]}\n' in b"".join(lines)
        connection.close()


@pytest.mark.slow
def test_a_run_that_the_page_asks_for_passes_the_gates_and_is_recorded(shop):
    with serving(shop.workspace, allow_actions=True) as server:
        own = f"http://127.0.0.1:{server.server_port}"

        def act(**given):
            body = json.dumps(given).encode()
            kind = {"Origin": own, "Content_Type": "application/json"}
            return ask(server, "/api/v1/actions/run", method="POST", body=body, **kind)

        assert 400 == act(selct=["a"]).status
        assert 400 == act(select=[{"a": 1}]).status
        assert 202 == act(select=[]).status
        job = wait_for(lambda: (j := server.jobs.report().job) and j.status != "running" and j)
        assert ("done", None) == (job.status, job.error)
        assert 1 == len(shop.records())
        assert shop.records()[0].run_id == told(server, "actions")["job"]["report"]["run_id"]
        assert 202 == act(select=["nothing_like_it"]).status
        job = wait_for(lambda: (j := server.jobs.report().job) and j.status != "running" and j)
        assert ("failed", "NothingSelected") == (job.status, job.error["kind"])


def test_others_get_documents_without_texts_that_may_quote_a_row():
    document = {
        "reason": "row 17", "run": {"reason": "first build", "models": [{"error": "x", "name": "m"}]},
        "check_outcomes": [{"observed": "secret", "passed": False}],
        "executions": [{"run_id": "r", "watermark": "1987-02-03"}],
        "promotion": {"tables": [{"target": "t", "watermark_before": {"last_value": "1987-02-03"}}]},
    }  # fmt: skip
    run = next(each for each in ENDPOINTS if each.name == "run")

    assert {
        "run": {"reason": "first build", "models": [{"name": "m"}]},
        "check_outcomes": [{"passed": False}],
        "executions": [{"run_id": "r"}],
        "promotion": {"tables": [{"target": "t"}]},
    } == without_quotes(run, document)


def test_what_shows_values_is_named_once_and_each_endpoint_says_what_it_is():
    assert {"logs", "record", "verify", "plan", "rows", "files", "state"} == {
        each.name for each in ENDPOINTS if each.shows_values
    }
    assert {"rows", "branch", "verify", "record", "plan", "why"} <= {
        each.name for each in ENDPOINTS if not each.is_kept
    }, "what reads tables is not kept: nobody tells when others write them"
    assert {"history", "run", "trace", "branches"} == {
        each.name for each in ENDPOINTS if each.may_quote
    }
    assert len(ENDPOINTS) == len({each.name for each in ENDPOINTS})
    assert all(each.about.endswith(".") and each.reports for each in ENDPOINTS)
    assert "no-store" == HEADERS["Cache-Control"]


def test_the_first_view_is_answered_before_the_other_endpoints_are_loaded(tmp_path, monkeypatch):
    def load(_: Answers) -> None:
        raise AssertionError("the others are loaded")

    monkeypatch.setattr(Answers, "endpoints", property(load))
    monkeypatch.setattr(Answers, "warm_up", lambda _: None)
    with serving(open_project(tmp_path, GOOD)) as server:
        assert 200 == ask(server, "/api/v1/project").status
        assert 200 == ask(server, "/api/v1/details?part=0").status
        assert 200 == ask(server, "/api/v1/actions").status


def test_the_names_of_endpoints_are_known_before_the_endpoints_are_loaded():
    others = [each.name for each in ENDPOINTS if not each.shows_values]
    assert sorted(others) == sorted(names_of(local=False))
    assert sorted(each.name for each in ENDPOINTS) == sorted(names_of(local=True))


@pytest.mark.slow
def test_an_address_is_said_before_the_compiler_or_the_ledger_is_loaded():
    asked = "import sys, rocky.cli.commands.ui; print(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    slow = {"rocky.project", "rocky.compiler", "rocky.ledger", "rocky.operations.workspace"}
    assert set() == slow & set(said.stdout.split())


@pytest.mark.slow
def test_an_index_is_lent_at_the_next_start_while_nothing_has_changed(shop):
    with serving(shop.workspace) as server:
        first = ask(server, "/api/v1/project").body
        wait_for(lambda: read_index(shop.workspace))
    assert first == read_index(shop.workspace)
    before = (shop.root / "models/alone.sql").stat()
    shop.write("models/alone.sql", "SELECT 2 AS one")
    os.utime(shop.root / "models/alone.sql", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert read_index(shop.workspace) is None, "no tool can set the time of a change back"
    with serving(shop.workspace):
        wait_for(lambda: read_index(shop.workspace))
    run(shop.workspace, RunRequest())
    assert read_index(shop.workspace) is None, "a run is in the index"


def test_an_index_that_was_lent_wrongly_is_mended_and_told(shop, monkeypatch):
    monkeypatch.setattr(answers, "read_index", lambda _: b'{"tables":[]}')
    monkeypatch.setattr(answers, "_PATIENCE", 0.2)
    with serving(shop.workspace) as server:
        wait_for(lambda: ask(server, "/api/v1/project").body == b'{"tables":[]}')
        told = wait_for(lambda: server.notices.after(0, 0))
        assert "change" == told[0].event
        assert "stg_orders" in ask(server, "/api/v1/project").body.decode()


@pytest.mark.slow
def test_the_state_names_the_tables_that_a_running_run_has_claimed(shop):
    seen = []
    shop.before_write = lambda _name: seen.append(show_state(shop.workspace).claims)
    run(shop.workspace, RunRequest())
    targets = {target for claims in seen for claim in claims for target in claim.targets}
    assert "spark_catalog.default.by_country" in targets
    assert () == show_state(shop.workspace).claims


@pytest.mark.slow
def test_an_execution_has_the_word_that_a_run_and_the_page_have_for_it(shop):
    run(shop.workspace, RunRequest())
    run(shop.workspace, RunRequest())
    with serving(shop.workspace) as server:
        found = told(server, "history?model=stg_orders")["executions"]
    assert ["reused", "built"] == [each["outcome"] for each in found]


@pytest.mark.slow
def test_a_table_counts_its_tests_by_how_they_last_went(shop):
    asked = '[[tests]]\ntype = "unique"\ncolumn = "{}"\nseverity = "warning"\n'
    shop.write("models/stg_orders.toml", asked.format("id") + asked.format("country"))
    run(shop.workspace, RunRequest(test=True))

    tables = {each.name: each for each in load_page(shop.workspace).index.tables}

    tested = tables["stg_orders"]
    assert (1, 1) == (tested.tests_passed, tested.tests_warned)
    assert (None, ("passed", "warned")) == (tested.tests_failed, tested.tests_went)
    (last,) = load_page(shop.workspace).index.runs
    assert (0, 1) == (last.checks_failed, last.checks_warned)
    assert tables["alone"].tests_passed is None


def test_a_model_that_never_ran_is_asked_about_without_loading_the_project_again(
    tmp_path, monkeypatch
):
    memory = Memory(open_project(tmp_path, GOOD))
    memory.compilation()

    def load(*_: object, **__: object) -> None:
        raise AssertionError("it is loaded again")

    monkeypatch.setattr("rocky.operations.workspace.load_project", load)
    found = history(memory.workspace, HistoryRequest(model="GOOD"))
    assert ("good", 0) == (found.model, found.count)
