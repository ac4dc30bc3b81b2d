"""What is sent to executors: everything of Rocky's that it needs, and no demand for Rocky there."""

import subprocess
import sys
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from blake3 import blake3

from rocky.spark.jobs import _pack
from rocky.store.parquet.digest import LocalHasher

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
    packed.write_bytes(_pack(hasher if kind == "object" else partial(LocalHasher.__call__, hasher)))

    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_ROCKY, str(packed)],
        capture_output=True,
        text=True,
        check=True,
    )

    expected = blake3((tmp_path / "part-0.parquet").read_bytes()).hexdigest()
    assert [expected, "[]"] == done.stdout.splitlines()
