"""Take the pictures of the page anew: `python tools/photograph_page.py`. Needs Chromium, no Spark.

With a folder as argument, every view in two widths and both colours goes there instead, to be
looked at.
"""

# ruff: noqa: E501 - files of a project are written as they are
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import pytest  # noqa: E402 - found by the line above

from rocky.operations.workspace import Workspace  # noqa: E402
from rocky.web.address import ServerSettings  # noqa: E402
from rocky.web.server import PageServer  # noqa: E402
from tests.branches.shops import Answer, BranchShop, enter_shop  # noqa: E402
from tests.run.runs import write  # noqa: E402
from tests.servers.browser import Page, open_browser  # noqa: E402

FOLDER = ROOT / "docs" / "pictures"
MOST_BYTES = 120_000
SHOP = {
    "rocky.toml": """[pipeline.shop]
models = "models/**"
[resilience]
initial_backoff_ms = 1
[branch.approval]
required = true
min_approvers = 2
[governance.catalog]
kind = "unity"
url = "https://unity.shop.example"
token = "${UNITY_TOKEN}"
[role.analysts]
members = ["ann@example.com", "bob@example.com"]
[[grant]]
on = "spark_catalog.default"
to = ["analysts"]
privileges = ["SELECT"]
""",
    "sources/raw.toml": """[[source]]
name = "raw.orders"
format = "csv"
path = "data/orders.csv"
description = "Orders as the till wrote them"
columns = [ { name = "id", type = "bigint", nullable = false }, { name = "customer_id", type = "bigint" }, { name = "amount", type = "double" }, { name = "country", type = "string" } ]
[[source]]
name = "raw.customers"
format = "csv"
path = "data/customers.csv"
columns = [ { name = "id", type = "bigint", nullable = false }, { name = "email", type = "string", classification = "pii" }, { name = "city", type = "string" } ]
""",
    "data/orders.csv": "id,customer_id,amount,country\n1,1,10.00,DE\n2,1,5.50,DE\n3,2,7.25,FR\n4,9,1.00,\n",
    "data/customers.csv": "id,email,city\n1,ann@example.com,Bonn\n2,bob@example.com,Lyon\n",
    "seeds/countries.csv": "code,label\nDE,Germany\nFR,France\n",
    "models/staging/stg_orders.sql": "SELECT id, customer_id, amount, country FROM raw.orders",
    "models/staging/stg_orders.toml": '[[tests]]\ntype = "not_null"\ncolumn = "country"\nseverity = "warning"\n[[tests]]\ntype = "unique"\ncolumn = "id"\n',
    "models/staging/stg_customers.sql": "SELECT id, email, upper(city) AS city FROM raw.customers",
    "models/marts/revenue.sql": "SELECT o.country, c.city, sum(o.amount) AS revenue FROM stg_orders o LEFT JOIN stg_customers c ON o.customer_id = c.id GROUP BY o.country, c.city",
    "models/marts/by_country.sql": "SELECT n.label, sum(r.revenue) AS revenue FROM revenue r JOIN countries n ON r.country = n.code GROUP BY n.label",
    "models/marts/contacts.sql": "SELECT id AS customer_id, email FROM stg_customers",
    ".gitignore": "warehouse/\n.rocky*\nkeys/\n",
}
SHOTS = {
    "page-graph": "graph?show=tests,pipelines",
    "page-overlay-replay": "graph?overlay=replay",
    "page-overlay-governance": "graph?overlay=governance",
    "page-model": "table/revenue",
    "page-column": "table/raw.customers/email",
    "page-reach": "reach?from=raw.orders.amount",
    "page-runs": "runs",
    "page-run": "run/latest",
    "page-compare": "runs",
    "page-branches": "branch/totals",
    "page-evidence": "evidence",
    "page-seals": "evidence",
    "page-checks": "checks",
    "page-governance": "governance",
    "page-state": "state",
    "page-overlay-breaking": "graph?overlay=breaking",
}
CHANGE = {
    "models/staging/stg_orders.sql": "SELECT id, customer_id, CAST(amount AS STRING) AS amount, country FROM raw.orders",
    "models/marts/contacts.sql": "SELECT id AS customer_id, email, city FROM stg_customers",
}
"""What is not committed in the last picture."""
FIRST = {
    "page-compare": "[...document.querySelectorAll('main td a')].find((each) => each.textContent.startsWith('compare')).click(),"
    " new Promise((done) => setTimeout(done, 600))",
    "page-seals": "document.querySelector('main form.choices').requestSubmit(),"
    " new Promise((done) => setTimeout(done, 1500)).then(() => document.getElementById('s-seals').scrollIntoView())",
    "page-evidence": "[...document.querySelectorAll('main button')].find((each) => each.textContent === 'Verify now').click(),"
    " new Promise((done) => setTimeout(done, 1500))",
    "page-model": "document.querySelector('.part').scrollIntoView(),"
    " (async (view) => { view.choose(view.focus, true); view.columns.step(view.focus, -1); })"
    "(document.querySelector('.graph').rockyView)",
}
"""What is done before a picture is taken."""
VIEWS = (
    "", "tables", "graph", "graph?overlay=governance", "graph?overlay=replay", "runs", "run/latest",
    "graph?overlay=drift", "graph?overlay=breaking", "graph?show=tests,pipelines",
    "findings", "reach?from=raw.orders.amount", "branches", "branch/totals", "evidence",
    "evidence/latest", "checks", "governance", "state", "table/revenue", "table/stg_orders",
    "table/raw.customers/email",
)  # fmt: skip


def main() -> None:
    everything = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patch:
        root = Path(scratch) / "shop"
        root.mkdir()
        enter_shop(root, patch)
        patch.setenv("UNITY_TOKEN", "none")
        patch.setenv("LOGNAME", "eve")
        make_shop(BranchShop(root))
        patch.chdir(root)
        with _serving() as server, open_browser(Path(scratch) / "profile") as browser:
            if everything is None:
                page = browser.open_page(width=960, height=560)
                page.send("Emulation.setScrollbarsHidden", hidden=True)
                _open(page, server)
                for name, route in SHOTS.items():
                    if name == "page-overlay-breaking":
                        write(root, CHANGE)
                        page.ask("new Promise((done) => setTimeout(done, 2500))")
                    _take(page, route, FOLDER / f"{name}.png", first=FIRST.get(name, "true"))
                return
            everything.mkdir(parents=True, exist_ok=True)
            for width in (1280, 390):
                for dark in (False, True):
                    page = browser.open_page(width=width, dark=dark)
                    _open(page, server)
                    for number, route in enumerate(VIEWS):
                        colours = "dark" if dark else "light"
                        name = f"{width}-{colours}-{number:02}.png"
                        _take(page, route, everything / name, whole=True)


def make_shop(shop: BranchShop) -> None:
    """A shop with a past: a run that failed, tests that failed, and a branch that is approved."""
    root = shop.root
    write(root, SHOP)
    shop.git("init", "-q", "-b", "main")
    shop.git("config", "user.email", "eve@example.com")
    shop.git("config", "user.name", "Eve")
    keys = root / "keys"
    keys.mkdir()
    signers = ""
    for name in ("ann", "bob"):
        line = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(keys / name)]
        subprocess.run(line, check=True)
        signers += f"{name}@example.com {(keys / f'{name}.pub').read_text()}"
    write(root, {"allowed_signers": signers})
    shop.commit("the shop")
    _say(shop.rocky("build"))
    broken = SHOP["models/marts/contacts.sql"].replace("email", "CAST(email AS INT) AS email")
    write(root, {"models/marts/contacts.sql": broken})
    _say(shop.rocky("run"))
    write(root, {"models/marts/contacts.sql": SHOP["models/marts/contacts.sql"]})
    _say(shop.rocky("build"))
    shop.do("branch", "create", "totals")
    changed = SHOP["models/marts/by_country.sql"].replace("SELECT", "SELECT count(*) AS cities,")
    write(root, {"models/marts/by_country.sql": changed})
    shop.commit("count the cities")
    _say(shop.rocky("run", "--branch", "totals"))
    for name in ("ann", "bob"):
        said = shop.rocky("branch", "approve", "totals", "--key", str(keys / name), "-m", "checked")
        print(said.err or said.out.splitlines()[0])
    print(shop.rocky("seal", "--key", str(keys / "ann")).err)


def _say(answer: Answer) -> None:
    """What a command ended with; some of them are meant to fail."""
    print(answer.code, (answer.err or answer.out).strip().splitlines()[-12:])


@contextmanager
def _serving() -> Iterator[PageServer]:
    server = PageServer(lambda: Workspace(environment=os.environ), ServerSettings())
    server.start()
    try:
        yield server
    finally:
        server.close()


def _open(page: Page, server: PageServer) -> None:
    page.visit(server.address.url)
    page.wait("document.querySelector('main h1') !== null")


def _take(page: Page, route: str, path: Path, *, whole: bool = False, first: str = "true") -> None:
    page.ask("document.title = 'waiting'")
    page.ask(f"location.hash = {json.dumps(f'#/{route}')}; dispatchEvent(new Event('hashchange'))")
    page.wait("document.title !== 'waiting'")
    page.wait("!document.querySelector('main').textContent.includes('Looking …')")
    page.ask("new Promise((done) => setTimeout(done, 250))")
    page.ask(first)
    page.ask("new Promise((done) => setTimeout(done, 100))")
    page.picture(path, whole=whole)
    size = path.stat().st_size
    if not whole and size > MOST_BYTES:
        raise SystemExit(f"{path.name} has {size} bytes, which is more than {MOST_BYTES}")
    print(f"{path.name} {route} {size}")


if __name__ == "__main__":
    main()
