import os

import pytest

from rocky.diagnostics.diagnostic import Span
from rocky.project import load_project, setting_place
from rocky.project.configuration.strategies import (
    DeleteInsert,
    Ephemeral,
    FullRefresh,
    Incremental,
    MaterializedView,
    Merge,
    Microbatch,
    TimeInterval,
    View,
)
from tests.project.projects import findings, helps, load

SQL = "SELECT 1 AS x\n"


def test_models_are_keyed_by_lower_case_name_in_path_order(tmp_path):
    files = {"models/b/A.sql": SQL, "models/z.sql": SQL, "models/a/Z1.sql": SQL, "models/c.txt": ""}
    project = load(tmp_path, files)

    assert ["z1", "a", "z"] == list(project.models)
    assert ["models/a/Z1.sql", "models/b/A.sql", "models/z.sql"] == [
        model.path for model in project.models.values()
    ]
    assert ["Z1", "A", "z"] == [model.name for model in project.models.values()]


def test_a_model_without_a_sidecar_has_the_defaults(tmp_path):
    model = load(tmp_path, {"models/orders.sql": SQL}).models["orders"]

    assert "spark_catalog.default.orders" == model.target.full_name
    assert FullRefresh() == model.strategy
    assert (SQL, 0, None, "shop") == (
        model.sql,
        model.sql_offset,
        model.settings_path,
        model.pipeline,
    )


def test_a_sidecar_sets_name_target_and_the_rest(tmp_path):
    sidecar = """\
name = "fct_orders"
depends_on = ["stg"]
intent = "orders by day"
[target]
catalog = "lake"
schema = "mart"
table = "orders_daily"
[strategy]
type = "merge"
unique_key = ["id"]
[tags]
team = "sales"
[classification]
email = "pii"
[budget]
max_usd = 1.5
[columns.id]
description = "the key"
[lints]
P002 = "allow"
[store]
canonical = false
[skip]
eligible = false
[format_options]
partition_by = ["day"]
[[tests]]
type = "accepted_values"
column = "s"
values = ["a", "b"]
[[test]]
name = "adds up"
given = [ { ref = "stg", rows = [ { id = 1 } ] } ]
expect = { rows = [ { id = 1 } ] }
"""
    files = {"models/o.sql": SQL, "models/o.toml": sidecar, "models/stg.sql": SQL}
    project = load(tmp_path, files)
    model = project.models["fct_orders"]

    assert [] == findings(project)
    assert "lake.mart.orders_daily" == model.target.full_name
    assert Merge(("id",)) == model.strategy
    assert ("stg",) == model.depends_on
    assert "orders by day" == model.settings.intent
    assert {"team": "sales"} == model.tags
    assert {"email": ("pii",)} == model.classification
    assert {"P002": "allow"} == model.lints
    assert ("accepted_values", "s", ("a", "b")) == (
        model.tests[0].type, model.tests[0].column, model.tests[0].values,
    )  # fmt: skip
    assert "the key" == model.settings.columns["id"].description
    assert 1.5 == model.settings.budget.max_usd
    assert model.settings.store.canonical is False
    assert ({"id": 1},) == model.settings.test[0].expect.rows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('strategy = "view"', View()),
        ('[strategy]\ntype = "ephemeral"', Ephemeral()),
        ('[strategy]\ntype = "materialized_view"', MaterializedView()),
        ('[strategy]\ntype = "incremental"\ntimestamp_column = "ts"', Incremental("ts")),
        ('[strategy]\ntype = "merge"\nunique_key = ["a"]\nupdate_columns = ["b"]', Merge(("a",), ("b",))),
        ('[strategy]\ntype = "delete_insert"\npartition_by = ["d"]', DeleteInsert(("d",))),
        ('[strategy]\ntype = "microbatch"\ntimestamp_column = "ts"', Microbatch("ts", "hour")),
        ('[strategy]\ntype = "time_interval"\ntime_column = "d"\ngranularity = "day"\nlookback = 2', TimeInterval("d", "day", 2)),
    ],
)  # fmt: skip
def test_every_strategy_has_its_own_record(tmp_path, text, expected):
    project = load(tmp_path, {"models/m.sql": SQL, "models/m.toml": text})

    assert [] == findings(project)
    assert expected == project.models["m"].strategy


@pytest.mark.parametrize(
    ("sidecar", "expected", "help_text"),
    [
        ('stratgy = "view"', "1:1 'stratgy' unknown key `stratgy`", "did you mean `strategy`?"),
        ('[strategy]\ntype = "dynamic_table"', "2:8 '\"dynamic_table\"' `dynamic_table` is not one of", None),
        ('strategy = "veiw"', "1:12 '\"veiw\"' `veiw` is not one of", "did you mean `view`?"),
        ('[strategy]\ntype = "merge"', "1:1 '[strategy]' missing key `unique_key`", None),
        ('[strategy]\nunique_key = ["a"]', "1:1 '[strategy]' this strategy has no `type`", None),
        ('[strategy]\ntype = "merge"\nunique_key = "id"', "3:14 '\"id\"' `unique_key` must be a list, not a text", None),
        ('[strategy]\ntype = "merge"\nunique_key = ["id"]\ntime_column = "x"', "4:1 'time_column' unknown key `time_column`", None),
        ('[strategy]\ntype = "time_interval"\ntime_column = "d"\ngranularity = "week"', "4:15 '\"week\"' `week` is not one of `hour`, `day`, `month`, `year`", None),
        ('[target]\nshema = "x"', "2:1 'shema' unknown key `shema`", "did you mean `schema`?"),
        ("name = 3", "1:8 '3' `name` must be a text, not a whole number", None),
        ('name = "a.b"', "1:8 '\"a.b\"' a model's name is one part, without `.` or a backtick", None),
        ('retention = "90d"', "1:1 'retention' `retention` needs a time column, and the strategy `full_refresh` has none", "filter old rows out in the model's query, or use `incremental`, `microbatch` or `time_interval`"),
        ('retention = "90"', "1:13 '\"90\"' `90` is no time to keep rows for: write days or years, \"90d\" or \"2y\"", None),
        ("[skip]\ndeterministic = true", "2:17 'true' Rocky works out itself whether a query is deterministic", None),
        ('depends_on = ["n"]', "1:15 '\"n\"' `depends_on` names `n`, which is not a model, source or seed", "did you mean `m`?"),
        ('[[tests]]\ntype = "not_nul"\ncolumn = "x"', "2:8 '\"not_nul\"' `not_nul` is not one of", "did you mean `not_null`?"),
        ('[lints]\nE005 = "allow"', "2:1 'E005' `E005` (type-error) is always an error", None),
    ],
)  # fmt: skip
def test_a_bad_sidecar_key_is_reported_and_the_model_still_compiles(
    tmp_path, sidecar, expected, help_text
):
    project = load(tmp_path, {"models/m.sql": SQL, "models/m.toml": sidecar})

    assert 1 == len(findings(project))
    assert findings(project)[0].startswith(f"E017 models/m.toml:{expected}")
    assert project.diagnostics[0].model == "m"
    assert help_text is None or [help_text] == helps(project)
    assert frozenset() == project.blocked


def test_front_matter_is_a_sidecar_inside_the_model(tmp_path):
    text = '---toml\nintent = "x"\nstrategy = "view"\n---\nSELECT 1 AS x\n'
    project = load(tmp_path, {"models/m.sql": text})
    model = project.models["m"]

    assert [] == findings(project)
    assert ("SELECT 1 AS x\n", text, View()) == (model.sql, model.text, model.strategy)
    assert "SELECT" == text[slice(*model.place_in_file(Span(0, 6)))]


def test_a_problem_in_front_matter_is_at_its_line_in_the_model(tmp_path):
    text = '---toml\r\nintnt = "x"\r\n---\r\nSELECT 1 AS x\r\n'
    project = load(tmp_path, {"models/m.sql": text})

    assert ["E017 models/m.sql:2:1 'intnt' unknown key `intnt`"] == findings(project)
    assert "SELECT 1 AS x\r\n" == project.models["m"].sql


def test_a_syntax_error_in_front_matter_is_at_its_line_and_blocks_the_model(tmp_path):
    project = load(tmp_path, {"models/m.sql": "---toml\n\nx = abc\n---\nSELECT 1 AS x"})

    assert ["E017 models/m.sql:3:5 'abc' not valid TOML: invalid value"] == findings(project)
    assert {"m"} == project.blocked


def test_front_matter_that_is_not_closed_blocks_the_model(tmp_path):
    project = load(tmp_path, {"models/m.sql": '---toml\nintent = "x"\nSELECT 1 AS x'})

    assert ["E017 models/m.sql:1:1 '---toml\\n' the front matter is not closed"] == findings(
        project
    )
    assert {"m"} == project.blocked


def test_a_comment_of_dashes_is_not_front_matter(tmp_path):
    text = "--- toml is nice\nSELECT 1 AS x"
    project = load(tmp_path, {"models/m.sql": text})

    assert [] == findings(project)
    assert text == project.models["m"].sql


def test_front_matter_and_a_sidecar_together_are_reported(tmp_path):
    files = {
        "models/m.sql": '---toml\nintent = "x"\n---\nSELECT 1 AS x',
        "models/m.toml": 'intent = "y"',
    }
    project = load(tmp_path, files)

    assert [
        "E017 models/m.sql:1:1 '---toml\\n' model `m` has front matter and a sidecar"
    ] == findings(project)
    assert "x" == project.models["m"].settings.intent


def test_folder_defaults_flow_down_and_the_nearest_wins_key_by_key(tmp_path):
    outer = '[target]\ncatalog = "lake"\nschema = "outer"\n[strategy]\ntype = "view"\n[tags]\na = "1"\nb = "1"\n[lints]\nP002 = "allow"\n'
    inner = '[target]\nschema = "inner"\n[tags]\nb = "2"\n'
    files = {
        "models/_defaults.toml": outer,
        "models/top.sql": SQL,
        "models/in/_defaults.toml": inner,
        "models/in/deep/m.sql": SQL,
        "models/in/deep/own.sql": SQL,
        "models/in/deep/own.toml": 'strategy = "ephemeral"\n[target]\ncatalog = "mine"\n[tags]\nb = "3"\n',
    }
    project = load(tmp_path, files)
    deep, own = project.models["m"], project.models["own"]

    assert [] == findings(project)
    assert "lake.outer.top" == project.models["top"].target.full_name
    assert "lake.inner.m" == deep.target.full_name
    assert View() == deep.strategy
    assert {"a": "1", "b": "2"} == deep.tags
    assert {"P002": "allow"} == deep.lints
    assert "mine.inner.own" == own.target.full_name
    assert Ephemeral() == own.strategy
    assert {"a": "1", "b": "3"} == own.tags


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('name = "x"', "1:1 'name' unknown key `name`"),
        ('[target]\ntable = "x"', "2:1 'table' unknown key `table` in [target]"),
        (
            "[freshness]\nmax_lag_seconds = 5",
            "1:1 '[freshness]' missing key `time_column`",
        ),
        ("x = y", "1:5 'y' not valid TOML: invalid value"),
    ],
)
def test_a_bad_default_is_reported_once_at_its_line(tmp_path, text, expected):
    files = {"models/_defaults.toml": text, "models/a.sql": SQL, "models/b/c.sql": SQL}
    project = load(tmp_path, files)

    assert [f"E017 models/_defaults.toml:{expected}"] == findings(project)
    assert {"a", "c"} == project.models.keys()


def test_a_pipeline_gives_its_models_catalog_and_schema(tmp_path):
    config = '[pipeline.a]\nmodels = "models/a/**"\ntarget = { catalog = "ca" }\n[pipeline.b]\nmodels = "models/**/*.sql"\ntarget = { schema = "sb" }\n'
    files = {"rocky.toml": config, "models/a/x.sql": SQL, "models/b/y.sql": SQL}
    project = load(tmp_path, files)

    assert [] == findings(project)
    assert {"x": ("a", "ca.default.x"), "y": ("b", "spark_catalog.sb.y")} == {
        model.name: (model.pipeline, model.target.full_name) for model in project.models.values()
    }


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("models/**", {"a", "b", "c"}),
        ("models", {"a", "b", "c"}),
        ("./models/", {"a", "b", "c"}),
        ("**", {"a", "b", "c", "d"}),
        ("models/*", {"a"}),
        ("models/*.sql", {"a"}),
        ("models/x/**", {"b", "c"}),
        ("models/**/c*", {"c"}),
        ("models/**/y/*.sql", {"c"}),
        ("models/?.sql", {"a"}),
        ("models/a.sql", {"a"}),
    ],
)
def test_a_pattern_says_which_files_are_models(tmp_path, pattern, expected):
    files = {
        "rocky.toml": f'[pipeline.p]\nmodels = "{pattern}"\n',
        "models/a.sql": SQL,
        "models/x/b.sql": SQL,
        "models/x/y/c.sql": SQL,
        "other/d.sql": SQL,
        ".hidden/e.sql": SQL,
    }

    assert expected == load(tmp_path, files).models.keys()


def test_a_file_name_that_is_no_name_is_reported_unless_the_sidecar_has_one(tmp_path):
    files = {"models/a.v2.sql": SQL, "models/b.v2.sql": SQL, "models/b.v2.toml": 'name = "b2"'}
    project = load(tmp_path, files)

    assert [
        "E017 models/a.v2.sql the model's name `a.v2` has a `.` or a backtick in it"
    ] == findings(project)
    assert {"a.v2", "b2"} == project.models.keys()


def test_a_sidecar_without_a_model_is_reported(tmp_path):
    files = {"models/orders.sql": SQL, "models/order.toml": 'intent = "x"', "models/zebra.toml": ""}
    project = load(tmp_path, files)

    assert [
        "E017 models/order.toml the sidecar `models/order.toml` has no model `order.sql` beside it",
        "E017 models/zebra.toml the sidecar `models/zebra.toml` has no model `zebra.sql` beside it",
    ] == findings(project)
    assert ["did you mean `orders.sql`?", "name the sidecar like its model"] == helps(project)


def test_a_broken_sidecar_blocks_only_its_own_model(tmp_path):
    files = {"models/a.sql": SQL, "models/a.toml": "intent = \tx y\n", "models/b.sql": SQL}
    project = load(tmp_path, files)

    assert ["E017 models/a.toml:1:11 'x y' not valid TOML: invalid value"] == findings(project)
    assert {"a"} == project.blocked
    assert {"a", "b"} == project.models.keys()


def test_bytes_that_are_not_utf8_are_named_with_their_line(tmp_path):
    project = load(
        tmp_path, {"models/a.sql": b"SELECT 1 AS x,\n '\xe9' AS caf\xe9", "models/b.sql": SQL}
    )

    assert [
        "E017 models/a.sql:2:3 '\ufffd' `models/a.sql` is not UTF-8: byte 0xe9 at offset 17, line 2"
    ] == findings(project)
    assert {"a"} == project.blocked


def test_a_byte_order_mark_and_windows_line_ends_are_harmless(tmp_path):
    bom = b"\xef\xbb\xbf"
    files = {
        "rocky.toml": bom + b'[pipeline.p]\r\nmodels = "models/**"\r\n',
        "models/m.sql": bom + b"SELECT 1 AS x\r\nFROM t\r\n",
        "models/m.toml": bom + b'intent = "x"\r\n[target]\r\nschema = "s"\r\n',
    }
    project = load(tmp_path, files)

    assert [] == findings(project)
    assert "SELECT 1 AS x\r\nFROM t\r\n" == project.models["m"].sql
    assert "spark_catalog.s.m" == project.models["m"].target.full_name


def test_a_model_of_two_megabytes_loads(tmp_path):
    text = "SELECT " + ", ".join(f"{number} AS c{number}" for number in range(120_000))
    project = load(tmp_path, {"models/m.sql": text})

    assert len(text) > 2_000_000
    assert [] == findings(project)
    assert text == project.models["m"].sql


def test_a_folder_named_like_a_model_is_reported_and_walked(tmp_path):
    project = load(tmp_path, {"models/x.sql/y.sql": SQL})

    assert ["E017 models/x.sql `models/x.sql` is a folder, not a model"] == findings(project)
    assert {"y"} == project.models.keys()


def test_a_symbolic_link_in_a_loop_is_cut_and_reported(tmp_path):
    load(tmp_path, {"models/a/m.sql": SQL})
    (tmp_path / "models" / "a" / "back").symlink_to(tmp_path / "models")
    (tmp_path / "models" / "self").symlink_to(tmp_path / "models" / "self")
    project = load_project(tmp_path, env={})

    assert [
        f"E017 {path} the symbolic link `{path}` leads back to itself or to a folder it is in"
        for path in ("models/self", "models/a/back")
    ] == findings(project)
    assert {"m"} == project.models.keys()


def test_a_link_to_nothing_is_reported(tmp_path):
    load(tmp_path, {"models/m.sql": SQL})
    (tmp_path / "models" / "gone.sql").symlink_to(tmp_path / "nowhere.sql")
    project = load_project(tmp_path, env={})

    assert [
        "E017 models/gone.sql `models/gone.sql` is a symbolic link to a file that does not exist"
    ] == findings(project)


def test_a_pipe_named_like_a_model_is_not_waited_for(tmp_path):
    load(tmp_path, {"models/m.sql": SQL})
    os.mkfifo(tmp_path / "models" / "pipe.sql")
    project = load_project(tmp_path, env={})

    assert ["E017 models/pipe.sql `models/pipe.sql` is not a regular file"] == findings(project)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_blocks_only_its_model(tmp_path):
    load(tmp_path, {"models/a.sql": SQL, "models/b.sql": SQL})
    (tmp_path / "models" / "a.sql").chmod(0)
    project = load_project(tmp_path, env={})

    assert ["E017 models/a.sql `models/a.sql` cannot be read: permission denied"] == findings(
        project
    )
    assert {"a"} == project.blocked


def test_folders_nested_too_deep_are_cut(tmp_path):
    load(tmp_path, {"models/m.sql": SQL})
    (tmp_path / "models" / "/".join(["d"] * 80)).mkdir(parents=True)
    project = load_project(tmp_path, env={})

    assert 1 == len(findings(project))
    assert findings(project)[0].endswith("is nested more than 64 folders deep")


def test_the_hash_of_settings_follows_every_file_with_a_say(tmp_path):
    files = {
        "models/m.sql": SQL,
        "models/m.toml": 'intent = "${WHY:-a}"',
        "models/_defaults.toml": 'tags = { a = "1" }',
    }

    def digest(**changes):
        model = load(tmp_path, files, changes.pop("env", {})).models["m"]
        return model.text_hash, model.settings_hash

    first = digest()
    assert first == digest()
    assert first[1] != digest(env={"WHY": "b"})[1]
    files["models/_defaults.toml"] = 'tags = { a = "2" }'
    assert first[1] != digest()[1]
    files["models/m.sql"] = SQL + "-- x"
    assert first[0] != digest()[0]


def test_a_setting_has_a_place_in_the_sidecar_or_the_front_matter(tmp_path):
    files = {
        "models/a.sql": SQL,
        "models/a.toml": '[strategy]\ntype = "incremental"\ntimestamp_column = "ts"\n',
        "models/b.sql": '---toml\n[target]\ntable = "t"\n---\nSELECT 1 AS x\n',
        "models/c.sql": SQL,
    }
    project = load(tmp_path, files)

    def under(name, keys):
        path, span = setting_place(project.models[name], project.texts, keys)
        return path, span and project.texts[path].text[span.start : span.end]

    assert ("models/a.toml", '"ts"') == under("a", ("strategy", "timestamp_column"))
    assert ("models/a.toml", "[strategy]") == under("a", ("strategy", "absent"))
    assert ("models/b.sql", '"t"') == under("b", ("target", "table"))
    assert ("models/b.sql", None) == under("b", ("strategy",))
    assert ("models/c.sql", None) == under("c", ("strategy",))
