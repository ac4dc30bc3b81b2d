"""A small shop whose compiles are watched: what was bound, and what was found."""

from pathlib import Path
from typing import Any

from rocky.analysis.compilation import Compilation
from rocky.compiler.fingerprints import ir_text_of
from rocky.compiler.passes import compile_project
from rocky.project import load_project

SHOP = {
    "rocky.toml": '[pipeline.shop]\nmodels = "models/**"\n',
    "sources/raw.toml": (
        '[[source]]\nname = "raw.orders"\nformat = "parquet"\npath = "orders"\ncolumns = [\n'
        '  { name = "id", type = "bigint", nullable = false },\n'
        '  { name = "amount", type = "decimal(10,2)" },\n'
        '  { name = "note", type = "string" },\n]\n'
    ),
    "models/orders.sql": "SELECT id, amount, note FROM raw.orders WHERE id > 0\n",
    "models/totals.sql": "SELECT id, sum(amount) AS total FROM orders GROUP BY id\n",
    "models/notes.sql": "SELECT o.id, upper(o.note) AS note FROM orders AS o\n",
    "models/report.sql": (
        "SELECT t.id, t.total > 10 AS large, n.note\n"
        "FROM totals AS t JOIN notes AS n ON t.id = n.id\n"
    ),
}


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def edit(root: Path, path: str, before: str, after: str) -> None:
    text = (root / path).read_text()
    assert before in text
    (root / path).write_text(text.replace(before, after))


def compiled(root: Path, *, jobs: int = 1, cache: bool = True) -> Compilation:
    return compile_project(load_project(root, env={}), jobs=jobs, cache=cache)


def answers(compilation: Compilation) -> dict[str, Any]:
    """Everything a compile says, in values that can be compared."""
    return {
        "models": {key: compilation.models[key] for key in compilation.models},
        "documents": {key: ir_text_of(compilation, key) for key in compilation.models},
        "diagnostics": compilation.diagnostics,
        "order": compilation.order,
        "upstream": compilation.upstream,
        "downstream": compilation.downstream,
    }


def assert_as_if_cold(root: Path) -> Compilation:
    """A compile with the cache says what one without it says; the former is given back."""
    warm = compiled(root)

    assert answers(compiled(root, cache=False)) == answers(warm)
    return warm
