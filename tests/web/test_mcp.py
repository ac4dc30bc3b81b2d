"""Assistants: the protocol they speak, the tools they get, and that no value reaches them."""

import json
import subprocess
import sys

import pytest

from rocky.protocol.endpoints import ENDPOINTS
from rocky.web.mcp import TOOLS, Assistant
from tests.operations.projects import GOOD, open_project


def say(assistant, method, **params):
    line = json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
    answer = assistant.answer(line)
    assert (7, "2.0") == (answer["id"], answer["jsonrpc"])
    return answer


def call(assistant, name, **arguments):
    return say(assistant, "tools/call", name=name, arguments=arguments)["result"]


@pytest.fixture
def assistant(tmp_path):
    return Assistant(open_project(tmp_path, GOOD))


def test_it_greets_in_the_version_that_is_asked_for_or_its_newest(assistant):
    found = say(assistant, "initialize", protocolVersion="2024-11-05")["result"]
    assert ("2024-11-05", {"tools": {}}) == (found["protocolVersion"], found["capabilities"])
    assert (
        "2025-06-18"
        == say(assistant, "initialize", protocolVersion="9")["result"]["protocolVersion"]
    )
    assert assistant.answer('{"jsonrpc":"2.0","method":"notifications/initialized"}') is None
    assert {} == say(assistant, "ping")["result"]


def test_every_tool_is_for_reading_and_shows_no_values(assistant):
    tools = say(assistant, "tools/list")["result"]["tools"]
    values = {each.name for each in ENDPOINTS if each.shows_values}

    assert {"lineage", "types", "check_sql", "why", "blast_radius"} <= {
        each["name"] for each in tools
    }
    assert all(each["annotations"]["readOnlyHint"] for each in tools)
    assert set() == {each.endpoint for each in TOOLS} & values


def test_tools_answer_with_reports(assistant):
    reached = call(assistant, "blast_radius", **{"from": "raw.orders.order_id"})
    assert not reached["isError"]
    assert [["raw.orders", "order_id"], ["good", "order_id"], ["reader", "order_id"]] == [
        list(each) for each in reached["structuredContent"]["columns"]
    ]
    breaks = call(assistant, "what_would_break", column="raw.orders.amount", dropped=True)
    assert ["good"] == [each["model"] for each in breaks["structuredContent"]["broken"]]
    good = call(assistant, "check_sql", sql="SELECT amount FROM good")["structuredContent"]
    assert (True, ["amount"]) == (good["ok"], [each["name"] for each in good["columns"]])
    bad = call(assistant, "check_sql", sql="SELECT amont FROM good")["structuredContent"]
    assert (False, "E003") == (bad["ok"], bad["diagnostics"][0]["code"])
    types = call(assistant, "types", select=["good"])["structuredContent"]
    assert "good" in json.dumps(types)


def test_a_mistake_is_answered_and_ends_nothing(assistant):
    assert -32700 == assistant.answer("{")["error"]["code"]
    assert -32600 == assistant.answer("[]")["error"]["code"]
    assert -32601 == say(assistant, "resources/list")["error"]["code"]
    assert -32602 == say(assistant, "tools/call", name="run")["error"]["code"]
    refused = call(assistant, "lineage", taget="good")
    assert refused["isError"]
    assert "target" in refused["content"][0]["text"]


def test_no_message_however_odd_ends_the_conversation(assistant):
    assert -32700 == assistant.answer("[" * 100_000)["error"]["code"]
    assert -32602 == say(assistant, "tools/call", name=["lineage"])["error"]["code"]
    assert call(assistant, "history", limit="9" * 5000)["isError"]
    assert call(assistant, "lineage", target="\ud800")["isError"]


def test_a_defect_in_one_tool_is_said_and_ends_nothing(assistant, monkeypatch):
    monkeypatch.setattr("rocky.protocol.endpoints.why", lambda *_: 1 // 0)

    assert call(assistant, "why", model="good")["isError"]


def test_an_assistant_is_told_for_which_reason_a_model_would_be_built(assistant):
    assert "first build" == call(assistant, "why", model="good")["structuredContent"]["reason"]


@pytest.mark.slow
def test_the_command_answers_line_by_line_and_writes_nothing_else(tmp_path):
    open_project(tmp_path, GOOD)
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    done = subprocess.run(
        [sys.executable, "-m", "rocky.cli", "mcp"],
        cwd=tmp_path,
        input="".join(f"{json.dumps(each)}\n" for each in lines),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert [1, 2] == [json.loads(each)["id"] for each in done.stdout.splitlines()]
