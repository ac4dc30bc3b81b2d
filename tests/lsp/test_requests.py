"""What an editor asks, over a real server: one for all tests, over texts that are opened anew."""

import subprocess
import time

import pytest

from rocky.api.projects import create_playground
from rocky.compiler.passes import compile_project
from rocky.lsp.positions import TextPositions
from rocky.operations.check.compile import CompileRequest, compile_models
from rocky.operations.workspace import Workspace
from rocky.project import load_project
from tests.cli.recorded import record_past
from tests.ide.projects import SHOP, write
from tests.lsp.client import Client, place

ORDERS, TOTALS = "models/orders.sql", "models/totals.sql"
FILES = {"documentChanges": True, "resourceOperations": ["create", "rename", "delete"]}
EDITOR = {
    "workspace": {"workspaceEdit": FILES, "codeLens": {"refreshSupport": True}},
    "textDocument": {"codeAction": {"resolveSupport": {"properties": ["edit"]}}},
}
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    root = write(tmp_path_factory.mktemp("requests") / "a shop", SHOP)
    with Client(root) as client:
        client.start(**EDITOR)
        yield client
        assert 0 == client.stop()


@pytest.fixture
def client(server):
    """The server, with every document that a test opens closed behind it."""
    yield server
    for uri in server.opened():
        server.close(uri)


def at(client, path, words, inside="", text=None):
    """The parameters of a request about the place of some words in a document."""
    shown = text if text is not None else SHOP[path]
    uri = client.open(path, shown)
    offset = shown.index(words) + (words.index(inside) if inside else 0)
    return {"textDocument": {"uri": uri}, "position": TextPositions(shown).position(offset)}


def marked(client, path, text):
    """The same of a text that has a mark `|` at the cursor."""
    plain = text.replace("|", "", 1)
    uri = client.open(path, plain)
    position = TextPositions(plain).position(text.index("|"))
    return {"textDocument": {"uri": uri}, "position": position}


def words_at(client, locations):
    """The files of some locations and what is written there."""
    found = []
    for each in locations:
        path = each["uri"].removeprefix(client.folder.as_uri() + "/")
        text = SHOP[path]
        lines = TextPositions(text)
        start, end = (lines.offset(each["range"][side]) for side in ("start", "end"))
        found.append((path, text[start:end]))
    return found


def saved(client, edit):
    """What a project's files are after a workspace edit, by path; None for one that is gone."""
    base = client.folder.as_uri() + "/"
    texts = {}

    def read(path):
        return texts[path] if path in texts else (client.folder / path).read_text()

    for part in edit["documentChanges"]:
        match part.get("kind"):
            case "create":
                texts[part["uri"].removeprefix(base)] = ""
            case "rename":
                old, new = (part[key].removeprefix(base) for key in ("oldUri", "newUri"))
                texts[new], texts[old] = read(old), None
            case _:
                path = part["textDocument"]["uri"].removeprefix(base)
                texts[path] = edited(read(path), part["edits"])
    return texts


def edited(text, edits):
    lines = TextPositions(text)
    placed = [
        (lines.offset(one["range"]["start"]), lines.offset(one["range"]["end"]), one["newText"])
        for one in edits
    ]
    for start, end, new in sorted(placed, reverse=True):
        text = text[:start] + new + text[end:]
    return text


# ---------------------------------------------------------------------- what it is


def test_a_hover_says_type_origin_and_description_at_the_place_of_the_name(client):
    said = client.ask("textDocument/hover", at(client, TOTALS, "gross, gross", "gross"))

    assert "gross decimal(10,2)" in said["contents"]["value"]
    assert "with tax" in said["contents"]["value"]
    assert {"start": place(1, 22), "end": place(1, 27)} == said["range"]


def test_a_hover_counts_an_emoji_as_the_editor_does(client):
    text = "SELECT '🦊🦊' AS fox, o.gross FROM orders AS o\n"
    said = client.ask("textDocument/hover", at(client, TOTALS, "gross", text=text))

    assert {"start": place(0, 24), "end": place(0, 29)} == said["range"]


def test_a_hover_where_nothing_stands_is_nothing(client):
    params = at(client, ORDERS, "SELECT\n", "\n")
    params["position"] = place(0, 400)
    assert client.ask("textDocument/hover", {**params, "position": place(90, 0)}) is None
    outside = {"textDocument": {"uri": "untitled:x"}, "position": place(0, 0)}
    assert client.ask("textDocument/hover", outside) is None


def test_completion_in_half_written_sql_offers_the_columns_of_the_relation(client):
    params = marked(client, TOTALS, "SELECT o.gr| , (FROM orders AS o WHERE\n")
    found = client.ask("textDocument/completion", params)

    first = found["items"][0]
    assert ("gross", "decimal(10,2)") == (first["label"], first["detail"])
    assert {"start": place(0, 9), "end": place(0, 11)} == first["textEdit"]["range"]
    assert sorted(each["sortText"] for each in found["items"]) == [
        each["sortText"] for each in found["items"]
    ]


def test_a_function_that_is_offered_is_resolved_to_its_signatures(client):
    params = marked(client, TOTALS, "SELECT date_ad|, 1 FROM orders\n")
    items = client.ask("textDocument/completion", params)["items"]
    chosen = next(each for each in items if each["label"] == "date_add")

    resolved = client.ask("completionItem/resolve", chosen)

    assert resolved["detail"].startswith("date_add(")
    assert "```sql" in resolved["documentation"]["value"]
    assert chosen["textEdit"] == resolved["textEdit"]


def test_a_column_that_is_offered_is_resolved_to_itself(client):
    params = marked(client, TOTALS, "SELECT gro| FROM orders\n")
    first = client.ask("textDocument/completion", params)["items"][0]

    assert first == client.ask("completionItem/resolve", first)


def test_keys_of_settings_are_completed(client):
    params = marked(client, "models/orders.toml", "desc|\n")
    found = client.ask("textDocument/completion", params)

    assert "description" in [each["label"] for each in found["items"]]


def test_signature_help_names_the_argument_in_a_call_that_is_not_closed(client):
    params = marked(client, TOTALS, "SELECT tidy(|\n")
    found = client.ask("textDocument/signatureHelp", params)
    assert "tidy(x string) -> string" == found["signatures"][0]["label"].lower()
    assert 0 == found["activeParameter"]

    params = marked(client, TOTALS, "SELECT @net(gross, | FROM orders\n")
    assert 1 == client.ask("textDocument/signatureHelp", params)["activeParameter"]


# ---------------------------------------------------------------------- where it is


def test_a_definition_is_where_the_column_got_its_name(client):
    found = client.ask("textDocument/definition", at(client, TOTALS, "gross, gross", "gross"))

    assert [(ORDERS, "gross")] == words_at(client, found)


def test_references_are_of_every_file_and_without_the_declaration_if_so_asked(client):
    params = at(client, ORDERS, "AS gross", "gross")
    found = client.ask("textDocument/references", params)
    named = words_at(client, found)
    assert {"gross"} == {words for _, words in named}
    assert {ORDERS, TOTALS, "models/orders.toml", "models/steps.rocky"} <= {p for p, _ in named}

    fewer = client.ask(
        "textDocument/references", {**params, "context": {"includeDeclaration": False}}
    )
    assert len(found) - 1 == len(fewer)


def test_highlights_are_those_of_the_same_file(client):
    found = client.ask("textDocument/documentHighlight", at(client, TOTALS, "FROM big", "big"))

    assert [3, 2] == [each["kind"] for each in found]
    assert [0, 4] == [each["range"]["start"]["line"] for each in found]


def test_the_call_hierarchy_is_the_lineage_of_a_column(client):
    (item,) = client.ask("textDocument/prepareCallHierarchy", at(client, ORDERS, "gross,", "gross"))
    assert "orders.gross" == item["name"]

    above = client.ask("callHierarchy/outgoingCalls", {"item": item})
    below = client.ask("callHierarchy/incomingCalls", {"item": item})

    assert ["raw.orders.amount"] == [each["to"]["name"] for each in above]
    assert {"totals.total", "totals.most", "everything.gross"} <= {
        each["from"]["name"] for each in below
    }
    (further,) = [each["from"] for each in below if each["from"]["name"] == "everything.gross"]
    last = client.ask("callHierarchy/incomingCalls", {"item": further})
    assert ["last.gross"] == [each["from"]["name"] for each in last]


def test_the_call_hierarchy_is_the_lineage_of_a_table(client):
    (item,) = client.ask("textDocument/prepareCallHierarchy", at(client, TOTALS, "orders"))
    above = client.ask("callHierarchy/outgoingCalls", {"item": item})

    assert ["raw.orders"] == [each["to"]["name"] for each in above]


# ---------------------------------------------------------------------- what can be done


def test_a_column_is_renamed_across_files_and_no_editor_has_to_save_first(client):
    params = at(client, ORDERS, "AS gross", "gross")
    found = client.ask("textDocument/prepareRename", params)
    assert "gross" == found["placeholder"]

    edit = client.ask("textDocument/rename", {**params, "newName": "total"})

    assert "total AS gross, total * 2" in saved(client, edit)[TOTALS]
    own = next(
        each["textDocument"]
        for each in edit["documentChanges"]
        if each["textDocument"]["uri"] == params["textDocument"]["uri"]
    )
    assert 1 == own["version"]
    # What was tried is not what is: nothing is found, and the name is still the old one.
    assert 0 == client.settled()["errors"]
    assert "gross" in client.ask("textDocument/hover", params)["contents"]["value"]


def test_a_model_is_renamed_with_its_files(client):
    params = at(client, TOTALS, "FROM orders", "orders")

    edit = client.ask("textDocument/rename", {**params, "newName": "all_orders"})

    moved = [
        (each["oldUri"].rpartition("/")[2], each["newUri"].rpartition("/")[2])
        for each in edit["documentChanges"]
        if each.get("kind") == "rename"
    ]
    assert ("orders.sql", "all_orders.sql") in moved
    assert ("orders.toml", "all_orders.toml") in moved
    assert "FROM all_orders" in saved(client, edit)[TOTALS]


@pytest.mark.parametrize(
    ("words", "inside", "new", "reason"),
    [
        ("AS gross", "gross", "net", "net"),
        ("AS gross", "gross", "a.b", "cannot be a name"),
        ("tidy(", "tidy", "clean", "a function is not renamed"),
    ],
)
def test_a_rename_that_would_break_something_is_refused_with_the_reason(
    client, words, inside, new, reason
):
    params = at(client, ORDERS, words, inside)
    error = client.refusal("textDocument/rename", {**params, "newName": new})

    assert -32803 == error["code"]
    assert reason in error["message"]


def test_what_cannot_be_renamed_is_said_before_a_name_is_asked_for(client):
    error = client.refusal("textDocument/prepareRename", at(client, ORDERS, "raw.orders"))

    assert "no model of this project" in error["message"]


def test_a_finding_has_a_fix_and_an_allow_that_name_it(client):
    text = "SELECT id, grss FROM orders\n"
    uri = client.open("models/last.sql", text)
    here = {"start": place(0, 12), "end": place(0, 12)}
    params = {"textDocument": {"uri": uri}, "range": here, "context": {"diagnostics": []}}

    found = client.ask("textDocument/codeAction", params)

    fix = next(each for each in found if each["kind"] == "quickfix")
    assert "change to `gross`" == fix["title"]
    assert "E003" == fix["diagnostics"][0]["code"]
    (part,) = fix["edit"]["documentChanges"]
    assert "SELECT id, gross FROM orders\n" == edited(text, part["edits"])
    only = {**params, "context": {"diagnostics": [], "only": ["refactor"]}}
    kinds = {each["kind"] for each in client.ask("textDocument/codeAction", only)}
    assert "quickfix" not in kinds


def chosen_action(client, path, words, kind, text=None):
    params = at(client, path, words, text=text)
    here = {"start": params["position"], "end": params["position"]}
    asked = {**params, "range": here, "context": {"diagnostics": []}}
    found = client.ask("textDocument/codeAction", asked)
    return next(each for each in found if each["kind"] == kind)


def test_a_cte_becomes_a_model_once_that_was_compiled(client):
    action = chosen_action(client, TOTALS, "big", "refactor.extract")
    assert "edit" not in action

    texts = saved(client, client.ask("codeAction/resolve", action)["edit"])

    assert "SELECT customer_id, gross, gross * 2 AS twice FROM orders" in texts["models/big.sql"]
    assert "WITH" not in texts[TOTALS]


def test_the_columns_of_a_star_are_listed(client):
    action = chosen_action(client, "models/everything.sql", "*", "refactor.rewrite")
    texts = saved(client, client.ask("codeAction/resolve", action)["edit"])

    assert texts["models/everything.sql"].startswith("SELECT id,")


def test_an_action_whose_text_was_edited_meanwhile_is_refused(client):
    action = chosen_action(client, "models/everything.sql", "*", "refactor.rewrite")
    uri = action["data"]["textDocument"]["uri"]
    client.change(uri, {"text": "SELECT 1 AS one FROM orders\n"})

    assert "ask again" in client.refusal("codeAction/resolve", action)["message"]


def test_a_contract_is_written_of_the_columns_there_are(client):
    action = chosen_action(client, TOTALS, "SELECT b", "refactor")
    texts = saved(client, client.ask("codeAction/resolve", action)["edit"])

    assert 'name = "total"' in texts["contracts/totals.contract.toml"]


# ---------------------------------------------------------------------- how it is shown


def test_lenses_name_the_model_for_commands_of_the_editor(client):
    uri = client.open(ORDERS)
    found = client.ask("textDocument/codeLens", {"textDocument": {"uri": uri}})

    commands = {each["command"]["command"]: each["command"] for each in found}
    assert ["rocky.run", "rocky.show", "rocky.lineage", "rocky.test"] == list(commands)
    assert [["orders"]] * 4 == [each["arguments"] for each in commands.values()]
    assert "lineage: reads 1, read by 4" == commands["rocky.lineage"]["title"]
    assert "3 tests" == commands["rocky.test"]["title"]


def test_semantic_tokens_are_where_the_names_are_beyond_an_emoji(client):
    text = "SELECT '🦊' AS fox, o.email\nFROM orders AS o\n"
    uri = client.open(TOTALS, text)
    legend = client.legend
    data = client.ask("textDocument/semanticTokens/full", {"textDocument": {"uri": uri}})["data"]

    lines = TextPositions(text)
    found = []
    line = character = 0
    for each in range(0, len(data), 5):
        down, right, length, kind, modifiers = data[each : each + 5]
        line, character = line + down, right if down else character + right
        start = lines.offset(place(line, character))
        end = lines.offset(place(line, character + length))
        names = [n for bit, n in enumerate(legend["tokenModifiers"]) if modifiers >> bit & 1]
        found.append((text[start:end], legend["tokenTypes"][kind], names))
    assert ("fox", "property", ["definition"]) in found
    assert ("email", "property", ["classified"]) in found
    assert ("orders", "class", []) in found


def test_inlay_hints_are_of_the_range_that_is_shown(client):
    uri = client.open(ORDERS)
    whole = {"start": place(0, 0), "end": place(99, 0)}
    asked = {"textDocument": {"uri": uri}, "range": whole}
    found = client.ask("textDocument/inlayHint", asked)
    assert {"net", "email"} <= {
        SHOP[ORDERS].splitlines()[e["position"]["line"]].split(" AS ")[1][:-1] for e in found
    }
    assert all(each["label"].startswith(": ") for each in found)

    none = {"start": place(0, 0), "end": place(1, 0)}
    assert [] == client.ask("textDocument/inlayHint", {**asked, "range": none})


def test_a_parenthesis_of_several_lines_folds_and_its_closing_line_stays(client):
    uri = client.open(TOTALS)
    found = client.ask("textDocument/foldingRange", {"textDocument": {"uri": uri}})

    assert [{"startLine": 0, "endLine": 1, "kind": "region"}] == found


def test_symbols_of_a_document_are_its_ctes_with_their_columns_and_its_own(client):
    uri = client.open(TOTALS)
    (model,) = client.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})

    names = [each["name"] for each in model["children"]]
    assert ["big", "customer_id", "total", "most"] == names
    assert ["customer_id", "gross", "twice"] == [
        x["name"] for x in model["children"][0]["children"]
    ]


def test_half_written_sql_is_answered_by_every_request(client):
    texts = [
        "",
        "SELECT",
        "SELECT (",
        "WITH a AS (SELECT",
        "SELECT 'open",
        "SELECT o. FROM",
        "🦊",
        "---toml\nname = ",
        "SELECT * FROM orders WHERE /* ",
        "SELECT @net(",
        "\x00",
    ]
    for text in texts:
        uri = client.open(TOTALS, text)
        end = TextPositions(text).position(len(text))
        here = {"textDocument": {"uri": uri}, "position": end}
        span = {**here, "range": {"start": place(0, 0), "end": end}, "context": {"diagnostics": []}}
        for method in (
            "hover",
            "completion",
            "signatureHelp",
            "definition",
            "documentHighlight",
            "references",
            "prepareCallHierarchy",
        ):
            client.ask(f"textDocument/{method}", here)
        for method in (
            "codeAction",
            "codeLens",
            "inlayHint",
            "foldingRange",
            "documentSymbol",
            "semanticTokens/full",
        ):
            client.ask(f"textDocument/{method}", span)


# ---------------------------------------------------------------------- reports


def test_a_report_is_that_of_the_protocol_and_takes_texts_or_lists_of_them(client):
    found = client.ask("rocky/report", {"name": "lineage", "arguments": {"target": "orders"}})
    assert "lineage" == found["endpoint"]

    listed = client.ask(
        "rocky/report", {"name": "list", "arguments": {"select": ["orders", "totals"]}}
    )
    assert {"orders", "totals"} == {each["name"] for each in listed["models"]}


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"name": "nothing"}, "no report `nothing`; there is project"),
        ({"name": "lineage", "arguments": {"targt": "orders"}}, "no argument `targt`"),
        ({"name": "why", "arguments": {}}, "`model` is missing"),
        ({"name": "why", "arguments": {"model": "nope"}}, "nope"),
        ({"name": "lineage", "arguments": {"target": 7}}, "`target` is a text"),
        ({"arguments": {}}, "{name, arguments"),
        ([], "{name, arguments"),
    ],
)
def test_a_report_that_cannot_be_given_is_refused_with_the_reason(client, params, reason):
    assert reason in client.refusal("rocky/report", params)["message"]


def test_a_change_on_disk_is_told_and_reports_know_of_it(tmp_path):
    root = write(tmp_path / "shop", SHOP)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    with Client(root) as client:
        client.start()
        before = client.ask("rocky/report", {"name": "list"})
        # It is not said when the system begins to watch, and what was written before may be told
        # late: a change is made until a report knows of it.
        after, told = before, list[object]()
        while not told or len(before["models"]) == len(after["models"]):
            (root / "models/fresh.sql").write_text(f"SELECT {time.time()} AS one\n")
            time.sleep(0.2)
            client.settled()
            after = client.ask("rocky/report", {"name": "list"})
            heard = (each for each in client.heard if each.get("method") == "rocky/changed")
            told = [each["params"]["what"] for each in heard]
        assert len(before["models"]) + 1 == len(after["models"])
        assert all(["files"] == each for each in told)

        (root / ".git/HEAD").write_text("ref: refs/heads/elsewhere\n")
        client.wait(lambda each: (each.get("params") or {}) == {"what": ["git"]})


def test_the_last_run_of_a_model_and_its_cost_are_in_its_lens_and_its_hover(tmp_path):
    root = write(tmp_path / "shop", {"rocky.toml": "", "models/stg_orders.sql": "SELECT 1 AS id\n"})
    write(root, {"models/reader.sql": "SELECT id FROM stg_orders\n"})
    record_past(root)
    with Client(root) as client:
        client.start(**EDITOR)
        uri = client.open("models/stg_orders.sql")
        reader = client.open("models/reader.sql")
        client.wait(lambda each: each.get("method") == "workspace/codeLens/refresh")

        run = client.ask("textDocument/codeLens", {"textDocument": {"uri": uri}})[0]["command"]
        assert "run (last: failed 2026-05-30 11:04 UTC, 0.8 s, $0.0000)" == run["title"]
        here = {"textDocument": {"uri": reader}, "position": place(0, 18)}
        said = client.ask("textDocument/hover", here)["contents"]["value"]
        assert "*last run*: failed 2026-05-30 11:04 UTC" in said


def test_what_would_be_published_in_clear_is_found_in_the_editor_as_in_a_compile(tmp_path):
    # An editor that nobody vouches for runs no code of Python models; a compile would.
    settings = '[publish]\nname = "shop"\n[python]\nanalyse = "never"\n'
    files = {**SHOP, "rocky.toml": settings}
    root = write(tmp_path / "shop", files)
    with Client(root) as client:
        client.start()
        client.settled()

        compiled = compile_models(Workspace(root), CompileRequest())
        shown = [
            each["code"] for told in client.diagnostics.values() for each in told["diagnostics"]
        ]
        assert "E061" in shown
        assert sorted(each.code.value for each in compiled.found) == sorted(shown)


# ---------------------------------------------------------------------- the playground


def test_a_column_of_the_playground_is_renamed_across_its_readers_and_compiles(tmp_path):
    root = tmp_path / "playground"
    create_playground(root)
    with Client(root) as client:
        client.start(**EDITOR)
        uri = client.open("models/staging/stg_orders.sql")
        (model,) = client.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
        columns = [each for each in model["children"] if each["kind"] == 8]
        widest = 0
        for column in columns:
            asked = {
                "textDocument": {"uri": uri},
                "position": column["selectionRange"]["end"],
                "newName": f"{column['name']}_renamed",
            }
            if column["name"] == "order_id":
                # A join's USING wants it of both sides: the other would have to change, too.
                assert (
                    "the right side of the join"
                    in client.refusal("textDocument/rename", asked)["message"]
                )
                continue
            edit = client.ask("textDocument/rename", asked)
            texts = saved(client, edit)
            widest = max(widest, len(texts))
            copy = tmp_path / f"renamed {column['name']}"
            create_playground(copy)
            for name, new in texts.items():
                (copy / name).write_text(new)
            compiled = compile_project(load_project(copy, env={}), cache=False, jobs=1)
            assert [] == [each for each in compiled.diagnostics if each.severity.value == "error"]
            assert f"{column['name']}_renamed" in {
                each.name for each in compiled.models["stg_orders"].columns
            }
        assert widest > 2
