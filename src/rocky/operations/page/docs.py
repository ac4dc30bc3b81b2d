"""Docs: a static site of the whole project, in one folder that opens from a disk or any server.

It is the page over records in files: every script is a file and nothing is fetched. The same
project, state and version of Rocky give the same bytes.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from rocky.operations.digest import Digested
from rocky.operations.graph.list import list_pipelines
from rocky.operations.page.records import FORMAT, PageIndex, TableDetails
from rocky.operations.page.runs import load_past
from rocky.operations.page.site_folder import refuse_foreign, write_site
from rocky.operations.page.tables import describe_tables
from rocky.operations.report import format_report
from rocky.operations.workspace import Workspace, compile_workspace, known_branch
from rocky.plan.arguments import Request
from rocky.version import __version__

DEFAULT_FOLDER: Final = "target/docs"
"""Below the project's folder."""


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
    workspace = known_branch(workspace)
    compilation = compile_workspace(workspace, discovered=True)
    project = compilation.project
    folder = request.out if request.out is not None else project.root / DEFAULT_FOLDER
    refuse_foreign(folder.resolve())
    names = [each.name for each in project.models.values()]
    past = load_past(workspace, [*names, *(each.name for each in project.seeds.values())])
    found = describe_tables(compilation, past)
    index = PageIndex(
        format=FORMAT,
        project=project.root.resolve().name,
        branch=workspace.branch_name,
        rocky=__version__,
        parts=1 + max((each.part for each in found.tables), default=-1),
        tables=found.tables,
        pipelines=list_pipelines(compilation),
        runs=past.runs,
        findings=found.findings,
    )
    contents = dict(_contents(index, found.details))
    write_site(folder, contents)
    kinds = [each.kind for each in found.tables]
    severities = [each.severity for each in found.findings]
    return DocsReport(
        folder=folder.as_posix(),
        start=(folder / "index.html").as_posix(),
        models=kinds.count("model"),
        sources=kinds.count("source") + kinds.count("import"),
        tables=kinds.count("table"),
        seeds=kinds.count("seed"),
        runs=len(past.runs),
        errors=severities.count("error"),
        warnings=severities.count("warning"),
        files=len(contents),
        bytes=sum(map(len, contents.values())),
    )


def _contents(index: PageIndex, details: Sequence[TableDetails]) -> Iterator[tuple[str, bytes]]:
    for asset in sorted(
        (files("rocky.operations.page") / "assets").iterdir(), key=lambda each: each.name
    ):
        if asset.is_file():
            yield asset.name, asset.read_bytes()
    yield "data/index.js", _script("index", format_report({}, index, **_COMPACT))
    parts: list[dict[str, Any]] = [{} for _ in range(index.parts)]
    for place, (table, each) in enumerate(zip(index.tables, details, strict=True)):
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
