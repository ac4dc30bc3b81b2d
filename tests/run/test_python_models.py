"""The text of a Python model is run, whatever its file says by now."""

from pathlib import Path

import pytest

from rocky.errors import ModelFailed
from rocky.run.engine.spark import call_model

FRAME = """\
class Frame:
    def createOrReplaceTempView(self, name):
        ...
    rows = {rows}

def model(orders):
    return Frame()
"""


def test_the_text_that_was_compiled_is_run_and_not_the_file(tmp_path):
    path = tmp_path / "code.py"
    path.write_text(FRAME.format(rows=2))

    assert 1 == call_model(path, FRAME.format(rows=1), {"orders": None}).rows


def test_what_a_model_defines_is_of_no_module(tmp_path):
    made = call_model(tmp_path / "code.py", FRAME.format(rows="__name__"), {"orders": None})

    assert "<rocky model>" == made.rows


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "def model(orders):\n    return orders\n\n1 / 0\n",
            "`code.py` line 4 raised ZeroDivision",
        ),
        ("def model(orders):\n    raise KeyError('x')\n", "`code.py` line 2 raised KeyError: 'x'"),
        ("def model(orders) return", "`code.py` raised SyntaxError"),
        ("model = 1\n", "`code.py` defines no function `model`"),
        ("def model(orders):\n    return 1\n", "must return a DataFrame, not 1"),
    ],
)
def test_what_is_wrong_with_a_model_is_told_with_its_file(text, said):
    with pytest.raises(ModelFailed, match=said):
        call_model(Path("models/code.py"), text, {"orders": None})
