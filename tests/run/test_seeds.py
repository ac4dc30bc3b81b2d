"""Seeds become tables in one commit, once, unless something about them changed."""

import json

import pytest

from rocky.compiler.passes import compile_project
from rocky.errors import NothingSelected, RockyError
from rocky.plan.steps import plan_seeds
from rocky.project import load_project
from rocky.run.materialize.seeds import (
    SEED_HASH,
    is_loaded,
    load_seed,
    refuse_shared_target,
    seed_target,
)
from rocky.store.warehouse import open_warehouse
from tests.run.memory_engine import MemoryEngine

CONFIG = '[pipeline.shop]\ntype = "transformation"\nmodels = "models/**"\n[pipeline.shop.target]\nschema = "shop"\n'
FILES = {"rocky.toml": CONFIG, "seeds/codes.csv": "code,label\n1,one\n2,\n", "models/m.sql": "SELECT code FROM codes"}  # fmt: skip


def project_of(root, files=None):
    for name, text in {**FILES, **(files or {})}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return load_project(root, env={})


def load(root, files=None, **options):
    project = project_of(root, files)
    seed = project.seeds["codes"]
    table = open_warehouse("warehouse", base=root).table(seed_target(seed, project.config))
    return load_seed(seed, table, MemoryEngine(root), {"runId": "run-1"}, **options), table


def test_a_seed_goes_where_the_pipelines_models_go_unless_it_says_otherwise(tmp_path):
    plain = project_of(tmp_path / "a")
    own = project_of(tmp_path / "b", {"seeds/codes.toml": "[target]\ncatalog = 'main'\ntable = 'dim_codes'\n"})  # fmt: skip

    assert "spark_catalog.shop.codes" == seed_target(plain.seeds["codes"], plain.config).full_name
    assert "main.shop.dim_codes" == seed_target(own.seeds["codes"], own.config).full_name


def test_a_seed_is_loaded_in_one_commit_that_says_what_it_is(tmp_path):
    built, table = load(tmp_path)
    snapshot = table.snapshot()

    assert ("load", 2, 1, 0) == (built.action, built.rows, len(built.commits), snapshot.version)
    assert ["code", "label"] == [field.name for field in snapshot.schema]
    assert 64 == len(snapshot.configuration[SEED_HASH])
    assert "run-1" == table.history()[0]["runId"]


def test_an_unchanged_seed_is_left_alone(tmp_path):
    first, _ = load(tmp_path)
    again, table = load(tmp_path)

    assert ("unchanged", (), first.rows_hash) == (again.action, again.commits, again.rows_hash)
    assert 0 == table.snapshot().version


@pytest.mark.parametrize(
    "change",
    [
        {"seeds/codes.csv": "code,label\n1,one\n"},
        {"seeds/codes.toml": "columns = [ { name = 'code', type = 'string' } ]\n"},
    ],
)
def test_another_content_or_other_columns_replace_the_table(tmp_path, change):
    load(tmp_path)
    built, table = load(tmp_path, change)

    assert ("load", 1) == (built.action, table.snapshot().version)


def test_a_full_refresh_loads_what_has_not_changed(tmp_path):
    load(tmp_path)
    built, _ = load(tmp_path, full_refresh=True)

    assert "load" == built.action


def test_a_table_tells_whether_a_seed_is_loaded(tmp_path):
    project = project_of(tmp_path)
    seed = project.seeds["codes"]
    table = open_warehouse("warehouse", base=tmp_path).table(seed_target(seed, project.config))

    assert not is_loaded(seed, table)
    load(tmp_path)
    assert is_loaded(seed, table)


def test_a_seed_that_another_tool_emptied_is_loaded_again(tmp_path):
    _, table = load(tmp_path)
    (file,) = table.snapshot().files
    remove = {"remove": {"path": file.path, "deletionTimestamp": 1, "dataChange": True}}
    table.objects.put(f"{table.prefix}/_delta_log/{1:020d}.json", json.dumps(remove).encode())

    built, _ = load(tmp_path)

    assert "load" == built.action


def test_a_seed_whose_file_is_gone_is_loaded_again(tmp_path):
    _, table = load(tmp_path)
    (file,) = table.snapshot().files
    table.objects.local_path(f"{table.prefix}/{file.path}").unlink()

    built, _ = load(tmp_path)

    assert "load" == built.action


def test_a_seed_that_was_edited_since_it_was_compiled_is_not_loaded(tmp_path):
    project = project_of(tmp_path)
    seed = project.seeds["codes"]
    table = open_warehouse("warehouse", base=tmp_path).table(seed_target(seed, project.config))
    (tmp_path / "seeds/codes.csv").write_text("code,label\n1,wrong\n2,\n")

    with pytest.raises(RockyError, match="seed `codes` changed while it was read; run again"):
        load_seed(seed, table, MemoryEngine(tmp_path), {})
    assert None is table.snapshot()


def test_a_seed_and_a_model_cannot_share_a_table(tmp_path):
    project = project_of(tmp_path, {"models/codes.sql": "SELECT 1 AS one"})
    with pytest.raises(RockyError) as refusal:
        refuse_shared_target(project.seeds["codes"], project)

    assert (
        "seed `codes` and model `codes` would both write `spark_catalog.shop.codes`:"
        " set `[target]` in the seed's sidecar"
    ) == str(refusal.value)


def test_two_seeds_cannot_share_a_table(tmp_path):
    files = {"seeds/other.csv": "a\n1\n", "seeds/other.toml": "[target]\ntable = 'CODES'\n"}
    project = project_of(tmp_path, files)

    with pytest.raises(RockyError, match="seeds `codes` and `other` would both write"):
        refuse_shared_target(project.seeds["codes"], project)


@pytest.mark.parametrize(
    ("names", "expected"), [((), ["codes", "other"]), (("OTHER",), ["other"]), (("c*",), ["codes"])]
)
def test_seeds_are_planned_by_name(tmp_path, names, expected):
    compilation = compile_project(project_of(tmp_path, {"seeds/other.csv": "a\n1\n"}), cache=False)
    plan = plan_seeds(compilation, names)

    assert expected == [step.name for step in plan.selected]


def test_a_seed_that_is_none_is_refused_with_the_nearest(tmp_path):
    compilation = compile_project(project_of(tmp_path), cache=False)

    with pytest.raises(NothingSelected, match=r"no seed `coeds`; did you mean `codes`\?"):
        plan_seeds(compilation, ["coeds"])
