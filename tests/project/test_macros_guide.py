"""The guide's macros are what it says they are."""

import re
from pathlib import Path

from rocky.compiler.passes import compile_project
from tests.project.projects import findings, load

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "macros.md"
BLOCK = re.compile(r"^```\w+ (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^```sql\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SOURCES = """
[[source]]
name = "raw.orders"
path = "data/orders"
format = "parquet"
columns = [
  { name = "order_id", type = "bigint" },
  { name = "customer_id", type = "bigint" },
  { name = "amount", type = "double" },
  { name = "discount", type = "double" },
  { name = "quantity", type = "int" },
  { name = "ordered_at", type = "timestamp" },
]
"""


def files() -> dict[str, str]:
    return {"sources/raw.toml": SOURCES, **dict(BLOCK.findall(GUIDE.read_text()))}


def test_the_project_of_the_guide_compiles_and_expands_to_what_it_shows(tmp_path):
    project = load(tmp_path, files())
    (shown,) = SHOWN.findall(GUIDE.read_text())

    assert [] == findings(project)
    assert () == compile_project(project, cache=False).diagnostics
    assert shown == project.models["prices"].sql


def test_the_error_of_the_guide_is_the_one_it_shows(tmp_path):
    wrong = files()
    prices = wrong["models/prices.sql"]
    wrong["models/prices.sql"] = prices.replace(
        "amount - discount, quantity", "map(1, 2), quantity"
    )
    project = load(tmp_path, wrong)
    found, *_ = compile_project(project, cache=False).diagnostics
    text = GUIDE.read_text()

    assert f"error[E005 type-error]: {found.message}\n --> models/prices.sql:3:3" in text
    assert "::: macros/safe_divide.sql:4:17" in text
    assert (4, 17) == project.texts["macros/safe_divide.sql"].position(
        next(each.span.start for each in found.labels if each.path)
    )
