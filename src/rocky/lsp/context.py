"""What a request is answered from: a project as it was compiled last, and the open documents.

All of it is frozen: a handler may take its time, and what is typed meanwhile is another context.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocky.analysis.compilation import Compilation
from rocky.compiler.session import Snapshot
from rocky.diagnostics.diagnostic import Span
from rocky.lsp.documents import Document, location_of, path_in, uri_of
from rocky.lsp.positions import TextPositions
from rocky.project import Project

Params = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Context:
    """`snapshot` has project, compilation, unsaved texts and findings; paths are below `root`."""

    root: Path
    snapshot: Snapshot
    documents: Mapping[str, Document]

    @property
    def project(self) -> Project:
        return self.snapshot.project

    @property
    def compilation(self) -> Compilation:
        return self.snapshot.compilation

    def path(self, params: Params) -> str | None:
        """The path of the document that a request is about; None for one outside the project."""
        uri = str(params["textDocument"]["uri"])
        opened = self.documents.get(uri)
        location = location_of(uri)
        if opened is not None:
            return opened.path
        return path_in(self.root, location) if location is not None else None

    def text(self, path: str) -> str:
        """The text of a file, as the editor has it if it is open."""
        opened = next((each for each in self.documents.values() if each.path == path), None)
        return opened.text if opened is not None else self.project.texts[path].text

    def uri(self, path: str) -> str:
        """The URI of a file, as the client writes it if it is open."""
        opened = next((each for each in self.documents.values() if each.path == path), None)
        return opened.uri if opened is not None else uri_of(f"{self.root}/{path}")

    def location(self, path: str, span: Span | None) -> dict[str, Any]:
        positions = TextPositions(self.text(path))
        place = positions.range(span) if span is not None else positions.first_line()
        return {"uri": self.uri(path), "range": place}
