"""The code of Python models is looked at in a process apart, and can do nothing else there."""

import os
import shlex
import sys
from pathlib import Path

import pytest

from rocky.errors import InvalidRequest, RockyError
from rocky.operations.check.check_python import CheckPythonRequest, check_python
from rocky.operations.workspace import compile_workspace
from tests.operations.projects import open_project
from tests.project.projects import finding

ORDERS = """
[[source]]
name = "raw.orders"
columns = [
  { name = "id", type = "bigint", nullable = false },
  { name = "amount", type = "decimal(12,2)" },
  { name = "status", type = "string" },
]
"""
HEAD = "from pyspark.sql import functions as F\n\n\ndef model(orders):\n"
DECLARED = 'inputs = { orders = "raw.orders" }\noutput = [ { name = "id", type = "bigint" } ]\n'
MODELS = {
    "good": HEAD + '    return orders.select("id")\n',
    "misspelt": HEAD + '    return orders.select("id", F.upper("stauts"))\n',
    "shared": "from _lib import paid\n\n\ndef model(orders):\n    return paid(orders)\n",
    "looks": HEAD + "    n = orders.count()\n    return orders.limit(n)\n",
    "raises": HEAD + "    return orders.select(undefined)\n",
    "wrong_type": HEAD + '    return orders.select(F.col("id").cast("string"))\n',
    "more": HEAD + '    return orders.select("id", "status")\n',
    "nothing": HEAD + "    return 1\n",
    "connects": HEAD + "    import socket\n\n    socket.create_connection(('127.0.0.1', 9))\n",
    "starts": HEAD + "    import subprocess\n\n    subprocess.run(['true'])\n",
    "writes": HEAD + "    open('TARGET', 'w')\n",
    "opens": HEAD + "    import sqlite3\n\n    sqlite3.connect('TARGET')\n",
    "stamps": HEAD + "    import os\n\n    os.utime(__file__, (1, 1))\n",
    "signals": HEAD + "    import os\n\n    os.killpg(0, 0)\n",
    "in_c": HEAD
    + "    import pyarrow as pa\n\n    with pa.OSFile('TARGET_in_c', 'wb') as file:\n        file.write(b'rows')\n",
    "goes_on": HEAD
    + "    import threading, time\n\n    def write():\n        while True:\n            time.sleep(0.001)\n"
    "            try:\n                open('TARGET', 'w').close()\n            except PermissionError:\n                pass\n\n"
    "    threading.Thread(target=write, daemon=True).start()\n    return orders.select('id')\n",
    "spies": HEAD
    + "    import os\n\n    raise ValueError(os.environ.get('ROCKY_TEST_SECRET', 'none'))\n",
    "leaves": HEAD
    + "    import json\n\n    json.left_behind = 1\n    return orders.select('id')\n",
    "finds": HEAD
    + "    import json\n\n    return orders.select('id') if not hasattr(json, 'left_behind') else 1\n",
    "exits": HEAD + "    import os\n\n    os._exit(0)\n",
    "prints": HEAD + "    print('{}')\n    return orders.select('id')\n",
    "waits": HEAD + "    import time\n\n    time.sleep(600)\n",
}


WITHOUT_GRPC = """
import runpy
import sys
from importlib.machinery import PathFinder

find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *given: None if name == "grpc" else find(name, *given)
runpy.run_path(sys.argv[1], run_name="__main__")
"""


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory):
    root = tmp_path_factory.mktemp("python")
    target = root / "written"
    files = {
        "sources/raw.toml": ORDERS,
        "models/_lib.py": "def paid(orders):\n    return orders.filter('stauts = 1').select('id')\n",
    }
    for name, text in MODELS.items():
        files[f"models/{name}.py"] = text.replace("TARGET", str(target))
        files[f"models/{name}.toml"] = DECLARED
    os.environ["ROCKY_TEST_SECRET"] = "a secret"
    try:
        report = check_python(open_project(root, files), CheckPythonRequest(seconds=3))
    finally:
        del os.environ["ROCKY_TEST_SECRET"]
    assert not target.exists()
    assert b"" == (root / "written_in_c").read_bytes()
    return report


def said(report, name: str) -> list[str]:
    return [finding(report.project, each) for each in report.found if each.model == name]


@pytest.mark.slow
def test_code_that_gives_what_is_declared_is_quiet_with_its_columns_lineage_and_sql(
    checked,
) -> None:
    (model,) = [each for each in checked.models if each.name == "good"]

    assert [] == said(checked, "good")
    assert ("id", "bigint", False) == (
        model.columns[0].name,
        model.columns[0].type,
        model.columns[0].nullable,
    )
    assert ("raw.orders", "id", "direct") == tuple(
        getattr(model.columns[0].sources[0], each) for each in ("table", "column", "kind")
    )
    assert "SELECT id FROM raw.orders" == model.sql


@pytest.mark.slow
def test_mistakes_are_found_at_their_text_in_the_model_and_in_what_it_imports(checked) -> None:
    assert ["E003 models/misspelt.py:5:40 '\"stauts\"' no column `stauts` in scope"] == said(
        checked, "misspelt"
    )
    assert ["E003 models/_lib.py:2:26 \"'stauts = 1'\" no column `stauts` in scope"] == said(
        checked, "shared"
    )


@pytest.mark.slow
def test_what_is_declared_is_held_against_what_the_code_gives(checked) -> None:
    assert [
        "E017 models/wrong_type.toml:2:34 '\"bigint\"' `id` is declared `bigint`, and the code gives `string`"
    ] == said(checked, "wrong_type")
    assert [
        "E017 models/more.toml:2:1 'output' the code gives a column `status`, which is not declared"
    ] == said(checked, "more")


@pytest.mark.slow
def test_code_that_looks_at_rows_keeps_its_declared_output_and_says_where(checked) -> None:
    (only,) = said(checked, "looks")

    assert only.startswith(
        "W025 models/looks.py:5:16 'count()' what `looks` gives cannot be worked out"
    )
    assert "looks" not in {each.model for each in checked.found if each.severity == "error"}


@pytest.mark.slow
def test_a_fault_of_the_code_is_told_at_its_line(checked) -> None:
    (raised,) = said(checked, "raises")
    (nothing,) = said(checked, "nothing")

    assert "E047 models/raises.py:5:5 'return orders.select(undefined)'" in raised
    assert "NameError: name 'undefined' is not defined" in raised
    assert "returns `int`, which is no DataFrame" in nothing


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("connects", "`socket."),
        ("starts", "`subprocess.Popen` is refused"),
        ("writes", "for writing is refused"),
        ("opens", "`sqlite3.connect` is refused"),
        ("stamps", "`os.utime` is refused"),
        ("signals", "`os.killpg` is refused"),
        ("in_c", "File too large"),
        ("exits", "ended its process"),
        ("waits", "took longer than 3 s"),
    ],
)
def test_code_that_does_more_than_build_a_plan_is_stopped(checked, name: str, what: str) -> None:
    (only,) = said(checked, name)

    assert only.startswith("E047")
    assert what in only


@pytest.mark.slow
def test_code_sees_neither_the_environment_nor_what_another_model_left_behind(checked) -> None:
    assert "ValueError: none" in said(checked, "spies")[0]
    assert [] == said(checked, "leaves") + said(checked, "finds") + said(checked, "prints")
    assert [] == said(checked, "goes_on")


@pytest.mark.slow
def test_a_plan_that_a_compile_built_is_not_built_again(tmp_path: Path, monkeypatch) -> None:
    files = {"sources/raw.toml": ORDERS, "models/good.py": MODELS["good"]}
    workspace = open_project(tmp_path, {**files, "models/good.toml": DECLARED})
    compile_workspace(workspace, asker="person")
    # Where no process can be started, what is known is what there was.
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no_python"))
    report = check_python(workspace, CheckPythonRequest())

    assert [("good", 1)] == [(each.name, len(each.columns)) for each in report.models]


@pytest.mark.slow
def test_without_the_extra_the_help_says_what_to_install_before_anything_else(
    tmp_path: Path, monkeypatch
) -> None:
    # An interpreter that finds everything but this library.
    start = tmp_path / "start.py"
    start.write_text(WITHOUT_GRPC)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -I {start} "$4"\n')
    python.chmod(0o755)
    files = {"sources/raw.toml": ORDERS, "models/good.py": MODELS["good"]}
    sidecar = {"models/good.toml": 'inputs = { orders = "raw.orders" }\n'}
    workspace = open_project(tmp_path / "shop", {**files, **sidecar})
    monkeypatch.setattr(sys, "executable", str(python))

    (found,) = compile_workspace(workspace, asker="person").diagnostics
    assert found.message.endswith("cannot be built: ModuleNotFoundError: No module named 'grpc'")
    assert (found.help or "").startswith("run `pip install 'rocky-spark[connect]'`, or list ")
    with pytest.raises(RockyError, match=r"; run `pip install 'rocky-spark\[connect\]'`$"):
        check_python(workspace, CheckPythonRequest())


@pytest.mark.slow
def test_code_that_is_asked_for_by_name_is_run_whatever_the_setting_says(tmp_path: Path) -> None:
    setting = '[pipeline.shop]\nmodels = "models/**"\n[python]\nanalyse = "never"\n'
    files = {"rocky.toml": setting, "sources/raw.toml": ORDERS, "models/good.py": MODELS["good"]}
    workspace = open_project(tmp_path, {**files, "models/good.toml": DECLARED})
    report = check_python(workspace, CheckPythonRequest())

    assert [("good", "SELECT id FROM raw.orders")] == [(e.name, e.sql) for e in report.models]
    assert not compile_workspace(workspace, asker="person").has_errors


def test_a_model_in_sql_is_refused_by_name(tmp_path: Path) -> None:
    workspace = open_project(tmp_path, {"models/a.sql": "SELECT 1 AS one\n"})

    with pytest.raises(InvalidRequest, match="`rocky compile` checks it"):
        check_python(workspace, CheckPythonRequest(("a",)))
