"""A run executes the Python that was compiled and recorded, whatever its files say by then."""

import pytest

import rocky
from tests.spark.projects import write_files

pytestmark = pytest.mark.spark

FIRST = """\
from pathlib import Path


def model(numbers):
    Path(__file__).with_name("_steps.py").write_text("STEP = 100\\n")
    return numbers
"""
FILES = {
    "models/_steps.py": "STEP = 2\n",
    "models/numbers.sql": "SELECT id FROM range(3)",
    "models/first.py": FIRST,
    "models/first.toml": 'output = [ { name = "id", type = "bigint" } ]\n',
    "models/second.py": (
        "from _steps import STEP\n\n\ndef model(first):\n"
        "    return first.select((first['id'] + STEP).alias('n'))\n"
    ),
}


@pytest.mark.parametrize("way", ["run", "apply"])
def test_a_module_that_changes_while_a_run_goes_on_is_run_as_it_was_compiled(tmp_path, spark, way):
    root = write_files(tmp_path, FILES)
    workspace = rocky.open(root, spark=spark)
    ran = workspace.run() if way == "run" else workspace.apply(workspace.plan().plan_id).result

    assert ran.succeeded
    assert "STEP = 100\n" == (root / "models/_steps.py").read_text()
    assert [2, 3, 4] == sorted(row["n"] for row in rocky.open(root).show("second").rows)


def test_a_module_that_is_imported_by_a_made_up_name_alone_is_found_in_a_run(tmp_path, spark):
    files = {
        "models/_steps.py": "STEP = 2\n",
        "models/numbers.sql": "SELECT id FROM range(3)",
        "models/moved.py": (
            "import importlib\n\n\ndef model(numbers):\n"
            "    step = importlib.import_module('_st' + 'eps').STEP\n"
            "    return numbers.select((numbers['id'] + step).alias('n'))\n"
        ),
        "models/moved.toml": 'output = [ { name = "n", type = "bigint" } ]\n',
    }
    root = write_files(tmp_path, files)

    assert rocky.open(root, spark=spark).run().succeeded
    assert [2, 3, 4] == sorted(row["n"] for row in rocky.open(root).show("moved").rows)
