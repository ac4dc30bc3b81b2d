"""What the modules of Rocky import, use and define.

To parse them all takes seconds, so what was found in a text is kept for as long as the text stays.
"""

import ast
import marshal
import os
import sys
from contextlib import suppress
from dataclasses import astuple, dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "rocky"
MODULES = sorted(PACKAGE.rglob("*.py"))
KEPT = ROOT / ".pytest_cache" / "sources"


@dataclass(frozen=True, slots=True)
class Source:
    """One module. Of a name that is imported from another, `imports` has both: `os`, `os.environ`."""

    docstring: str | None
    imports: frozenset[str]
    attributes: frozenset[str]
    """What it takes from another by its name: `os.environ`, `sys.stdout`."""
    names: frozenset[str]
    """Every identifier that it uses or defines."""
    reads: frozenset[str]
    """What it reads of anything by a name behind a dot."""
    methods: dict[str, int]
    """How many public methods each public class has."""

    @property
    def libraries(self) -> set[str]:
        """The first part of everything imported."""
        return {name.partition(".")[0] for name in self.imports}


def load_source(module: Path) -> Source:
    """The facts of a module."""
    return _load_sources()[module]


@cache
def _load_sources() -> dict[Path, Source]:
    # Another Python, or another way to look, may find other facts.
    way = sys.version.encode() + Path(__file__).read_bytes()
    texts = {module: module.read_bytes() for module in MODULES}
    keys = {module: blake2b(way + text).digest() for module, text in texts.items()}
    kept: dict[bytes, tuple] = {}
    with suppress(OSError, ValueError, EOFError, TypeError):
        kept = marshal.loads(KEPT.read_bytes())
    found = {
        key: kept.get(key) or astuple(_parse_source(texts[module])) for module, key in keys.items()
    }
    if found.keys() != kept.keys():
        # By a rename: workers read it at any time.
        mine = KEPT.with_name(f"{KEPT.name}.{os.getpid()}")
        with suppress(OSError):
            KEPT.parent.mkdir(exist_ok=True)
            mine.write_bytes(marshal.dumps(found))
            mine.replace(KEPT)
    return {module: Source(*found[key]) for module, key in keys.items()}


def _parse_source(text: bytes) -> Source:
    tree = ast.parse(text)
    imports, attributes, names, reads, methods = set(), set(), set(), set(), {}
    for node in ast.walk(tree):
        # A pattern for each kind would try all of them on most nodes, and there are half a million.
        kind = type(node)
        if kind is ast.Name:
            names.add(node.id)
        elif kind is ast.Attribute:
            names.add(node.attr)
            if type(node.ctx) is ast.Load:
                reads.add(node.attr)
            if isinstance(node.value, ast.Name):
                attributes.add(f"{node.value.id}.{node.attr}")
        elif kind is ast.alias:
            names.add(node.name)
        elif kind is ast.Import:
            imports |= {each.name for each in node.names}
        elif kind is ast.ImportFrom and node.module:
            imports |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
        elif kind is ast.ClassDef:
            names.add(node.name)
            if not node.name.startswith("_"):
                methods[node.name] = sum(map(_is_public_method, node.body))
        elif kind in (ast.FunctionDef, ast.AsyncFunctionDef):
            names.add(node.name)
    return Source(
        ast.get_docstring(tree),
        *(frozenset(each) for each in (imports, attributes, names, reads)),
        methods,
    )


def _is_public_method(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.FunctionDef)
        and not node.name.startswith("_")
        and not node.decorator_list
    )
