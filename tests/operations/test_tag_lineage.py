"""Where a tag goes, from Python and on the command line."""

import json

import pytest
from click.testing import CliRunner

from rocky.cli.app import main
from rocky.errors import InvalidRequest, NothingSelected
from rocky.operations.graph.lineage import LineageRequest, lineage
from tests.analysis.classification.projects import PEOPLE
from tests.operations.projects import open_project

FILES = {
    "rocky.toml": '[classifications]\norder = ["pii", "low"]\nallow_unmasked = ["pii", "gdpr", "low"]\n',
    "sources/raw.toml": PEOPLE,
    "models/stg.sql": "SELECT id, email, city FROM raw.people",
    "models/mart.sql": "SELECT city, count(email) AS people, min(email) AS first FROM stg GROUP BY city",
    "models/hashed.sql": "SELECT id, sha2(email, 256) AS h FROM stg WHERE email LIKE '%.org'",
    "models/open.sql": "SELECT email AS login FROM stg",
    "models/open.toml": (
        '[[declassify]]\ncolumn = "login"\ntag = "pii"\nreason = "public"\napproved_by = "dpo"\n'
    ),
}


def test_every_column_with_a_tag_is_listed_with_its_way(tmp_path):
    found = lineage(open_project(tmp_path, FILES), LineageRequest(classification="pii"))

    assert [" -> ".join(map(str, each.path)) for each in found.columns] == [
        "raw.people.email -> stg.email -> mart.first",
        "raw.people.address",
        "raw.people.email",
        "raw.people.born",
        "raw.people.email -> stg.email",
    ]
    assert [(each.model, str(each.source)) for each in found.influences] == [
        ("hashed", "stg.email")
    ]
    assert [(each.model, each.column, str(each.source)) for each in found.ended] == [
        ("mart", "people", "stg.email")
    ]
    assert [
        (each.model, each.column, each.reason, each.approved_by) for each in found.declassified
    ] == [("open", "login", "public", "dpo")]
    assert "mart" in found.to_svg()


def test_of_a_model_that_does_not_compile_it_is_said_that_nothing_is_known(tmp_path):
    files = {**FILES, "models/broken.sql": "SELECT emial FROM stg"}
    workspace = open_project(tmp_path, files)

    assert ("broken",) == lineage(workspace, LineageRequest(classification="pii")).broken
    answer = CliRunner().invoke(
        main,
        ["-c", str(tmp_path / "rocky.toml"), "-o", "table", "lineage", "--classification", "pii"],
    )
    assert "not known of `broken`" in answer.output


def test_a_lowered_tag_is_found_under_its_lower_name(tmp_path):
    found = lineage(open_project(tmp_path, FILES), LineageRequest(classification="low"))

    assert [(each.model, each.column, each.lowered) for each in found.columns] == [
        ("hashed", "h", True)
    ]


def test_a_table_and_an_unknown_tag_are_asked_for(tmp_path):
    workspace = open_project(tmp_path, FILES)
    found = lineage(workspace, LineageRequest("STG", classification="pii"))

    assert [(each.model, each.column) for each in found.columns] == [("stg", "email")]
    with pytest.raises(NothingSelected, match="no tag `pij`; did you mean `pii`"):
        lineage(workspace, LineageRequest(classification="pij"))
    with pytest.raises(InvalidRequest, match="--upstream"):
        lineage(workspace, LineageRequest("stg", upstream=True, classification="pii"))


def test_the_command_line_says_it_as_text_json_and_a_graph(tmp_path):
    open_project(tmp_path, FILES)

    def asked(*words):
        return CliRunner().invoke(
            main, ["-c", str(tmp_path / "rocky.toml"), *words], catch_exceptions=False
        )

    text = asked("-o", "table", "lineage", "--classification", "pii").stdout
    data = json.loads(asked("-o", "json", "lineage", "--classification", "pii").stdout)
    graph = asked("lineage", "--classification", "pii", "--format", "dot").stdout

    assert "mart.first          from raw.people.email -> stg.email" in text
    assert "raw.people.address  declared here in `street`" in text
    assert "  hashed: stg.email" in text
    assert "  open.login, made from stg.email: public (approved by dpo)" in text
    assert data["classification"] == "pii"
    assert data["columns"][0]["path"][0] == {"model": "raw.people", "column": "email"}
    assert '"stg.email" -> "mart.first"' in graph
