"""Twins of clear tables: which tables have one, what they are called, and what stands in their way."""

import pytest

import rocky
from rocky.plan.selectors import select_models
from rocky.plan.steps import plan_steps
from rocky.project.project import in_environment

SOURCE = """
[[source]]
name = "raw.people"
path = "people.parquet"
columns = [
  { name = "id", type = "bigint" },
  { name = "email", type = "string", classification = "pii" },
]
"""
CONFIG = """
[pipeline.shop]
models = "models/**"
[pipeline.shop.target]
schema = "shop"
[mask]
pii = "redact"
[governance]
enforce = "twin"
restricted_schema = "restricted"
[governance.env.dev]
enforce = "write"
"""
OTHER = '---toml\n[target]\nschema = "restricted"\ntable = "people"\n---\nSELECT 1 AS one'
MODELS = {
    "people.sql": "SELECT id, email FROM raw.people",
    "again.sql": "SELECT id, lower(email) AS email FROM shop.people",
    "counted.sql": "SELECT count(email) AS many FROM people",
}


@pytest.fixture
def compiled(tmp_path):
    def compile_files(config=CONFIG, env=None, models=None):
        given = {"rocky.toml": config, "sources/people.toml": SOURCE}
        given |= {f"models/{name}": text for name, text in {**MODELS, **(models or {})}.items()}
        for name, text in given.items():
            place = tmp_path / name
            place.parent.mkdir(exist_ok=True)
            place.write_text(text)
        project = rocky.load_project(tmp_path, env={"MASK_KEY": "a key that is long enough"})
        if env is not None:
            project = in_environment(project, env)
        return rocky.compile_project(project, cache=False)

    return compile_files


def targets(compilation):
    return {key: each.target.full_name for key, each in compilation.project.models.items()}


def errors(compilation):
    return [each.message for each in compilation.diagnostics if each.severity.value == "error"]


def test_a_table_with_a_mask_is_restricted_and_its_twin_has_its_place(compiled):
    found = compiled()

    assert [] == errors(found)
    assert {
        "people": "spark_catalog.restricted.people",
        "again": "spark_catalog.restricted.again",
        "counted": "spark_catalog.shop.counted",
        "people__masked": "spark_catalog.shop.people",
        "again__masked": "spark_catalog.shop.again",
    } == targets(found)
    # What is clear has no mask, and every twin masks for itself.
    assert {"people__masked", "again__masked"} == found.masks.tables.keys()
    assert ("people",) == found.upstream["again"]
    assert ("people",) == found.upstream["people__masked"]
    order = list(found.order)
    assert order.index("people") + 1 == order.index("people__masked")


def test_a_twin_has_the_columns_and_types_of_what_it_shows(compiled):
    found = compiled()

    for key in ("people", "again"):
        shown, own = found.models[f"{key}__masked"].columns, found.models[key].columns
        assert [(e.name, e.type, e.nullable) for e in own] == [
            (e.name, e.type, e.nullable) for e in shown
        ]


def test_an_environment_may_have_a_level_of_its_own(compiled):
    found = compiled(env="dev")

    assert {"people", "again", "counted"} == targets(found).keys()
    assert "spark_catalog.shop.people" == targets(found)["people"]
    assert {"people"} == found.masks.tables.keys()


def test_each_schema_may_have_a_restricted_one(compiled):
    found = compiled(CONFIG.replace('"restricted"', '"{schema}_clear"'))

    assert "spark_catalog.shop_clear.people" == targets(found)["people"]


@pytest.mark.parametrize(
    ("config", "files", "said"),
    [
        ({'"restricted"': '"shop"'}, {}, "would have the place of its clear table"),
        (
            {},
            {"other.sql": OTHER},
            "which is that of model `other`",
        ),
        ({}, {"people__masked.sql": "SELECT 1 AS one"}, "is called `people__masked`"),
        ({'"twin"': '"view"'}, {}, "registers nothing there"),
    ],
)
def test_what_stands_in_the_way_is_an_error_at_its_line(compiled, config, files, said):
    text = CONFIG
    for old, new in config.items():
        text = text.replace(old, new)
    found = compiled(text, models=files)

    told = [each for each in found.diagnostics if said in each.message]
    assert told, errors(found)
    assert all(each.path == "rocky.toml" and each.span is not None for each in told)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('[strategy]\ntype = "incremental"\ntimestamp_column = "email"', "is the watermark"),
        ('[strategy]\ntype = "delete_insert"\npartition_by = ["email"]', "partitioned by"),
        ('[format_options]\npartition_by = ["email"]', "is what the table is partitioned by"),
    ],
)
def test_what_records_would_tell_clear_is_an_error_at_the_column(compiled, settings, said):
    parts = f"---toml\n{settings}\n---\nSELECT id, email FROM raw.people"
    found = compiled(models={"people.sql": parts})

    told = [each for each in found.diagnostics if each.code.value == "E059"]
    assert told, errors(found)
    assert said in told[0].message
    assert "models/people.sql" == told[0].path


def test_a_key_may_be_masked_by_anything_because_it_is_compared_clear(compiled):
    merged = '---toml\n[strategy]\ntype = "merge"\nunique_key = ["email"]\n---\n'
    found = compiled(models={"people.sql": f"{merged}SELECT id, email FROM raw.people"})

    assert [] == errors(found)
    env = compiled(env="dev", models={"people.sql": f"{merged}SELECT id, email FROM raw.people"})
    assert any("masked by `redact` it cannot be" in each for each in errors(env))


def test_a_hash_needs_a_key_that_no_view_can_hold(compiled):
    config = CONFIG.replace('"twin"', '"view"').replace('"redact"', '"hash"')
    config = config.replace(
        "[governance]", '[adapter]\nregister = true\n[governance]\nhash_key = "${MASK_KEY}"'
    )
    found = compiled(config)

    assert any("a view of a catalogue cannot hold the key" in each for each in errors(found))


def test_a_full_name_selects_the_clear_table_and_its_twin_comes_along(compiled):
    found = compiled()

    for name in ("spark_catalog.shop.people", "spark_catalog.restricted.people", "people"):
        chosen = select_models(found, [name])
        assert {"people"} == set(chosen), name
        steps = [each.name for each in plan_steps(found, chosen).steps]
        assert ["people", "people__masked"] == steps
