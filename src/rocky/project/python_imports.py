"""Python imports: the code that a Python model takes from elsewhere, found without running it.

Modules of the project count by their content, and so does whatever they import; those of installed
packages by distribution and version. A module can be looked for in the model's folder and in those
above: every file of the project that a name could mean counts, and the `__init__.py` of every
package that one lies in, which runs before it. What no reading of the text can
tell, such as a name that is made up while the code runs, is a *doubt*: the model is then known by
less than all of its code. Spark's own version is compared elsewhere.
"""

import ast
import os
import re
import stat
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import (
    Distribution,
    PackageNotFoundError,
    distribution,
    packages_distributions,
)
from pathlib import Path
from typing import Final

from blake3 import blake3

from rocky.project.files import Reads, read_once
from rocky.project.models import NO_IMPORTS, Imports, ModelFile
from rocky.project.plain_code import PLAIN_MODULES, find_irregularity
from rocky.project.python_syntax import nodes_of, parse_python

_DYNAMIC_CALLS: Final = frozenset({"__import__", "exec", "eval", "compile"})
_DYNAMIC_MODULES: Final = frozenset(
    {"builtins", "code", "ctypes", "imp", "importlib", "pkgutil", "runpy", "zipimport"}
)
_NOT_COUNTED: Final = frozenset({"pyspark", "py4j"})
"""Their versions are compared with every result."""


def find_imports(root: Path, path: str, text: str, reads: Reads | None = None) -> Imports:
    """All that the file at `path` below `root`, whose text is `text`, imports.

    Files that are in `reads` are taken from there; others are added to it.
    """
    search = _Search(root.absolute(), {} if reads is None else reads)
    search.follow(root.absolute() / path, text)
    if not search.files and not search.outside:
        if search.doubt is None and search.irregularity is None:
            return NO_IMPORTS
        return Imports(doubt=search.doubt, irregularity=search.irregularity)
    code = {file.relative_to(search.root).as_posix(): data for file, data in search.files.items()}
    contents = [
        blake3(f"{each}\0".encode("utf-8", "surrogateescape") + data).digest()
        for each, data in code.items()
    ]
    outside = "\n".join(sorted(search.outside))
    digest = blake3(b"".join(sorted(contents)) + outside.encode()).digest()
    return Imports(digest, tuple(search.files), search.doubt, outside, search.irregularity, code)


def import_doubt(model: ModelFile) -> str | None:
    """Why a model may be made of code that its fingerprint does not have; None when it is not."""
    imports = model.imports
    if imports.doubt is None and imports.files:
        loaded = _loaded_module(imports.files)
        if loaded is not None:
            return f"the module `{loaded}` was imported before: changes since are not seen"
    return imports.doubt


def _loaded_module(files: tuple[Path, ...]) -> str | None:
    """A module that this process has from one of some files, as it was then."""
    names = {str(each) for each in files}
    folders: dict[str, str] = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and (file in names or _real_path(file, folders) in names):
            return name
    return None


def _real_path(file: str, folders: dict[str, str]) -> str:
    """`os.path.realpath`, which asks once for each folder: a process has thousands of modules."""
    folder, name = os.path.split(file)
    if folder not in folders:
        folders[folder] = os.path.realpath(folder)
    found = f"{folders[folder]}/{name}"
    try:
        is_link = stat.S_ISLNK(os.lstat(found).st_mode)
    except OSError:
        return found
    return os.path.realpath(found) if is_link else found


_COOKIE: Final = re.compile(rb"(?:[^\n]*\n)?[^\n#]*#[^\n]*?coding[:=][ \t]*([-\w.]+)")
"""What says in one of the first two lines in which encoding a file is."""


class _Search:
    """Files are read once, in the order in which they are found."""

    def __init__(self, root: Path, reads: Reads) -> None:
        self.root = root
        self._reads = reads
        self.files: dict[Path, bytes] = {}
        self.outside: set[str] = set()
        self.doubt: str | None = None
        self.irregularity: str | None = None

    def follow(self, path: Path, text: str) -> None:
        """Look at all that a file imports."""
        waiting = [(path, text)]
        while waiting:
            file, code = waiting.pop()
            for found in self._packages_of(file):
                if found != path:
                    waiting += self._read(found, found.parent.name)
            tree = _parse(code)
            if tree is None:
                self.irregularity = self.irregularity or "what is not valid Python"
                continue
            name = file.relative_to(self.root).as_posix()
            nodes = nodes_of(tree)
            odd = find_irregularity(nodes) if self.irregularity is None else None
            if odd is not None:
                self.irregularity = f"{odd} in `{name}`"
            for node in nodes:
                if isinstance(node, ast.Name) and node.id in _DYNAMIC_CALLS:
                    self._doubt(f"`{node.id}` in `{name}` can run any code")
            for module, level in _imported(nodes):
                for found in self._find(file, module, level):
                    waiting += self._read(found, module)

    def _read(self, file: Path, module: str) -> Iterator[tuple[Path, str]]:
        """A file of a module with its text, noted as found; nothing if it cannot be read."""
        try:
            data = read_once(str(file), self._reads)
        except OSError:
            self._doubt(f"the module `{module}` cannot be read")
            return
        self.files[file] = data
        cookie = _COOKIE.match(data)
        if cookie is not None and cookie[1].lower().replace(b"_", b"-") not in (b"utf-8", b"utf8"):
            # Python reads another text there than is looked at here.
            self.irregularity = self.irregularity or f"the encoding of `{module}`"
        yield file, data.decode("utf-8", "surrogateescape")

    def _packages_of(self, file: Path) -> Iterator[Path]:
        """The packages that a file lies in, as far as they were not found before.

        The project's folder is where names begin, and so is none of them.
        """
        for folder in _above(file, self.root)[:-1]:
            package = folder / "__init__.py"
            if package != file and package not in self.files and package.is_file():
                yield package

    def _find(self, importer: Path, module: str, level: int) -> Iterator[Path]:
        """The files of the project that a module may be and that were not found before."""
        folders = _above(importer, self.root)
        if level:
            folders = folders[level - 1 : level]
        found = list(dict.fromkeys(each for folder in folders for each in _files(folder, module)))
        if not level:
            self._look_outside(module.partition(".")[0], found)
        for each in found:
            if each not in self.files and each != importer:
                yield each

    def _look_outside(self, name: str, found: list[Path]) -> None:
        if name not in PLAIN_MODULES and not found:
            self.irregularity = self.irregularity or f"the module `{name}`"
        if name in _DYNAMIC_MODULES:
            self._doubt(f"the module `{name}` can run any code")
        elif name in sys.stdlib_module_names:
            self.outside.add(f"python {sys.version_info.major}.{sys.version_info.minor}")
        elif name not in _NOT_COUNTED:
            self._look_at_installed(name, found)

    def _look_at_installed(self, name: str, found: list[Path]) -> None:
        spec = _spec_of(name)
        if spec is None:
            if not found:
                self._doubt(f"the module `{name}` is not found")
            return
        if spec.origin is not None and Path(spec.origin).is_relative_to(self.root):
            if not _is_installed(spec.origin) and Path(spec.origin) not in found:
                self._doubt(f"the module `{name}` lies in a folder that is not looked at")
                return
            if Path(spec.origin) in found:
                return
        distributions = _distributions_of(name)
        if not distributions:
            self._doubt(f"the module `{name}` is of no installed distribution")
        for each in distributions:
            if '"editable": true' in (each.read_text("direct_url.json") or ""):
                self._doubt(f"the module `{name}` is installed so that it can be edited")
            self.outside.add(f"{each.name.lower()} {each.version}")

    def _doubt(self, why: str) -> None:
        self.doubt = self.doubt or why
        self.irregularity = self.irregularity or why


def _parse(code: str) -> ast.Module | None:
    try:
        return parse_python(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # Whoever runs it is told.
        return None


def _imported(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, int]]:
    """The modules that a text imports, with the dots before each; names that may be modules too."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for each in node.names:
                yield each.name, 0
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if module:
                yield module, node.level
            for each in node.names:
                yield (f"{module}.{each.name}" if module else each.name), node.level


def _above(file: Path, root: Path) -> list[Path]:
    """The folders from a file's own up to the project's."""
    return _folders(file.parent, root)


@lru_cache(maxsize=1024)
def _folders(folder: Path, root: Path) -> list[Path]:
    every = (folder, *folder.parents)
    return [each for each in every if each == root or each.is_relative_to(root)]


def _files(folder: Path, module: str) -> Iterator[Path]:
    """What importing `a.b` from a folder loads: the packages on the way, then the module."""
    place = str(folder)
    for part in module.split("."):
        place = f"{place}{os.sep}{part}"
        is_folder = os.path.isdir(place)  # noqa: PTH112 - asked for every module of every model
        if is_folder and os.path.isfile(f"{place}{os.sep}__init__.py"):  # noqa: PTH113
            yield Path(place, "__init__.py")
        if os.path.isfile(f"{place}.py"):  # noqa: PTH113
            yield Path(f"{place}.py")
        if not is_folder:
            break


def _spec_of(name: str) -> ModuleSpec | None:
    """Where Python would find a module of no package, without importing it."""
    try:
        return PathFinder.find_spec(name)
    except (ImportError, ValueError):
        return None


def _is_installed(origin: str) -> bool:
    """Whether a file lies in an environment, which may lie in the project."""
    return "site-packages" in Path(origin).parts or "dist-packages" in Path(origin).parts


@lru_cache(maxsize=1024)
def _distributions_of(name: str) -> tuple[Distribution, ...]:
    """Asked once a process, which goes on with the code that it has loaded."""
    names = sorted(set(_packages().get(name, ())))
    return tuple(distribution(each) for each in names)


@lru_cache(maxsize=1)
def _packages() -> dict[str, list[str]]:
    return dict(packages_distributions())


@lru_cache(maxsize=64)
def distribution_version(name: str) -> str | None:
    """The version of an installed distribution; None where it is not installed."""
    try:
        return distribution(name).version
    except PackageNotFoundError:
        return None
