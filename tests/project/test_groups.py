"""Groups: defaults that models of any folder share by naming them."""

import pytest

from rocky.compiler.passes import compile_project
from rocky.project import load_project
from rocky.project.configuration.strategies import FullRefresh
from tests.project.projects import findings, load

CONFIG = """
[pipeline.shop]
models = "models/**"
target = { catalog = "lake", schema = "shop" }

[group.mart]
owner = "analytics"
strategy = { type = "merge", unique_key = ["id"] }
tags = { layer = "mart" }
target = { schema = "mart" }
"""
FILES = {
    "rocky.toml": CONFIG,
    "models/_defaults.toml": "owner = 'folder'\ntags = { layer = 'folder', team = 'a' }\n[target]\ncatalog = 'other'\n",
    "models/a.sql": "SELECT 1 AS id",
    "models/a.toml": "group = 'mart'\n",
    "models/b.sql": "SELECT 1 AS id",
}


def seen(project, name="a"):
    model = project.models[name]
    return model.target.full_name, model.strategy.type, model.owner, dict(model.tags)


def test_a_group_wins_over_its_models_folders_and_says_nothing_to_others(tmp_path):
    project = load(tmp_path, FILES)

    assert [] == findings(project)
    assert (
        "other.mart.a",
        "merge",
        "analytics",
        {"layer": "mart", "team": "a"},
    ) == seen(project)
    assert ("other.shop.b", FullRefresh().type, "folder", {"layer": "folder", "team": "a"}) == seen(
        project, "b"
    )


def test_a_models_own_settings_win_over_its_group(tmp_path):
    own = "group = 'mart'\nowner = 'me'\nstrategy = 'view'\ntags = { layer = 'own' }\n[target]\nschema = 'mine'\n"

    assert ("other.mine.a", "view", "me", {"layer": "own", "team": "a"}) == seen(
        load(tmp_path, FILES | {"models/a.toml": own})
    )


def test_a_remembered_model_is_in_its_group_and_follows_it(tmp_path):
    first = load(tmp_path, FILES)
    for _ in range(2):
        again = load_project(tmp_path, env={}, remember=True)
        assert seen(first) == seen(again)
    (tmp_path / "rocky.toml").write_text(CONFIG.replace('"mart" }\n', '"marts" }\n'))

    assert (
        "other.marts.a"
        == load_project(tmp_path, env={}, remember=True).models["a"].target.full_name
    )


def test_a_value_of_the_environment_in_a_group_is_followed(tmp_path):
    load(
        tmp_path,
        FILES | {"rocky.toml": CONFIG.replace('schema = "mart"', 'schema = "${SCHEMA}"')},
        {"SCHEMA": "x"},
    )
    for schema in ("one", "one", "two"):
        project = load_project(tmp_path, env={"SCHEMA": schema}, remember=True)
        assert f"other.{schema}.a" == project.models["a"].target.full_name


def test_a_strategy_of_a_group_is_checked_against_each_of_its_models(tmp_path):
    project = load(tmp_path, FILES | {"models/a.sql": "SELECT 1 AS other"})

    assert ["E041"] == [each.code for each in compile_project(project, cache=False).diagnostics]


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (
            {"models/a.toml": "group = 'mrat'\n"},
            "E017 models/a.toml:1:9 \"'mrat'\" there is no group `mrat`",
        ),
        (
            {"rocky.toml": CONFIG.replace("owner", "ownr")},
            "E018 rocky.toml:7:1 'ownr' unknown key `ownr` in [group.mart]",
        ),
    ],
)
def test_what_is_no_group_is_told(tmp_path, files, told):
    assert [told] == findings(load(tmp_path, FILES | files))
