"""Rules over a model's output: one that fires at its exact text, one near miss that does not."""

from rocky.analysis.lints.rules import lint_graph, lint_model
from rocky.diagnostics import Severity
from rocky.diagnostics.suppression import apply_suppressions, find_allows
from rocky.language.datatypes.types import INT
from rocky.language.ir import ModelIr, OutputColumn
from tests.analysis.contracts.outputs import codes, labels, load_files, output_of, place

MODEL = "models/m.sql"


def lint(tmp_path, sql, schema, **ir):
    project = load_files(tmp_path, {MODEL: sql})
    model = project.models["m"]
    return project, lint_model(model, output_of(model.sql, schema, **ir), project.texts)


def test_a_second_column_of_one_name_is_reported_with_the_first_as_its_label(tmp_path):
    sql = "---toml\nintent = 'x'\n---\nSELECT id, 1 AS b, id FROM t"
    project, (found,) = lint(tmp_path, sql, "id int, b int, id int")

    assert ("E014", Severity.ERROR, "m") == (found.code, found.severity, found.model)
    assert "2 output columns are named `id`" == found.message
    assert (MODEL, "id") == place(project, found)
    assert sql.rindex("id") == found.span.start
    assert [(MODEL, "id", "`id` is already here")] == labels(project, found)
    assert sql.index("id,") == found.labels[0].span.start


def test_names_that_differ_in_case_are_one_name(tmp_path):
    _, found = lint(tmp_path, "SELECT id, ID FROM t", "id int, ID int")

    assert ["E014"] == codes(found)


def test_all_that_a_star_repeats_is_one_finding_at_the_star(tmp_path):
    project, (found,) = lint(
        tmp_path, "SELECT * FROM t JOIN u", "id int, name int, id int, name int"
    )

    assert "`id`, `name` are in the output more than once through a star" == (found.message)
    assert (MODEL, "*") == place(project, found)
    assert "`* EXCEPT (id, name)`" in found.help


def test_a_written_column_that_a_star_gives_too_is_labelled(tmp_path):
    project, (found,) = lint(tmp_path, "SELECT *, 1 AS x FROM t", "id int, X int, x int")

    assert (MODEL, "*") == place(project, found)
    assert [(MODEL, "x", "`x` is written here")] == labels(project, found)


def test_different_names_are_quiet(tmp_path):
    _, found = lint(tmp_path, "SELECT id, id2 FROM t", "id int, id2 int")

    assert [] == found


def test_an_expression_without_a_name_is_a_warning_with_an_alias_to_use(tmp_path):
    project, (found,) = lint(
        tmp_path,
        "SELECT sum(amount) FROM t",
        "`sum(amount)` bigint",
        unnamed=("sum(amount)",),
    )

    assert ("W021", Severity.WARNING) == (found.code, found.severity)
    assert (MODEL, "sum(amount)") == place(project, found)
    assert "give it one: `... AS sum_amount`" == found.help


def test_a_made_up_name_that_makes_no_alias_gets_a_plain_one(tmp_path):
    _, (found,) = lint(tmp_path, "SELECT 1", "`1` int", unnamed=("1",))

    assert "give it one: `... AS name`" == found.help


def test_a_named_expression_is_quiet(tmp_path):
    _, found = lint(tmp_path, "SELECT sum(amount) AS total FROM t", "total bigint")

    assert [] == found


def test_a_finding_can_be_allowed_on_its_line(tmp_path):
    sql = "SELECT\n  1 -- rocky: allow(unnamed-output)\nFROM t"
    _, found = lint(tmp_path, sql, "`1` int", unnamed=("1",))

    assert ["W021"] == codes(found)
    assert [] == apply_suppressions(found, {MODEL: find_allows(sql, MODEL)}, {})


def graph(tmp_path, sql, schema, readers):
    project = load_files(tmp_path, {MODEL: sql})
    ir = output_of(sql, schema)
    return project, lint_graph({"m": ir}, project.models, {"m": readers})


def test_a_star_with_readers_names_three_of_them(tmp_path):
    project, (found,) = graph(tmp_path, "SELECT * FROM t", "a int, b int", ("w", "x", "y", "z"))

    assert ("P002", Severity.WARNING, "m") == (found.code, found.severity, found.model)
    assert (MODEL, "*") == place(project, found)
    assert (
        "the columns of model `m` change whenever its inputs do,"
        " and `w`, `x`, `y` and 1 more read it" == found.message
    )
    assert "list the columns: `a, b`" == found.help


def test_a_star_that_nobody_reads_is_quiet(tmp_path):
    _, found = graph(tmp_path, "SELECT * FROM t", "a int", ())

    assert [] == found


def test_a_list_of_columns_with_readers_is_quiet(tmp_path):
    _, found = graph(tmp_path, "SELECT a FROM t", "a int", ("x",))

    assert [] == found


def test_a_duplicate_without_any_place_is_still_reported(tmp_path):
    project = load_files(tmp_path, {MODEL: "FROM t"})
    ir = ModelIr("m", (OutputColumn("a", INT, True), OutputColumn("a", INT, True)), True, ())
    (found,) = lint_model(project.models["m"], ir, project.texts)

    assert ("E014", None, ()) == (found.code, found.span, found.labels)
