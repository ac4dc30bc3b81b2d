"""A column gets another name in SQL and in Python at once, or the reason is said."""

import pytest

from rocky.lsp.positions import TextPositions
from tests.ide.projects import write
from tests.lsp.client import Client
from tests.lsp.python_shop import CODE, SHOP

HEAD = "from pyspark.sql import functions as F\n\n\ndef model(orders):\n"
FILES = {
    **SHOP,
    "models/items.sql": "SELECT id, amount AS price, status AS word FROM raw.orders\n",
    "models/listed.py": HEAD.replace("orders", "items")
    + '    kept = items.select("id", items["price"], F.col("word"))\n'
    + '    return kept.filter(F.col("price") > 1).orderBy("word")\n',
    "models/passing.py": HEAD.replace("orders", "items") + '    return items.filter("price > 1")\n',
    "models/after.sql": "SELECT price, word FROM passing\n",
    "models/pieces.sql": "SELECT id, amount AS cost FROM raw.orders\n",
    "models/built.py": HEAD.replace("orders", "pieces")
    + '    name = "co"\n    return pieces.select(F.col(f"{name}st").alias("x"))\n',
}
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    root = write(tmp_path_factory.mktemp("rename"), FILES)
    with Client(root) as client:
        client.start(trusted=True, workspace={"workspaceEdit": {"documentChanges": True}})
        for path in FILES:
            if path.startswith("models/") and not path.endswith(".toml"):
                client.open(path)
        client.settled()
        yield client
        assert 0 == client.stop()


def asked(client, path, words, inside, new):
    text = FILES[path]
    offset = text.index(words) + (words.index(inside) if inside else 0)
    position = TextPositions(text).position(offset)
    document = {"uri": client.uri(path)}
    return {"textDocument": document, "position": position, "newName": new}


def renamed(client, *place):
    """The lines that a rename makes others, by file, as they would be."""
    changes = client.ask("textDocument/rename", asked(client, *place))["documentChanges"]
    found = {}
    for change in changes:
        path = "models/" + change["textDocument"]["uri"].rsplit("/", 1)[-1]
        text = FILES[path]
        positions = TextPositions(text)
        spans = [
            (
                positions.offset(each["range"]["start"]),
                positions.offset(each["range"]["end"]),
                each["newText"],
            )
            for each in change["edits"]
        ]
        for start, end, new in sorted(spans, reverse=True):
            text = text[:start] + new + text[end:]
        before = FILES[path].splitlines()
        lines = zip(before, text.splitlines(), strict=True)
        found[path] = [new.strip() for old, new in lines if new != old]
    return found


def test_a_column_of_sql_is_renamed_in_the_code_that_computes_with_it(client):
    expected = {
        "models/orders.sql": ["SELECT id, customer_id, amount AS gross, status FROM raw.orders"],
        "models/paid.py": [
            'big = orders.filter(F.col("gross") > 10).withColumn("twice", F.col("gross") * 2)',
            'chosen = joined.where(customers["country"] == "DE").filter("gross > 3")',
        ],
    }

    assert expected == renamed(client, "models/orders.sql", "amount", "", "gross")


def test_a_list_in_code_that_names_it_keeps_the_name(client):
    found = renamed(client, "models/items.sql", "AS price", "price", "cost")

    kept = 'kept = items.select("id", items["cost"].alias("price"), F.col("word"))'
    assert [kept] == found["models/listed.py"]
    found = renamed(client, "models/items.sql", "AS word", "word", "term")
    kept = 'kept = items.select("id", items["price"], F.col("term").alias("word"))'
    assert [kept] == found["models/listed.py"]
    found = renamed(client, "models/orders.sql", "status", "", "phase")
    assert [
        'totals = chosen.groupBy("customer_id", orders.phase.alias("status"))'
        '.agg(F.sum("twice").alias("total"))'
    ] == found["models/paid.py"]


def test_code_that_passes_all_columns_on_passes_the_new_name_on(client):
    found = renamed(client, "models/items.sql", "AS price", "price", "cost")

    assert ['return items.filter("cost > 1")'] == found["models/passing.py"]
    assert ["SELECT cost AS price, word FROM passing"] == found["models/after.sql"]


def test_a_text_in_a_list_becomes_a_column_with_an_alias(client):
    found = renamed(client, "models/items.sql", "id,", "", "number")

    kept = 'kept = items.select(F.col("number").alias("id"), items["price"], F.col("word"))'
    assert [kept] == found["models/listed.py"]


@pytest.mark.parametrize("place", [("models/report.sql", "total", ""), ("models/paid.py", "orderBy(\"total\")", "total")])  # fmt: skip
def test_a_column_that_code_makes_is_renamed_there_and_its_readers_keep_theirs(client, place):
    expected = {
        "models/paid.py": [
            'totals = chosen.groupBy("customer_id", orders.status).agg(F.sum("twice").alias("all"))',
            'named = totals.select("customer_id", "all", "status").withColumnRenamed("status", "state")',
            'return named.dropDuplicates(["customer_id"]).orderBy("all")',
        ],
        "models/report.sql": ["SELECT customer_id, `all` AS total FROM paid WHERE state = 'new'"],
    }

    found = renamed(client, *place, "all")
    found["models/report.sql"] = [each.replace(" all ", " `all` ") for each in found["models/report.sql"]]  # fmt: skip
    assert expected == found


def test_a_column_that_code_passes_on_gets_an_alias_in_its_last_list(client):
    expected = {
        "models/paid.py": [
            'named = totals.select(F.col("customer_id").alias("who"), "total", "status")'
            '.withColumnRenamed("status", "state")',
            'return named.dropDuplicates(["who"]).orderBy("total")',
        ],
        "models/report.sql": ["SELECT who AS customer_id, total FROM paid WHERE state = 'new'"],
    }

    assert expected == renamed(client, "models/report.sql", "customer_id", "", "who")


def test_a_column_that_only_the_code_knows_is_renamed_there_alone(client):
    expected = {
        "models/paid.py": [
            'big = orders.filter(F.col("amount") > 10).withColumn("double", F.col("amount") * 2)',
            'totals = chosen.groupBy("customer_id", orders.status)'
            '.agg(F.sum("double").alias("total"))',
        ]
    }

    assert expected == renamed(client, "models/paid.py", 'F.sum("twice")', "twice", "double")


def test_the_name_that_a_rename_gives_is_renamed(client):
    found = renamed(client, "models/report.sql", "state", "", "phase")

    assert [CODE.splitlines()[8].strip().replace('"state"', '"phase"')] == found["models/paid.py"]
    assert ["SELECT customer_id, total FROM paid WHERE phase = 'new'"] == found["models/report.sql"]


@pytest.mark.parametrize(
    ("path", "words", "new", "reason"),
    [
        ("models/orders.sql", "customer_id", "who", "is the key of a join by names"),
        ("models/pieces.sql", "cost", "price", "by a text that its code puts together"),
        ("models/paid.py", 'country"', "land", "a column of the source `raw.customers`"),
        ("models/paid.py", '"state"', "total", "has a column `total` already"),
    ],
)
def test_what_cannot_be_renamed_is_refused_with_the_reason(client, path, words, new, reason):
    inside = words.strip('"') if words.startswith('"') else ""
    number = client.begin("textDocument/rename", asked(client, path, words, inside, new))

    found = client.wait(lambda message: message.get("id") == number)

    assert reason in found["error"]["message"]


def test_without_a_plan_the_reason_is_that_nothing_is_known(tmp_path):
    root = write(tmp_path, FILES)
    with Client(root) as client:
        client.start()
        client.settled()
        number = client.begin(
            "textDocument/rename", asked(client, "models/orders.sql", "amount", "", "gross")
        )
        found = client.wait(lambda message: message.get("id") == number)
        assert "what its code does is not known" in found["error"]["message"]
        assert 0 == client.stop()
