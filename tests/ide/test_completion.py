"""Completion: what can be written at a place, in texts that mostly do not parse."""

import pytest

from rocky.ide.completion import complete
from rocky.ide.signature_help import signature_help
from rocky.language.dsl.cursor import Cursor
from rocky.language.dsl.pipelines import STEP_WORDS, _Parser
from rocky.language.dsl.tokens import read_tokens
from tests.ide.projects import marked, shop


def offered(view, path, text, *kinds):
    items = complete(*marked(view, path, text))
    return [each.text for each in items if not kinds or each.kind in kinds]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("SELECT o.| FROM orders o", ["id", "customer_id", "gross", "net"]),
        ("SELECT id, | FROM orders", ["id", "customer_id", "gross"]),
        ("SELECT | FROM orders", ["id", "customer_id"]),
        ("SELECT sum(gr| FROM orders", ["gross"]),
        ("SELECT * FROM orders WHERE |", ["id", "customer_id"]),
        ("SELECT * FROM orders WHERE (net > 1 AND (gr|", ["gross"]),
        ("SELECT CASE WHEN gr| FROM orders", ["gross"]),
        ("SELECT * FROM orders o JOIN raw.orders r ON o.id = r.am|", ["amount"]),
        ("WITH a AS (SELECT id AS x FROM orders), b AS (SELECT | FROM a) SELECT 1", ["x"]),
        ("WITH a AS (SELECT id AS x FROM orders) SELECT coalesce(x| FROM a WHERE ((", ["x"]),
        ("SELECT gross * 2 AS twice, tw| FROM orders", ["twice"]),
        ("SELECT address.| FROM raw.orders", ["street", "city"]),
        ("SELECT r.address.st| FROM raw.orders r", ["street"]),
        ("SELECT (SELECT max(cus| FROM raw.orders) FROM orders", ["customer_id"]),
        ("SELECT transform(array(1), xx -> x|) FROM orders", ["xx"]),
        ("SELECT id FROM raw.orders a, raw.orders b WHERE i|", ["a.id", "b.id"]),
        ("SELECT id FROM orders UNION ALL SELECT am| FROM raw.orders", ["amount"]),
    ],
)
def test_columns_in_scope_are_offered_first_in_half_written_sql(view, text, first):
    found = offered(view, "models/last.sql", text, "column", "field", "parameter")

    assert first == found[: len(first)]


@pytest.mark.parametrize(
    ("text", "some"),
    [
        ("SELECT * FROM ord|", ["orders"]),
        ("SELECT * FROM raw.|", ["orders"]),
        ("SELECT * FROM |", ["orders", "totals", "raw.orders", "countries"]),
        ("SELECT * FROM orders JOIN tot|", ["totals"]),
        ("WITH mine AS (SELECT 1 AS a) SELECT * FROM mi|", ["mine"]),
        ("SELECT concat_w|", ["concat_ws("]),
        ("SELECT tid| FROM orders", ["tidy("]),
        ("SELECT @n| FROM orders", ["net"]),
        ("select id from orders whe|", ["where"]),
        ("SELECT @net(gross, ra| FROM orders", ["rate => "]),
    ],
)
def test_tables_functions_macros_and_words_are_offered_where_they_fit(view, text, some):
    found = offered(view, "models/last.sql", text)

    assert [] == [each for each in some if each not in found]


@pytest.mark.parametrize(
    "text", ["SELECT 'te|xt'", "SELECT 1 -- com|ment", "SELECT id AS | FROM orders"]
)
def test_nothing_is_offered_in_texts_in_comments_and_for_new_names(view, text):
    assert [] == offered(view, "models/last.sql", text)


@pytest.mark.parametrize(
    ("text", "some"),
    [
        ("from orders\nwhere gr|", ["gross"]),
        ("from orders\nselect { id, gr| }", ["gross"]),
        ("from orders\nwh|", ["where"]),
        ("from ord|", ["orders"]),
        ("from orders\nderive { twice: gross * 2 }\nwhere tw|", ["twice"]),
    ],
)
def test_steps_tables_and_columns_are_offered_in_pipelines(view, text, some):
    found = offered(view, "models/steps.rocky", text)

    assert [] == [each for each in some if each not in found]


@pytest.mark.parametrize(
    ("path", "text", "some"),
    [
        ("rocky.toml", "[sta|", ["state"]),
        ("rocky.toml", "[state]\nback|", ["backend = "]),
        ("rocky.toml", "[state]\nbackend = |", ['"local"', '"s3"']),
        ("rocky.toml", "[adapter.local]\niceberg = |", ["true", "false"]),
        ("models/orders.toml", '[strategy]\ntype = "merge"\nuni|', ["unique_key = "]),
        ("models/orders.toml", '[strategy]\ntype = "|', ["merge", "snapshot"]),
        ("models/orders.toml", '[[tests]]\ncolumn = "gr|', ["gross"]),
        ("models/orders.toml", '[[tests]]\nto_table = "tot|', ["totals"]),
        ("models/orders.toml", "[classification]\nem|", ["email = "]),
        ("sources/raw.toml", "[[source]]\nform|", ["format = "]),
        ("contracts/orders.contract.toml", '[rules]\nrequired = ["|', ["gross"]),
        ("contracts/orders.contract.toml", '[[columns]]\nname = "|', ["gross"]),
        (
            "contracts/orders.contract.toml",
            '[[columns]]\nname = "id"\n\n[[columns]]\nname = "gross"\ntype = "|"\n\n[[columns]]\nname = "id"\n',
            ["decimal(10,2)", "string"],
        ),
        ("contracts/orders.contract.toml", 'columns = [{ name = "|', ["gross"]),
        ("models/last.sql", "---toml\ndescr|\n---\nSELECT 1 AS a", ["description = "]),
    ],
)
def test_keys_and_values_of_files_are_offered_from_the_records_that_read_them(
    view, path, text, some
):
    found = offered(view, path, text)

    assert [] == [each for each in some if each not in found]


def test_the_words_of_steps_are_those_that_the_grammar_knows():
    assert set(STEP_WORDS) == set(_Parser(Cursor(read_tokens("from a")))._steps)


@pytest.mark.parametrize(
    ("text", "name", "argument"),
    [
        ("SELECT concat_ws(',', id, |", "concat_ws", 2),
        ("SELECT coalesce((id + 1), |) FROM orders", "coalesce", 1),
        ("SELECT @net(gross, |", "net", 1),
        ("SELECT upper(trim(|", "trim", 0),
        ("SELECT upper((a + |", "upper", 0),
    ],
)
def test_the_innermost_call_is_told_with_the_argument_at_the_cursor(view, text, name, argument):
    found = signature_help(*marked(view, "models/last.sql", text))

    assert found is not None
    assert (name, argument) == (found.function.name, found.argument)


def test_a_comma_in_a_text_or_outside_of_a_call_is_no_argument(view):
    assert signature_help(*marked(view, "models/last.sql", "SELECT upper('a'), |")) is None
    found = signature_help(*marked(view, "models/last.sql", "SELECT upper('a,b' |"))
    assert found is not None
    assert 0 == found.argument


def test_the_columns_of_its_inputs_are_offered_in_the_texts_of_a_python_model(tmp_path):
    code = "def model(orders):\n    return orders.select('gr')\n"
    view = shop(tmp_path, **{"models/scored.py": code})
    file = view.open("models/scored.py")

    found = complete(file, code.index("gr')") + 2)

    assert [("gross", "orders")] == [(each.text, each.description) for each in found]
    assert () == complete(file, code.index("return") + 3)
