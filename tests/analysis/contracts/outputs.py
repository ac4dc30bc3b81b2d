"""Outputs for the tests of contracts and lints: real project files, typed outputs by hand."""

from pathlib import Path

from rocky.diagnostics import Diagnostic
from rocky.diagnostics.diagnostic import Span
from rocky.language.datatypes.text import parse_schema
from rocky.language.datatypes.types import UNKNOWN
from rocky.language.ir import Edge, ModelIr, OutputColumn
from rocky.project import Project, load_project

CONFIG = """
[adapter]
type = "spark"
warehouse = "warehouse"

[pipeline.shop]
type = "transformation"
models = "models/**"
"""


def load_files(root: Path, files: dict[str, str]) -> Project:
    for name, text in ({"rocky.toml": CONFIG} | files).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return load_project(root, env={})


def output_of(
    sql: str,
    schema: str,
    *,
    known: bool = True,
    edges: dict[str, tuple[Edge, ...]] | None = None,
    unknown: tuple[str, ...] = (),
    unnamed: tuple[str, ...] = (),
    name: str = "m",
) -> ModelIr:
    """The output of `sql` with the columns of a DDL schema.

    A column's span is where its name stands in the SQL, the second of one name at its second
    place; a name that is not written came through the star.
    """
    columns = []
    places: dict[str, int] = {}
    for field in parse_schema(schema) if schema else []:
        at = sql.find(field.name, places.get(field.name, -1) + 1)
        if at >= 0:
            places[field.name] = at
        columns.append(
            OutputColumn(
                field.name,
                UNKNOWN if field.name in unknown else field.type,
                field.nullable,
                (edges or {}).get(field.name, ()),
                field.name not in unnamed,
                Span(at, at + len(field.name)) if at >= 0 else None,
            )
        )
    star = sql.find("*")
    stars = (Span(star, star + 1),) if star >= 0 else ()
    return ModelIr(name, tuple(columns), known, (), stars=stars)


def codes(found: list[Diagnostic]) -> list[str]:
    return [each.code.value for each in found]


def spanned(project: Project, path: str | None, span: Span | None) -> tuple[str | None, str | None]:
    """A place as its file and the text under it."""
    if path is None or span is None:
        return path, None
    return path, project.texts[path].text[span.start : span.end]


def place(project: Project, found: Diagnostic) -> tuple[str | None, str | None]:
    return spanned(project, found.path, found.span)


def labels(project: Project, found: Diagnostic) -> list[tuple[str | None, str | None, str]]:
    return [
        (*spanned(project, label.path or found.path, label.span), label.message)
        for label in found.labels
    ]
