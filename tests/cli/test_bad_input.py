"""Input no sane project has: a clear finding or a working compile, never a traceback or a hang."""

import pytest

from rocky.cli.console import ExitCode
from tests.cli.conftest import CONFIG

CYCLE = {
    "models/a.sql": "SELECT x FROM b\n",
    "models/b.sql": "SELECT x FROM c\n",
    "models/c.sql": "SELECT x FROM a\n",
}
UNION = " UNION ALL ".join(["SELECT order_id FROM raw.orders"] * 5000)
LONG = "SELECT " + ",\n".join(f"order_id AS column_number_{index}" for index in range(70_000))


def codes(answer):
    return [each["code"] for each in answer.json["diagnostics"]]


def test_an_empty_project_says_where_models_go(rocky, write):
    write({"sources/raw.toml": ""})
    answer = rocky("compile")

    assert ["E018"] == codes(answer)
    assert "has no models" in answer.json["diagnostics"][0]["message"]


def test_a_project_with_an_empty_config_is_no_traceback(rocky, write):
    write({"rocky.toml": "", "models/a.sql": "SELECT 1 AS one\n"})

    assert ExitCode.OK == rocky("compile").code


def test_500_nested_parentheses_are_fine(rocky, write):
    write(
        {"models/a.sql": "SELECT " + "(" * 500 + "order_id" + ")" * 500 + " AS x FROM raw.orders\n"}
    )

    assert [] == codes(rocky("compile"))


def test_bytes_that_are_not_utf8_are_found_and_block_only_their_model(rocky, write):
    root = write({"models/a.sql": "SELECT 1 AS one\n"})
    (root / "models" / "b.sql").write_bytes(b"SELECT '\xff\xfe' AS x\n")
    answer = rocky("compile")

    assert ["E017"] == codes(answer)
    assert ExitCode.OK == rocky("compile", "--model", "a").code


def test_a_loop_of_symbolic_links_is_reported(rocky, write):
    root = write({"models/a.sql": "SELECT 1 AS one\n"})
    (root / "models" / "again").symlink_to(root / "models", target_is_directory=True)

    assert ["E017"] == codes(rocky("compile"))


def test_a_cycle_of_three_models_is_reported_once(rocky, write):
    write(CYCLE)
    answer = rocky("compile")

    assert ["E015"] == codes(answer)
    assert ExitCode.OK == rocky("lineage", "a", "--format", "dot").code
    assert ExitCode.OK == rocky("list").code


def test_a_tab_in_toml_is_reported_at_its_line(rocky, write):
    write({"rocky.toml": CONFIG + "\nkey\twithout value\n", "models/a.sql": "SELECT 1 AS one\n"})
    answer = rocky("compile")

    assert "E018" in codes(answer)
    assert "tab" in answer.json["diagnostics"][0]["help"]


def test_a_model_that_hides_a_seed_is_a_warning(rocky, write):
    write({"models/codes.sql": "SELECT 1 AS one\n", "seeds/codes.csv": "a\n1\n"})
    answer = rocky("compile")

    assert (ExitCode.OK, ["W023"]) == (answer.code, codes(answer))


@pytest.mark.slow
def test_a_union_of_5000_branches_compiles(rocky, write):
    write({"models/a.sql": UNION})

    assert [] == codes(rocky("compile"))


@pytest.mark.slow
def test_a_model_of_two_megabytes_compiles(rocky, write):
    write({"models/a.sql": LONG + " FROM raw.orders\n"})
    answer = rocky("compile")

    assert [] == codes(answer)
    assert 70_000 == answer.json["summary"]["columns"]
