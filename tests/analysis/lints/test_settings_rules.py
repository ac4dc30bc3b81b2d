"""Rules over settings that must fit the output: intervals, merge keys, columns named elsewhere."""

import pytest

from rocky.analysis.lints.rules import lint_model
from rocky.diagnostics import Severity
from tests.analysis.contracts.outputs import codes, labels, load_files, output_of, place

MODEL = "models/m.sql"
SIDECAR = "models/m.toml"
RANGE = "WHERE at >= @start_date AND at < @end_date"
PLAIN = "SELECT id, at FROM t"
SQL = f"{PLAIN} {RANGE}"
GOOD = "id int, at timestamp not null"


def lint(tmp_path, sql, sidecar, schema, **ir):
    project = load_files(tmp_path, {MODEL: sql, SIDECAR: sidecar})
    assert () == project.diagnostics
    model = project.models["m"]
    return project, lint_model(model, output_of(model.sql, schema, **ir), project.texts)


def interval(column="at", granularity="day", **more):
    lines = ["[strategy]", 'type = "time_interval"', f'time_column = "{column}"']
    lines += [f'granularity = "{granularity}"', *(f'{k} = "{v}"' for k, v in more.items())]
    return "\n".join(lines) + "\n"


BATCHES = '[strategy]\ntype = "microbatch"\ntimestamp_column = "{}"\n'


@pytest.mark.parametrize("sidecar", [interval(), interval("AT"), BATCHES.format("at")])
def test_a_healthy_interval_model_is_quiet(tmp_path, sidecar):
    _, found = lint(tmp_path, SQL, sidecar, GOOD)

    assert [] == found


@pytest.mark.parametrize("sidecar", [interval("att"), BATCHES.format("att")])
def test_a_time_column_that_is_not_produced_is_reported_at_its_setting(tmp_path, sidecar):
    project, (found,) = lint(tmp_path, SQL, sidecar, GOOD)

    assert ("E020", "m") == (found.code, found.model)
    assert "the time column `att` is not an output column of model `m`" == found.message
    assert (SIDECAR, '"att"') == place(project, found)
    assert [(MODEL, None, "it produces `id`, `at`")] == labels(project, found)
    assert "did you mean `at`?" == found.help


def test_a_time_column_is_not_missed_when_the_output_is_not_known(tmp_path):
    _, found = lint(tmp_path, SQL, interval("gone"), GOOD, known=False)

    assert [] == found


def test_a_time_column_of_another_type_is_reported_in_the_query(tmp_path):
    project, (found,) = lint(tmp_path, SQL, interval(), "id int, at string not null")

    assert "E021" == found.code
    assert (
        "the time column `at` of model `m` is `string`, not a date or a timestamp" == found.message
    )
    assert (MODEL, "at") == place(project, found)
    assert [(SIDECAR, '"at"', "named here")] == labels(project, found)


def test_a_time_column_of_unknown_type_is_quiet(tmp_path):
    _, found = lint(tmp_path, SQL, interval(), "id int, at string", unknown=("at",))

    assert [] == found


def test_a_time_column_that_can_be_null_is_reported_in_the_query(tmp_path):
    project, (found,) = lint(tmp_path, SQL, interval(), "id int, at timestamp")

    assert "E022" == found.code
    assert (MODEL, "at") == place(project, found)
    assert "`coalesce(..., TIMESTAMP '1970-01-01 00:00:00') AS at`" in found.help


def test_a_time_column_that_is_not_a_plain_name_is_reported_alone(tmp_path):
    project, (found,) = lint(tmp_path, SQL, interval("at time"), GOOD)

    assert "E023" == found.code
    assert (SIDECAR, '"at time"') == place(project, found)


def test_a_query_without_its_interval_is_reported_at_the_strategy(tmp_path):
    project, (found,) = lint(tmp_path, "SELECT id, at FROM t", interval(), GOOD)

    assert "E024" == found.code
    assert (SIDECAR, '"time_interval"') == place(project, found)
    assert "WHERE at >= @start_date AND at < @end_date" in found.help


@pytest.mark.parametrize(
    "hidden",
    [
        "-- @start_date @end_date",
        "/* @start_date @end_date */",
        "WHERE x = '@start_date @end_date'",
    ],
)
def test_a_placeholder_in_a_comment_or_a_text_does_not_count(tmp_path, hidden):
    _, found = lint(tmp_path, f"SELECT id, at FROM t {hidden}", interval(), GOOD)

    assert ["E024"] == codes(found)


def test_a_longer_name_is_not_the_placeholder(tmp_path):
    sql = "SELECT id, at FROM t WHERE at >= @start_dates AND at < @end_date"
    _, found = lint(tmp_path, sql, interval(), GOOD)

    assert ["W003"] == codes(found)


def test_placeholders_are_known_in_any_case(tmp_path):
    _, found = lint(tmp_path, SQL.replace("@start_date", "@START_DATE"), interval(), GOOD)

    assert [] == found


def test_half_an_interval_is_a_warning_at_the_end_that_is_used(tmp_path):
    sql = "---toml\nintent = 'x'\n---\n" + "SELECT id, at FROM t WHERE at < @end_date"
    sql = sql.replace("intent = 'x'\n", interval())
    project = load_files(tmp_path, {MODEL: sql})
    model = project.models["m"]
    (found,) = lint_model(model, output_of(model.sql, GOOD), project.texts)

    assert ("W003", Severity.WARNING) == (found.code, found.severity)
    assert (MODEL, "@end_date") == place(project, found)
    assert "uses `@end_date` but not `@start_date`" in found.message


def test_hours_of_a_date_are_reported_with_the_granularity_as_the_label(tmp_path):
    project, (found,) = lint(
        tmp_path, SQL, interval(granularity="hour"), "id int, at date not null"
    )

    assert "E025" == found.code
    assert (MODEL, "at") == place(project, found)
    assert [(SIDECAR, '"hour"', "named here")] == labels(project, found)


def test_days_of_a_date_and_hours_of_a_timestamp_are_quiet(tmp_path):
    _, dates = lint(tmp_path, SQL, interval(), "id int, at date not null")
    _, hours = lint(tmp_path, SQL, interval(granularity="hour"), GOOD)

    assert [] == [*dates, *hours]


FORMS = {"hour": "2024-05-01T13", "day": "2024-05-01", "month": "2024-05", "year": "2024"}


@pytest.mark.parametrize("grain", FORMS)
def test_a_first_partition_in_the_form_of_its_grain_is_quiet(tmp_path, grain):
    _, found = lint(tmp_path, SQL, interval(granularity=grain, first_partition=FORMS[grain]), GOOD)

    assert [] == found


@pytest.mark.parametrize(
    ("grain", "first"),
    [
        ("day", "2024-5-1"), ("day", "2024-02-30"), ("day", "2024-05"), ("month", "2024-13"),
        ("hour", "2024-05-01T24"), ("hour", "2024-05-01 13"), ("year", "24"),
        ("year", "\u0662\u0660\u0662\u0664"),
    ],
)  # fmt: skip
def test_a_first_partition_in_another_form_is_reported_at_its_setting(tmp_path, grain, first):
    sidecar = interval(granularity=grain, first_partition=first)
    project, (found,) = lint(tmp_path, SQL, sidecar, GOOD)

    assert "E026" == found.code
    assert (SIDECAR, f'"{first}"') == place(project, found)
    assert f"write it like `{FORMS[grain]}`" == found.help


@pytest.mark.parametrize("sidecar", ["", 'strategy = "view"\n'])
def test_an_interval_asked_for_in_another_model_is_reported_at_the_placeholder(tmp_path, sidecar):
    project, found = lint(tmp_path, f"{SQL} AND at > @START_DATE", sidecar, GOOD)
    kind = "view" if sidecar else "full_refresh"

    assert [
        f"nothing fills in `@start_date` here: the strategy of model `m` is `{kind}`",
        f"nothing fills in `@end_date` here: the strategy of model `m` is `{kind}`",
    ] == [each.message for each in found]
    assert ["E009", "E009"] == codes(found)
    assert (MODEL, "@start_date") == place(project, found[0])
    assert "use the strategy `time_interval` or `microbatch`, or write the value" == found[0].help


def test_a_placeholder_in_a_comment_or_a_text_asks_for_nothing(tmp_path):
    _, found = lint(tmp_path, f"{PLAIN} WHERE x = '@start_date' -- @end_date", "", GOOD)

    assert [] == found


MERGE = '[strategy]\ntype = "merge"\nunique_key = ["id", "{}"]\n'


def test_a_merge_key_that_is_not_produced_is_an_error_at_the_key(tmp_path):
    project, (found,) = lint(tmp_path, PLAIN, MERGE.format("order_id"), GOOD)

    assert ("E041", Severity.ERROR) == (found.code, found.severity)
    assert (SIDECAR, '"order_id"') == place(project, found)
    assert "the merge key `order_id` is not an output column of model `m`" == found.message


def test_a_merge_key_in_another_case_or_of_an_unknown_output_is_quiet(tmp_path):
    _, cased = lint(tmp_path, PLAIN, MERGE.format("AT"), GOOD)
    _, unknown = lint(tmp_path, PLAIN, MERGE.format("gone"), GOOD, known=False)

    assert [] == [*cased, *unknown]


@pytest.mark.parametrize(
    ("sidecar", "code", "text"),
    [
        ('[strategy]\ntype = "incremental"\ntimestamp_column = "gone"', "E020", '"gone"'),
        ('[strategy]\ntype = "delete_insert"\npartition_by = ["id", "gone"]', "E041", '"gone"'),
        ('[strategy]\ntype = "content_addressed"\npartition_columns = ["gone"]', "E041", '"gone"'),
        (
            '[strategy]\ntype = "merge"\nunique_key = ["id"]\nupdate_columns = ["gone"]',
            "E041",
            '"gone"',
        ),
        ('[format_options]\npartition_by = ["gone"]', "E041", '"gone"'),
        ('[format_options]\ncluster_by = ["gone"]', "E041", '"gone"'),
        ('[classification]\ngone = "pii"', "E041", "gone"),
        ('[[tests]]\ntype = "not_null"\ncolumn = "gone"', "E041", '"gone"'),
        ('[[tests]]\ntype = "composite"\ncolumns = ["id", "gone"]', "E041", '"gone"'),
        ('[columns.gone]\ndescription = "x"', "E041", "gone"),
    ],
)
def test_a_setting_that_names_a_column_the_model_lacks_is_reported_there(
    tmp_path, sidecar, code, text
):
    project, (found,) = lint(tmp_path, "SELECT id, at FROM t", sidecar + "\n", GOOD)

    assert code == found.code
    assert "`gone` is not an output column of model `m`" in found.message
    assert (SIDECAR, text) == place(project, found)


def test_settings_whose_columns_are_produced_are_quiet(tmp_path):
    sidecar = """\
[strategy]
type = "delete_insert"
partition_by = ["ID"]
[classification]
id = "pii"
[columns.at]
description = "when"
[[tests]]
type = "not_null"
column = "id"
"""
    _, found = lint(tmp_path, "SELECT id, at FROM t", sidecar, GOOD)

    assert [] == found
