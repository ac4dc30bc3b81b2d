"""What Python code imports: modules that this process has already, and the packages on the way."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from rocky.project.function_code import FunctionCode, find_code
from rocky.project.python_imports import find_imports, import_doubt
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


PACKAGES = {
    "functions/__init__.py": "PRE = 'a'\n",
    "functions/pk/__init__.py": "from lib.deep import POST\n",
    "functions/pk/text.py": "def slug(text):\n    return text\n",
    "lib/__init__.py": "",
    "lib/deep/__init__.py": "from .. import half\nPOST = 'b'\n",
    "lib/half.py": "X = 1\n",
}


def written(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def digest(root: Path) -> bytes:
    code = find_code(root, "functions.pk.text", "slug")
    assert isinstance(code, FunctionCode)
    return code.digest


@pytest.mark.parametrize(
    "code", ["", "from . import POST\n", "from .. import PRE\n", "from functions import PRE\n"]
)
@pytest.mark.parametrize("changed", [name for name in PACKAGES if not name.endswith("text.py")])
def test_the_packages_that_a_function_lies_in_are_part_of_its_code(tmp_path, code, changed):
    text = "functions/pk/text.py"
    root = written(tmp_path, {**PACKAGES, text: code + PACKAGES[text]})
    before = digest(root)
    (root / changed).write_text(PACKAGES[changed] + "PRE = 'other'\n")

    assert before != digest(root)


def test_a_package_that_comes_to_be_is_a_change(tmp_path):
    root = written(tmp_path, {"functions/pk/text.py": PACKAGES["functions/pk/text.py"]})
    before = digest(root)
    written(root, {"functions/__init__.py": ""})

    assert before != digest(root)


def test_what_the_packages_of_an_imported_module_import_counts_for_a_model_too(tmp_path):
    model = "import shared.pk.rates\n"
    files = {
        "shared/pk/__init__.py": "from ..base import RATE\n",
        "shared/pk/rates.py": "from . import RATE\n",
        "shared/base.py": "RATE = 1\n",
        "models/__init__.py": "import shared.more\n",
        "shared/more.py": "",
    }
    root = written(tmp_path, {**files, "models/code.py": model, "__init__.py": ""})
    found = find_imports(root, "models/code.py", model).files

    assert set(files) == {each.relative_to(root).as_posix() for each in found}
