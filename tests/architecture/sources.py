"""What the modules of Rocky import, use and define, each read and parsed once."""

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "rocky"
MODULES = sorted(PACKAGE.rglob("*.py"))


@dataclass(frozen=True, slots=True)
class Source:
    """One module. Of a name that is imported from another, `imports` has both: `os`, `os.environ`."""

    docstring: str | None
    imports: frozenset[str]
    attributes: frozenset[str]
    """What it takes from another by its name: `os.environ`, `sys.stdout`."""
    names: frozenset[str]
    """Every identifier that it uses or defines."""
    methods: dict[str, int]
    """How many public methods each public class has."""

    @property
    def libraries(self) -> set[str]:
        """The first part of everything imported."""
        return {name.partition(".")[0] for name in self.imports}


@cache
def load_source(module: Path) -> Source:
    """The facts of a module."""
    tree = ast.parse(module.read_text())
    imports, attributes, names, methods = set(), set(), set(), {}
    for node in ast.walk(tree):
        # A pattern for each kind would try all of them on most nodes, and there are half a million.
        kind = type(node)
        if kind is ast.Name:
            names.add(node.id)
        elif kind is ast.Attribute:
            names.add(node.attr)
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
        *(frozenset(each) for each in (imports, attributes, names)),
        methods,
    )


def _is_public_method(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.FunctionDef)
        and not node.name.startswith("_")
        and not node.decorator_list
    )
