"""Modules of a project's Python code: imported as they were compiled, and forgotten after.

Python remembers modules by name, and code on disk by its time: both could give code that is not the
one whose digest is in the fingerprint. So modules of the project are compiled afresh from the bytes
that the digest was made from, hidden from the rest of the process, and pickled by value.
"""

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any, Final

from pyspark import cloudpickle

from rocky.errors import ModelFailed
from rocky.project.function_code import FunctionCode, find_code
from rocky.project.functions import ProjectFunction
from rocky.project.models import Imports
from rocky.project.module_finder import ModuleFinder, ModuleLoader, is_own, is_own_module
from rocky.spark.failures import SPARK_ERRORS

_IMPORTING: Final = Lock()


class _SentLoader(ModuleLoader):
    """Has what a module defines sent to executors whole: they have no such module."""

    def exec_module(self, module: ModuleType) -> None:
        cloudpickle.register_pickle_by_value(module)
        super().exec_module(module)


@contextmanager
def code_of(root: Path, function: ProjectFunction) -> Iterator[Any]:
    """The attribute that a function is, to be pickled inside. Raises ModelFailed."""
    root = root.absolute()
    assert function.module is not None
    assert function.attribute is not None
    code = find_code(root, function.module, function.attribute)
    if not isinstance(code, FunctionCode) or code.digest != function.code_digest:
        raise ModelFailed(
            f"the code of function `{function.name}` in `{function.code}` changed after it was"
            " compiled: run again"
        )
    folders = [str(each) for each in (root / code.path).parents if each.is_relative_to(root)]
    finder = ModuleFinder(
        root, folders[::-1], code.texts, looks=code.doubt is not None, loader=_SentLoader
    )
    with _IMPORTING, _own_modules(root, finder):
        try:
            found = getattr(import_module(function.module), function.attribute)
        except SPARK_ERRORS:
            raise
        # What an author's module may raise is anything; it fails the models that call it.
        except (Exception, SystemExit) as error:
            at = _line_in(root, error)
            raise ModelFailed(
                f"function `{function.name}`: {at} raised {type(error).__name__}: {error}"
            ) from error
        yield found


@contextmanager
def shared_code(root: Path, path: str, imports: Imports) -> Iterator[None]:
    """Inside, a file of a project finds the modules beside it, and in the folders above."""
    root = root.absolute()
    if not imports.code and imports.doubt is None:
        yield
        return
    folders = [str(each) for each in (root / path).parents if each.is_relative_to(root)]
    finder = ModuleFinder(
        root, folders, imports.code, looks=imports.doubt is not None, loader=_SentLoader
    )
    with _IMPORTING, _own_modules(root, finder):
        yield


@contextmanager
def _own_modules(root: Path, finder: ModuleFinder) -> Iterator[None]:
    """Inside, modules of the project are imported anew; after it all is as it was."""
    hidden = {name: each for name, each in sys.modules.items() if _of_project(each, root)}
    for name in hidden:
        del sys.modules[name]
    before = set(sys.modules)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        imported = [name for name in sys.modules if name not in before]
        for name in imported:
            module = sys.modules[name]
            if _of_project(module, root):
                if isinstance(module.__loader__, _SentLoader):
                    cloudpickle.unregister_pickle_by_value(module)
                del sys.modules[name]
        sys.modules.update(hidden)


def _of_project(module: Any, root: Path) -> bool:
    return module is not sys.modules.get("__main__") and is_own_module(module, root)


def _line_in(root: Path, error: BaseException) -> str:
    """The last line of the project's code that an error came through."""
    places = [
        (frame.filename, frame.lineno)
        for frame in traceback.extract_tb(error.__traceback__)
        if is_own(frame.filename, root)
    ]
    if not places:
        return "its module"
    file, line = places[-1]
    return f"`{Path(file).relative_to(root).as_posix()}` line {line}"
