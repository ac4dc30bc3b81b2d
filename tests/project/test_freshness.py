"""`freshness` in sources, sidecars and folders: what may be said, and what cannot be meant."""

import pytest

from rocky.project import load_project
from rocky.project.configuration.freshness import parse_duration

SOURCE = """
[[source]]
name = "raw.orders"
columns = [ { name = "id", type = "bigint" }, { name = "at", type = "timestamp" } ]
freshness = { %s }
"""


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("6 hours", 21_600),
        ("1 day", 86_400),
        ("90 Minutes", 5_400),
        ("45 s", 45),
        ("2h", 7_200),
        (" 3 weeks ", 1_814_400),
        ("1 second", 1),
    ],
)
def test_a_duration_is_a_number_and_a_unit(text, seconds):
    assert seconds == parse_duration(text)


@pytest.mark.parametrize("text", ["", "day", "1", 6, "1.5 days", "-1 day", "1 month", "1 ss", None])
def test_anything_else_is_no_duration(text):
    with pytest.raises(ValueError, match=r"duration|unit of time"):
        parse_duration(text)


def loaded(root, files):
    for name, text in {"rocky.toml": "", "models/m.sql": "SELECT 1 AS one", **files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return load_project(root, env={})


@pytest.mark.parametrize(
    ("said", "limits"),
    [
        ('error_after = "1 day"', {"error": 86_400}),
        ('warn_after = "6 hours"', {"warning": 21_600}),
        ('warn_after = "6 hours", error_after = "1 day"', {"error": 86_400, "warning": 21_600}),
        ("max_lag_seconds = 5", {"error": 5}),
        ('max_lag_seconds = 5, severity = "warning"', {"warning": 5}),
    ],
)
def test_limits_have_a_severity(tmp_path, said, limits):
    project = loaded(tmp_path, {"sources/raw.toml": SOURCE % f'time_column = "AT", {said}'})

    assert () == tuple(project.diagnostics)
    assert limits == project.sources["raw.orders"].freshness.limits


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ('time_column = "at"', "`freshness` has no limit"),
        ('error_after = "1 day"', "missing key `time_column`"),
        ('time_column = "at", max_lag_seconds = 5, error_after = "1 day"', "the only limit"),
        ('time_column = "at", severity = "error", error_after = "1 day"', "says its own"),
        ('time_column = "at", warn_after = "1 day", error_after = "24 hours"', "not shorter"),
        ('time_column = "at", error_after = "soon"', "a duration such as"),
        ('time_column = "att", error_after = "1 day"', "declares no column `att`"),
        ('time_column = "id", error_after = "1 day"', "is `bigint`, not a date or a timestamp"),
        ('column = "at", error_after = "1 day"', "`column` is not supported"),
    ],
)
def test_what_cannot_be_meant_is_reported_at_its_line(tmp_path, said, message):
    project = loaded(tmp_path, {"sources/raw.toml": SOURCE % said})

    assert project.diagnostics
    found = project.diagnostics[0]
    assert message in found.message
    assert 5 == project.texts[found.path].line_of(found.span.start)


def test_a_folder_gives_its_models_a_freshness_and_a_model_has_its_own(tmp_path):
    sql = "SELECT current_timestamp() AS at"
    files = {
        "rocky.toml": '[pipeline.shop]\nmodels = "models/**"\n',
        "models/_defaults.toml": 'freshness = { time_column = "at", error_after = "1 day" }\n',
        "models/a.sql": sql,
        "models/b.sql": sql,
        "models/b.toml": 'freshness = { time_column = "at", error_after = "2 days" }\n',
    }
    project = loaded(tmp_path, files)

    assert [86_400, 172_800] == [
        project.models[key].settings.freshness.error_after for key in ("a", "b")
    ]


def test_a_project_has_no_freshness(tmp_path):
    project = loaded(tmp_path, {"rocky.toml": "[freshness]\nexpected_lag_seconds = 5\n"})

    (found,) = project.diagnostics
    assert "each table has a time column and limits of its own" in found.message
