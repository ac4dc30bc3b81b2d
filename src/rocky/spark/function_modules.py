"""Modules of a project's Python code: imported from what is on disk now, and forgotten after.

Python remembers modules by name, and code on disk by its time: both could give code that is not the
one whose digest is in the fingerprint. So modules of the project are compiled afresh, hidden from
the rest of the process, and pickled by value.
"""

import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from threading import Lock
from types import CodeType, ModuleType
from typing import Any, Final

from pyspark import cloudpickle

from rocky.errors import ModelFailed
from rocky.project.function_code import FunctionCode, find_code
from rocky.project.functions import ProjectFunction
from rocky.project.python_imports import find_imports
from rocky.spark.failures import SPARK_ERRORS

_IMPORTING: Final = Lock()
_INSTALLED: Final = frozenset({"site-packages", "dist-packages"})


class _FreshLoader(SourceFileLoader):
    """Compiles what is on disk, whatever was compiled before."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return compile(self.get_data(path), path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        # Executors have no such module: what it defines is sent to them whole.
        cloudpickle.register_pickle_by_value(module)
        super().exec_module(module)


class _ProjectFinder:
    """Finds modules of a project before anything else does."""

    def __init__(self, root: Path, folders: Sequence[str]) -> None:
        self._root = root
        self._folders = folders

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path or self._folders, target)
        if spec is None:
            return None
        if spec.origin is None:
            # A folder without `__init__.py`.
            return (
                spec
                if _is_own(next(iter(spec.submodule_search_locations or ()), ""), self._root)
                else None
            )
        if not _is_own(spec.origin, self._root) or not spec.origin.endswith(".py"):
            return None
        spec.loader = _FreshLoader(name, spec.origin)
        return spec


def _is_own(place: str, root: Path) -> bool:
    path = Path(place)
    return path.is_relative_to(root) and _INSTALLED.isdisjoint(path.parts)


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
    finder = _ProjectFinder(root, folders[::-1])
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
def shared_code(root: Path, path: Path, text: str) -> Iterator[None]:
    """Inside, a file of a project finds the modules beside it, and in the folders above."""
    root = root.absolute()
    if not find_imports(root, path.as_posix(), text).files:
        yield
        return
    folders = [str(each) for each in (root / path).parents if each.is_relative_to(root)]
    with _IMPORTING, _own_modules(root, _ProjectFinder(root, folders)):
        yield


@contextmanager
def _own_modules(root: Path, finder: _ProjectFinder) -> Iterator[None]:
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
                if isinstance(module.__loader__, _FreshLoader):
                    cloudpickle.unregister_pickle_by_value(module)
                del sys.modules[name]
        sys.modules.update(hidden)


def _of_project(module: Any, root: Path) -> bool:
    spec = getattr(module, "__spec__", None)
    if spec is None or module is sys.modules.get("__main__"):
        return False
    origin = spec.origin
    if origin is None:
        origin = next(iter(spec.submodule_search_locations or ()), None)
    return isinstance(origin, str) and _is_own(origin, root)


def _line_in(root: Path, error: BaseException) -> str:
    """The last line of the project's code that an error came through."""
    places = [
        (frame.filename, frame.lineno)
        for frame in traceback.extract_tb(error.__traceback__)
        if _is_own(frame.filename, root)
    ]
    if not places:
        return "its module"
    file, line = places[-1]
    return f"`{Path(file).relative_to(root).as_posix()}` line {line}"
