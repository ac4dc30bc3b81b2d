"""Columns are offered in the code of Python models where it means one, half written or not."""

import pytest

from rocky.lsp.positions import TextPositions
from tests.ide.projects import write
from tests.lsp.client import Client
from tests.lsp.python_shop import CODE, SHOP

PATH = "models/paid.py"
ORDERS = ["id", "customer_id", "amount", "status"]
BIG = [*ORDERS, "twice"]
JOINED = ["customer_id", "id", "amount", "status", "twice", "country"]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    root = write(tmp_path_factory.mktemp("completion"), SHOP)
    with Client(root) as client:
        client.start(trusted=True)
        yield client
        assert 0 == client.stop()


@pytest.fixture
def client(server):
    """The server with the model open as it is on disk, so that it has a plan to look back at."""
    server.open(PATH)
    server.settled()
    yield server
    for uri in server.opened():
        server.close(uri)


def offered(client, text, path=PATH):
    """The labels that are offered at the mark `|` of a text that is typed over the one there."""
    plain = text.replace("|", "", 1)
    uri = client.uri(path)
    client.change(uri, {"text": plain})
    params = {
        "textDocument": {"uri": uri},
        "position": TextPositions(plain).position(text.index("|")),
    }
    return [each["label"] for each in client.ask("textDocument/completion", params)["items"]]


def after(line, marked):
    """The code with another line in the place of one, and nothing behind it."""
    return CODE[: CODE.index(line)] + marked


RETURN = "return named"


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ('return orders.filter(F.col("am|', ["amount"]),
        ('return orders.filter(F.col("am|"))\n', ["amount"]),
        ('return orders["|', ORDERS),
        ("return orders['|']\n", ORDERS),
        ("return orders.am|", ["amount"]),
        ("return big.select(big.tw|)\n", ["twice"]),
        ('return joined.select("|', JOINED),
        ('return joined.select("id", "|', JOINED),
        ('return joined.select(["id", "|', JOINED),
        ('return joined.groupBy("|', JOINED),
        ('return joined.groupBy("id").agg(F.sum("tw|', ["twice"]),
        ('return joined.filter("id > 1 and cou|', ["country"]),
        ('return joined.where("cou|").limit(3)\n', ["country"]),
        ('return big.join(customers, "|', ["customer_id"]),
        ('return big.join(customers, F.col("co|', ["country"]),
        ('return totals.orderBy("|', ["customer_id", "status", "total"]),
        ('return totals.limit(2).distinct().drop("|', ["customer_id", "status", "total"]),
        ('return named.withColumn("x", F.col("sta|', ["state"]),
        ('return joined.dropDuplicates(subset=["cu|', ["customer_id"]),
        ('x = joined.filter(F.col("id") > 1)\n    return x.select("tw|', ["twice"]),
        ('c = F.col("cou|") == "DE"\n    return joined.where(c)\n', ["country"]),
    ],
)
def test_the_columns_of_the_frame_are_offered_where_the_code_means_one(client, marked, expected):
    assert expected == offered(client, after(RETURN, marked))


@pytest.mark.parametrize(
    "marked",
    [
        'return orders.select(F.lit("|',
        'return orders.select(F.col("id").alias("|',
        'return orders.filter(F.col("status") == "|',
        'return orders.join(customers, "customer_id", "|',
        'print("|',
        "return F.|",
        "ret|",
        'x = "|',
        "# orders.|",
    ],
)
def test_nothing_is_offered_where_no_column_is_meant(client, marked):
    assert [] == offered(client, after(RETURN, marked))


def test_what_an_edit_above_has_moved_is_still_known(client):
    moved = CODE.replace("def model", "# one line more\n\n\ndef model")

    assert JOINED == offered(
        client, moved.replace('where(customers["country"] == "DE")', 'select("|')
    )


def test_a_call_that_is_new_is_known_once_the_text_was_whole(client):
    whole = after(RETURN, 'best = named.withColumn("rank", F.lit(1))\n    return best\n')
    client.change(client.uri(PATH), {"text": whole})
    client.settled()

    marked = whole.replace("return best", 'return best.select("ra|')

    assert ["rank"] == offered(client, marked)


def test_without_trust_the_columns_of_parameters_are_offered_and_no_code_is_run(tmp_path):
    trap = 'open("trap", "w").close()\n' + CODE
    root = write(tmp_path, {**SHOP, PATH: trap})
    with Client(root) as client:
        client.start()
        client.open(PATH)
        head = trap[: trap.index(RETURN)]

        assert ORDERS == offered(client, head + 'return orders.filter("id > 1").select("|')
        both = ["id", "country", "customer_id", "amount", "status"]
        assert sorted(both) == sorted(offered(client, head + 'return joined.select("|'))
        assert 0 == client.stop()
    assert not (root / "trap").exists()
