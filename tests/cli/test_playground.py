"""The playground must work, and each mistake its README asks for must be reported as it says."""

import re

import pytest

from rocky.cli.console import ExitCode

FAULTS = {
    "a column that is not there": (
        "models/staging/stg_orders.sql", "\n  amount,", "\n  amuont,", "E003",
        "models/staging/stg_orders.sql",
    ),
    "a type that changes at the source": (
        "sources/shop.toml",
        'options = { header = true }\ncolumns = [\n  { name = "order_id", type = "bigint", nullable = false },\n  { name = "line_number"',
        'options = { header = true }\ncolumns = [\n  { name = "order_id", type = "array<bigint>", nullable = false },\n  { name = "line_number"',
        "E001", "models/marts/fct_orders.sql",
    ),
    "a broken promise": (
        "models/marts/fct_revenue.sql", "coalesce(country, 'unknown') AS country,", "country,",
        "E012", "models/marts/fct_revenue.sql",
    ),
    "a column that is not grouped": (
        "models/intermediate/int_order_totals.sql", "order_id,\n", "order_id,\n  line_number,\n",
        "E007", "models/intermediate/int_order_totals.sql",
    ),
    "branches that do not fit": (
        "models/intermediate/int_account_movements.sql", "  'payment' AS kind,\n", "", "E008",
        "models/intermediate/int_account_movements.sql",
    ),
    "a circle": (
        "models/staging/stg_payments.sql", "raw.payments", "int_order_payments", "E015",
        "models/intermediate/int_order_payments.sql",
    ),
    "a key nobody knows": ("rocky.toml", "models =", "modles =", "E018", "rocky.toml"),
}  # fmt: skip


def test_the_playground_compiles_without_a_finding(rocky, shop):
    answer = rocky("compile")

    assert ExitCode.OK == answer.code
    assert [] == answer.json["diagnostics"]
    assert 0 == answer.json["summary"]["unknown_columns"]
    assert 10 <= answer.json["summary"]["models"] <= 12


@pytest.mark.parametrize("fault", FAULTS)
def test_each_mistake_of_the_exercise_is_reported(rocky, shop, fault):
    path, before, after, code, reported = FAULTS[fault]
    file = shop / path
    text = file.read_text()
    file.write_text(text.replace(before, after, 1))
    found = {(each["code"], each["span"]["file"]) for each in rocky("compile").json["diagnostics"]}

    assert before in text
    assert (code, reported) in found


def test_the_readme_names_lines_and_files_that_are_there(shop):
    page = (shop / "README.md").read_text()
    for path in re.findall(r"`((?:models|sources|contracts)/[\w/]+\.\w+)`", page):
        assert (shop / path).is_file(), path

    assert "amount," == (shop / "models/staging/stg_orders.sql").read_text().splitlines()[6].strip()
    revenue = (shop / "models/marts/fct_revenue.sql").read_text().splitlines()[3].strip()
    assert "coalesce(country, 'unknown') AS country," == revenue


def test_the_shops_data_fits_its_sources(rocky, shop):
    for table in ("customers", "orders", "order_items", "payments"):
        rows = (shop / "data" / f"{table}.csv").read_text().splitlines()
        declared = (shop / "sources").glob("*.toml")
        text = "".join(file.read_text() for file in declared)
        block = text[text.index(f'name = "raw.{table}"') :].split("]\n")[0]

        assert re.findall(r'\{ name = "(\w+)"', block) == rows[0].split(",")
        assert len(rows) > 20
