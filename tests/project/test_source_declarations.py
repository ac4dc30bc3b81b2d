"""Columns written into `sources/*.toml`: what differs changes, and nothing else."""

import tomllib

import pytest

from rocky.language.datatypes.text import parse_type
from rocky.language.datatypes.types import StructField
from rocky.language.declared_functions import DeclaredFunction
from rocky.project.function_declarations import declare_functions
from rocky.project.source_declarations import declare_columns, declare_tables, order_columns
from rocky.project.sources import undeclared_source
from rocky.project.toml.variables import resolve_variables
from tests.project.projects import load

FILE = """\
# Of the shop.
[[source]]
name = "raw.orders"  # every day
format = "csv"
path = "data/orders.csv"
[source.options]
sep = ";"

# Of the office.
[[source]]
name = "raw.people"
columns = [
  # the key
  { name = "id", type = "int", description = "who" },
  { name = "old", type = "string" },
  { name = "mail", type = "string", classification = "pii" }, # careful
]
owner = "office"
"""


def field(name: str, kind: str, *, nullable: bool = True) -> StructField:
    return StructField(name, parse_type(kind), nullable)


@pytest.fixture
def sources(tmp_path):
    files = {
        "rocky.toml": '[compile]\nundeclared = "unknown"\n[pipeline.p]\nmodels = "models/**"\n',
        "sources/raw.toml": FILE,
    }
    return load(tmp_path, files).sources


def test_columns_of_a_source_without_any_stand_below_what_says_which_it_is(sources):
    made = declare_columns(
        FILE, [(sources["raw.orders"], [field("id", "bigint"), field("at", "date")])]
    )
    below = 'path = "data/orders.csv"\n'

    assert made == FILE.replace(
        below,
        below + 'columns = [\n  { name = "id", type = "bigint" },\n'
        '  { name = "at", type = "date" },\n]\n',
        1,
    )


def test_of_declared_columns_only_what_differs_changes(sources):
    live = [field("ID", "bigint", nullable=False), field("mail", "string"), field("new", "date")]
    made = declare_columns(FILE, [(sources["raw.people"], live)])
    columns = made[made.index("columns = [") :]

    assert FILE[: FILE.index("columns = [")] == made[: made.index("columns = [")]
    assert columns == (
        "columns = [\n"
        "  # the key\n"
        '  { name = "id", type = "bigint", nullable = false, description = "who" },\n'
        '  { name = "mail", type = "string", classification = "pii" },\n'
        '  { name = "new", type = "date" }, # careful\n'
        "]\n"
        'owner = "office"\n'
    )


@pytest.mark.parametrize("gone", [{"id"}, {"old"}, {"mail"}, {"id", "old"}, {"old", "mail"}])
def test_columns_that_are_gone_are_taken_out_wherever_they_stand(sources, gone):
    source = sources["raw.people"]
    live = [each for each in source.columns if each.name not in gone]
    made = tomllib.loads(declare_columns(FILE, [(source, live)]))

    kept = [column["name"] for column in made["source"][1]["columns"]]
    assert [each.name for each in live] == kept


def test_tables_of_a_catalogue_are_added_at_the_end():
    columns = [field("Größe", "array<struct<`a b`:int>>"), field('q"', "string", nullable=False)]
    made = declare_tables(FILE, [(undeclared_source("crm.people", "rocky.toml"), columns)])

    assert made.startswith(FILE + "\n[[source]]\n")
    block = tomllib.loads(made)["source"][2]
    assert ("crm.people", "table") == (block["name"], block["format"])
    assert [
        {"name": "Größe", "type": "array<struct<`a b`:int>>"},
        {"name": 'q"', "type": "string", "nullable": False},
    ] == block["columns"]
    assert declare_tables("", [(undeclared_source("a.b", "rocky.toml"), columns)]).startswith(
        "[[source]]\n"
    )


def test_an_empty_list_is_filled_where_it_stands(tmp_path):
    file = '[[source]]\nname = "raw.x"\ncolumns = [] # to come\nowner = "me"\n'
    files = {
        "rocky.toml": '[compile]\nundeclared = "unknown"\n[pipeline.p]\nmodels = "models/**"\n',
        "sources/raw.toml": file,
    }
    source = load(tmp_path, files).sources["raw.x"]
    made = declare_columns(file, [(source, [field("id", "int")])])

    assert (
        '[[source]]\nname = "raw.x"\ncolumns = [\n  { name = "id", type = "int" },\n] # to come\nowner = "me"\n'
        == made
    )


def test_columns_change_places_and_keep_all_that_is_said_of_them(sources):
    made = order_columns(FILE, sources["raw.people"], ["mail", "id", "old"])

    columns = tomllib.loads(made)["source"][1]["columns"]
    assert ["mail", "id", "old"] == [each["name"] for each in columns]
    assert ("pii", "who") == (columns[0]["classification"], columns[1]["description"])
    assert made.replace(" ", "").count("#careful") == 1
    assert order_columns(made, sources["raw.people"], ["id", "old", "mail"]) == FILE


def test_names_from_outside_are_no_references_to_variables():
    columns = [field("${A}", "struct<`${B}`:int>")]
    made = declare_tables("", [(undeclared_source("crm.`${C}`", "rocky.toml"), columns)])
    function = DeclaredFunction(name="${D}", kind="sql", returns=parse_type("int"))

    read = resolve_variables(tomllib.loads(made), {}, pytest.fail)["source"][0]
    assert ("crm.`${C}`", "${A}") == (read["name"], read["columns"][0]["name"])
    assert "struct<`${B}`:int>" == read["columns"][0]["type"]
    declared = tomllib.loads(declare_functions("", [function]))
    assert "${D}" == resolve_variables(declared, {}, pytest.fail)["function"][0]["name"]
