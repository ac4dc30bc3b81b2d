"""A recorded result stands for a build only when nothing could be different."""

import importlib
import os
import shutil
import sqlite3
import sys
from copy import copy

import pytest
from pyspark.errors import PySparkException

from rocky.errors import InternalError
from rocky.ledger.readers.commits import open_lookup_reader
from rocky.ledger.readers.evidence import open_evidence_reader
from rocky.project import python_imports
from rocky.run.outcomes import RunResult
from rocky.run.prepare.environment import Environment
from rocky.run.prepare.resources import RunParameters
from rocky.run.reuse.project_memory import LOOK_AGAIN_AFTER
from rocky.store.delta.comments import DESCRIBED as DESCRIBED_PROPERTY
from rocky.store.delta.comments import Comments, comments_of
from tests.evidence.shops import verify
from tests.ledger.chains import pointers_to
from tests.run.memory_engine import MemoryEngine
from tests.run.runs import TABLE, Shop, reasons, statuses
from tests.table_files import data_files

ORDERS = "data/orders.csv"
MODELS = ["alone", "stg_orders", "by_country", "report"]


def built(report: RunResult) -> list[str]:
    """The models whose tables were computed."""
    return [
        each.step.name
        for each in report.outcomes
        if each.execution.decision == "build" and each.step.kind == "build"
    ]


def reused(report: RunResult) -> dict[str, str | None]:
    """The models for which a result stands, each with its basis."""
    return {
        each.step.name: each.execution.reuse_basis
        for each in report.outcomes
        if each.execution.status.value == "reused"
    }


def pointers(shop: Shop, digest: str) -> int:
    """How many records point at a file with these bytes."""
    with open_evidence_reader(shop.root / ".rocky-state.db") as evidence:
        return pointers_to(evidence, digest)


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Shop:
    """A shop that has been built once. Its records name its place, so it is put back there."""
    made = Shop(tmp_path_factory.mktemp("reuse") / "shop")
    made.run()
    shutil.copytree(made.root, made.root.with_name("kept"), symlinks=True)
    return made


@pytest.fixture
def shop(template) -> Shop:
    """The shop as it was when it had been built."""
    shutil.rmtree(template.root)
    shutil.copytree(template.root.with_name("kept"), template.root, symlinks=True)
    found = copy(template)
    found.variables, found.env = {}, {}
    return found


@pytest.mark.slow
def test_nothing_is_built_when_nothing_changed_and_spark_is_not_started(shop):
    first = shop.records()[0].run_id
    shop.opened = 0

    report = shop.run()

    assert dict.fromkeys(MODELS, "content") == reused(report)
    assert {f"reused from {first}"} == {reasons(report)[each] for each in MODELS}
    assert 0 == shop.opened
    assert {0} == {shop.snapshot(each).version for each in MODELS}


def test_a_shift_that_becomes_unsigned_is_built(tmp_path):
    shop = Shop(tmp_path, {"models/alone.sql": "SELECT id >> 1 AS half FROM raw.orders"})
    shop.run("alone")
    shop.write("models/alone.sql", "SELECT id >>> 1 AS half FROM raw.orders")

    assert ["alone"] == built(shop.run("alone"))


@pytest.mark.slow
def test_what_is_reused_is_recorded_with_the_files_of_the_run_that_built_it(shop):
    first = shop.records()[0].run_id

    # Each looks again: where nothing is remembered, or a day has gone by.
    last = None
    for _ in range(3):
        shop.wait(shop.now + LOOK_AGAIN_AFTER)
        last = shop.run()

    assert last is not None
    (outcome,) = [each for each in last.outcomes if each.step.name == "stg_orders"]
    execution = outcome.execution
    assert (first, "content", "reuse") == (
        execution.reused_from,
        execution.reuse_basis,
        execution.decision,
    )
    with open_lookup_reader(shop.root / ".rocky-state.db") as lookups:
        (file,) = shop.snapshot("stg_orders").files
        assert 4 == pointers(shop, file.address)
        assert lookups.provenance(first, "stg_orders") is not None
        assert lookups.provenance(last.run_id, "stg_orders") is None


def test_white_space_and_comments_build_nothing(shop):
    shop.write("models/stg_orders.sql", "-- all of them\nSELECT id,\n  country FROM raw.orders")

    assert [] == built(shop.run())


def test_one_edited_leaf_is_the_only_one_built(shop):
    shop.write("models/report.sql", "SELECT min(n) AS most FROM by_country")

    report = shop.run()

    assert ["report"] == built(report)
    assert "its logic or settings changed" == reasons(report)["report"]


def test_an_edit_that_leaves_the_rows_alone_leaves_readers_alone(shop):
    shop.write("models/stg_orders.sql", "SELECT id, country FROM raw.orders WHERE 1 < 2 AND id > 0")

    report = shop.run()

    assert ["stg_orders"] == built(report)
    assert {"alone", "by_country", "report"} == reused(report).keys()


def test_the_same_rows_in_other_files_leave_readers_alone(shop):
    before = shop.snapshot("stg_orders").files
    shop.compression = "gzip"
    shop.write("models/stg_orders.sql", "SELECT id, country FROM raw.orders WHERE id > 0")

    report = shop.run()

    assert before != shop.snapshot("stg_orders").files
    assert {"alone": "content", "by_country": "rows", "report": "content"} == reused(report)
    first = shop.records()[-1].run_id
    assert (
        f"reused from {first}, its inputs were written again with the same rows"
        == reasons(report)["by_country"]
    )


@pytest.mark.slow
def test_a_reader_reused_by_its_rows_is_found_without_spark_the_next_time(shop):
    shop.compression = "gzip"
    shop.write("models/stg_orders.sql", "SELECT id, country FROM raw.orders WHERE id > 0")
    shop.run()
    shop.opened = 0

    report = shop.run()

    assert (0, []) == (shop.opened, built(report))
    assert "rows" == reused(report)["by_country"]


@pytest.mark.slow
def test_columns_that_swapped_their_names_are_other_columns(tmp_path):
    shop = Shop(
        tmp_path,
        {
            "models/pair.sql": "SELECT id AS a, id * 10 AS b FROM raw.orders",
            "models/first.sql": "SELECT a AS seen FROM pair",
        },
    )
    shop.run("pair", "first")
    shop.write("models/pair.sql", "SELECT id AS b, id * 10 AS a FROM raw.orders")

    report = shop.run("pair", "first")

    assert ["pair", "first"] == built(report)
    assert [(10,), (20,), (30,)] == shop.rows("first")


@pytest.mark.slow
def test_what_was_built_two_edits_ago_is_committed_again(shop):
    first = shop.records()[0].run_id
    before = shop.snapshot("alone")
    shop.write("models/alone.sql", "SELECT 2 AS one")
    shop.run()
    shop.write("models/alone.sql", "SELECT 1 AS one")
    shop.opened = 0

    report = shop.run()

    assert (0, []) == (shop.opened, built(report))
    assert f"reused from {first}, put back as version 2" == reasons(report)["alone"]
    assert [(1,)] == shop.rows("alone")
    again = shop.snapshot("alone")
    assert (2, before.files) == (again.version, again.files)
    (outcome,) = [each for each in report.outcomes if each.step.name == "alone"]
    assert [2] == [each.version for each in outcome.execution.commits]
    assert 2 == pointers(shop, before.files[0].address)


@pytest.mark.slow
def test_what_was_committed_again_is_live_the_next_time(shop):
    for text in ("SELECT 2 AS one", "SELECT 1 AS one"):
        shop.write("models/alone.sql", text)
        shop.run()

    report = shop.run()

    assert [] == built(report)
    assert 2 == shop.snapshot("alone").version


@pytest.mark.slow
def test_readers_of_what_is_committed_again_are_reused_with_it(shop):
    expected = {each: shop.rows(each) for each in MODELS}
    original = (shop.root / ORDERS).read_text()
    shop.write(ORDERS, "id,country\n7,FR\n8,FR\n")
    assert ["stg_orders", "by_country", "report"] == built(shop.run())
    shop.write(ORDERS, original)

    report = shop.run()

    assert [] == built(report)
    assert expected == {each: shop.rows(each) for each in MODELS}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("models/alone.toml", '[strategy]\ntype = "content_addressed"\n', ["alone"]),
        ("models/alone.toml", '[strategy]\ntype = "merge"\nunique_key = ["one"]\n', ["alone"]),
        ("models/alone.toml", '[format_options]\npartition_by = ["one"]\n', ["alone"]),
        ("models/alone.toml", '[format_options]\ncluster_by = ["one"]\n', ["alone"]),
        ("models/alone.toml", "[store]\ncanonical = true\n", ["alone"]),
        ("models/alone.toml", '[target]\ntable = "elsewhere"\n', ["alone"]),
        ("seeds/countries.csv", "code,label\nDE,Germany\nFR,Gaul\n", ["by_country"]),
        ("models/large.sql", "SELECT id, country FROM stg_orders WHERE id > 2", ["by_country"]),
        ("models/large.toml", '[strategy]\ntype = "full_refresh"\n', ["large", "by_country"]),
        (ORDERS, "id,country\n1,DE\n2,DE\n3,FR\n4,FR\n", ["stg_orders", "by_country", "report"]),
    ],
)
def test_what_can_change_a_table_builds_it(shop, name, text, expected):
    shop.write(name, text)

    report = shop.run()

    found = built(report)
    assert expected == found[: len(expected)]
    assert set(found) <= {*expected, "report"}


def test_another_declaration_of_a_source_builds_its_readers(shop):
    declared = (shop.root / "sources/raw.toml").read_text()
    shop.write("sources/raw.toml", declared + '[source.options]\ndelimiter = ";"\n')

    assert ["stg_orders"] == built(shop.run("stg_orders"))


def test_another_value_of_a_variable_builds(tmp_path):
    shop = Shop(tmp_path, {"models/alone.sql": "SELECT @var(n) AS one"})
    shop.variables = {"n": "1"}
    shop.run("alone")
    shop.variables = {"n": "2"}

    assert ["alone"] == built(shop.run("alone"))
    assert [(2,)] == shop.rows("alone")


@pytest.mark.slow
def test_a_source_that_kept_its_size_and_time_is_noticed(shop):
    path = shop.root / ORDERS
    before = path.stat()
    path.write_text(path.read_text().replace("DE", "FR"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert "stg_orders" in built(shop.run())
    assert (before.st_size, before.st_mtime_ns) == (path.stat().st_size, path.stat().st_mtime_ns)


def test_a_model_under_another_name_with_the_same_table_is_reused(shop):
    (shop.root / "models/alone.sql").rename(shop.root / "models/lonely.sql")
    shop.write("models/lonely.toml", '[target]\ntable = "alone"\n')

    report = shop.run("lonely")

    assert {"lonely": "content"} == reused(report)


def test_names_that_differ_only_in_case_are_one_table(shop):
    (shop.root / "models/alone.sql").rename(shop.root / "models/ALONE.sql")
    first = shop.records()[0].run_id

    report = shop.run("alone")

    # The folder of the table is named as the model is.
    assert ["ALONE"] == [each.step.name for each in report.outcomes]
    assert [(1,)] == shop.rows("ALONE")
    assert f"reused from {first}" != reasons(report)["ALONE"]


def test_a_missing_file_builds(shop):
    (file,) = data_files(shop.folder("alone"))
    file.unlink()

    report = shop.run()

    assert ["alone"] == built(report)
    assert (
        f"file `{file.name}` of what `{shop.records()[-1].run_id}` left is missing or damaged"
        == (reasons(report)["alone"])
    )
    assert [(1,)] == shop.rows("alone")


def test_a_file_that_was_cut_short_builds(shop):
    (file,) = data_files(shop.folder("alone"))
    file.write_bytes(file.read_bytes()[:-1])

    assert ["alone"] == built(shop.run())


def test_a_table_that_was_dropped_is_built(shop):
    for each in sorted(shop.folder("alone").rglob("*"), reverse=True):
        each.rmdir() if each.is_dir() else each.unlink()

    report = shop.run()

    assert ["alone"] == built(report)
    assert f"what `{shop.records()[-1].run_id}` left is gone" == reasons(report)["alone"]


@pytest.mark.slow
def test_a_log_that_no_longer_reaches_back_builds(shop):
    shop.write("models/alone.sql", "SELECT 2 AS one")
    shop.run()
    log = shop.folder("alone") / "_delta_log"
    newest = (log / "00000000000000000001.json").read_text()
    oldest = (log / "00000000000000000000.json").read_text()
    # As another writer leaves it after a clean-up: one later version, complete in itself.
    for each in log.iterdir():
        each.unlink()
    kept = [line for line in oldest.splitlines() if "protocol" in line or "metaData" in line]
    (log / "00000000000000000000.json").write_text("\n".join([*kept, newest]))
    shop.write("models/alone.sql", "SELECT 1 AS one")

    assert ["alone"] == built(shop.run())
    assert [(1,)] == shop.rows("alone")


def test_a_table_that_another_tool_changed_is_put_right(shop):
    (file,) = shop.snapshot("alone").files
    log = shop.folder("alone") / "_delta_log"
    (log / "00000000000000000001.json").write_text(
        '{"commitInfo":{"operation":"DELETE"}}\n'
        f'{{"remove":{{"path":"{file.path}","dataChange":true,"deletionTimestamp":1}}}}\n'
    )
    assert [] == shop.rows("alone")

    report = shop.run()

    assert {"alone", "report", "stg_orders", "by_country"} == reused(report).keys()
    assert [(1,)] == shop.rows("alone")


def test_readers_of_a_table_that_another_tool_has_changed_are_refused(shop):
    (file,) = shop.snapshot("by_country").files
    log = shop.folder("by_country") / "_delta_log"
    (log / "00000000000000000001.json").write_text(
        '{"commitInfo":{"operation":"DELETE"}}\n'
        f'{{"remove":{{"path":"{file.path}","dataChange":true,"deletionTimestamp":1}}}}\n'
    )

    report = shop.run("report")

    assert ["foreign_commit"] == [each.execution.failure_kind for each in report.outcomes]
    assert [(1,)] == shop.rows("report")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environment", "said"),
    [
        (Environment("4.2.0", "memory", {}), "Spark is `4.2.0` now and was `4.1.4` in `run-"),
        (Environment("4.1.4", "another", {}), "the writer is `another` now and was `memory` in"),
        (
            Environment("4.1.4", "memory", {"spark.sql.legacy.timeParserPolicy": "LEGACY"}),
            "`spark.sql.legacy.timeParserPolicy` is `LEGACY` now and was `CORRECTED` in `run-",
        ),
    ],
)
def test_another_environment_builds(shop, environment, said):
    shop.environment = environment

    report = shop.run()

    assert MODELS == built(report)
    assert all(reasons(report)[each].startswith(said) for each in MODELS)


@pytest.mark.slow
def test_a_spark_that_is_not_what_was_foreseen_reuses_nothing_of_another(shop):
    shop.observed = Environment("4.1.4", "memory", {"spark.sql.mapKeyDedupPolicy": "LAST_WIN"})
    shop.write("models/stg_orders.sql", "SELECT id, country FROM raw.orders WHERE id > 0")

    report = shop.run("stg_orders", "by_country", "report")

    assert ["stg_orders", "by_country", "report"] == built(report)
    assert reasons(report)["report"].startswith(
        "`spark.sql.mapKeyDedupPolicy` is `LAST_WIN` now and was `EXCEPTION` in `run-"
    )


def test_a_file_with_other_bytes_of_the_same_length_is_not_committed_again(shop):
    (file,) = data_files(shop.folder("alone"))
    shop.write("models/alone.sql", "SELECT 2 AS one")
    shop.run("alone")
    file.write_bytes(bytes(file.stat().st_size))
    shop.write("models/alone.sql", "SELECT 1 AS one")

    report = shop.run("alone")

    assert ["alone"] == built(report)
    assert [(1,)] == shop.rows("alone")


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("eligible = false", "its settings say that it is not to be skipped"),
        ("deterministic = false", "not deterministic (its settings say so)"),
    ],
)
def test_a_model_whose_settings_say_so_is_always_built(tmp_path, setting, reason):
    shop = Shop(tmp_path, {"models/alone.toml": f"[skip]\n{setting}\n"})
    shop.run("alone")

    report = shop.run("alone")

    assert (["alone"], reason) == (built(report), reasons(report)["alone"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (RunParameters(parallel=1, rebuild=True), "a rebuild was asked for"),
        (RunParameters(parallel=1, full_refresh=True), "a full refresh was asked for"),
        (RunParameters(parallel=1, reuse=False), "reuse is switched off"),
    ],
)
def test_whoever_asks_for_a_build_gets_one(shop, options, reason):
    report = shop.run(options=options)

    assert MODELS == built(report)
    assert {reason} == {reasons(report)[each] for each in MODELS}


@pytest.mark.slow
def test_reuse_is_switched_off_in_the_settings(shop):
    settings = (shop.root / "rocky.toml").read_text()
    shop.write("rocky.toml", settings + "[reuse]\nenabled = false\n")

    assert MODELS == built(shop.run())


@pytest.mark.parametrize(
    "files",
    [
        {"models/alone.sql": "SELECT uuid() IS NULL AS one"},
        {"models/alone.sql": "SELECT id AS one FROM raw.orders LIMIT 1"},
        {
            "models/chance.sql": "SELECT current_date() IS NULL AS one",
            "models/chance.toml": '[strategy]\ntype = "ephemeral"\n',
            "models/alone.sql": "SELECT one FROM chance",
        },
        {
            "models/chance.sql": "SELECT current_date() IS NULL AS one",
            "models/chance.toml": '[strategy]\ntype = "view"\n',
            "models/through.sql": "SELECT one FROM chance",
            "models/through.toml": '[strategy]\ntype = "ephemeral"\n',
            "models/alone.sql": "SELECT one FROM through",
        },
    ],
)
def test_what_may_come_out_differently_is_always_built(tmp_path, files):
    shop = Shop(tmp_path, files)
    shop.run("alone")

    report = shop.run("alone")

    assert ["alone"] == built(report)
    assert reasons(report)["alone"].startswith("not deterministic (")


@pytest.mark.slow
def test_a_reader_of_a_table_made_by_chance_is_reused_when_that_came_out_the_same(tmp_path):
    shop = Shop(
        tmp_path,
        {
            "models/alone.sql": "SELECT current_date() IS NULL AS one",
            "models/next.sql": "SELECT one FROM alone",
        },
    )
    shop.run("alone", "next")

    report = shop.run("alone", "next")

    assert (["alone"], {"next": "content"}) == (built(report), reused(report))


@pytest.mark.slow
def test_a_source_that_is_known_by_its_files_only_is_always_read(tmp_path, monkeypatch):
    monkeypatch.setattr("rocky.run.engine.sources.HASHED_UP_TO_BYTES", 1)
    shop = Shop(tmp_path)
    shop.run()

    report = shop.run()

    assert ["stg_orders"] == built(report)
    assert "`raw.orders` is known by its list of files only" == reasons(report)["stg_orders"]


@pytest.mark.slow
def test_a_first_build_says_so_whatever_its_inputs_are_known_by(tmp_path, monkeypatch):
    monkeypatch.setattr("rocky.run.engine.sources.HASHED_UP_TO_BYTES", 1)
    shop = Shop(tmp_path)

    assert "first build" == reasons(shop.run())["stg_orders"]


INCREMENTAL = '[strategy]\ntype = "incremental"\ntimestamp_column = "id"\n'
DELETE_INSERT = '[strategy]\ntype = "delete_insert"\npartition_by = ["country"]\n'


@pytest.mark.slow
@pytest.mark.parametrize("strategy", [INCREMENTAL, DELETE_INSERT])
def test_a_table_that_keeps_rows_is_reused_only_while_it_is_as_it_was_left(tmp_path, strategy):
    shop = Shop(tmp_path, {"models/stg_orders.toml": strategy})
    original = (shop.root / ORDERS).read_text()
    shop.run("stg_orders")
    assert [] == built(shop.run("stg_orders"))
    shop.write(ORDERS, "id,country\n9,FR\n")
    shop.run("stg_orders")
    assert (9, "FR") in shop.rows("stg_orders")
    shop.write(ORDERS, original)

    report = shop.run("stg_orders")

    # Going back in the source does not go back in the table.
    assert ["stg_orders"] == built(report)
    assert "the table has changed since" in reasons(report)["stg_orders"]


PYTHON = """\
def model(orders):
    # query: SELECT id AS one FROM {orders}
    return orders
"""
DECLARED = (
    'inputs = { orders = "raw.orders" }\noutput = [ { name = "one", type = "bigint" } ]\n'
    "[skip]\ndeterministic = true\n"
)


@pytest.mark.slow
def test_an_edited_python_model_is_built_and_an_unchanged_one_is_not(tmp_path):
    shop = Shop(tmp_path, {"models/code.py": PYTHON, "models/code.toml": DECLARED})
    shop.run("code")
    assert [] == built(shop.run("code"))
    shop.write("models/code.py", PYTHON.replace("id AS", "id + 1 AS"))

    assert ["code"] == built(shop.run("code"))


def test_a_python_model_that_is_edited_while_spark_starts_is_run_as_it_was_compiled(
    tmp_path, monkeypatch
):
    shop = Shop(tmp_path, {"models/code.py": PYTHON, "models/code.toml": DECLARED})
    edit = PYTHON.replace("id AS", "id + 100 AS")

    def slow() -> MemoryEngine:
        shop.write("models/code.py", edit)
        return shop.engine

    monkeypatch.setattr(shop, "_open", slow)
    shop.run("code")

    assert [(1,), (2,), (3,)] == shop.rows("code")


def test_a_python_model_that_nobody_vouched_for_is_always_built(tmp_path):
    declared = DECLARED.replace("true", "false")
    shop = Shop(tmp_path, {"models/code.py": PYTHON, "models/code.toml": declared})
    shop.run("code")

    assert ["code"] == built(shop.run("code"))


@pytest.mark.parametrize("line", ["import _shared\n", "from lib.rates import rate\n"])
@pytest.mark.slow
def test_a_python_model_is_built_when_a_module_of_the_project_changes_however_far_away(
    tmp_path, line
):
    files = {"models/code.py": line + PYTHON, "models/code.toml": DECLARED}
    shared = {
        "models/_shared.py": "import lib.rates\n",
        "lib/__init__.py": "",
        "lib/rates.py": "from .base import rate\n",
        "lib/base.py": "rate = 1\n",
        "lib/other.py": "rate = 1\n",
    }
    shop = Shop(tmp_path, {**files, **shared})
    shop.run("code")
    assert [] == built(shop.run("code"))
    shop.write("lib/other.py", "rate = 2\n")
    assert [] == built(shop.run("code"))
    shop.write("lib/base.py", "rate = 2\n")

    assert ["code"] == built(shop.run("code"))


@pytest.mark.slow
def test_a_python_model_is_built_when_a_package_has_another_version(tmp_path, monkeypatch):
    files = {"models/code.py": "import measures\n" + PYTHON, "models/code.toml": DECLARED}
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    install(tmp_path / "site-packages", "1.0")
    shop = Shop(tmp_path / "shop", files)
    shop.run("code")
    assert [] == built(shop.run("code"))
    install(tmp_path / "site-packages", "1.1")

    assert ["code"] == built(shop.run("code"))


def install(folder, version: str) -> None:
    """A distribution `measures` as an installer leaves it, seen by Python from now on."""
    shutil.rmtree(folder, ignore_errors=True)
    info = folder / f"measures-{version}.dist-info"
    info.mkdir(parents=True)
    (folder / "measures.py").write_text("")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: measures\nVersion: {version}\n")
    (info / "top_level.txt").write_text("measures\n")
    importlib.invalidate_caches()
    # As in the next process.
    for each in (python_imports._distributions_of, python_imports._packages):
        each.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("import importlib\n", "the module `importlib` can run any code"),
        ("x = __import__('_shared')\n", "`__import__` in `models/code.py` can run any code"),
        ("def f(text):\n    exec(text)\n", "`exec` in `models/code.py` can run any code"),
        ("import _dynamic\n", "`eval` in `models/_dynamic.py` can run any code"),
        ("import nobody_has_this\n", "the module `nobody_has_this` is not found"),
        ("import stray\n", "the module `stray` is of no installed distribution"),
        ("import tests.run.runs\n", "the module `tests` is of no installed distribution"),
    ],
)
def test_a_python_model_whose_code_is_not_all_known_is_always_built_and_says_why(
    tmp_path, monkeypatch, line, why
):
    monkeypatch.syspath_prepend(str(tmp_path / "elsewhere"))
    files = {"models/code.py": line + PYTHON, "models/code.toml": DECLARED}
    shop = Shop(
        tmp_path / "shop",
        {**files, "models/_dynamic.py": "eval('1')\n", "../elsewhere/stray.py": ""},
    )
    shop.run("code")

    report = shop.run("code")

    assert why == reasons(report)["code"]
    assert ["heuristic"] == [each.execution.input_proof_class for each in report.outcomes]


@pytest.mark.slow
def test_a_python_model_that_imports_what_this_process_had_before_is_always_built(
    tmp_path, monkeypatch
):
    files = {"models/code.py": "import _earlier\n" + PYTHON, "models/code.toml": DECLARED}
    shop = Shop(tmp_path, {**files, "models/_earlier.py": "rate = 1\n"})
    monkeypatch.syspath_prepend(str(tmp_path / "models"))
    importlib.invalidate_caches()
    monkeypatch.setitem(sys.modules, "_earlier", importlib.import_module("_earlier"))
    shop.run("code")

    assert (
        "the module `_earlier` was imported before: changes since are not seen"
        == (reasons(shop.run("code"))["code"])
    )


WRONG = PySparkException("[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012")


@pytest.mark.slow
def test_a_failure_in_between_forgets_no_earlier_result(shop):
    def fail(name: str) -> None:
        if name == TABLE + "alone":
            raise WRONG

    shop.write("models/alone.sql", "SELECT 2 AS one")
    shop.run(before_write=fail)
    shop.write("models/alone.sql", "SELECT 1 AS one")

    report = shop.run()

    assert [] == built(report)
    assert [(1,)] == shop.rows("alone")


def test_what_a_killed_run_committed_is_not_taken_for_what_was_recorded(shop):
    class Killed(BaseException):
        """The process is gone right after the table was committed."""

    def die(self: object, *_: object) -> None:
        raise Killed

    shop.write("models/alone.sql", "SELECT 2 AS one")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rocky.ledger.writer.Ledger.record_models", die)
        patch.setattr("rocky.run.execute.runner._RunInProgress._give_up", lambda self, error: None)
        with pytest.raises(Killed):
            shop.run("alone")
    killed = shop.records()[0].run_id
    assert [(2,)] == shop.rows("alone")
    shop.write("models/alone.sql", "SELECT 1 AS one")

    report = shop.run("alone")

    execution = report.outcomes[0].execution
    assert {"alone": "content"} == reused(report)
    assert [(1,)] == shop.rows("alone")
    # The dead run's commit is vouched for, under its own name.
    assert [(1, killed)] == [(each.version, each.run_id) for each in execution.adopted]
    assert () == verify(shop.root).findings


def test_an_index_entry_that_somebody_changed_is_not_believed(shop):
    with sqlite3.connect(shop.root / ".rocky-state.db") as connection:
        connection.execute(
            'UPDATE input_index SET value = replace(value, \'"basis":"content"\', \'"basis":"rows"\')'
        )
    connection.close()

    report = shop.run("alone")

    assert ["alone"] == built(report)
    assert "was changed: see `rocky verify`" in reasons(report)["alone"]


def test_an_index_entry_that_cannot_be_read_builds(shop):
    with sqlite3.connect(shop.root / ".rocky-state.db") as connection:
        connection.execute("UPDATE input_index SET value = '{}'")
    connection.close()

    report = shop.run("alone")

    assert ["alone"] == built(report)
    assert reasons(report)["alone"].startswith("what is recorded cannot be read: ")


@pytest.mark.slow
def test_without_a_ledger_everything_is_built(shop):
    for each in shop.root.glob(".rocky-state.db*"):
        if each.is_file():
            each.unlink()

    report = shop.run(options=RunParameters(parallel=1, start_anew=True))

    assert MODELS == built(report)
    assert {"first build"} == {reasons(report)[each] for each in MODELS}


@pytest.mark.slow
def test_a_model_that_only_waits_for_another_is_reused(tmp_path):
    shop = Shop(tmp_path, {"models/report.toml": 'depends_on = ["alone"]\n'})
    shop.run()
    shop.write("models/alone.sql", "SELECT 2 AS one")

    report = shop.run()

    assert (["alone"], "content") == (built(report), reused(report)["report"])


@pytest.mark.slow
def test_a_log_that_cannot_be_read_fails_only_what_needs_it(tmp_path):
    shop = Shop(tmp_path)
    shop.run()
    log = tmp_path / "warehouse/spark_catalog/default/alone/_delta_log"
    (log / f"{0:020d}.json").write_text("no commit\n")

    report = shop.run()

    assert "failed" == statuses(report)["alone"]
    assert "reused" == statuses(report)["report"]


@pytest.mark.parametrize(
    "where",
    [
        "rocky.run.prepare.inputs.Inputs.made_from",
        "rocky.run.execute.builder.ResultReuse.reuse",
    ],
)
def test_a_mistake_of_ours_is_not_taken_for_a_reason_to_build(shop, monkeypatch, where):
    def mistaken(*_: object) -> None:
        raise InternalError("this cannot be")

    monkeypatch.setattr(where, mistaken)

    with pytest.raises(InternalError, match="this cannot be"):
        shop.run()


DESCRIBED = 'description = "orders as they came"\n[columns.id]\ndescription = "the order"\n'


@pytest.mark.slow
def test_a_description_alone_is_a_commit_without_rows_and_without_spark(shop):
    before = shop.snapshot("stg_orders")
    shop.write("models/stg_orders.toml", DESCRIBED)
    shop.opened = 0

    report = shop.run()
    now = shop.snapshot("stg_orders")

    assert [] == built(report)
    assert 0 == shop.opened
    assert (1, before.files) == (now.version, now.files)
    assert Comments("orders as they came", {"id": "the order"}) == comments_of(now)
    assert reasons(report)["stg_orders"].endswith(", described anew as version 1")
    assert before.configuration == {
        name: value for name, value in now.configuration.items() if name != DESCRIBED_PROPERTY
    }
    # Readers are as they were, and so is all the next time.
    again = shop.run()
    assert dict.fromkeys(MODELS, "content") == reused(again)
    assert (1, 0) == (shop.snapshot("stg_orders").version, shop.snapshot("by_country").version)
    assert () == verify(shop.root).findings


def test_a_description_that_is_taken_back_goes_from_the_table(shop):
    shop.write("models/stg_orders.toml", DESCRIBED)
    shop.run()
    shop.write("models/stg_orders.toml", "")
    shop.run()

    assert Comments() == comments_of(shop.snapshot("stg_orders"))


@pytest.mark.slow
def test_a_table_that_is_built_has_its_description_in_the_same_commit(tmp_path):
    shop = Shop(
        tmp_path,
        {
            "models/stg_orders.toml": DESCRIBED,
            "models/stg_orders.contract.toml": '[[columns]]\nname = "country"\ndescription = "ISO"\n',
            "seeds/countries.toml": 'description = "all there are"\n'
            'columns = [{ name = "label", type = "string", description = "in English" }]\n',
        },
    )
    shop.run()

    said = comments_of(shop.snapshot("stg_orders"))
    assert (0, Comments("orders as they came", {"id": "the order", "country": "ISO"})) == (
        shop.snapshot("stg_orders").version,
        said,
    )
    assert Comments("all there are", {"label": "in English"}) == comments_of(
        shop.snapshot("countries")
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "strategy",
    [
        'type = "merge"\nunique_key = ["id"]',
        'type = "incremental"\ntimestamp_column = "id"',
    ],
)
def test_a_table_that_keeps_rows_is_described_anew_and_still_reused(tmp_path, strategy):
    said = f"[strategy]\n{strategy}\n"
    shop = Shop(tmp_path, {"models/stg_orders.toml": said})
    shop.run("stg_orders")
    before = shop.snapshot("stg_orders")
    shop.write("models/stg_orders.toml", f'description = "orders"\n{said}')
    shop.run("stg_orders")
    described = shop.snapshot("stg_orders")
    again = shop.run("stg_orders")

    assert "orders" == comments_of(described).table
    assert before.files == described.files
    assert before.configuration.items() <= described.configuration.items()
    assert described.version == shop.snapshot("stg_orders").version
    assert [] == built(again)
    assert () == verify(shop.root).findings
