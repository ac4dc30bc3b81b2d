"""The code of Python functions: the module's file in the project and what it imports, unrun.

A module is named from the project's folder. Whatever it imports from the project counts by its
content, installed packages by their version, as for Python models.
"""

import ast
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from blake3 import blake3

from rocky.diagnostics.suggestion import suggestion
from rocky.project.files import is_file, read_bytes
from rocky.project.python_imports import find_imports
from rocky.project.toml.documents import Problem


class FunctionCode(NamedTuple):
    """Where the code is in the project, a digest of all of it, and why that may not be all.

    `files` are the modules of the project that it imports, `texts` the bytes of all of them and of
    its own, by the paths that the project writes.
    """

    path: str
    digest: bytes
    doubt: str | None
    files: tuple[Path, ...]
    texts: Mapping[str, bytes]


def find_code(root: Path, module: str, attribute: str) -> FunctionCode | Problem:
    """The code of an attribute of a module; or what is wrong, at a key of the declaration."""
    path = _file_of(root, module)
    if path is None:
        place = module.replace(".", "/")
        message = f"there is no module `{module}` in the project"
        return Problem(("module",), message, f"write the code to `{place}.py`")
    try:
        data = read_bytes(str(root / path))
        text = data.decode("utf-8")
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(text)
    except (OSError, UnicodeDecodeError, SyntaxError, ValueError, RecursionError) as failure:
        return Problem(("module",), f"the module `{path}` cannot be read: {_said(failure)}")
    names = set(_defined(tree))
    if attribute not in names:
        message = f"the module `{path}` defines no `{attribute}`"
        return Problem(("attribute",), message, suggestion(attribute, sorted(names)))
    imports = find_imports(root, path, text)
    said = path.encode("utf-8", "surrogateescape") + b"\0" + data
    digest = blake3(blake3(said).digest() + imports.digest).digest()
    return FunctionCode(path, digest, imports.doubt, imports.files, {**imports.code, path: data})


def _file_of(root: Path, module: str) -> str | None:
    parts = module.split(".")
    if not all(part.isidentifier() for part in parts):
        return None
    place = "/".join(parts)
    found = (f"{place}.py", f"{place}/__init__.py")
    return next((each for each in found if is_file(str(root / each))), None)


def _said(failure: Exception) -> str:
    if isinstance(failure, SyntaxError):
        return f"line {failure.lineno}: {failure.msg}"
    return str(failure)


def _defined(tree: ast.Module) -> Iterator[str]:
    """The names that a module has once it is imported, as far as its text tells."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from (each.id for each in targets if isinstance(each, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.ImportFrom(names=names) | ast.Import(names=names):
                yield from (each.asname or each.name.partition(".")[0] for each in names)
            case _:
                pass
