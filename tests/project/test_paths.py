"""Settings that become paths are refused at their line when they would lead out of their folder."""

import pytest

from rocky.project.files import write_atomically
from tests.project.projects import findings, load

MODEL = {"rocky.toml": "[pipeline.shop]\n", "models/a.sql": "SELECT 1 AS id\n"}
BAD = ["..", ".", "../..", "a/b", "/etc", "_rocky", "_ROCKY_x", "_delta_log"]


@pytest.mark.parametrize("part", ["catalog", "schema", "table"])
@pytest.mark.parametrize("name", [*BAD, "a\\u0000b"])
def test_a_part_of_a_target_that_is_no_folder_is_refused_at_its_line(tmp_path, part, name):
    project = load(tmp_path, {**MODEL, "models/a.toml": f'[target]\n{part} = "{name}"\n'})

    (found,) = findings(project)
    assert "cannot be part of a table's name" in found
    assert "models/a.toml:2" in found
    assert ("spark_catalog", "default", "a") == tuple(project.models["a"].target)


@pytest.mark.parametrize("name", ["..data", "a..b", "rocky", "é", "my table", "branch"])
def test_a_name_that_stays_in_its_folder_is_one(tmp_path, name):
    assert [] == findings(
        load(tmp_path, {**MODEL, "models/a.toml": f'[target]\nschema = "{name}"\n'})
    )


@pytest.mark.parametrize(
    "files",
    [
        {"models/a.toml": 'name = "../../x"\n'},
        {"models/_defaults.toml": '[target]\nschema = "../.."\n'},
        {"seeds/s.csv": "id\n1\n", "seeds/s.toml": '[target]\nschema = "../.."\n'},
        {"seeds/s.csv": "id\n1\n", "seeds/s.toml": 'name = "../x"\n'},
        {"rocky.toml": '[pipeline.shop.target]\ncatalog = "../.."\n'},
        {"rocky.toml": '[pipeline.shop.target]\ncatalog = "branch__b1"\n'},
        {"rocky.toml": '[publish]\nout = "../x.json"\n'},
        {"rocky.toml": '[publish]\nout = "/etc/x.json"\n'},
        {"rocky.toml": '[imports.x]\npath = "../x"\nsnapshot = "../../x.json"\n'},
        {"rocky.toml": '[imports.x]\npath = "../x"\nbaseline = "/x.json"\n'},
        {
            "rocky.toml": '[pipeline.f]\ntype = "load"\nsource_dir = "d"\n'
            'target = { catalog = "c", schema = "../.." }\n'
        },
        {
            "rocky.toml": '[pipeline.h]\ntype = "snapshot"\nunique_key = ["id"]\nupdated_at = "t"\n'
            'source = { catalog = "c", schema = "s", table = "a" }\n'
            'target = { catalog = "c", schema = "s", table = "../../b" }\n'
        },
        {
            "rocky.toml": '[pipeline.b]\ntype = "replication"\ntimestamp_column = "s"\n'
            'source = { schema_pattern = { prefix = "s", separator = "_", components = ["r"] } }\n'
            'target = { catalog_template = "../{r}", schema_template = "{r}" }\n'
        },
    ],
)
def test_no_setting_leads_out_of_its_folder(tmp_path, files):
    found = findings(load(tmp_path, {**MODEL, **files}))

    assert 1 == sum(
        "cannot be part of a table's name" in each
        or "cannot be a catalog" in each
        or "leads out of the project" in each
        for each in found
    )


def test_the_value_of_a_variable_is_not_shown(tmp_path):
    files = {**MODEL, "models/a.toml": '[target]\nschema = "${WHERE}"\n'}

    (found,) = findings(load(tmp_path, files, {"WHERE": "../secret"}))
    assert "${WHERE}" in found
    assert "secret" not in found


def test_a_file_is_not_written_through_a_link_in_place_of_its_draft(tmp_path, monkeypatch):
    other = tmp_path / "other"
    other.write_text("mine")
    monkeypatch.setattr("rocky.project.files.get_ident", lambda: 7)
    monkeypatch.setattr("os.getpid", lambda: 5)
    (tmp_path / ".x.json.5-7.tmp").symlink_to(other)

    write_atomically(tmp_path / "x.json", "new")

    assert ("mine", "new") == (other.read_text(), (tmp_path / "x.json").read_text())
