"""`rocky replay`: everything that is recorded, checked, and built again without the models."""

import json
from contextlib import contextmanager

import pytest

from rocky.run.engine import spark as spark_engine
from tests.cli.test_schemas import check
from tests.run.memory_engine import MemoryEngine
from tests.run.runs import Shop, write
from tests.table_files import data_files

pytestmark = pytest.mark.slow

ORDERS = "data/orders.csv"


@pytest.fixture
def shop(tmp_path, rocky):
    return Shop(tmp_path)


@pytest.fixture
def engines(monkeypatch):
    """Spark is an engine without a JVM; what it was asked for is remembered."""
    opened = []

    @contextmanager
    def open_engine(adapter, root, spark=None, functions=None):
        opened.append(adapter)
        yield MemoryEngine(root)

    monkeypatch.setattr(spark_engine, "open_project_engine", open_engine)
    return opened


def test_a_run_is_shown_with_everything_that_is_recorded(shop, rocky):
    run = shop.run()

    answer = rocky("replay", run.run_id, "-o", "json")

    assert 0 == answer.code
    assert [] == check(answer.json, "replay")
    assert run.run_id == answer.json["run"]["run_id"]
    models = {each["model"]: each for each in answer.json["models"]}
    found = models["stg_orders"]
    (read,) = found["provenance"]["reads"]
    assert [ORDERS] == [file["path"] for file in read["files"]]
    assert found["execution"]["sql_hash"]
    assert found["execution"]["commits"]
    assert found["as_written"]
    assert {file["blake3_hash"] for file in found["artifacts"]} == set(
        found["provenance"]["output_blake3"]
    )


def test_the_text_names_every_hash_input_and_file(shop, rocky):
    shop.run()

    answer = rocky("replay", "-o", "table", "--model", "by_country")

    assert 0 == answer.code
    (found,) = rocky("replay", "-o", "json", "--model", "by_country").json["models"]
    execution, record = found["execution"], found["provenance"]
    for word in (
        execution["recipe_hash"],
        execution["input_hash"],
        execution["rows_hash"],
        execution["commits"][0]["blake3_hash"],
        found["artifacts"][0]["file_path"],
        "query large",
        "countries at version 0",
        record["executed_sql"],
    ):
        assert word in answer.out


def test_pieces_are_told_of_canonical_tables_alone(shop, rocky):
    shop.write("models/by_country.toml", "[store]\ncanonical = false\n")
    shop.run()
    told = [
        rocky("replay", "-o", "table", "--model", name).out for name in ("by_country", "report")
    ]
    layouts = [
        line.split(maxsplit=1)[1] for out in told for line in out.splitlines() if "layout " in line
    ]

    assert ["as rows came", "canonical, in 1 piece"] == layouts


def test_a_run_is_shown_where_there_is_no_project(shop, rocky, tmp_path):
    run = shop.run()
    state = tmp_path / ".rocky-state.db"
    (tmp_path / "rocky.toml").unlink()

    answer = rocky("replay", run.run_id, "--state-path", str(state), "-o", "json")

    assert 0 == answer.code
    assert 6 == len(answer.json["models"])


def test_what_is_recorded_is_checked_against_the_tables(shop, rocky, tmp_path):
    run = shop.run()
    good = rocky("replay", run.run_id, "--verify", "-o", "json")
    (file,) = data_files(tmp_path / "warehouse/spark_catalog/default/alone")
    file.write_bytes(file.read_bytes() + b"!")
    bad = rocky("replay", run.run_id, "--verify", "-o", "json")
    shown = rocky("replay", run.run_id, "-o", "json")
    told = rocky("replay", run.run_id, "-o", "table")

    assert (0, 1) == (good.code, bad.code)
    assert [[], []] == [check(each.json, "replay") for each in (good, bad)]
    assert ["file_changed"] == [each["code"] for each in bad.json["findings"]]
    assert (1, 1) == (shown.code, told.code)
    assert bad.json["findings"] == shown.json["verification"]["findings"]
    assert "file_changed" in told.out
    assert "1 finding: run" in told.out


def test_a_run_is_built_again_though_its_models_are_gone(shop, rocky, engines, tmp_path):
    run = shop.run()
    for path in (tmp_path / "models").iterdir():
        path.unlink()
    write(tmp_path, {"models/broken.sql": "SELECT FROM WHERE"})

    answer = rocky("replay", run.run_id, "--execute", "-o", "json")

    assert [] == check(answer.json, "replay")
    assert {"bit_exact": 4, "row_exact": 0, "diverged": 0, "non_replayable": 0} == answer.json[
        "summary"
    ]
    assert 0 == answer.code


def test_the_exit_code_says_that_something_could_not_be_replayed(shop, rocky, engines, tmp_path):
    run = shop.run()
    write(tmp_path, {ORDERS: "id,country\n1,XX\n"})

    answer = rocky("replay", run.run_id, "--execute", "-o", "table")

    assert 2 == answer.code
    assert "source `raw.orders` has changed since" in answer.out
    assert f"{run.run_id}: 4 models: 3 bit_exact, 1 non_replayable\n" in answer.out


def test_rows_that_differ_are_shown_and_the_exit_code_is_1(shop, rocky, monkeypatch):
    run = shop.run()

    @contextmanager
    def other_engine(adapter, root, spark=None, functions=None):
        engine = MemoryEngine(root)
        ask = engine.frame
        engine.frame = lambda sql: ask(sql.replace("SELECT 1 AS one", "SELECT 7 AS one"))
        yield engine

    monkeypatch.setattr(spark_engine, "open_project_engine", other_engine)

    shown = rocky("replay", run.run_id, "--execute", "--model", "alone", "-o", "table")
    document = rocky("replay", run.run_id, "--execute", "--model", "alone", "-o", "json")

    assert (1, 1) == (shown.code, document.code)
    assert '  - {"one": 1}\n  + {"one": 7}\n' in shown.out
    assert "likely cause: nothing is known that would explain it" in shown.out
    assert [] == check(document.json, "replay")
    (model,) = document.json["models"]
    assert {"recorded": [{"one": 1}], "replayed": [{"one": 7}]} == model["differences"]


def test_what_was_built_is_kept_on_request(shop, rocky, engines, tmp_path):
    run = shop.run()
    arguments = ("replay", run.run_id, "--execute", "--keep", "kept", "-o", "table")

    first, second = rocky(*arguments), rocky(*arguments)

    assert (0, 1) == (first.code, second.code)
    assert "what was built is in `kept`" in first.err
    assert list((tmp_path / "kept").rglob("*.parquet"))
    assert "`kept` is not empty" in second.err


def test_only_recorded_settings_change_results(shop, rocky, engines, tmp_path):
    run = shop.run()
    config = (tmp_path / "rocky.toml").read_text()
    conf = '[adapter.conf]\n"spark.sql.mapKeyDedupPolicy" = "LAST_WIN"\n"spark.ui.port" = "4041"\n'
    write(tmp_path, {"rocky.toml": config + '[adapter]\ntype = "spark"\n' + conf})

    answer = rocky("replay", run.run_id, "--execute", "-o", "json")

    assert 0 == answer.code
    assert [{"spark.ui.port": "4041"}] == [dict(each.conf) for each in engines]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--verify --execute", "`--verify` and `--execute` cannot be used together"),
        ("--keep somewhere", "`--keep` is for `--execute`"),
        ("--parallel 3", "`--parallel` is for `--execute`"),
        ("--verify --model alone", "`--verify` checks the whole run: leave `--model` out"),
        ("--model alnoe", "no model `alnoe` in run-"),
        ("run-20200101-000000-000", "no run `run-20200101-000000-000`"),
        ("--execute --target nope", "no adapter `nope`"),
    ],
)
def test_a_wrong_request_is_refused(shop, rocky, line, said):
    shop.run("alone")

    answer = rocky("replay", *line.split(), "-o", "table")

    assert 1 == answer.code
    assert said in answer.err


def test_nothing_is_recorded_yet(shop, rocky):
    answer = rocky("replay", "-o", "json")

    assert 1 == answer.code
    assert "no run is recorded yet" in json.loads(answer.out)["error"]["message"]
