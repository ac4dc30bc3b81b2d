"""Small projects whose columns are classified."""

from pathlib import Path

from rocky.analysis.classification import Classifications, classify
from rocky.compiler.passes import compile_project
from tests.project.projects import load

PEOPLE = """
[[source]]
name = "raw.people"
columns = [
  { name = "id", type = "bigint", nullable = false },
  { name = "email", type = "string", classification = "pii" },
  { name = "born", type = "date", classification = ["pii", "gdpr"] },
  { name = "city", type = "string" },
  { name = "address", type = "struct<street:string,city:string>" },
]
classification = { "address.street" = "pii" }
"""


def classified(root: Path, files: dict[str, str]) -> Classifications:
    """The facts of a project over `raw.people`; a file without a folder is a model."""
    placed = {
        name if "/" in name or name == "rocky.toml" else f"models/{name}": text
        for name, text in files.items()
    }
    compilation = compile_project(load(root, {"sources/raw.toml": PEOPLE, **placed}), cache=False)
    assert not compilation.has_errors, compilation.diagnostics
    return classify(compilation)


def tags(facts: Classifications, table: str) -> dict[str, set[str]]:
    """The tags of a table's columns, fields as `tag@field`."""
    return {
        column: {f"{each.tag}@{each.field}" if each.field else each.tag for each in found}
        for column, found in facts.table(table).items()
    }
