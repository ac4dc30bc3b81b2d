"""A shop of a few layers, compiled, for selectors and steps to be tried on."""

from pathlib import Path

from rocky.analysis.compilation import Compilation
from rocky.compiler.passes import compile_project
from rocky.project import load_project

SOURCES = (
    '[[source]]\nname = "raw.orders"\nformat = "csv"\npath = "orders.csv"\n'
    'columns = [ { name = "id", type = "bigint" }, { name = "country", type = "string" } ]\n'
)

SHOP = {
    "rocky.toml": (
        '[pipeline.shop]\nmodels = "models/shop/**"\n[pipeline.marts]\nmodels = "models/marts/**"\n'
    ),
    "sources/raw.toml": SOURCES,
    "seeds/countries.csv": "code,label\nDE,Germany\n",
    "models/shop/stg_orders.sql": "SELECT id, country FROM raw.orders",
    "models/shop/stg_orders.toml": '[tags]\nlayer = "staging"\nowner = "sales"\n',
    "models/shop/big_orders.sql": "SELECT id, country FROM stg_orders WHERE id > 10",
    "models/shop/big_orders.toml": '[strategy]\ntype = "ephemeral"\n',
    "models/marts/by_country.sql": (
        "SELECT c.label, count(*) AS n FROM big_orders o JOIN countries c ON o.country = c.code "
        "GROUP BY c.label"
    ),
    "models/marts/by_country.toml": '[target]\nschema = "marts"\n[tags]\nlayer = "mart"\n',
    "models/marts/report.sql": "SELECT max(n) AS most FROM by_country",
    "models/marts/alone.sql": "SELECT 1 AS one",
    "models/marts/alone.toml": '[tags]\nlayer = "mart"\n',
}


def compiled(root: Path, files: dict[str, str] | None = None) -> Compilation:
    """The shop, with some files changed or added, compiled without a cache."""
    for name, text in {**SHOP, **(files or {})}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return compile_project(load_project(root, env={}), jobs=1, cache=False)
