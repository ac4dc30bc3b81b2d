"""Where things are defined and named, across the files of a project."""

import pytest

from rocky.ide.declaration import definition
from rocky.ide.references import references
from tests.ide.projects import at, marked


def shown(view, places):
    return [f"{place.path}:{view.text_of(place.path)[slice(*place.span)]}" for place in places]


@pytest.mark.parametrize(
    ("path", "words", "inside", "place"),
    [
        ("models/totals.sql", "gross, gross", "gross", "models/orders.sql:gross"),
        ("models/last.sql", "gross", "", "models/orders.sql:gross"),
        ("models/totals.sql", "FROM orders", "orders", "models/orders.sql:SELECT"),
        ("models/totals.sql", "FROM big", "big", "models/totals.sql:big"),
        ("models/totals.sql", "max(twice)", "twice", "models/totals.sql:twice"),
        ("models/orders.sql", "raw.orders", "", "sources/raw.toml:raw.orders"),
        ("models/orders.sql", "o.amount", "amount", "sources/raw.toml:amount"),
        ("models/orders.sql", "@net", "net", "macros/net.sql:net"),
        ("models/orders.sql", "tidy", "", "functions/tidy.sql:tidy"),
        ("models/steps.rocky", "gross", "", "models/orders.sql:gross"),
        ("models/orders.toml", "gross >= 0", "gross", "models/orders.sql:gross"),
        ("contracts/orders.contract.toml", '"gross"', "gross", "models/orders.sql:gross"),
        ("models/scored.py", "orders", "", "models/orders.sql:SELECT"),
        ("macros/net.sql", "@rate", "rate", "macros/net.sql:rate"),
    ],
)
def test_a_definition_is_found_across_files(view, path, words, inside, place):
    assert [place] == shown(view, definition(*at(view, path, words, inside)))


def test_a_column_is_referred_to_by_readers_settings_contracts_and_tests(view):
    found = shown(view, references(*at(view, "models/orders.sql", "AS gross", "gross")))

    assert {
        "models/orders.sql:gross": 1,
        "models/totals.sql:gross": 2,
        "models/steps.rocky:gross": 2,
        "models/orders.toml:gross": 4,
        "contracts/orders.contract.toml:gross": 2,
    } == {each: found.count(each) for each in found}


def test_a_model_is_referred_to_by_whatever_reads_it(view):
    found = shown(view, references(*at(view, "models/totals.sql", "FROM orders", "orders")))

    assert [
        "models/everything.sql:orders",
        "models/orders.sql:SELECT",
        "models/scored.py:orders",
        "models/steps.rocky:orders",
        "models/totals.sql:orders",
    ] == found


def test_a_name_of_one_query_stays_in_it(view):
    found = shown(view, references(*at(view, "models/totals.sql", "big AS b", "big")))

    assert ["models/totals.sql:big"] * 2 == found


def test_names_are_found_in_a_text_that_is_not_compiled_yet(view):
    file, offset = marked(view, "models/last.sql", "SELECT o.gr|oss FROM orders AS o")

    assert ["models/orders.sql:gross"] == shown(view, definition(file, offset))


def test_a_key_of_using_is_a_column_of_both_sides(view):
    text = "SELECT o.gross FROM orders o JOIN raw.orders r USING (customer_i|d)"
    file, offset = marked(view, "models/last.sql", text)

    places = references(file, offset)

    assert "models/last.sql" in {place.path for place in places}
