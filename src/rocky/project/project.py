"""Project: everything on disk that the compiler needs, loaded and validated once.

Mistakes in the files are in `diagnostics`; what could be read is here all the same. A
model in `blocked` exists but has no usable text: it cannot be compiled, and its readers
must not be told that it is unknown.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from rocky.diagnostics import Diagnostic
from rocky.project.config import Config
from rocky.project.contracts import Contract
from rocky.project.files import show_text
from rocky.project.imports import LoadedImport
from rocky.project.models import ModelFile
from rocky.project.seeds import SeedTable
from rocky.project.sources import SourceTable
from rocky.source import SourceText


class Texts(Mapping[str, SourceText]):
    """The texts that diagnostics point into, read when asked for."""

    def __init__(self, root: str, models: Mapping[str, ModelFile]) -> None:
        self._root = root
        self._models = models
        self._read: dict[str, SourceText] = {}

    def __getitem__(self, path: str) -> SourceText:
        found = self._read.get(path)
        if found is None:
            model = self._models.get(path)
            # A model that cannot be read has no text of its own to show.
            text = (model and model.text) or show_text(self._root, path)
            found = self._read[path] = SourceText(path, text)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)


class OnBranch(NamedTuple):
    """The branch whose tables are meant, and the adapter whose tables it has, where it is known."""

    name: str
    adapter: str | None = None


@dataclass(frozen=True, slots=True)
class Project:
    """A project on disk. Models, sources, seeds and contracts are keyed by lower-case name.

    `variables` are the names that `@var(...)` asks for in any model. The tables of `imports` are
    among the sources. With a `branch`, the warehouses are that branch's.
    """

    root: Path
    config_path: str
    config: Config
    models: dict[str, ModelFile]
    sources: dict[str, SourceTable]
    seeds: dict[str, SeedTable]
    contracts: dict[str, Contract]
    diagnostics: tuple[Diagnostic, ...]
    texts: Texts
    blocked: frozenset[str]
    config_hash: bytes
    variables: frozenset[str] = frozenset()
    imports: Mapping[str, LoadedImport] = field(default_factory=dict)
    branch: OnBranch | None = None
