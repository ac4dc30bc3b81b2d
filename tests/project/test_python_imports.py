"""Modules that this process has already, known by the files they came from."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from rocky.project.python_imports import import_doubt
from tests.project.projects import load

DOUBT = "the module `_earlier` was imported before: changes since are not seen"


@pytest.mark.parametrize(
    "way", ["itself", "a link to it", "a link to its folder", "a file like it"]
)
def test_a_module_is_known_whatever_way_it_was_imported(tmp_path, monkeypatch, way):
    rates = tmp_path / "models/rates.py"
    model = "import rates\n\ndef model(spark):\n    return spark.range(rates.rate)\n"
    project = load(tmp_path, {"models/code.py": model, "models/rates.py": "rate = 1\n"})
    (tmp_path / "folder").symlink_to(rates.parent)
    (tmp_path / "link.py").symlink_to(rates)
    (tmp_path / "rates.py").write_text("rate = 1\n")
    file: dict[str, Path] = {
        "itself": rates,
        "a link to it": tmp_path / "link.py",
        "a link to its folder": tmp_path / "folder/rates.py",
        "a file like it": tmp_path / "rates.py",
    }
    module = ModuleType("_earlier")
    module.__file__ = str(file[way])
    monkeypatch.setitem(sys.modules, "_earlier", module)

    assert (None if way == "a file like it" else DOUBT) == import_doubt(project.models["code"])
