"""A column that Python code names is the one that SQL names: hover, definition, references."""

import pytest

from rocky.lsp.positions import TextPositions
from tests.ide.projects import write
from tests.lsp.client import Client
from tests.lsp.python_shop import CODE, SHOP

PATH = "models/paid.py"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    root = write(tmp_path_factory.mktemp("names"), SHOP)
    with Client(root) as client:
        client.start(trusted=True)
        for path in ("models/orders.sql", PATH, "models/report.sql"):
            client.open(path)
        client.settled()
        yield client
        assert 0 == client.stop()


def at(client, path, words, inside="", text=None):
    shown = text if text is not None else SHOP[path]
    offset = shown.index(words) + (words.index(inside) if inside else 0)
    return {
        "textDocument": {"uri": client.uri(path)},
        "position": TextPositions(shown).position(offset),
    }


def said(client, *place, **text):
    """What is shown over a place, without the marks around code."""
    found = client.ask("textDocument/hover", at(client, *place, **text))
    return None if found is None else found["contents"]["value"].replace("```sql\n", "")


def places(client, method, *place):
    params = at(client, *place) | {"context": {"includeDeclaration": True}}
    return [
        (each["uri"].rsplit("/", 2)[-1], each["range"]["start"]["line"] + 1)
        for each in client.ask(method, params)
    ]


@pytest.mark.parametrize(
    ("words", "inside", "expected"),
    [
        ('F.col("amount") > 10', "amount", ("amount decimal(12,2)", "of*: `orders`")),
        ("orders.status", "status", ("status string", "of*: `orders`")),
        ('customers["country"]', "country", ("country string", "of*: `raw.customers`")),
        ('filter("amount > 3")', "amount", ("amount decimal(12,2)", "of*: `orders`")),
        ('F.sum("twice")', "twice", ("twice decimal(14,2)", "from*: `orders.amount` (expression)")),
        ('withColumn("twice"', "twice", ("twice decimal(14,2)", "`orders.amount` (expression)")),
        ('alias("total")', "total", ("total decimal(24,2)", "of*: `paid`")),
        ('orderBy("total")', "total", ("total decimal(24,2)", "`raw.orders.amount` (aggregate)")),
        ('Renamed("status"', "status", ("status string", "of*: `orders`")),
        ('"state")', "state", ("state string", "of*: `paid`")),
        ("joined =", "", ("joined", "- `id` bigint NOT NULL\n", "- `country` string")),
        ("joined.where", "", ("joined", "- `twice` decimal(14,2)")),
        (".agg(", "agg", ("agg", "- `total` decimal(24,2)")),
    ],
)
def test_over_a_column_and_a_frame_stands_what_the_plan_knows(client, words, inside, expected):
    found = said(client, PATH, words, inside)

    assert found is not None
    assert [] == [each for each in expected if each not in found]


def test_over_what_is_no_column_nothing_stands(client):
    assert said(client, PATH, '"DE"', "DE") is None
    assert said(client, PATH, '"left"', "left") is None


@pytest.mark.parametrize(
    ("path", "words", "inside", "expected"),
    [
        (PATH, 'F.col("amount") > 10', "amount", [("orders.sql", 1)]),
        (PATH, 'customers["country"]', "country", [("raw.toml", 15)]),
        (PATH, 'F.sum("twice")', "twice", [("paid.py", 5)]),
        (PATH, 'orderBy("total")', "total", [("paid.py", 8)]),
        (PATH, 'dropDuplicates(["customer_id"])', "customer_id", [("orders.sql", 1)]),
        (PATH, "def model(orders", "orders", [("orders.sql", 1)]),
        ("models/report.sql", "total", "", [("paid.py", 8)]),
        ("models/report.sql", "state", "", [("paid.py", 9)]),
        ("models/report.sql", "customer_id", "", [("paid.py", 9)]),
    ],
)
def test_a_column_leads_to_where_it_is_made(client, path, words, inside, expected):
    assert expected == places(client, "textDocument/definition", path, words, inside)


@pytest.mark.parametrize(
    ("path", "words", "inside", "expected"),
    [
        (PATH, 'F.col("amount") > 10', "amount", [("orders.sql", 1), *[("paid.py", 5)] * 2, ("paid.py", 7)]),
        ("models/report.sql", "total", "", [("paid.py", 8), ("paid.py", 9), ("paid.py", 10), ("report.sql", 1)]),
        (PATH, 'F.sum("twice")', "twice", [("paid.py", 5), ("paid.py", 8)]),
        (PATH, 'customers["country"]', "country", [("paid.py", 7), ("raw.toml", 15)]),
    ],
)  # fmt: skip
def test_references_are_those_in_sql_and_in_python(client, path, words, inside, expected):
    assert expected == places(client, "textDocument/references", path, words, inside)


def test_the_key_of_a_join_by_names_is_a_column_of_both_sides(client):
    source = SHOP["sources/raw.toml"]
    client.open("sources/raw.toml")
    customers = source.index("raw.customers")
    key = source[customers:].index("customer_id")
    where = TextPositions(source).position(customers + key)
    params = {"textDocument": {"uri": client.uri("sources/raw.toml")}, "position": where}

    found = client.ask("textDocument/references", params | {"context": {}})

    assert [5] == [
        each["range"]["start"]["line"] for each in found if each["uri"].endswith("paid.py")
    ]


def test_while_the_code_is_half_written_the_last_plan_answers(client):
    broken = CODE.replace("def model", "# more\ndef model") + "    x = ("
    client.change(client.uri(PATH), {"text": broken})

    assert "amount decimal(12,2)" in said(client, PATH, '"amount") > 10', "amount", text=broken)
    client.change(client.uri(PATH), {"text": CODE})
    client.settled()
