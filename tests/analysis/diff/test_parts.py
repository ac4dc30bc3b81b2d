"""Two compilations of which one does not compile: what is compared, and what is only named."""

import pytest

from rocky.analysis.changes.parts import diff_parts
from tests.analysis.diff.cases import compile_files, show_diff
from tests.cli.conftest import CONFIG

SHOP = {
    "rocky.toml": CONFIG,
    "sources/raw.toml": """
[[source]]
name = "raw.orders"
columns = [
  { name = "order_id", type = "bigint" },
  { name = "amount", type = "decimal(10,2)" },
  { name = "country", type = "string" },
]
""",
    "models/stg.sql": "SELECT order_id, amount, country FROM raw.orders\n",
    "models/revenue.sql": "SELECT country, SUM(amount) AS revenue FROM stg GROUP BY country\n",
    "models/report.sql": "SELECT country, revenue FROM revenue\n",
    "models/countries.sql": "SELECT DISTINCT country FROM stg\n",
}
RENAMED = {**SHOP, "models/stg.sql": "SELECT order_id, amount AS total, country FROM raw.orders\n"}


@pytest.fixture
def compiled(tmp_path):
    """Compiles files, each time in a folder of its own."""
    return lambda files: compile_files(tmp_path / str(len([*tmp_path.iterdir()])), files)


def test_a_rename_that_breaks_a_reader_is_named_with_what_the_reader_lost(compiled):
    found = diff_parts(compiled(SHOP), compiled(RENAMED))

    assert (2, 1) == (found.compared, found.diff.unchanged)
    (broken,) = found.broken
    assert ("revenue", "head", "E003") == (broken.name, broken.side, broken.error.code)
    assert (("revenue",), ("stg",)) == (broken.lost, broken.affected_by)
    rules = {(table.name, each.rule, each.column) for table, each in found.diff.changes}
    assert ("stg", "column_renamed", "amount") in rules
    assert {"stg"} == {name for name, *_ in rules}
    (reader,) = (each for each in found.diff.tables if each.name == "report")
    assert ("affected", ("revenue", "stg"), ()) == (
        reader.status,
        reader.affected_by,
        reader.changes,
    )


def test_what_does_not_parse_has_lost_every_column(compiled):
    found = diff_parts(compiled(SHOP), compiled({**SHOP, "models/stg.sql": "SELEC 1 FRM\n"}))

    assert [("stg", ("order_id", "amount", "country"))] == [(e.name, e.lost) for e in found.broken]
    assert 0 == found.compared
    assert {"affected"} == {each.status for each in found.diff.tables}


def test_a_base_that_does_not_compile_is_named_and_its_repair_is_not_compared(compiled):
    found = diff_parts(compiled(RENAMED), compiled(SHOP))

    assert [("revenue", "base", ())] == [(e.name, e.side, e.lost) for e in found.broken]
    assert {"stg", "report"} == {each.name for each in found.diff.tables}


def test_a_new_model_that_does_not_compile_is_broken_and_not_added(compiled):
    found = diff_parts(compiled(SHOP), compiled({**SHOP, "models/new.sql": "SELECT x FROM stg\n"}))

    assert [("new", ())] == [(each.name, each.lost) for each in found.broken]
    assert "" == show_diff(found.diff)
    assert (4, 4) == (found.compared, found.diff.unchanged)


@pytest.mark.parametrize("path", ["rocky.toml", "sources/raw.toml"])
def test_an_error_that_is_of_no_model_leaves_nothing_to_compare(compiled, path):
    assert None is diff_parts(compiled(SHOP), compiled({**SHOP, path: "a = = 3\n"}))


def test_sides_that_compile_are_compared_as_ever(compiled):
    more = {**SHOP, "models/stg.sql": "SELECT order_id, amount, country, 1 AS n FROM raw.orders\n"}
    found = diff_parts(compiled(SHOP), compiled(more))

    assert ((), 4) == (found.broken, found.compared)
    assert ["column_added"] == [each.rule for _, each in found.diff.changes]
