"""Rename: one change that compiles, or a reason."""

import pytest

from rocky.ide.edits import EditSet, Refused, edited_texts
from rocky.ide.rename import find_renamable, rename
from tests.ide.projects import SHOP, at, compile_with, shop, view_of, write

OTHERS = {path: text for path, text in SHOP.items() if not path.startswith("models/scored")}


@pytest.fixture
def place(tmp_path):
    return write(tmp_path / "shop", OTHERS)


def renamed(root, path, words, inside, new):
    view = view_of(root)
    found = rename(*at(view, path, words, inside), new, compile_with(root, root.parent))
    assert isinstance(found, EditSet), found
    return edited_texts(view, found), found


def refusal(root, path, words, inside, new):
    view = view_of(root)
    found = rename(*at(view, path, words, inside), new, compile_with(root, root.parent))
    assert isinstance(found, Refused)
    return found.reason


def test_a_column_is_renamed_with_its_readers_settings_contract_and_tests(place):
    texts, _ = renamed(place, "models/orders.sql", "AS gross", "gross", "total")

    assert "o.amount AS total," in texts["models/orders.sql"]
    assert "total AS gross, total * 2 AS twice FROM orders" in texts["models/totals.sql"]
    assert "gross: total" in texts["models/steps.rocky"]
    assert "where total > 10" in texts["models/steps.rocky"]
    assert "[columns.total]" in texts["models/orders.toml"]
    assert 'expression = "total >= 0 AND id > 0"' in texts["models/orders.toml"]
    assert 'rows = [{ id = 1, total = "1.00" }]' in texts["models/orders.toml"]
    assert 'required = ["id", "total"]' in texts["contracts/orders.contract.toml"]


def test_a_new_name_goes_on_through_a_star_to_whoever_names_it(place):
    texts, _ = renamed(place, "models/orders.sql", "AS gross", "gross", "total")

    assert "models/everything.sql" not in texts
    assert (
        "SELECT total AS gross, e.net FROM everything AS e WHERE total > 1\n"
        == texts["models/last.sql"]
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "words", "inside", "new"),
    [
        ("models/orders.sql", "AS gross", "gross", "total"),
        ("models/orders.sql", "AS gross", "gross", "amount"),
        ("models/totals.sql", "FROM orders", "orders", "all_orders"),
        ("models/totals.sql", "big AS b", "big", "large"),
        ("models/totals.sql", "AS twice", "twice", "doubled"),
        ("models/totals.sql", "AS total", "total", "sum of all"),
        ("macros/net.sql", "gross EX", "gross", "price"),
    ],
)
def test_a_name_that_is_renamed_and_renamed_back_leaves_the_texts_as_they_were(
    place, path, words, inside, new
):
    texts, change = renamed(place, path, words, inside, new)
    for each, text in texts.items():
        (place / each).unlink() if text is None else (place / each).write_text(text)
    view = view_of(place)
    moved = {each.old: each.new for each in change.moves}
    named = [each for each in change.edits if new in each.text]
    edit = min(named, key=lambda each: each.path != path)
    shift = sum(
        len(each.text) - (each.span.end - each.span.start)
        for each in change.edits
        if each.path == edit.path and each.span < edit.span
    )
    file = view.open(moved.get(edit.path, edit.path))
    start = edit.span.start + shift + edit.text.index(new)
    back = rename(file, start, inside, compile_with(place, place.parent))

    assert isinstance(back, EditSet), back
    again = edited_texts(view, back)
    assert set(texts) == set(again)
    assert {each: OTHERS.get(each) for each in texts} == again


def test_a_column_that_a_model_takes_from_a_source_as_it_is_gets_an_alias(place):
    texts, _ = renamed(place, "models/orders.sql", "o.customer_id", "customer_id", "who")

    assert "  o.customer_id AS who,\n" in texts["models/orders.sql"]
    assert "SELECT who AS customer_id, gross" in texts["models/totals.sql"]
    assert "sources/raw.toml" not in texts


def test_a_column_of_a_seed_is_renamed_in_its_header_and_in_its_readers(place):
    write(place, {"models/last.sql": "SELECT c.country FROM countries c WHERE country > ''"})

    texts, _ = renamed(place, "seeds/countries.csv", "country", "", "land")

    assert "code,land\nDE,Germany\n" == texts["seeds/countries.csv"]
    assert "SELECT c.land AS country FROM countries c WHERE land > ''" == texts["models/last.sql"]


def test_a_model_is_renamed_with_its_files_and_all_that_name_it(place):
    texts, change = renamed(place, "models/totals.sql", "FROM orders", "orders", "sales")

    assert [
        ("models/orders.sql", "models/sales.sql"),
        ("models/orders.toml", "models/sales.toml"),
        ("contracts/orders.contract.toml", "contracts/sales.contract.toml"),
    ] == [tuple(each) for each in change.moves]
    assert texts["models/orders.sql"] is None
    assert "FROM sales" in texts["models/totals.sql"]
    assert "from sales\n" in texts["models/steps.rocky"]


def test_a_python_model_keeps_its_parameter_and_is_told_the_table(tmp_path):
    root = write(tmp_path / "shop", SHOP)

    texts, _ = renamed(root, "models/totals.sql", "FROM orders", "orders", "sales")

    assert texts["models/scored.toml"].startswith('inputs = { orders = "sales" }\n')
    assert "models/scored.py" not in texts


def test_a_model_that_its_settings_name_is_renamed_there(place):
    write(place, {"models/everything.toml": 'name = "all_of_it"\n'})
    write(place, {"models/last.sql": "SELECT gross FROM all_of_it\n"})

    texts, change = renamed(place, "models/last.sql", "all_of_it", "", "whole")

    assert () == change.moves
    assert 'name = "whole"\n' == texts["models/everything.toml"]
    assert "SELECT gross FROM whole\n" == texts["models/last.sql"]


@pytest.mark.parametrize(
    ("path", "words", "inside", "new", "reason"),
    [
        ("models/orders.sql", "AS gross", "gross", "NET", "`orders` has a column `NET` already"),
        ("models/orders.sql", "AS gross", "gross", "a.b", "`a.b` cannot be a name"),
        ("models/orders.sql", "o.amount", "amount", "x", "a column of the source `raw.orders`"),
        ("models/last.sql", "gross", "", "x", "`gross` is not named in `everything`"),
        ("models/totals.sql", "FROM orders", "orders", "totals", "a table `totals` already"),
        ("models/orders.sql", "tidy", "", "clean", "a function is not renamed here"),
        ("models/orders.sql", "WHERE", "", "clean", "no name here"),
    ],
)
def test_what_would_not_compile_as_before_is_refused_with_the_reason(
    place, path, words, inside, new, reason
):
    assert reason in refusal(place, path, words, inside, new)


def test_a_column_that_a_python_model_may_use_is_not_renamed(tmp_path):
    code = "def model(orders):\n    return orders.select('id', 'gross')\n"
    root = write(tmp_path / "shop", {**SHOP, "models/scored.py": code})

    assert "the Python model `scored` may use `gross`" in refusal(
        root, "models/orders.sql", "AS gross", "gross", "total"
    )


def test_a_key_of_using_cannot_get_another_name_on_one_side_only(place):
    write(
        place, {"models/last.sql": "SELECT o.net FROM orders o JOIN totals t USING (customer_id)"}
    )

    reason = refusal(place, "models/last.sql", "customer_id)", "", "who")

    assert "`models/last.sql` would say: the right side of the join has no column `who`" in reason


def test_a_name_that_would_mean_a_cte_of_a_reader_is_refused(place):
    text = "WITH sales AS (SELECT 1 AS gross) SELECT o.gross FROM orders o, sales"
    write(place, {"models/last.sql": text})

    reason = refusal(place, "models/totals.sql", "FROM orders", "orders", "sales")

    assert "last" in reason


def test_what_could_be_renamed_is_told_before_it_is(tmp_path):
    view = shop(tmp_path)

    found = find_renamable(*at(view, "models/totals.sql", "b.gross", "gross"))

    assert not isinstance(found, Refused)
    assert "gross" == found.name
