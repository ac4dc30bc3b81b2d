"""Docs: a static site of the whole project, in one folder that opens from a disk or any server.

It is the page over records in files: every script is a file and nothing is fetched. The same
project, state and version of Rocky give the same bytes.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from rocky.operations.digest import Digested
from rocky.operations.page.overlays import (
    OverlayName,
    OverlayReport,
    OverlayRequest,
    overlay,
)
from rocky.operations.page.project_page import ProjectPage, load_page
from rocky.operations.page.site_folder import load_assets, refuse_foreign, write_site
from rocky.operations.report import format_report
from rocky.operations.workspace import Workspace
from rocky.plan.arguments import Request

DEFAULT_FOLDER: Final = "target/docs"
"""Below the project's folder."""
_OVERLAYS: Final[tuple[OverlayName, ...]] = ("drift", "replay", "governance")
"""What breaks readers depends on what git knows, which a site is not made of."""


@dataclass(frozen=True, slots=True)
class DocsRequest(Request):
    """The folder to write; without it `target/docs` in the project."""

    out: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DocsReport(Digested):
    """The site that was written. `tables` are those that pipelines write.

    `errors` and `warnings` are findings that it shows.
    """

    folder: str
    start: str
    models: int
    sources: int
    tables: int
    seeds: int
    runs: int
    errors: int
    warnings: int
    files: int
    bytes: int


def docs(workspace: Workspace, request: DocsRequest) -> DocsReport:
    """Write the site, also of a project with errors, which it shows.

    Raises WouldOverwrite, what compiling and reading the state raise, and OSError; then nothing
    was written.
    """
    page = load_page(workspace)
    overlays = {name: overlay(workspace, page, OverlayRequest(name)) for name in _OVERLAYS}
    known = tuple(name for name, each in overlays.items() if each.unavailable is None)
    page = replace(page, index=replace(page.index, overlays=known))
    index, root = page.index, page.compilation.project.root
    folder = request.out if request.out is not None else root / DEFAULT_FOLDER
    refuse_foreign(folder.resolve())
    contents = dict(_contents(page, [overlays[name] for name in known]))
    write_site(folder, contents)
    kinds = [each.kind for each in index.tables]
    severities = [each.severity for each in index.findings]
    return DocsReport(
        folder=folder.as_posix(),
        start=(folder / "index.html").as_posix(),
        models=kinds.count("model"),
        sources=kinds.count("source") + kinds.count("import"),
        tables=kinds.count("table"),
        seeds=kinds.count("seed"),
        runs=len(index.runs),
        errors=severities.count("error"),
        warnings=severities.count("warning"),
        files=len(contents),
        bytes=sum(map(len, contents.values())),
    )


def _contents(page: ProjectPage, overlays: Sequence[OverlayReport]) -> Iterator[tuple[str, bytes]]:
    yield from load_assets().items()
    index = page.index
    yield "data/index.js", _script("index", format_report({}, index, **_COMPACT))
    for found in overlays:
        name = f"overlay-{found.name}"
        yield f"data/{name}.js", _script(name, format_report({}, found, **_COMPACT))
    parts: list[dict[str, Any]] = [{} for _ in range(index.parts)]
    for place, (table, each) in enumerate(zip(index.tables, page.details, strict=True)):
        parts[table.part][str(place)] = each
    for number, part in enumerate(parts):
        yield f"data/part-{number}.js", _script(f"part-{number}", _document(part))


_COMPACT: Final = {"separators": (",", ":")}


def _document(part: dict[str, Any]) -> str:
    shown = [
        f"{json.dumps(key)}:{format_report({}, each, **_COMPACT)}" for key, each in part.items()
    ]
    return "{" + ",".join(shown) + "}"


def _script(name: str, document: str) -> bytes:
    """A script that hands a JSON document over as a text: no name in it means anything to it."""
    # The document is ASCII without line breaks; as a literal in a script, `__proto__` would act.
    text = document.replace("\\", "\\\\").replace("'", "\\'").replace("<", "\\x3c")
    return f"rockyData('{name}', '{text}');\n".encode("ascii")
