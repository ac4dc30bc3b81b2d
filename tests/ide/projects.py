"""Projects in which editors are tried, and marks in texts for places."""

import shutil
import tempfile
from functools import cache
from pathlib import Path

from rocky.compiler.passes import compile_project
from rocky.ide.view import OpenFile, View
from rocky.project import load_project

PLAYGROUND = Path(__file__).parents[2] / "src/rocky/operations/templates/shop"

SHOP = {
    "rocky.toml": "",
    "sources/raw.toml": """
[[source]]
name = "raw.orders"
description = "what was ordered"
owner = "shop"
columns = [
    { name = "id", type = "bigint", nullable = false },
    { name = "customer_id", type = "bigint" },
    { name = "amount", type = "decimal(10,2)", description = "in euros" },
    { name = "email", type = "string", classification = "pii" },
    { name = "address", type = "struct<street: string, city: string>" },
]
""",
    "seeds/countries.csv": "code,country\nDE,Germany\n",
    "macros/net.sql": "CREATE MACRO net(gross EXPRESSION, rate EXPRESSION DEFAULT 0.19)\n"
    "COMMENT 'without tax' RETURN @gross / (1 + @rate)\n",
    "functions/tidy.sql": "CREATE FUNCTION tidy(x STRING) RETURNS STRING RETURN trim(x)\n",
    "models/orders.sql": """SELECT
  o.id,
  o.customer_id,
  o.amount AS gross,
  @net(o.amount) AS net,
  tidy(o.email) AS email,
  o.address.street
FROM raw.orders AS o
WHERE o.amount > 0
""",
    "models/orders.toml": """description = "orders that count"

[classification]
email = "pii"

[columns.gross]
description = "with tax"

[[tests]]
type = "not_null"
column = "gross"

[[tests]]
type = "expression"
expression = "gross >= 0 AND id > 0"

[[test]]
name = "one order"
[[test.given]]
ref = "raw.orders"
rows = [{ id = 1, amount = "1.00" }]
[test.expect]
rows = [{ id = 1, gross = "1.00" }]
""",
    "models/totals.sql": """WITH big AS (
  SELECT customer_id, gross, gross * 2 AS twice FROM orders
)
SELECT b.customer_id, sum(b.gross) AS total, max(twice) AS most
FROM big AS b
GROUP BY b.customer_id
ORDER BY total
""",
    "models/everything.sql": "SELECT * FROM orders\n",
    "models/last.sql": "SELECT gross, e.net FROM everything AS e WHERE gross > 1\n",
    "models/steps.rocky": "from orders\nwhere gross > 10\nselect { id, gross }\n",
    "contracts/orders.contract.toml": '[[columns]]\nname = "gross"\ntype = "decimal(10,2)"\n\n'
    '[rules]\nrequired = ["id", "gross"]\n',
    "models/scored.py": "def model(orders):\n    return orders\n",
    "models/scored.toml": 'output = [ { name = "id", type = "bigint" },'
    ' { name = "gross", type = "double" } ]\n',
}


def write(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return root


def view_of(root: Path) -> View:
    return View(compile_project(load_project(root, env={}), cache=False, jobs=1))


def shop(root: Path, **changed: str) -> View:
    """The shop, some of its files changed."""
    return view_of(write(root, {**SHOP, **changed}))


@cache
def playground() -> View:
    return view_of(PLAYGROUND)


def marked(view: View, path: str, text: str) -> tuple[OpenFile, int]:
    """A file with a text that has a mark `|` at the cursor, and the offset of that."""
    return view.open(path, text.replace("|", "", 1)), text.index("|")


def at(view: View, path: str, words: str, inside: str = "") -> tuple[OpenFile, int]:
    """The place of some words in a file, or of a part of these."""
    file = view.open(path)
    start = file.text.index(words)
    return file, start + (words.index(inside) if inside else 0)


def compile_with(root: Path, scratch: Path):
    """A check for edits: the project at `root` compiled with files changed, added and removed."""

    def check(texts):
        place = Path(tempfile.mkdtemp(dir=scratch)) / "edited"
        shutil.copytree(root, place)
        for path, text in texts.items():
            if text is None:
                (place / path).unlink()
            else:
                (place / path).parent.mkdir(parents=True, exist_ok=True)
                (place / path).write_text(text)
        return compile_project(load_project(place, env={}), cache=False, jobs=1)

    return check
