"""A shell with what magics need of IPython's, which is not installed for tests."""

from collections.abc import Callable
from typing import Any


class StandInShell:
    """As IPython's `InteractiveShell`: names of the notebook, and magics by kind and name."""

    def __init__(self) -> None:
        self.user_ns: dict[str, Any] = {}
        self.magics: dict[tuple[str, str], Callable[..., Any]] = {}

    def register_magic_function(
        self, func: Callable[..., Any], magic_kind: str = "line", magic_name: str | None = None
    ) -> None:
        self.magics[magic_kind, magic_name or func.__name__] = func

    def line(self, name: str, line: str = "") -> Any:
        return self.magics["line", name](line)

    def cell(self, line: str, cell: str) -> Any:
        return self.magics["cell", "rocky"](line, cell)
