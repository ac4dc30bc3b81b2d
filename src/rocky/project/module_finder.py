"""Modules of a project as they were when it was loaded, whatever its folder has by now.

Python looks a module up on disk when code asks for it, which may be long after the code was
compiled and its fingerprint written down. `ModuleFinder` answers from the bytes that were read
then: a file that changed since is the old one, one that went is still there, and one that came is
not. Only where the text does not tell what is imported, a `doubt`, the disk is looked at too.
"""

import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Final

_INSTALLED: Final = frozenset({"site-packages", "dist-packages"})


class ModuleLoader(SourceFileLoader):
    """Compiles a module from the bytes it is given, or from what is on disk where it has none.

    Compiled files are not believed: they lie in folders that git can carry, and Python may take one
    without a look at the source beside it.
    """

    def __init__(self, fullname: str, path: str, data: bytes | None) -> None:
        super().__init__(fullname, path)
        self._data = data

    def get_data(self, path: str) -> bytes:
        return (
            self._data if self._data is not None and path == self.path else super().get_data(path)
        )

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return compile(self.get_data(path), path, "exec", dont_inherit=True)


class ModuleFinder:
    """Finds modules of the project at `root` before anything else does.

    `files` are their bytes by the paths that the project writes; modules without a package are
    looked for in `folders`, in order. Other files of the project are found only if it `looks`.
    """

    def __init__(
        self,
        root: Path,
        folders: Sequence[str],
        files: Mapping[str, bytes],
        *,
        looks: bool,
        loader: type[ModuleLoader] = ModuleLoader,
    ) -> None:
        self._root = root
        self._folders = list(folders)
        self._looks = looks
        self._loader = loader
        self._files = {f"{root}/{path}": data for path, data in files.items()}
        self._packages = {
            str(folder)
            for file in self._files
            for folder in Path(file).parents
            if folder.is_relative_to(root)
        }

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module of a name; None where it is none of the project's.

        Raises ModuleNotFoundError for one that the project did not have.
        """
        found = self._find_loaded(name, self._folders if path is None else path)
        if found is not None:
            return found
        if self._looks:
            return self._find_on_disk(name, path or self._folders, target)
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and _is_of(spec, self._root):
            raise ModuleNotFoundError(
                f"no module `{name}` when the project was compiled", name=name
            )
        return None

    def _find_loaded(self, name: str, folders: Sequence[str]) -> ModuleSpec | None:
        """As Python looks: the first file wins, and folders without any count together."""
        last = name.rpartition(".")[2]
        portions: list[str] = []
        for folder in folders:
            place = f"{folder}/{last}"
            for file, inside in (
                (f"{place}/__init__.py", [place]),
                (f"{place}.py", None),
            ):
                if file in self._files:
                    loader = self._loader(name, file, self._files[file])
                    return spec_from_file_location(
                        name, file, loader=loader, submodule_search_locations=inside
                    )
            if place in self._packages:
                portions.append(place)
        if not portions or _is_installed(name):
            return None
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = portions
        return spec

    def _find_on_disk(
        self, name: str, folders: Sequence[str], target: ModuleType | None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, folders, target)
        if spec is None or not _is_of(spec, self._root):
            return None
        if spec.origin is None:
            return spec
        if not spec.origin.endswith(".py"):
            return None
        spec.loader = self._loader(name, spec.origin, None)
        return spec


def is_own(place: str, root: Path) -> bool:
    """Whether a file is the project's: an environment may lie in its folder."""
    path = Path(place)
    return path.is_relative_to(root) and _INSTALLED.isdisjoint(path.parts)


def is_own_module(module: ModuleType, root: Path) -> bool:
    """Whether a module that is loaded is the project's."""
    spec = getattr(module, "__spec__", None)
    return isinstance(spec, ModuleSpec) and _is_of(spec, root)


def _is_installed(name: str) -> bool:
    """Whether Python has a module of a name by itself: before that, folders without a file lose."""
    spec = PathFinder.find_spec(name) if "." not in name else None
    return name in sys.builtin_module_names or (spec is not None and spec.origin is not None)


def _is_of(spec: ModuleSpec, root: Path) -> bool:
    # A folder without `__init__.py` has no file.
    place = spec.origin or next(iter(spec.submodule_search_locations or ()), None)
    return isinstance(place, str) and is_own(place, root)
