import os
import shutil
import subprocess
import time
from pathlib import Path
from random import Random

import pytest
from lsprotocol import converters, types

from rocky.api.projects import create_playground
from rocky.lsp.positions import TextPositions
from tests.compiler.edits import cold, mutate
from tests.compiler.projects import SHOP, write
from tests.lsp.client import PATIENCE, Client, place, replaced

ORDERS = SHOP["models/orders.sql"]
pytestmark = pytest.mark.slow


@pytest.fixture
def shop(tmp_path):
    root = tmp_path / "a shop 100%"
    write(root, SHOP)
    return root


@pytest.fixture
def client(shop):
    with Client(shop) as client:
        client.start()
        yield client


def codes(found):
    return [each["code"] for each in found]


def test_findings_of_the_open_text_and_of_every_model_that_it_breaks_are_published(client):
    uri = client.open("models/orders.sql")
    client.change(uri, {"text": "SELECT id, note, nope FROM raw.orders\n"})

    (found,) = client.published(uri, 2)
    assert ("E003", 1, "rocky") == (found["code"], found["severity"], found["source"])
    assert {"start": place(0, 17), "end": place(0, 21)} == found["range"]
    page = Path(found["codeDescription"]["href"].removeprefix("file://"))
    assert page.read_text().startswith("# E003")

    client.change(uri, {"text": "SELECT id, note FROM raw.orders\n"})
    client.settled()
    assert [] == client.diagnostics[uri]["diagnostics"]
    assert ["E003"] == codes(client.diagnostics[client.uri("models/totals.sql")]["diagnostics"])


def test_what_does_not_hold_any_more_is_published_as_nothing(client):
    uri = client.open("models/orders.sql", "SELECT id FROM raw.orders\n")
    client.settled()
    broken = {each for each, told in client.diagnostics.items() if told["diagnostics"]}
    assert {client.uri("models/totals.sql"), client.uri("models/notes.sql")} == broken

    client.close(uri)
    client.settled()

    assert [] == [told for told in client.diagnostics.values() if told["diagnostics"]]


def test_a_label_in_another_file_is_related_information_there(client):
    uri = client.open(
        "models/totals.sql", "SELECT id, sum(o.noted) AS total FROM orders AS o GROUP BY id\n"
    )
    client.settled()
    (found,) = client.diagnostics[uri]["diagnostics"]
    assert "help: " in found["message"]

    both = client.open(
        "models/report.sql", "SELECT t.id, n.id AS id FROM totals t JOIN notes n ON t.id = n.id\n"
    )
    client.settled()
    (twice,) = client.diagnostics[both]["diagnostics"]
    (related,) = twice["relatedInformation"]
    assert both == related["location"]["uri"]
    assert {"start": place(0, 9), "end": place(0, 11)} == related["location"]["range"]


def test_edits_by_ranges_count_as_the_editor_counts_emoji_and_all(client):
    uri = client.open(
        "models/orders.sql", "-- 🦊\nSELECT '🦊🦊' AS fox, id, amount, note FROM raw.orders\n"
    )
    at = place(1, 26)
    client.change(uri, replaced(at, at, "nope, "), replaced(place(0, 5), place(0, 5), "🦊"))

    (found,) = client.published(uri, 2)

    assert {"start": at, "end": place(1, 30)} == found["range"]


def test_a_file_that_is_saved_created_or_deleted_on_disk_is_followed(client, shop):
    (shop / "models/orders.sql").write_text("SELECT id FROM raw.orders\n")
    (shop / "models/new.sql").write_text("SELECT nope FROM orders\n")
    changes = [{"uri": client.uri(f"models/{name}.sql"), "type": 2} for name in ("orders", "new")]
    client.notify("workspace/didChangeWatchedFiles", {"changes": changes})
    client.settled()
    assert ["E003"] == codes(client.diagnostics[client.uri("models/new.sql")]["diagnostics"])

    (shop / "models/new.sql").unlink()
    (shop / "models/orders.sql").write_text(ORDERS)
    client.notify("workspace/didChangeWatchedFiles", {"changes": changes})
    client.settled()
    assert [] == [told for told in client.diagnostics.values() if told["diagnostics"]]


def test_files_that_are_no_models_are_followed_while_they_are_typed(client):
    uri = client.open("sources/raw.toml")
    client.change(uri, {"text": SHOP["sources/raw.toml"].replace('"note"', '"noted"')})
    client.settled()

    assert ["E003"] == codes(client.diagnostics[client.uri("models/orders.sql")]["diagnostics"])


def test_a_project_that_does_not_load_is_told_and_recovers(client, shop):
    client.settled()
    (shop / "rocky.toml").rename(shop / "away.toml")
    changed = {"changes": [{"uri": client.uri("rocky.toml"), "type": 3}]}
    client.notify("workspace/didChangeWatchedFiles", changed)
    told = client.wait(lambda each: each.get("method") == "window/showMessage")
    assert "no `rocky.toml`" in told["params"]["message"]

    (shop / "away.toml").rename(shop / "rocky.toml")
    client.notify("workspace/didChangeWatchedFiles", changed)

    assert 4 == client.settled()["models"]


def test_a_folder_without_a_project_is_served_once_a_file_of_one_is_opened(shop):
    outer = shop.parent
    with Client(outer) as client:
        client.start()
        client.open(f"{shop.name}/models/orders.sql", "SELECT nope FROM raw.orders\n")

        assert str(shop) == client.settled()["root"]
        uri = client.uri(f"{shop.name}/models/orders.sql")
        assert ["E003"] == codes(client.diagnostics[uri]["diagnostics"])


def test_of_several_projects_the_first_is_served_and_the_others_are_named(shop, tmp_path):
    other = tmp_path / "other"
    write(other, SHOP)
    with Client(shop) as client:
        client.start([shop, other])

        told = client.wait(lambda each: each.get("method") == "window/showMessage")

        assert str(other) in told["params"]["message"]
        assert str(shop) == client.settled()["root"]


def test_a_file_outside_the_project_and_one_without_a_name_are_none_of_its_business(
    client, tmp_path
):
    outside = (tmp_path / "outside.sql").as_uri()
    for uri in (outside, "untitled:Untitled-1"):
        item = {"uri": uri, "languageId": "sql", "version": 1, "text": "SELECT ("}
        client.notify("textDocument/didOpen", {"textDocument": item})
        asked = {"textDocument": {"uri": uri}}
        assert [] == client.ask("textDocument/documentSymbol", asked)

    client.settled()
    assert {} == client.diagnostics


def test_formatting_is_that_of_fmt_and_one_edit_of_what_differs(client, shop):
    text = "from orders\n  derive {x:  amount*2 }\n"
    uri = client.open("models/steps.rocky", text)
    (edit,) = client.ask("textDocument/formatting", {"textDocument": {"uri": uri}, "options": {}})

    client.change(uri, {"range": edit["range"], "text": edit["newText"]})
    assert [] == client.ask(
        "textDocument/formatting", {"textDocument": {"uri": uri}, "options": {}}
    )


def test_symbols_of_a_document_are_its_model_and_columns_and_of_the_project_all_that_has_a_name(
    client,
):
    uri = client.open("models/totals.sql")
    (model,) = client.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    assert "totals" == model["name"]
    assert [("id", "bigint NOT NULL"), ("total", "decimal(20,2)")] == [
        (each["name"], each["detail"]) for each in model["children"]
    ]

    found = client.ask("workspace/symbol", {"query": "ordrs"})
    assert ["orders", "raw.orders"] == [each["name"] for each in found]


def test_a_report_that_takes_long_delays_no_finding(shop, tmp_path, monkeypatch):
    subprocess.run(["git", "init", "-q", str(shop)], check=True)
    held, asked = tmp_path / "held", tmp_path / "asked"
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(
        f"#!/bin/sh\nwhile [ -e '{held}' ]; do touch '{asked}'; sleep 0.02; done\n"
        f'exec {shutil.which("git")} "$@"\n'
    )
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    with Client(shop) as client:
        client.start()
        client.settled()
        uri = client.open("models/orders.sql")
        held.touch()
        waiting = client.begin("rocky/report", {"name": "diff"})
        wait_until(asked.exists)

        version = client.change(uri, {"text": "SELECT nope FROM raw.orders\n"})
        assert ["E003"] == codes(client.published(uri, version))
        client.settled()
        assert not any(each.get("id") == waiting for each in client.heard)

        held.unlink()
        client.wait(lambda each: each.get("id") == waiting and "method" not in each)


def wait_until(is_so):
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_request_that_waits_can_be_cancelled(client):
    client.settled()
    uri = client.open("models/orders.sql")
    for number in range(3):
        client.change(uri, {"text": f"SELECT id, {number} AS n FROM raw.orders\n"})
        asked = client.begin("rocky/status", {})
        client.notify("$/cancelRequest", {"id": asked})

        answer = client.wait(lambda each, asked=asked: each.get("id") == asked)

        assert answer.get("error", {"code": -32800})["code"] == -32800


def test_what_is_wrong_with_messages_is_said_and_the_server_goes_on(shop):
    with Client(shop) as client:
        early = client.begin("workspace/symbol", {"query": ""})
        assert -32002 == client.wait(lambda each: each.get("id") == early)["error"]["code"]
        client.start()
        client.send_bytes(b"{nonsense")
        assert -32700 == client.wait(lambda each: "error" in each)["error"]["code"]
        unknown = client.begin("textDocument/nothing", {})
        assert -32601 == client.wait(lambda each: each.get("id") == unknown)["error"]["code"]
        client.notify("textDocument/didChange", {"nonsense": True})
        client.notify("textDocument/nothing", {})

        assert 4 == client.settled()["models"]
        assert 0 == client.stop()


def test_an_editor_that_is_gone_ends_the_server(shop):
    with Client(shop, program=True) as client:
        client.start()
        client.process.stdin.close()

        assert 1 == client.process.wait(60)


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(3))
def test_after_typing_what_is_published_is_what_a_cold_compile_finds(seed, shop, request):
    random = Random(f"{request.config.getoption('--sample')} {seed}")
    paths = [
        "models/orders.sql",
        "models/totals.sql",
        "sources/raw.toml",
        "models/notes.toml",
        "rocky.toml",
    ]
    texts = {path: SHOP.get(path, "") for path in random.sample(paths, 3)}
    with Client(shop) as client:
        client.start()
        uris = {path: client.open(path, text) for path, text in texts.items()}
        for _ in range(6):
            path = random.choice(list(texts))
            for _ in range(random.randint(1, 10)):
                before, after = texts[path], mutate(texts[path], random)
                start = next(
                    (at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b),
                    min(len(before), len(after)),
                )
                lines = TextPositions(before)
                change = replaced(lines.position(start), lines.position(len(before)), after[start:])
                client.change(
                    uris[path],
                    change if lines.offset(lines.position(start)) == start else {"text": after},
                )
                texts[path] = after
            client.settled()
            compilation = cold(shop, dict(texts), shop.parent / "cold")

            expected: dict[str, int] = {}
            for each in compilation.diagnostics:
                is_file = each.path and (shop.parent / "cold" / each.path).is_file()
                uri = client.uri(each.path if is_file else "rocky.toml")
                expected[uri] = expected.get(uri, 0) + 1
            shown = {
                uri: len(told["diagnostics"])
                for uri, told in client.diagnostics.items()
                if told["diagnostics"]
            }
            assert expected == shown, texts


def test_a_copy_of_the_playground_has_no_finding(tmp_path):
    root = tmp_path / "playground"
    create_playground(root)
    with Client(root) as client:
        client.start()

        assert 0 == client.settled()["errors"]
        assert {} == client.diagnostics


def test_what_the_server_sends_is_what_the_protocol_defines(shop):
    converter = converters.get_converter()
    with Client(shop) as client:
        told = client.start(workspace={"didChangeWatchedFiles": {"dynamicRegistration": True}})
        converter.structure(told, types.InitializeResult)
        uri = client.open(
            "models/report.sql",
            "SELECT t.id, n.id AS id FROM totals t JOIN notes n ON t.id = n.id\n",
        )
        client.settled()
        document = {"textDocument": {"uri": uri}}
        for each in client.ask("textDocument/documentSymbol", document):
            converter.structure(each, types.DocumentSymbol)
        for each in client.ask("workspace/symbol", {"query": ""}):
            converter.structure(each, types.SymbolInformation)
        for each in client.ask("textDocument/formatting", {**document, "options": {}}):
            converter.structure(each, types.TextEdit)

        sent = [each for each in client.heard if "method" in each]

        assert "textDocument/publishDiagnostics" in {each["method"] for each in sent}
        for each in sent:
            converter.structure(each, types.METHOD_TO_TYPES[each["method"]][0])
