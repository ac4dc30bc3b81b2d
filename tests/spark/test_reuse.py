"""Reuse on Spark: rows and columns of inputs are compared as Spark hashes them."""

import pytest

from tests.spark.projects import build, errors_of, write_files

pytestmark = pytest.mark.spark

FILES = {
    "seeds/orders.csv": "id,country\n1,DE\n2,DE\n3,FR\n",
    "models/wide.sql": "SELECT id, country, upper(country) AS loud FROM orders",
    "models/ids.sql": "SELECT id, country FROM wide WHERE id > 1",
    "models/counted.sql": "SELECT count(*) AS n FROM wide",
    "models/loudest.sql": "SELECT max(loud) AS loud FROM wide",
    "models/merged.sql": "SELECT id, country FROM wide",
    "models/merged.toml": '[strategy]\ntype = "merge"\nunique_key = ["id"]\n',
}


def decisions(report) -> dict[str, str | None]:
    assert {} == errors_of(report)
    return {
        each.step.name: each.execution.reuse_basis or each.execution.decision
        for each in report.outcomes
        if each.step.kind == "build"
    }


def test_only_what_an_edit_reaches_is_built(tmp_path, spark):
    root = write_files(tmp_path, FILES)
    models = {"wide", "ids", "counted", "loudest", "merged"}
    assert dict.fromkeys(models, "build") == decisions(build(root, spark))
    assert dict.fromkeys(models, "content") == decisions(build(root, spark))

    write_files(root, {"models/wide.sql": FILES["models/wide.sql"] + " WHERE id > 0 AND 1 < 2"})
    same_rows = decisions(build(root, spark))
    write_files(root, {"models/wide.sql": FILES["models/wide.sql"].replace("upper", "lower")})
    other_column = decisions(build(root, spark))
    write_files(root, {"models/wide.sql": FILES["models/wide.sql"]})
    taken_back = decisions(build(root, spark))

    assert {"wide": "build", **dict.fromkeys(models - {"wide"}, "content")} == same_rows
    assert {
        "wide": "build",
        "loudest": "build",
        **dict.fromkeys(models - {"wide", "loudest"}, "columns"),
    } == other_column
    assert {"wide": "content", "loudest": "content"}.items() <= taken_back.items()
    assert "build" not in taken_back.values()
