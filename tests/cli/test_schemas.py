"""Every JSON document is what its checked-in schema says, and every schema is that of its report."""

import json

import pytest
from jsonschema import Draft202012Validator

from rocky.cli.app import COMMANDS
from tools.generate_schemas import ERROR, FOLDER, format_schema, reports_of

SCHEMAS = {path.name.removesuffix(".schema.json"): path for path in FOLDER.glob("*.json")}

LINES = [
    "compile",
    "compile --model fct_orders",
    "validate",
    "list",
    "list models",
    "explain",
    "explain E003",
    "lineage fct_revenue",
    "lineage fct_revenue.amount",
    "lineage raw.orders.amount --downstream --upstream",
    "lineage countries",
    "emit-sql",
    "emit-sql stg_orders",
    "ci",
    "init new",
    "playground other",
]


def check(document, name):
    schema = json.loads(SCHEMAS[name].read_text())
    return [error.message for error in Draft202012Validator(schema).iter_errors(document)]


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_a_schema_is_what_the_types_of_its_reports_say(name):
    assert SCHEMAS[name].read_text() == format_schema(name), "`make schemas` writes them"


def test_every_command_has_a_schema_and_every_schema_a_command():
    assert {*filter(reports_of, COMMANDS), ERROR} == set(SCHEMAS)
    assert ["lsp", "mcp"] == [each for each in COMMANDS if not reports_of(each)], (
        "protocols of others"
    )


@pytest.mark.sampled
@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_a_schema_is_valid(name):
    Draft202012Validator.check_schema(json.loads(SCHEMAS[name].read_text()))


@pytest.mark.parametrize("line", LINES)
def test_a_document_of_the_healthy_shop_fits_its_schema(rocky, shop, line):
    answer = rocky(*line.split(), "-o", "json")

    assert 0 == answer.code
    assert [] == check(answer.json, line.split()[0])


@pytest.mark.parametrize("line", ["compile", "validate", "list", "lineage stg_orders", "ci"])
def test_a_document_of_a_broken_shop_fits_its_schema(rocky, shop, line):
    (shop / "models/staging/stg_orders.sql").write_text("SELECT order_idd, 1 + FROM raw.orders\n")
    (shop / "models/staging/stg_payments.sql").write_text("SELECT nope FROM raw.paymetns\n")
    (shop / "models/marts/star.sql").write_text("SELECT *, 1 + 1 FROM dim_customers\n")
    (shop / "models/marts/broken.sql").write_bytes(b"SELECT '\xff' AS x\n")
    (shop / "rocky.toml").write_text('[pipeline.shop]\ntype = "transformation"\nmodles = 1\n')

    assert [] == check(rocky(*line.split(), "-o", "json").json, line.split()[0])


def test_a_refusal_carries_its_findings_and_fits_the_schema_of_errors(rocky, shop):
    (shop / "models/staging/stg_orders.sql").write_text("SELECT nosuch(1) AS x FROM raw.orders\n")

    answer = rocky("run", "-o", "json")

    places = [
        (each["code"], each["span"]["file"], each["span"]["line"], each["span"]["col"])
        for each in answer.json["error"]["diagnostics"]
    ]
    assert ("E006", "models/staging/stg_orders.sql", 1, 8) in places
    assert [] == check(answer.json, "error")


@pytest.mark.parametrize("line", ["compile --model nope", "lineage nope", "explain Q999", "init ."])
def test_a_failure_fits_the_schema_of_errors(rocky, shop, line):
    answer = rocky(*line.split(), "-o", "json")

    assert 1 == answer.code
    assert [] == check(answer.json, "error")
