"""Hover: what is said of a name."""

import pytest

from rocky.ide.hover import hover
from tests.ide.projects import at, marked, shop


@pytest.mark.parametrize(
    ("path", "words", "inside", "code", "said"),
    [
        ("models/orders.sql", "o.amount AS gross", "amount", "amount decimal(10,2)", "in euros"),
        ("models/orders.sql", "AS gross", "gross", "gross decimal(10,2)", "with tax"),
        ("models/orders.sql", "raw.orders", "", "source raw.orders", "what was ordered"),
        ("models/orders.sql", "SELECT", "", "model orders", "orders that count"),
        ("models/orders.sql", "@net", "net", "@net(gross EXPRESSION, rate", "without tax"),
        ("models/orders.sql", "tidy", "", "tidy(x string) -> string", "sql function"),
        ("models/totals.sql", "big AS (", "", "big", "`twice` decimal(12,2)"),
        ("models/totals.sql", "b.gross", "b", "b", "`gross` decimal(10,2)"),
        ("models/totals.sql", "max(twice)", "twice", "twice decimal(", "orders.gross"),
        ("models/totals.sql", "sum", "", "sum(int) -> bigint", "aggregate"),
        ("models/totals.sql", "sum", "", "sum(int) -> bigint", "the sum of all values"),
        ("models/everything.sql", "*", "", "*", "`net` "),
        ("models/steps.rocky", "gross > 10", "gross", "gross decimal(10,2)", "with tax"),
        ("models/orders.toml", 'column = "gross"', "gross", "gross decimal(10,2)", "with tax"),
        ("models/orders.toml", "gross >= 0", "gross", "gross decimal(10,2)", "with tax"),
        ("models/orders.toml", 'type = "not_null"', "type", "type", "`accepted_values`"),
        ("contracts/orders.contract.toml", "required", "", "required", "list of text"),
        ("models/scored.py", "orders", "", "model orders", "orders that count"),
    ],
)
def test_a_name_is_told_with_its_type_and_what_is_said_of_it(view, path, words, inside, code, said):
    found = hover(*at(view, path, words, inside))

    assert found is not None
    assert found.code.startswith(code)
    assert said in found.markdown


def test_a_column_is_told_with_the_columns_and_tags_that_it_comes_from(view):
    found = hover(*at(view, "models/everything.sql", "orders"))
    last = hover(*at(view, "models/last.sql", "gross"))

    assert found is not None
    assert last is not None
    assert ("from", "`raw.orders.amount`") in last.facts
    email = hover(*at(view, "models/orders.sql", "o.email", "email"))
    assert email is not None
    assert ("classification", "`pii`") in email.facts


def test_a_column_after_an_outer_join_may_be_null_although_its_table_says_no(view):
    text = "SELECT r.i|d FROM orders o LEFT JOIN raw.orders r ON o.id = r.id"
    found = hover(*marked(view, "models/last.sql", text))

    assert found is not None
    assert "id bigint" == found.code


def test_what_a_project_says_is_shown_as_it_is_and_not_as_markup(tmp_path):
    said = 'description = "<script> [x](y) `z`"\n'
    view = shop(tmp_path, **{"models/everything.toml": said})

    found = hover(*at(view, "models/last.sql", "everything"))

    assert found is not None
    assert r"\<script\> \[x\](y) \`z\`" in found.markdown


def test_a_text_of_a_python_model_that_is_a_column_of_one_input_is_told_as_that(tmp_path):
    code = "def model(orders, totals):\n    return orders.select('gross', 'nothing')\n"
    file = shop(tmp_path, **{"models/scored.py": code}).open("models/scored.py")

    found = hover(file, code.index("gross") + 1)

    assert found is not None
    assert "gross decimal(10,2)" == found.code
    assert ("of", "`orders`") in found.facts
    assert hover(file, code.index("nothing") + 1) is None
