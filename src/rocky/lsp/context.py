"""What a request is answered from: a project as it was compiled last, and the open documents.

All of it is frozen: a handler may take its time, and what is typed meanwhile is another context.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocky.analysis.compilation import Compilation
from rocky.compiler.session import Snapshot
from rocky.diagnostics.diagnostic import Span
from rocky.ide.edits import Check
from rocky.ide.view import OpenFile, Place, View
from rocky.lsp.documents import Document, location_of, path_in, uri_of
from rocky.lsp.positions import TextPositions
from rocky.project import Project

Params = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Context:
    """`snapshot` has project, compilation, unsaved texts and findings; paths are below `root`.

    `view` is that of the compilation, `check` compiles other texts, `last_run` says in words what
    the last run did with a model, if that is known, and `client` is what the editor can do.
    """

    root: Path
    snapshot: Snapshot
    documents: Mapping[str, Document]
    view: View
    check: Check
    last_run: Callable[[str], str | None]
    client: Mapping[str, Any]

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

    def file(self, params: Params) -> OpenFile | None:
        """The document that a request is about, as the editor has it; None for one outside."""
        path = self.path(params)
        return self.view.open(path, self.text(path)) if path is not None else None

    def place(self, params: Params) -> tuple[OpenFile, int] | None:
        """The document that a request is about and the offset of its position in it."""
        file = self.file(params)
        if file is None:
            return None
        return file, TextPositions(file.text).offset(params["position"])

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

    def locations(self, places: tuple[Place, ...]) -> list[dict[str, Any]]:
        return [self.location(each.path, each.span) for each in places]

    def can(self, *keys: str) -> Any:
        """What the editor says of something that it can do; None where it says nothing."""
        found: Any = self.client
        for key in keys:
            found = found.get(key) if isinstance(found, Mapping) else None
        return found
