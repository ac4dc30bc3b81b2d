"""A dbt project may be a stranger's: it ends in a report or a refusal, and is read in its folder."""

import json
import os
import sys
from pathlib import Path

import pytest

from rocky.errors import ImportRefused, InputNotBuilt
from rocky.operations.migration.import_dbt import ImportDbtReport, ImportDbtRequest, import_dbt
from rocky.operations.migration.validate_migration import (
    ValidateMigrationRequest,
    _source,
    validate_migration,
)
from rocky.operations.workspace import Workspace
from tests.dbt.dbt_projects import copy_project, with_manifest

SECRET = "select 'hidden' as secret"
LAUGHS = "a0: &a0 [x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 20)
)
MERGES = "a0: &a0 {x: 1}\n" + "".join(
    f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 20)
)
CHAIN = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 2000))


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    (root / "models").mkdir(parents=True)
    (root / "dbt_project.yml").write_text("name: shop\n")
    (root / "models" / "good.sql").write_text("select 1 as id")
    return root


def taken(root: Path, **given) -> ImportDbtReport:
    usual = {"to": root.with_name(f"{root.name}-new"), "use_dbt": False}
    return import_dbt(ImportDbtRequest(root, **{**usual, **given}), {})


def written(root: Path) -> str:
    new = root.with_name(f"{root.name}-new")
    return "\n".join(each.read_text() for each in sorted(new.rglob("*.*")) if each.is_file())


@pytest.mark.parametrize(
    "text",
    [
        LAUGHS,
        MERGES,
        CHAIN,
        "models: &a [*a]",
        pytest.param("models: " + "[" * 1500, marks=pytest.mark.slow),
        "models: " + "[" * 300 + "]" * 300,
        "models: !!int ''",
        "models: !!timestamp x",
    ],
)
def test_yaml_that_grows_or_never_ends_is_said_and_left_out(shop, text):
    (shop / "models" / "s.yml").write_text(text)
    report = taken(shop)

    assert ["good"] == [each.name for each in report.things]
    assert any("s.yml` cannot be read" in each for each in report.remarks)
    (shop / "dbt_project.yml").write_text(text)
    with pytest.raises(ImportRefused, match="cannot be read"):
        taken(shop, to=shop.with_name("other"))


def test_properties_that_are_of_other_types_are_no_end(shop):
    (shop / "models" / "s.yml").write_text(
        "models: [{name: good, tags: 5, columns: 5, config: {5: 6, tags: 7}, meta: 8}]\n"
        "exposures: [{name: e, depends_on: 5}]\n"
        "sources: [{name: raw, tags: 5, tables: [{name: t, columns: 5, tags: 6}]}]\n"
    )

    assert {"good", "raw.t"} == {each.name for each in taken(shop).things}


def test_links_in_a_circle_and_pipes_are_not_read(shop):
    (shop / "models" / "a.sql").symlink_to("b.sql")
    (shop / "models" / "b.sql").symlink_to("a.sql")
    os.mkfifo(shop / "models" / "pipe.sql")
    os.mkfifo(shop / "models" / "pipe.yml")
    (shop / "macros").symlink_to("macros")
    (shop / "dbt_packages").symlink_to("dbt_packages")

    assert ["good"] == [each.name for each in taken(shop).things]
    os.mkfifo(shop / "manifest")
    with pytest.raises(ImportRefused, match="is no file"):
        taken(shop, to=shop.with_name("other"), manifest=shop / "manifest")


def test_a_manifest_whose_values_are_of_other_types_is_read_as_far_as_it_goes(tmp_path):
    def spoil(data):
        for kind in ("nodes", "sources", "exposures"):
            for each in data[kind].values():
                each |= {"depends_on": {"nodes": 5}, "tags": 5, "columns": 5, "extra_ctes": 5}
                each["config"] = {**(each.get("config") or {}), "tags": 5, "meta": 5}

    assert 13 == taken(with_manifest(copy_project("bakery", tmp_path), spoil)).models


def test_a_manifest_that_is_nested_without_end_is_refused(tmp_path):
    root = with_manifest(copy_project("bakery", tmp_path))
    place = root / "target" / "manifest.json"
    data = json.loads(place.read_text())
    node = next(each for each in data["nodes"].values() if each["resource_type"] == "model")
    node["config"]["meta"] = {"deep": "HERE"}
    deep = sys.getrecursionlimit() - 150
    place.write_text(json.dumps(data).replace('"HERE"', "[" * deep + "]" * deep))

    with pytest.raises(ImportRefused, match=r"nested too deep|cannot be read"):
        taken(root)


def test_half_of_a_surrogate_pair_can_be_written_and_shown(tmp_path):
    def spoil(data):
        for each in data["nodes"].values():
            each["description"] = each["raw_code"] = each["compiled_code"] = "select '\ud800'"
            each["original_file_path"] = "models/\udfff.sql"
        data["metadata"]["project_name"] = "\ud800"

    root = with_manifest(copy_project("bakery", tmp_path), spoil)
    report = taken(root)

    json.dumps([each.file for each in report.things], ensure_ascii=False).encode()
    assert "select '?'" in written(root)


# ------------------------------------------------------------------ ways out


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder beside the project that nobody named."""
    folder = tmp_path / "outside"
    (folder / "models").mkdir(parents=True)
    (folder / "dbt_project.yml").write_text("name: v\nvars: {v: {secret: hidden}}\n")
    (folder / "models" / "secret.sql").write_text(SECRET)
    return folder


def test_a_package_that_is_a_link_out_of_the_project_is_not_read(shop, outside):
    (shop / "dbt_packages").mkdir()
    (shop / "dbt_packages" / "v").symlink_to(outside)
    (shop / "models" / "good.sql").write_text("select '{{ var('secret', 'none') }}' as id")
    report = taken(shop)

    assert "hidden" not in written(shop)
    assert any("leads out of the project" in each for each in report.remarks)


def test_settings_that_are_a_link_out_of_the_project_are_refused(shop, outside):
    (shop / "dbt_project.yml").unlink()
    (shop / "dbt_project.yml").symlink_to(outside / "dbt_project.yml")
    with pytest.raises(ImportRefused, match="no regular file below"):
        taken(shop)


@pytest.mark.slow
def test_a_manifest_outside_the_project_is_read_only_if_it_is_named(tmp_path):
    root = with_manifest(copy_project("bakery", tmp_path))
    (root / "target").rename(tmp_path / "target")
    settings = (root / "dbt_project.yml").read_text()
    (root / "dbt_project.yml").write_text(f"{settings}\ntarget-path: {tmp_path}/target\n")

    assert "files" == taken(root).read_by
    named = taken(root, to=tmp_path / "b", manifest=tmp_path / "target" / "manifest.json")
    assert "manifest" == named.read_by
    with pytest.raises(ImportRefused, match="--manifest"):
        validate_migration(Workspace(tmp_path / "b"), ValidateMigrationRequest(root))


@pytest.mark.parametrize(
    "way", ["model-paths", "in a template", "package", "package's paths", "link", "pipe"]
)
def test_dbt_is_not_asked_where_it_would_read_outside(shop, outside, tmp_path, way):
    program = tmp_path / "bin" / "dbt"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\nexit 1\n")
    program.chmod(0o755)
    package = shop / "dbt_packages" / "v"
    package.parent.mkdir()
    if way == "model-paths":
        (shop / "dbt_project.yml").write_text("name: shop\nmodel-paths: [models, ../outside]\n")
    elif way == "in a template":
        text = "name: shop\nmodel-paths: [\"{{ '..' }}/outside\"]\n"
        (shop / "dbt_project.yml").write_text(text)
    elif way == "package":
        package.symlink_to(outside)
    elif way == "package's paths":
        package.mkdir()
        (package / "dbt_project.yml").write_text("name: v\nmacro-paths: ../../../outside\n")
    elif way == "link":
        (shop / "models" / "more").symlink_to(outside / "models")
    else:
        os.mkfifo(shop / "models" / "pipe.sql")
    path = {"PATH": f"{program.parent}:{os.defpath}"}
    report = import_dbt(ImportDbtRequest(shop, tmp_path / "new"), path)

    assert not (tmp_path / "asked").exists()
    assert "dbt was not asked, as `" in report.remarks[0]


@pytest.mark.parametrize("name", ["x./etc", "x.../../etc", "../x.t", "parquet./etc/a", "link.t"])
def test_a_relation_of_a_manifest_names_no_folder_outside_of_the_tables(tmp_path, outside, name):
    tables = tmp_path / "tables"
    tables.mkdir()
    (tables / "link.db").symlink_to(outside)
    (outside / "t").mkdir()

    with pytest.raises(InputNotBuilt, match=r"is no name of a table|leads out of"):
        _source(name, tables)
