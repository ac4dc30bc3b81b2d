"""Libraries that plans seldom need are loaded when they are used, and are then themselves."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

BEGIN = """
import json, sys
from rocky.frames.late_libraries import LateModule, delay_libraries, end_delay, load_for
delay_libraries()
from rocky.frames.frame_check import Frames
from pyspark.sql import functions as F
end_delay()

def late():
    return sorted(name for name, each in sys.modules.items() if isinstance(each, LateModule))
"""
LIBRARIES = ["grpc", "grpc_status.rpc_status", "numpy", "pandas", "pyarrow"]


def answered(code: str) -> object:
    """What a program says that has PySpark with late libraries."""
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + code], capture_output=True, text=True, check=False
    )
    assert "" == done.stderr
    return json.loads(done.stdout)


def test_a_plan_of_names_literals_and_joins_loads_none_of_them() -> None:
    found = answered("""
with Frames({"orders": "id bigint, status string", "notes": "id bigint, text string"}) as given:
    made = given.orders.join(given.notes, "id").filter(F.col("id") > 3).withColumn("one", F.lit(1))
    made = made.groupBy("status").agg(F.sum("one").alias("n"), F.max(F.lit(1.5)).alias("m"))
    print(json.dumps([given.check(made).schema, late()]))
""")

    assert ["status STRING, n BIGINT, m DOUBLE", LIBRARIES] == found


def test_a_frame_of_pandas_is_a_plan_as_ever() -> None:
    found = answered("""
import pandas as pd
with Frames({}) as given:
    rows = pd.DataFrame({"id": [1, 2], "at": pd.to_datetime(["2026-01-01", "2026-01-02"])})
    made = given.session.createDataFrame(rows)
    print(json.dumps([given.check(made).schema, late()]))
""")

    assert ["id BIGINT, at TIMESTAMP", ["grpc", "grpc_status.rpc_status"]] == found


def test_values_of_numpy_are_literals_as_ever() -> None:
    found = answered("""
import numpy as np
with Frames({"orders": "id bigint"}) as given:
    made = given.orders.select(F.lit(np.int16(3)).alias("n"), F.lit(np.array([1.5])).alias("v"))
    print(json.dumps([given.check(made).schema, "numpy" in late()]))
""")

    assert ["n SMALLINT NOT NULL, v ARRAY<DOUBLE> NOT NULL", False] == found


def test_modules_inside_a_library_are_found() -> None:
    found = answered("""
from numpy.linalg import norm
import pyarrow.compute as pc
from pandas.api.types import is_datetime64_dtype
import pandas
import pandas.api.types
print(json.dumps([
    float(norm([3.0, 4.0])), pc.sum([1, 2]).as_py(),
    is_datetime64_dtype("datetime64[ns]"), pandas.api.types.is_datetime64_dtype("int64"), late(),
]))
""")

    assert [5.0, 3, True, False, ["grpc", "grpc_status.rpc_status"]] == found


def test_code_that_names_a_library_has_it_loaded_once_for_all_forks() -> None:
    found = answered("""
load_for(["def model(orders): return orders.select('id')"])
before = late()
load_for(["from pyspark.sql.functions import pandas_udf"])
print(json.dumps([before, late()]))
""")

    assert [LIBRARIES, ["grpc", "grpc_status.rpc_status"]] == found
