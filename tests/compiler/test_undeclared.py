"""Tables that nobody declares, and sources without columns, where the project allows them."""

import pytest

from rocky.diagnostics import Code
from tests.compiler.projects import assert_as_if_cold, compiled, edit, write

UNKNOWN = '[compile]\nundeclared = "unknown"\n\n[pipeline.shop]\nmodels = "models/**"\n'
FILES = {
    "rocky.toml": UNKNOWN,
    "sources/raw.toml": '[[source]]\nname = "raw.orders"\nformat = "csv"\npath = "orders.csv"\n',
    "models/orders.sql": "SELECT id, amount * 2 AS twice, 'x' AS mark FROM raw.orders\n",
    "models/people.sql": "SELECT o.id, p.name FROM orders o JOIN crm.people p ON p.id = o.id\n",
}


@pytest.fixture
def shop(tmp_path):
    write(tmp_path, FILES)
    return tmp_path


def types(compilation, model: str) -> list[str]:
    return [f"{each.name} {each.type}" for each in compilation.models[model].columns]


def found(compilation) -> list[tuple[Code, str]]:
    return [(each.code, each.message) for each in compilation.diagnostics]


def test_readers_of_unknown_columns_are_honest_and_silent(shop):
    compilation = compiled(shop)

    assert [] == found(compilation)
    assert ["id unknown", "twice unknown", "mark string"] == types(compilation, "orders")
    assert ["id unknown", "name unknown"] == types(compilation, "people")
    assert ("orders", "crm.people") == compilation.upstream["people"]
    assert not compilation.project.sources["crm.people"].is_declared
    assert (("tables of unknown columns", 4),) == compilation.statistics.unknown_reasons


def test_the_reasons_add_up_to_all_columns_of_unknown_type(shop):
    write(shop, {"models/odd.sql": "SELECT nobody_made(1) AS n, id FROM raw.orders\n"})
    compilation = compiled(shop)

    assert 6 == compilation.statistics.unknown_columns
    assert (
        ("tables of unknown columns", 5),
        ("function `nobody_made`, which is not declared", 1),
    ) == compilation.statistics.unknown_reasons


def test_by_default_both_are_errors(shop):
    edit(shop, "rocky.toml", '"unknown"', '"error"')

    assert [
        (Code.UNUSABLE_FILE, "source `raw.orders` declares no `columns`"),
        (Code.UNKNOWN_TABLE, "no table `crm.people`"),
    ] == found(compiled(shop))


def test_what_allowed_bound_is_bound_again_when_it_is_an_error(shop):
    compiled(shop)
    edit(shop, "rocky.toml", '"unknown"', '"error"')

    assert (Code.UNKNOWN_TABLE, "no table `crm.people`") in found(assert_as_if_cold(shop))


def test_a_declaration_types_the_readers(shop):
    compiled(shop)
    write(
        shop,
        {
            "sources/crm.toml": '[[source]]\nname = "crm.people"\ncolumns = ['
            ' { name = "id", type = "int" }, { name = "name", type = "string" } ]\n'
        },
    )

    assert ["id unknown", "name string"] == types(assert_as_if_cold(shop), "people")


def test_a_name_alone_that_is_nearly_a_models_is_a_mistake(shop):
    write(shop, {"models/total.sql": "SELECT count(*) AS n FROM order\n"})
    write(shop, {"models/total.sql": "SELECT count(*) AS n FROM orderz\n"})

    (wrong,) = compiled(shop).diagnostics
    assert (Code.UNKNOWN_TABLE, "there is `orders`") == (wrong.code, wrong.help)


def test_a_python_model_may_read_a_table_that_nobody_declares(shop):
    write(
        shop,
        {
            "models/scores.py": "def model(crm):\n    return crm\n",
            "models/scores.toml": 'inputs = { crm = "crm.scores" }\n'
            'output = [ { name = "id", type = "bigint" } ]\n',
        },
    )
    compilation = compiled(shop)

    assert [] == found(compilation)
    assert ("crm.scores",) == compilation.upstream["scores"]


def test_a_function_that_spark_does_not_ship_has_an_unknown_result_and_lineage(shop):
    write(
        shop,
        {
            "models/masked.sql": "SELECT id, geohash_of(twice) AS place FROM orders\n",
            "models/grouped.sql": "SELECT mark, merge_sketches(twice) AS s FROM orders"
            " GROUP BY mark\n",
            "models/typo.sql": "SELECT uper(mark) AS m FROM orders\n",
        },
    )
    compilation = compiled(shop)
    (wrong,) = compilation.diagnostics
    place = compilation.models["masked"].columns[1]

    assert (Code.UNKNOWN_FUNCTION, "models/typo.sql") == (wrong.code, wrong.path)
    assert ["mark string", "s unknown"] == types(compilation, "grouped")
    assert [("orders", "twice")] == [(each.table, each.column) for each in place.edges]
    assert ("function `geohash_of`, which is not declared", 1) in (
        compilation.statistics.unknown_reasons
    )
    # Nobody knows whether two runs would agree.
    assert compilation.models.record("masked").determinism


def test_a_function_is_an_error_again_when_the_project_says_so(shop):
    write(shop, {"models/masked.sql": "SELECT geohash_of(id) AS place FROM orders\n"})
    compiled(shop)
    edit(shop, "rocky.toml", '"unknown"', '"error"')

    assert (Code.UNKNOWN_FUNCTION, "no function `geohash_of`") in found(assert_as_if_cold(shop))


def test_names_that_come_from_variables_are_names_like_any_other(shop):
    write(
        shop,
        {
            "sources/raw.toml": '[[source]]\nname = "${SCHEMA:-raw}.orders"\ncolumns = [ '
            '{ name = "${KEY:-id}", type = "int" }, { name = "amount", type = "double" } ]\n'
        },
    )

    assert ["id int", "twice double", "mark string"] == types(assert_as_if_cold(shop), "orders")


def test_a_name_may_be_that_of_an_unknown_column_before_one_that_is_further_away(shop):
    write(
        shop,
        {
            "models/known.sql": "SELECT 1 AS amount, 2 AS id\n",
            # Spark takes the column of `crm.people`, if there is one, whatever its type.
            "models/inner_first.sql": "SELECT (SELECT max(amount) FROM crm.people) AS most,"
            " (SELECT first(k.amount + p.id) FROM crm.people p WHERE p.id = k.id) AS outer_one"
            " FROM known k WHERE amount < (SELECT sum(amount) FROM crm.people)\n",
            "models/table_first.sql": "SELECT 1 AS size, size || 'x' AS text, size AS s"
            " FROM crm.people\n",
        },
    )
    compilation = compiled(shop)

    assert ["most unknown"] == types(compilation, "inner_first")[:1]
    assert ["size int", "text unknown", "s unknown"] == types(compilation, "table_first")
    assert not [each for each in found(compilation) if "max" in each[1] or "sum" in each[1]]
