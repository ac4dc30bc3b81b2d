import json

import pytest

from rocky.diagnostics import Code
from rocky.errors import ProjectNotFound
from rocky.project import load_project
from rocky.project.configuration.config import DEFAULT_CONFIG
from rocky.project.configuration.pipelines import PIPELINES, LoadPipeline, TransformationPipeline
from rocky.project.interfaces import content_hash
from tests.project.projects import findings, helps, load

FULL = """\
[adapter]
type = "spark"
remote = "sc://host:15002"
warehouse = "s3://lake/warehouse"
iceberg = true
[adapter.conf]
spark.sql.shuffle.partitions = 8
"spark.ui.enabled" = false

[pipeline.shop]
type = "transformation"
models = ["models/**"]
target = { catalog = "lake", schema = "shop" }
depends_on = ["files"]

[pipeline.files]
type = "load"
source_dir = "data"
target = { catalog = "lake", schema = "raw" }
execution = { concurrency = 4 }
[pipeline.files.checks]
enabled = false
row_count = true
freshness = { threshold_seconds = 86400, timestamp_column = "at" }
assertions = [ { type = "not_null", column = "id" } ]

[pipeline.bronze]
type = "replication"
timestamp_column = "synced"
source = { schema_pattern = { prefix = "src", separator = "__", components = ["region"] } }
target = { catalog_template = "lake", schema_template = "{region}" }
[[pipeline.bronze.table_overrides]]
match = { table = "orders_*" }
strategy = "merge"
merge_keys = ["id"]

[pipeline.audit]
type = "quality"
tables = [ { catalog = "lake", schema = "shop" } ]
checks = { enabled = true }

[pipeline.history]
type = "snapshot"
unique_key = ["id"]
updated_at = "ts"
source = { catalog = "lake", schema = "shop", table = "a" }
target = { catalog = "lake", schema = "shop", table = "b" }

[lints]
P002 = "allow"
implicit-join-cast = "error"

[state]
backend = "tiered"
valkey_url = "redis://host"
s3_bucket = "bucket"
[state.retry]
circuit_breaker_threshold = 2
[state.retention]
applies_to = ["audit"]

[budget]
max_usd = 5
on_breach = "error"
[cost]
compute_cost_per_core_hour = 0.5
[store]
canonical = true
[reuse]
column_level = false
[gc]
[resilience]
max_retries_per_run = 3
[schema_evolution]
grace_period_days = 3
[branch.approval]
required = true
min_approvers = 2
[imports.crm]
path = "../crm"
snapshot = "crm.json"
baseline = "crm.accepted.json"
pin = "*"
warehouse = "s3://crm/tables"
[publish]
name = "shop"
out = "interfaces/shop.json"
models = ["tag:public"]
consumers = ["../finance/interface.json"]
"""


def test_an_empty_adapter_is_the_one_called_default(tmp_path):
    project = load(tmp_path, {"rocky.toml": '[adapter]\n\n[pipeline.p]\nmodels = "models/**"\n'})

    assert [] == findings(project)
    assert ["default"] == list(project.config.adapter)


def test_every_block_can_be_set(tmp_path):
    content = {"interface_version": 1, "project": "crm", "tables": []}
    crm = json.dumps({**content, "interface_hash": content_hash(content)})
    files = {"rocky.toml": FULL, "crm.json": crm, "crm.accepted.json": crm}
    project = load(tmp_path, files)
    config = project.config

    assert [] == findings(project)
    assert {"spark.sql.shuffle.partitions": "8", "spark.ui.enabled": "false"} == config.adapter[
        "default"
    ].conf
    assert {Code.SELECT_STAR: "allow", Code.IMPLICIT_JOIN_CAST: "error"} == config.lints
    assert isinstance(config.pipeline["files"], LoadPipeline)
    assert config.pipeline["files"].checks.row_count
    assert 4 == config.pipeline["files"].execution.concurrency
    assert 5.0 == config.budget.max_usd
    assert "shop" == project.models["m"].target.schema


def test_an_empty_file_is_all_defaults(tmp_path):
    project = load(tmp_path, {"rocky.toml": ""})

    assert [] == findings(project)
    assert DEFAULT_CONFIG == project.config
    assert ["m"] == list(project.models)


def test_a_bare_pipeline_and_a_plural_are_shorthands(tmp_path):
    config = '[pipeline]\nmodels = "models/**"\n[adapters.main]\ntype = "spark"\n'
    project = load(tmp_path, {"rocky.toml": config})

    assert [] == findings(project)
    assert {"default": TransformationPipeline()} == project.config.pipeline
    assert ["main"] == list(project.config.adapter)


def test_a_problem_in_a_shorthand_is_at_its_own_line(tmp_path):
    config = '[adapter]\nmastr = "local"\n[pipelines.p]\nmodel = "models/**"\n'
    project = load(tmp_path, {"rocky.toml": config})

    assert [
        "E018 rocky.toml:2:1 'mastr' unknown key `mastr` in [adapter]",
        "E018 rocky.toml:4:1 'model' unknown key `model` in [pipelines.p]",
    ] == findings(project)
    assert ["did you mean `master`?", "did you mean `models`?"] == helps(project)


def test_every_pipeline_type_is_named_by_its_default():
    assert ["transformation", "replication", "quality", "snapshot", "load"] == [
        pipeline._field_defaults["type"] for pipeline in PIPELINES
    ]


LOAD = """\
[pipeline.p]
type = "load"
source_dir = "data"
target = { catalog = "lake", schema = "raw" }
"""


@pytest.mark.parametrize(
    ("config", "expected", "help_text"),
    [
        ("[adaptor]\n", "1:2 'adaptor' unknown key `adaptor`", "did you mean `adapter`?"),
        ("adapter = 1\n", "1:11 '1' `adapter` must be a table, not a whole number", None),
        ('[adapter]\ntype = "databricks"\n', "2:8 '\"databricks\"' `databricks` is not one of `spark`", None),
        ("[budget]\nmax_usd = \"5\"\n", "2:11 '\"5\"' `max_usd` must be a number, not a text", None),
        ("[budget]\nmax_usd = -1\n", "2:11 '-1' `max_usd` must be at least 0", None),
        ("[budget]\nmax_usd = true\n", "2:11 'true' `max_usd` must be a number, not a flag", None),
        ('[budget]\non_breach = "fail"\n', "2:13 '\"fail\"' `fail` is not one of `warn`, `error`", None),
        ('[state]\nbackend = "s4"\n', "2:11 '\"s4\"' `s4` is not one of `local`, `s3`, `valkey`, `tiered`", "did you mean `s3`?"),
        ('[state]\nbackend = "s3"\n', "2:11 '\"s3\"' the `s3` backend needs `s3_bucket`", None),
        ('[pipeline.p]\ntype = "transform"\n', "2:8 '\"transform\"' `transform` is not one of `transformation`, `replication`, `quality`, `snapshot`, `load`", None),
        ('[pipeline.p]\ntype = "snapshot"\nupdated_at = "a"\nunique_key = ["k"]\ntarget = { catalog = "a", schema = "b", table = "c" }\n', "1:1 '[pipeline.p]' missing key `source`", None),
        ('[pipeline.p]\ndepends_on = ["q"]\n[pipeline.r]\nmodels="models"\n', "2:15 '\"q\"' no pipeline `q`", "did you mean `p`?"),
        ('[pipeline.p]\n[pipeline.p.target]\nadapter = "x"\n[adapter.a]\n[adapter.b]\n', "3:11 '\"x\"' no adapter `x`", "did you mean `a`?"),
        ('[pipeline.p]\nmodels = "../other"\n', "2:10 '\"../other\"' `models` leads out of the project", "name a folder inside it"),
        ('[lints]\nP003 = "allow"\n', "2:1 'P003' `P003` is not a lint", "did you mean `P001`?"),
        ('[lints]\nselect-sta = "allow"\n', "2:1 'select-sta' `select-sta` is not a lint", "did you mean `select-star`?"),
        ('[lints]\nW006 = "allow"\n', "2:1 'W006' `E041` (setting-column-missing) is always an error", "only findings on which Spark would not fail have a level"),
        ('[lints]\nE003 = "allow"\n', "2:1 'E003' `E003` (unknown-column) is always an error", "only findings on which Spark would not fail have a level"),
        ('[lints]\nP002 = "off"\n', "2:8 '\"off\"' `off` is not one of `allow`, `warn`, `error`", None),
        (f"{LOAD}execution = {{ concurrency = 0 }}\n", "5:29 '0' `concurrency` must be at least 1", None),
        (f'{LOAD}execution = {{ concurrency = "fast" }}\n', "5:29 '\"fast\"' `fast` is not one of `adaptive`", None),
        ("[adapter.conf]\nspark.x = [1]\n", "2:11 '[1]' the Spark setting `x` must be one value", None),
        (f'{LOAD}[pipeline.p.checks]\nassertions = [ {{ type = "unique" }} ]\nenabled = false\n', "6:16 '{ type = \"unique\" }' an assertion of type `unique` needs `column`", None),
        (f'{LOAD}[pipeline.p.checks]\nassertions = [ {{ type = "unique", column = "a", values = [1] }} ]\nenabled = false\n', "6:49 'values' unknown key `values` in item 1 of `assertions`", None),
    ],
)  # fmt: skip
def test_a_bad_setting_is_reported_at_its_own_place(tmp_path, config, expected, help_text):
    project = load(tmp_path, {"rocky.toml": config})
    ours = [one for one in findings(project) if "has no models" not in one]

    assert [f"E018 rocky.toml:{expected}"] == ours
    if help_text:
        assert help_text in helps(project)


def test_one_bad_setting_does_not_hide_the_next(tmp_path):
    config = '[budget]\nmax_usd = "x"\nmax_duration = 1\n[reuse]\nenable = true\n'
    project = load(tmp_path, {"rocky.toml": config})

    assert [2, 3, 5] == [int(one.split(":")[1]) for one in findings(project)]


def test_a_folder_without_rocky_toml_is_no_project(tmp_path):
    with pytest.raises(ProjectNotFound, match=r"no `rocky.toml` in .*: run `rocky init`"):
        load_project(tmp_path, env={})


def test_the_settings_file_itself_names_its_project(tmp_path):
    load(tmp_path, {})

    assert ["m"] == list(load_project(tmp_path / "rocky.toml", env={}).models)


def test_another_settings_file_can_be_named(tmp_path):
    load(tmp_path, {"conf/dev.toml": '[pipeline.dev]\nmodels = "models"\n[lints]\nx = 1\n'})
    project = load_project(tmp_path, env={}, config=tmp_path / "conf" / "dev.toml")

    assert "dev" == project.models["m"].pipeline
    assert ["E018 conf/dev.toml:4:1 'x' `x` is not a lint"] == findings(project)


def test_an_unusable_settings_file_still_lets_the_models_be_judged(tmp_path):
    project = load(tmp_path, {"rocky.toml": b"\xff\xfe["})

    assert [
        "E018 rocky.toml:1:1 '\ufffd' `rocky.toml` is not UTF-8: byte 0xff at offset 0, line 1"
    ] == findings(project)
    assert ["the file looks like UTF-16; save it as UTF-8"] == helps(project)
    assert ["m"] == list(project.models)


def test_a_project_without_models_says_so(tmp_path):
    load(tmp_path, {})
    (tmp_path / "models" / "m.sql").unlink()
    project = load_project(tmp_path, env={})

    assert [
        "E018 rocky.toml:2:10 '\"models/**\"' the project has no models: `models/**` matches no `.sql` file"
    ] == findings(project)


def test_a_project_without_a_models_folder_says_so(tmp_path):
    (tmp_path / "rocky.toml").write_text("")
    project = load_project(tmp_path, env={})

    assert [
        "E018 rocky.toml the project has no models: `models/**` matches no `.sql` file"
    ] == findings(project)
    assert ["put a SELECT into a `.sql` file in `models/`"] == helps(project)


WAITING = '[pipeline.{}]\nmodels = "models"\ndepends_on = [{}]\n'


@pytest.mark.parametrize(
    ("waits", "said"),
    [
        ({"a": '"a"'}, ["3:15 '\"a\"' pipeline `a` depends on itself"]),
        (
            {"a": '"b"', "b": '"c"', "c": '"b"'},
            ["9:15 '\"b\"' pipelines form a cycle: `b` -> `c` -> `b`"],
        ),
        (
            {"a": '"b"', "b": '"d", "a"', "d": ""},
            ["6:20 '\"a\"' pipelines form a cycle: `a` -> `b` -> `a`"],
        ),
        ({"a": '"b", "c"', "b": '"c"', "c": ""}, []),
    ],
)
def test_pipelines_that_wait_for_each_other_are_told_of_where_the_circle_closes(
    tmp_path, waits, said
):
    config = "".join(WAITING.format(name, others) for name, others in waits.items())
    project = load(tmp_path, {"rocky.toml": config})

    circles = [each for each in findings(project) if "cycle" in each or "itself" in each]
    assert [f"E018 rocky.toml:{each}" for each in said] == circles


def test_one_name_where_a_list_is_meant_is_shown_as_a_list(tmp_path):
    strategy = '[strategy]\ntype = "merge"\nunique_key = "id"\n'
    project = load(tmp_path, {"models/a.sql": "SELECT 1 AS id\n", "models/a.toml": strategy})

    assert ['write `unique_key = ["id"]`'] == helps(project)


def test_an_unknown_key_names_its_block(tmp_path):
    config = "[adapter.local]\nx = 1\n[branch.approval]\ny = 2\n"
    project = load(tmp_path, {"rocky.toml": config})

    assert [
        "E018 rocky.toml:2:1 'x' unknown key `x` in [adapter.local]",
        "E018 rocky.toml:4:1 'y' unknown key `y` in [branch.approval]",
    ] == findings(project)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (
            '[state]\ns3_bucket = "b"\n',
            "2:1 's3_bucket' `s3_bucket` has no effect: the state is kept by the `local` backend",
        ),
        (
            '[state]\nbackend = "s3"\ns3_bucket = "b"\nvalkey_prefix = "p:"\n',
            "4:1 'valkey_prefix' `valkey_prefix` has no effect: the state is kept by the `s3`"
            " backend",
        ),
    ],
)
def test_a_setting_that_would_have_no_effect_is_refused_at_its_line(tmp_path, config, expected):
    project = load(tmp_path, {"rocky.toml": config})

    assert [f"E018 rocky.toml:{expected}"] == findings(project)


@pytest.mark.parametrize(
    "config",
    [
        # It counts where the settings of another commit ask for approvals.
        "[branch.approval]\nmin_approvers = 2\n",
        "[branch.approval]\nallow_author = true\n",
        '[state]\nbackend = "tiered"\ns3_bucket = "b"\nvalkey_url = "redis://x"\n',
    ],
)
def test_settings_that_act_are_left_alone(tmp_path, config):
    assert [] == findings(load(tmp_path, {"rocky.toml": config}))
