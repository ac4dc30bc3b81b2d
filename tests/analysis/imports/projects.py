"""A shop that publishes and a finance project that reads it, side by side on disk."""

from collections.abc import Mapping
from pathlib import Path

from rocky.analysis.classification import classify
from rocky.analysis.compilation import Compilation
from rocky.analysis.imports.findings import rebinding
from rocky.analysis.imports.publication import encode_interface, publish_interface
from rocky.compiler.passes import compile_project
from rocky.project import load_project

SHOP = {
    "rocky.toml": '[pipeline.shop]\nmodels = "models/**"\n',
    "models/_defaults.toml": '[target]\ncatalog = "lake"\nschema = "shop"\n',
    "sources/raw.toml": (
        '[[source]]\nname = "raw.orders"\nformat = "csv"\npath = "data/orders.csv"\ncolumns = [\n'
        '  { name = "id", type = "bigint", nullable = false },\n'
        '  { name = "amount", type = "decimal(18,2)", nullable = false },\n'
        '  { name = "status", type = "string" },\n'
        '  { name = "tags", type = "array<struct<k:string,v:decimal(10,2)>>" },\n]\n'
    ),
    "data/orders.csv": "id,amount,status,tags\n1,2.50,paid,\n",
    "models/orders.sql": "SELECT id, amount, status FROM raw.orders\n",
    "models/refunds.sql": "SELECT id, amount FROM raw.orders WHERE status = 'refunded'\n",
}
FINANCE = {
    "rocky.toml": (
        '[pipeline.finance]\nmodels = "models/**"\n'
        '\n[imports.shop]\nsnapshot = "imports/shop.json"\n'
    ),
    "models/revenue.sql": "SELECT id, amount FROM lake.shop.orders\n",
}


def write(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def compiled(root: Path, env: Mapping[str, str] | None = None) -> Compilation:
    return compile_project(load_project(root, env=env or {}), jobs=1, cache=False)


def published(root: Path, env: Mapping[str, str] | None = None) -> str:
    """The interface of every model of a project that compiles."""
    compilation = compiled(root, env)
    assert () == tuple(each.message for each in compilation.diagnostics if each.code[0] == "E")
    models = compilation.models
    rebind = rebinding(compilation)
    return encode_interface(
        publish_interface(compilation.project, models, models, rebind, classify(compilation))
    )


class Two:
    """Both projects; what the shop publishes is fetched, and what was accepted stays."""

    def __init__(self, root: Path, finance: Mapping[str, str] | None = None) -> None:
        self.shop = write(root / "shop", SHOP)
        self.finance = write(root / "finance", {**FINANCE, **(finance or {})})
        self.fetch("imports/shop.baseline.json")

    def fetch(self, name: str = "imports/shop.json") -> None:
        write(self.finance, {name: published(self.shop)})

    def change(self, **models: str | None) -> None:
        """Replace models of the shop (None removes one), publish and fetch."""
        for name, sql in models.items():
            path = self.shop / f"models/{name}.sql"
            if sql is None:
                path.unlink()
            else:
                path.write_text(sql)
        self.fetch()

    def findings(self) -> list[str]:
        """`CODE model 'text at the place'` of what the finance project is told."""
        return findings(compiled(self.finance))


def findings(compilation: Compilation) -> list[str]:
    shown = []
    for each in compilation.diagnostics:
        text = compilation.project.texts[each.path].text if each.path is not None else ""
        under = text[each.span.start : each.span.end] if each.span is not None else ""
        shown.append(f"{each.code} {each.model or each.path} {under!r}")
    return sorted(shown)
