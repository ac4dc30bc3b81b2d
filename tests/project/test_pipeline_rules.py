"""What `rocky.toml` may say of a replication pipeline, beyond its shape."""

import pytest

from rocky.project.configuration.pipelines import ReplicationPipeline
from tests.project.projects import findings, helps, load

HEAD = """\
[pipeline.bronze]
type = "replication"
"""
SOURCE = """\
[pipeline.bronze.source]
path = "lake"
"""
PATTERN = """\
[pipeline.bronze.source.schema_pattern]
prefix = "src__"
separator = "__"
components = ["tenant", "regions...", "connector"]
"""
TARGET = """\
[pipeline.bronze.target]
catalog_template = "{tenant}"
schema_template = "{regions:-}__{connector}__{schema}"
"""


def said(tmp_path, *parts):
    """The messages about a pipeline, with the text they point at."""
    project = load(tmp_path, {"rocky.toml": "".join(parts)})
    return [each.split(" ", 2)[2] for each in findings(project)]


def test_a_pipeline_with_a_source_and_no_type_copies_it(tmp_path):
    config = f"[pipeline.bronze]\n{SOURCE}{PATTERN}{TARGET}"
    project = load(tmp_path, {"rocky.toml": config})

    assert [] == findings(project)
    assert isinstance(project.config.pipeline["bronze"], ReplicationPipeline)


def test_a_key_of_another_type_says_which_type_that_is(tmp_path):
    config = '[pipeline.p]\nmodels = "models/**"\nsource_dir = "in"\nmodles = 1\n'
    project = load(tmp_path, {"rocky.toml": config, "models/a.sql": "SELECT 1 AS a"})

    assert [
        "it belongs to a pipeline of type `load`",
        "did you mean `models`?",
    ] == helps(project)


def test_a_sound_pipeline_has_no_findings(tmp_path):
    assert [] == said(tmp_path, HEAD, SOURCE, PATTERN, TARGET)


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ('path = "lake"', "lake"),
        ('url = "jdbc:postgresql://h/db"', "jdbc"),
        ("", "catalog"),
        ('type = "catalog"', "catalog"),
    ],
)
def test_the_kind_of_a_source_is_told_by_what_it_has(tmp_path, source, kind):
    project = load(tmp_path, {"rocky.toml": f"{HEAD}[pipeline.bronze.source]\n{source}\n"})
    pipeline = project.config.pipeline["bronze"]

    assert isinstance(pipeline, ReplicationPipeline)
    assert [] == findings(project)
    assert kind == pipeline.source.kind


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('type = "lake"', "'\"lake\"' a source of type `lake` needs `path`"),
        ('type = "jdbc"', "'\"jdbc\"' a source of type `jdbc` needs `url`"),
        (
            'url = "jdbc:x"\nformat = "csv"',
            "'\"csv\"' `format` has no effect on a source of type `jdbc`",
        ),
        (
            'path = "lake"\nurl = "jdbc:x"',
            "'\"jdbc:x\"' `url` has no effect on a source of type `lake`",
        ),
        (
            'type = "catalog"\npath = "lake"',
            "'\"lake\"' `path` has no effect on a source of type `catalog`",
        ),
        (
            'path = "lake"\nadapter = "other"',
            "'\"other\"' a pipeline reads with the adapter it writes with, `default`",
        ),
        (
            'path = "lake"\nformat = "xml"',
            "'\"xml\"' `xml` is not one of `auto`, `parquet`, `csv`, `json`, `delta`, `orc`",
        ),
    ],
)
def test_a_source_that_cannot_be_is_reported_at_its_line(tmp_path, source, message):
    assert [message] == said(tmp_path, HEAD, f"[pipeline.bronze.source]\n{source}\n")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            '"tenant"',
            '"table"',
            "'\"table\"' no component may be called `table`: filters use that name",
        ),
        ('"tenant"', '"ID"', "'\"ID\"' no component may be called `ID`: filters use that name"),
        ('"tenant"', '"a-b"', "'\"a-b\"' `a-b` is not a name: use letters, digits and underscores"),
        ('"tenant"', '"connector"', "'\"connector\"' component `connector` is named twice"),
        (
            '"connector"]',
            '"others..."]',
            "'\"others...\"' only one component may take several parts",
        ),
        ('separator = "__"', 'separator = ""', "'\"\"' `separator` must not be empty"),
        (
            'components = ["tenant", "regions...", "connector"]',
            "components = []",
            "'[]' `components` must name at least one part of a schema's name",
        ),
    ],
)
def test_a_pattern_that_cannot_be_is_reported(tmp_path, old, new, message):
    assert message in said(tmp_path, HEAD, SOURCE, PATTERN.replace(old, new))


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{tennant}", "'{tennant}' no component `tennant` in the schema pattern"),
        ("x_{table}", "'{table}' no component `table` in the schema pattern"),
        ("{tenant", "'{tenant' a brace in `{tenant` belongs to no placeholder"),
        ("a}b", "'}b' a brace in `a}b` belongs to no placeholder"),
        ("", "'\"\"' a template must not be empty"),
    ],
)
def test_a_template_that_cannot_be_filled_is_reported(tmp_path, template, message):
    target = f'[pipeline.bronze.target]\nschema_template = "{template}"\n'

    assert [message] == said(tmp_path, HEAD, SOURCE, PATTERN, target)


@pytest.mark.parametrize("strategy", ["view", "materialized_view"])
def test_a_copy_cannot_be_a_view_and_a_way_out_is_named(tmp_path, strategy):
    config = f'{HEAD}strategy = "{strategy}"\n{SOURCE}'
    project = load(tmp_path, {"rocky.toml": config})

    assert [
        f"E018 rocky.toml:3:12 '\"{strategy}\"' a copy has rows of its own and cannot be a"
        f" `{strategy}`"
    ] == findings(project)
    assert ["use `full_refresh`, or declare the source and select from it in a model"] == helps(
        project
    )


@pytest.mark.parametrize(
    ("settings", "messages"),
    [
        (
            'strategy = "merge"',
            ["'\"merge\"' `merge` needs `merge_keys`: the columns by which a row is known"],
        ),
        ('strategy = "merge"\nmerge_keys = ["id"]', []),
        ('strategy = "merge"\nmerge_keys_fallback = ["id"]', []),
        (
            'merge_keys = ["id"]',
            ["'[\"id\"]' `merge_keys` has no effect: no table is merged"],
        ),
        (
            'strategy = "merge"\nmerge_keys = ["id"]\nmerge_keys_fallback = ["k"]',
            ["'[\"k\"]' `merge_keys_fallback` has no effect beside `merge_keys`"],
        ),
        (
            'strategy = "full_refresh"\ntimestamp_column = "ts"',
            ["'\"ts\"' `timestamp_column` has no effect: `full_refresh` copies every row"],
        ),
        (
            'metadata_columns = [ { name = "a", type = "strnig", value = "x" } ]',
            ["'strnig' `strnig` is not a Spark type"],
        ),
        (
            'metadata_columns = [ { name = "a", type = "timestamp", value = "now()" } ]',
            ["'\"now()\"' a metadata column holds a value, not an expression"],
        ),
        ('metadata_columns = [ { name = "a", type = "string", value = "{id}.{table}" } ]', []),
    ],
)
def test_settings_that_have_no_effect_or_no_sense_are_reported(tmp_path, settings, messages):
    assert messages == said(tmp_path, HEAD, settings + "\n", SOURCE)


@pytest.mark.parametrize(
    ("overrides", "messages"),
    [
        (
            ['match = {}\nstrategy = "full_refresh"'],
            ["an override must say which tables it is for"],
        ),
        (['match = { table = "a" }'], ["this override changes nothing"]),
        (
            [
                'match = { connector = "c", table = "a" }\nenabled = false',
                'match = { connector = "C", table = "A" }\nenabled = true',
            ],
            ["override 1 is for the same tables"],
        ),
        (
            ['match = { table = "a" }\nstrategy = "merge"'],
            ["`merge` needs `merge_keys`: the columns by which a row is known"],
        ),
        (['match = { table = "a" }\nstrategy = "merge"\nmerge_keys = ["id"]'], []),
    ],
)
def test_overrides_that_cannot_be_are_reported(tmp_path, overrides, messages):
    blocks = "".join(f"[[pipeline.bronze.table_overrides]]\n{each}\n" for each in overrides)
    found = said(tmp_path, HEAD, blocks, SOURCE)

    assert messages == [each[each.rindex("' ") + 2 :] for each in found]


def test_what_a_variable_holds_is_not_shown(tmp_path):
    config = f'{HEAD}{SOURCE}{PATTERN}[pipeline.bronze.target]\nschema_template = "${{T}}"\n'
    project = load(tmp_path, {"rocky.toml": config}, {"T": "secret{x"})

    assert all("secret" not in each for each in findings(project))
