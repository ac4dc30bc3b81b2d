import pytest

from rocky.project.plain_code import find_irregularity
from rocky.project.python_syntax import nodes_of, parse_python
from tests.project.projects import load

PLAIN = [
    "import numpy as np\nx = np.log1p(3)",
    "import pandas as pd\ndef f(s: pd.Series) -> pd.Series:\n    return s.fillna(0)",
    "import pyarrow as pa\nimport pyarrow.compute as pc\nx = pc.add(pa.array([1]), 2)",
    "from pyspark.sql import functions as F, types as T\nx = F.array(F.struct('a')), T.LongType()",
    "from pandas import DataFrame, concat",
    "from collections import abc",
    "x = {**a, **b}",
]
NOT_PLAIN = [
    "import numpy as np\nx = np.datetime64('now')",
    "import numpy as np\nx = np.random.rand()",
    "import numpy as np\nother = np\nx = other.datetime64('now')",
    "import numpy.random as chance",
    "import pandas as pd\nx = pd.Timestamp('today')",
    "import pandas as pd\nx = pd.to_datetime(' Now ')",
    "import pandas as pd\nx = pd.Series(['now']).astype('datetime64[ns]')",
    "import pandas as pd\nx = pd.DataFrame({}).sample()",
    "from pandas import Timestamp",
    "import pyarrow as pa\nx = pa.OSFile('f').size()",
    "import pyarrow.parquet as pq\nx = pq.ParquetFile('f')",
    "from pyarrow import dataset",
    "from json import codecs\nx = codecs.open('f')",
    "import json\nx = json.codecs.open('f')",
    "from pyspark.sql.utils import os as q\nx = q.getenv('A')",
    "from datetime import datetime\nx = datetime(2026, 1, 1).astimezone()",
    "x = list(a.keys() | b.keys())",
]


@pytest.mark.parametrize("text", PLAIN)
def test_code_that_only_computes_is_plain(text):
    assert find_irregularity(nodes_of(parse_python(text))) is None


@pytest.mark.parametrize("text", NOT_PLAIN)
def test_code_that_may_read_the_clock_chance_or_files_is_not_plain(text):
    assert find_irregularity(nodes_of(parse_python(text))) is not None


@pytest.mark.parametrize(("encoding", "plain"), [("utf-7", False), ("UTF_8", True)])
def test_a_module_that_python_reads_in_another_encoding_is_not_plain(tmp_path, encoding, plain):
    project = load(
        tmp_path,
        {
            "models/m.py": "from _lib import x\n\n\ndef model():\n    return x\n",
            "models/_lib.py": f"# coding: {encoding}\nx = 1\n",
        },
    )

    assert plain is (project.models["m"].imports.irregularity is None)
