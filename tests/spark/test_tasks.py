"""What is sent to executors: everything of Rocky's that it needs, and no demand for Rocky there."""

import importlib
import os
import subprocess
import sys
import venv
import zipfile
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest
from blake3 import blake3

from rocky.spark.executors import Executors, pack, write_libraries
from rocky.spark.writer import write_staged
from rocky.store.parquet.digest import LocalHasher, ObjectHasher
from tests.spark.projects import build, errors_of, write_files

WITHOUT_ROCKY = """
import pickle, sys
sys.modules["rocky"] = None
examine = pickle.loads(open(sys.argv[1], "rb").read())
print(examine("part-0.parquet")[0])
print([name for name, module in sys.modules.items() if module and name.startswith("rocky")])
"""


@pytest.mark.parametrize("kind", ["object", "partial"])
def test_what_runs_on_executors_needs_nothing_of_rocky(tmp_path, kind):
    pq.write_table(pa.table({"n": [1, 2]}), tmp_path / "part-0.parquet")
    hasher = LocalHasher(str(tmp_path))
    packed = tmp_path / "packed"
    packed.write_bytes(pack(hasher if kind == "object" else partial(LocalHasher.__call__, hasher)))

    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_ROCKY, str(packed)],
        capture_output=True,
        text=True,
        check=True,
    )

    expected = blake3((tmp_path / "part-0.parquet").read_bytes()).hexdigest()
    assert [expected, "[]"] == done.stdout.splitlines()


IN_AN_EMPTY_PYTHON = """
import pickle, sys
examine = open(sys.argv[1], "rb").read()
try:
    pickle.loads(examine)
except ImportError as missing:
    print(missing.name)
sys.path.append(sys.argv[2])
print(type(pickle.loads(examine)).__name__)
"""


@pytest.mark.slow
def test_an_empty_python_of_this_version_can_hash_with_what_is_sent(tmp_path):
    venv.create(tmp_path / "empty", with_pip=False)
    with zipfile.ZipFile(write_libraries(tmp_path)) as archive:
        archive.extractall(tmp_path / "libraries")
    packed = tmp_path / "packed"
    packed.write_bytes(pack(ObjectHasher("bucket", "prefix", {})))
    # All that an executor has.
    spark = map(str, Path(pyspark.__file__).parent.glob("python/lib/*.zip"))

    done = subprocess.run(
        [tmp_path / "empty/bin/python3", "-c", IN_AN_EMPTY_PYTHON, packed, tmp_path / "libraries"],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": os.pathsep.join(spark)},
    )

    lacking, found = done.stdout.splitlines()
    assert lacking in ("obstore", "blake3")
    assert "ObjectHasher" == found


class OfAnotherMachine:
    """What cannot be loaded in another process, whatever is sent there."""

    def __reduce__(self):
        return importlib.import_module, ("a_library_of_another_machine",)

    def __call__(self, text):
        return text.upper()


@pytest.mark.spark
def test_where_executors_cannot_load_what_is_sent_this_machine_does_the_work_and_says_so(spark):
    executors = Executors(spark)

    answers = [executors.map(OfAnotherMachine(), ["a", "b"]) for _ in range(2)]

    assert [["A", "B"]] * 2 == answers
    assert [
        "Spark's executors cannot hash files (No module named 'a_library_of_another_machine'): this"
        " machine reads and hashes every file that they write; give them a Python"
        f" {sys.version_info.major}.{sys.version_info.minor}, which `spark.pyspark.python` in"
        " `[adapter.conf]` names, and where they are machines of another kind `blake3` and"
        " `obstore` for it"
    ] == executors.notes


@pytest.mark.spark
def test_a_warehouse_that_executors_do_not_share_is_told_by_its_name(spark, tmp_path, monkeypatch):
    root = write_files(tmp_path, {"models/one.sql": "SELECT 1 AS n\n"})

    def write_on_another_machine(frame, folder_uri, layout, schema):
        return write_staged(frame, (tmp_path / "its disk").as_uri(), layout, schema)

    monkeypatch.setattr("rocky.run.engine.spark.write_staged", write_on_another_machine)
    monkeypatch.setattr("rocky.spark.connection.kind_of", lambda _: "cluster")

    (error,) = errors_of(build(root, spark)).values()

    assert error.startswith(
        "executors wrote 1 rows for `spark_catalog.default.one`, and no file of theirs lies at"
    )
    assert error.endswith("the `warehouse` is a folder that all machines share, or an `s3://` URI")
