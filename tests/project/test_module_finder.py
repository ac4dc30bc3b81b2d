"""Modules of a project are imported as they were when it was loaded."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import pytest

from rocky.project.module_finder import ModuleFinder, is_own_module
from rocky.project.python_imports import find_imports

MODEL = "from _steps import STEP\nfrom rules._more import MORE\n"
FILES = {
    "models/_steps.py": "STEP = 1\n",
    "rules/_more.py": "from rules.deep import DEEP\n\nMORE = DEEP\n",
    "rules/deep/__init__.py": "DEEP = 2\n",
}


@contextmanager
def loaded(root: Path, text: str = MODEL) -> Iterator[None]:
    """Inside, imports are answered by what was read before."""
    for path, code in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(code)
    imports = find_imports(root, "models/code.py", text)
    folders = [str(root / "models"), str(root)]
    finder = ModuleFinder(root, folders, imports.code, looks=imports.doubt is not None)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name, each in sys.modules.items() if is_own_module(each, root)]:
            del sys.modules[name]


def test_a_module_that_changed_since_is_the_one_that_was_read(tmp_path: Path) -> None:
    with loaded(tmp_path):
        for path in FILES:
            (tmp_path / path).write_text("STEP = MORE = DEEP = 9\n")

        assert (1, 2) == (import_module("_steps").STEP, import_module("rules._more").MORE)


def test_a_module_that_went_is_still_there(tmp_path: Path) -> None:
    with loaded(tmp_path):
        for path in FILES:
            (tmp_path / path).unlink()

        assert (1, 2) == (import_module("_steps").STEP, import_module("rules._more").MORE)


def test_a_module_that_came_is_not_there(tmp_path: Path, monkeypatch) -> None:
    with loaded(tmp_path):
        (tmp_path / "_new.py").write_text("")
        (tmp_path / "rules/new.py").write_text("")
        monkeypatch.syspath_prepend(tmp_path)

        for name in ("_new", "rules.new"):
            with pytest.raises(ModuleNotFoundError, match=f"no module `{name}` when"):
                import_module(name)


def test_a_module_that_came_and_would_be_found_first_is_not_taken(tmp_path: Path) -> None:
    with loaded(tmp_path):
        (tmp_path / "models/rules").mkdir()
        (tmp_path / "models/rules/__init__.py").write_text("raise ValueError\n")

        assert 2 == import_module("rules._more").MORE


def test_what_the_text_does_not_name_is_looked_for_on_disk(tmp_path: Path) -> None:
    with loaded(tmp_path, f"import importlib\n{MODEL}"):
        (tmp_path / "_new.py").write_text("NEW = 3\n")

        assert 3 == import_module("_new").NEW


def test_a_folder_of_the_project_takes_no_module_of_python_away(tmp_path: Path) -> None:
    with loaded(tmp_path, f"{MODEL}from colorsys._of_models import X\n"):
        (tmp_path / "models/colorsys").mkdir()
        (tmp_path / "models/colorsys/_of_models.py").write_text("X = 1\n")
    with loaded(tmp_path, f"{MODEL}from colorsys._of_models import X\n"):
        sys.modules.pop("colorsys", None)

        assert hasattr(import_module("colorsys"), "rgb_to_hsv")
