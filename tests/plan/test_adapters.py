"""Which adapter something runs on."""

from pathlib import Path

import pytest

from rocky.compiler.passes import compile_project
from rocky.errors import NothingSelected
from rocky.plan.adapters import choose_adapter, find_adapter, main_adapter, pipeline_adapter
from rocky.plan.steps import plan_steps
from rocky.project import Project, load_project

PIPELINES = """
[pipeline.one]
models = "models/one/**"
target = { adapter = "a" }
[pipeline.two]
models = "models/two/**"
target = { adapter = "b" }
"""
TWO = '[adapter.a]\nwarehouse = "wa"\n[adapter.b]\nwarehouse = "wb"\n'


def project(tmp_path: Path, config: str) -> Project:
    tmp_path.joinpath("rocky.toml").write_text(config)
    for name in ("one", "two"):
        folder = tmp_path / "models" / name
        folder.mkdir(parents=True)
        folder.joinpath(f"m_{name}.sql").write_text("SELECT 1 AS x")
    return load_project(tmp_path, env={})


def test_the_only_adapter_is_the_default_too(tmp_path):
    loaded = project(tmp_path, '[adapter.spark]\nwarehouse = "here"\n')

    assert "here" == find_adapter(loaded, "default").warehouse
    assert ("spark", "here") == (main_adapter(loaded)[0], main_adapter(loaded)[1].warehouse)


def test_a_name_that_no_adapter_has_is_told_with_those_there_are(tmp_path):
    loaded = project(tmp_path, TWO)

    with pytest.raises(NothingSelected, match="no adapter `prod`; adapters: `a`, `b`"):
        find_adapter(loaded, "prod")


def test_models_run_on_the_adapter_they_share(tmp_path):
    loaded = project(tmp_path, TWO + PIPELINES)
    compilation = compile_project(loaded, jobs=1, cache=False)

    shared = choose_adapter(loaded, plan_steps(compilation, ("m_one",)), None)
    assert "wa" == shared.warehouse
    both = plan_steps(compilation, ("m_one", "m_two"))
    with pytest.raises(NothingSelected, match=r"the selected models .* `a`, `b`: select fewer"):
        choose_adapter(loaded, both, None)
    assert "wb" == choose_adapter(loaded, both, "b").warehouse


def test_what_concerns_the_whole_project_wants_one_adapter(tmp_path):
    loaded = project(tmp_path, TWO + PIPELINES)

    with pytest.raises(
        NothingSelected, match=r"the project's pipelines .*: choose one with `--tar"
    ):
        main_adapter(loaded)
    assert "b" == main_adapter(loaded, "b")[0]


def test_a_pipeline_runs_on_its_own_unless_another_is_named(tmp_path):
    loaded = project(tmp_path, TWO + PIPELINES)
    pipeline = loaded.config.pipeline["two"]

    assert "wb" == pipeline_adapter(loaded, pipeline, None).warehouse
    assert "wa" == pipeline_adapter(loaded, pipeline, "a").warehouse
