import pytest

from rocky.diagnostics import Severity
from tests.project.projects import findings, load

SQL = "SELECT 1 AS x\n"
SOURCE = '[[source]]\nname = "{}"\ncolumns = [ {{ name = "a", type = "int" }} ]\n'


def labels(project):
    return [[label.path for label in one.labels] for one in project.diagnostics]


def test_models_of_one_name_are_one_report_with_the_others_labelled(tmp_path):
    files = {"models/a/orders.sql": SQL, "models/b/ORDERS.sql": SQL, "models/c/x.sql": SQL}
    project = load(tmp_path, files | {"models/c/x.toml": 'name = "Orders"\n'})

    assert ["E016 models/c/x.sql another model is also called `Orders`"] == findings(project)
    assert [["models/a/orders.sql", "models/b/ORDERS.sql"]] == labels(project)
    assert "models/a/orders.sql" == project.models["orders"].path


def test_two_models_with_one_target_are_one_report_at_the_one_that_names_the_table(tmp_path):
    files = {"models/a.sql": SQL, "models/b.sql": SQL, "models/b.toml": '[target]\ntable = "A"\n'}
    project = load(tmp_path, files)

    assert [
        "E016 models/b.toml:2:9 '\"A\"' models `a` and `b` write one table, `spark_catalog.default.A`"
    ] == findings(project)
    assert [["models/a.sql"]] == labels(project)


def test_a_shared_target_is_shown_as_the_model_that_spells_it_out_has_it(tmp_path):
    files = {
        "models/a.sql": SQL,
        "models/a.toml": '[target]\ntable = "t"\n',
        "models/b.sql": SQL,
        "models/b.toml": '[target]\ntable = "${SUFFIX:-t}"\n',
    }
    project = load(tmp_path, files)

    assert [
        "E016 models/b.toml:2:9 '\"${SUFFIX:-t}\"' "
        "models `a` and `b` write one table, `spark_catalog.default.t`"
    ] == findings(project)
    assert [["models/a.toml"]] == labels(project)


def test_a_shared_target_that_only_a_variable_knows_is_shown_as_it_is_written(tmp_path):
    sidecar = '[target]\ntable = "${TABLE}"\n'
    files = {"models/a.sql": SQL, "models/a.toml": sidecar}
    files |= {"models/b.sql": SQL, "models/b.toml": sidecar}
    project = load(tmp_path, files, {"TABLE": "secret"})

    assert [
        "E016 models/b.toml:2:9 '\"${TABLE}\"' "
        "models `a` and `b` write one table, `spark_catalog.default.${TABLE}`"
    ] == findings(project)


def test_an_ephemeral_model_may_share_a_target(tmp_path):
    files = {
        "models/a.sql": SQL,
        "models/b.sql": SQL,
        "models/b.toml": 'strategy = "ephemeral"\n[target]\ntable = "a"\n',
    }

    assert [] == findings(load(tmp_path, files))


def test_one_table_name_in_two_schemas_is_no_collision(tmp_path):
    files = {"models/a.sql": SQL, "models/b.sql": SQL}
    files["models/b.toml"] = '[target]\nschema = "other"\ntable = "a"\n'

    assert [] == findings(load(tmp_path, files))


def test_a_model_that_hides_a_source_or_a_seed_is_a_warning(tmp_path):
    files = {
        "models/Orders.sql": SQL,
        "models/rates.sql": SQL,
        "sources/s.toml": SOURCE.format("orders"),
        "seeds/rates.csv": "a\n1\n",
    }
    project = load(tmp_path, files)

    assert [
        "W023 models/Orders.sql model `Orders` hides the source of the same name",
        "W023 models/rates.sql model `rates` hides the seed of the same name",
    ] == findings(project)
    assert {Severity.WARNING} == {one.severity for one in project.diagnostics}
    assert [["sources/s.toml"], ["seeds/rates.csv"]] == labels(project)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("raw.orders", 'schema = "RAW"\ntable = "orders"\n'),
        ("spark_catalog.raw.orders", 'schema = "raw"\ntable = "Orders"\n'),
        ("raw.orders", 'catalog = "lake"\nschema = "raw"\ntable = "orders"\n'),
    ],
)
def test_a_model_whose_target_has_the_name_of_a_source_hides_it(tmp_path, source, target):
    files = {
        "models/clean.sql": SQL,
        "models/clean.toml": f"[target]\n{target}",
        "sources/s.toml": SOURCE.format(source),
    }
    project = load(tmp_path, files)
    (found,) = project.diagnostics

    assert f"the target of model `clean` hides the source `{source}`" == found.message
    assert ("W023", Severity.WARNING, "models/clean.toml") == (
        found.code,
        found.severity,
        found.path,
    )
    assert [["sources/s.toml"]] == labels(project)
    assert found.labels[0].span is not None


def test_a_target_of_the_same_table_in_another_schema_hides_nothing(tmp_path):
    files = {
        "models/clean.sql": SQL,
        "models/clean.toml": '[target]\nschema = "marts"\ntable = "orders"\n',
        "sources/s.toml": SOURCE.format("raw.orders"),
    }

    assert [] == findings(load(tmp_path, files))


def test_a_model_of_another_name_hides_nothing(tmp_path):
    files = {"models/orders.sql": SQL, "sources/s.toml": SOURCE.format("raw.orders")}

    assert [] == findings(load(tmp_path, files))


def test_a_seed_with_the_name_of_a_source_is_reported(tmp_path):
    project = load(tmp_path, {"sources/s.toml": SOURCE.format("x"), "seeds/x.csv": "a\n1\n"})

    assert ["E017 seeds/x.csv seed `x` has the name of a source"] == findings(project)


def test_depends_on_may_name_models_sources_seeds_and_targets(tmp_path):
    files = {
        "models/a.sql": SQL,
        "models/b.sql": SQL,
        "models/b.toml": 'depends_on = ["A", "raw.x", "s", "spark_catalog.default.a"]\n',
        "sources/x.toml": SOURCE.format("raw.x"),
        "seeds/s.csv": "a\n1\n",
    }

    assert [] == findings(load(tmp_path, files))
