"""Take the pictures of the page anew: `python tools/photograph_page.py`. Needs Chromium, no Spark.

With a folder as argument, every view in two widths and both colours goes there instead, to be
looked at.
"""

# ruff: noqa: E501 - files of a project are written as they are
import json
import os
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
from tests.branches.shops import BranchShop, enter_shop  # noqa: E402
from tests.run.runs import write  # noqa: E402
from tests.servers.browser import Page, open_browser  # noqa: E402
from tests.web.pasts import ORDERS, make_past  # noqa: E402

FOLDER = ROOT / "docs" / "pictures"
MOST_BYTES = 120_000
SHOTS = {
    "page-graph": "graph?show=tests,pipelines",
    "page-overlay-drift": "graph?overlay=drift",
    "page-overlay-replay": "graph?overlay=replay",
    "page-overlay-governance": "graph?overlay=governance",
    "page-model": "table/revenue",
    "page-column": "table/raw.customers/email",
    "page-reach": "reach?from=raw.orders.amount",
    "page-runs": "runs",
    "page-run": "run/latest",
    "page-compare": "runs",
    "page-branches": "branch/totals",
    "page-promotion": "branch/totals",
    "page-evidence": "evidence",
    "page-seals": "evidence",
    "page-checks": "checks",
    "page-sizes": "checks",
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
    "page-promotion": "document.getElementById('s-what-a-promotion-would-change').scrollIntoView()",
    "page-sizes": "document.getElementById('s-unusual-sizes').scrollIntoView()",
    "page-compare": "[...document.querySelectorAll('main td a')].find((each) => each.textContent === 'with the one before').click(),"
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
    f"table/{ORDERS}",
)  # fmt: skip


def main() -> None:
    everything = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patch:
        root = Path(scratch) / "shop"
        root.mkdir()
        enter_shop(root, patch)
        patch.setenv("UNITY_TOKEN", "none")
        patch.setenv("LOGNAME", "eve")
        make_past(BranchShop(root), erasure=everything is not None)
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
