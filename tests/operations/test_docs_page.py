"""The site in a real browser, opened from the disk: what people see, find, press and hear."""

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from rocky.operations.migration.template import PlaygroundRequest, playground
from rocky.operations.page.docs import DocsRequest, docs
from rocky.operations.workspace import Workspace
from tests.operations.projects import open_project
from tests.operations.sites import HOSTILE
from tests.servers.browser import Browser, Page, open_browser

pytestmark = [pytest.mark.slow, pytest.mark.server]


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[Browser]:
    with open_browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The site of the playground."""
    root = tmp_path_factory.mktemp("site") / "shop"
    playground(PlaygroundRequest(root))
    docs(Workspace(root), DocsRequest())
    return root / "target/docs"


def visit(browser: Browser, site: Path, route: str = "", **size) -> Page:
    page = browser.open_page(**size)
    page.visit(f"{(site / 'index.html').as_uri()}{route}")
    page.text("h1")
    return page


def show(page: Page, route: str) -> None:
    """Go to a page of the site, and wait for it."""
    page.ask("document.title = 'waiting'")
    page.ask(f"location.hash = '#/{route}'; dispatchEvent(new Event('hashchange'))")
    page.wait("document.title !== 'waiting'")


def test_it_opens_from_the_disk_finds_a_column_and_shows_its_model(browser, site):
    page = visit(browser, site)
    assert "shop" == page.text("h1")
    assert "11\nmodels" in page.text(".stats")

    page.press("/")
    page.type("paid_amount")
    page.wait("document.querySelectorAll('#found [role=option]').length > 1")
    page.press("Enter")
    page.wait("location.hash === '#/table/int_order_payments/paid_amount'")
    page.wait("document.title.startsWith('int_order_payments.paid_amount')")
    assert "decimal(22,2)" in page.text("main")
    assert "fct_orders.paid_amount" in page.text("main")

    page.ask("document.querySelector('main .eyebrow a').click()")
    page.wait("document.title.startsWith('int_order_payments ')")
    columns = page.text("[aria-label='Columns']")
    assert "paid_amount" in columns
    assert "stg_payments.amount aggregate" in columns
    assert "SELECT" in page.text(".code")
    assert "h1" == page.ask("document.activeElement.tagName.toLowerCase()")
    assert [] == page.complaints()
    assert {"file"} == {address.partition(":")[0] for address in page.requested()}


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_page_fits_its_window_in_light_and_dark(browser, site, width, dark):
    page = visit(browser, site, width=width, dark=dark)

    routes = (
        "",
        "tables",
        "graph",
        "runs",
        "findings",
        "table/fct_revenue",
        "table/raw.orders/amount",
    )
    for route in routes:
        show(page, route)
        assert page.ask("document.documentElement.scrollWidth <= innerWidth"), route
    light = page.ask("getComputedStyle(document.body).backgroundColor")
    assert (light == "rgb(18, 21, 24)") == dark
    assert [] == page.complaints()


DRAWN = """(() => {
  const canvas = document.querySelector('canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const found = new Set();
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3] === 255) found.add(`${data[at]} ${data[at + 1]} ${data[at + 2]}`);
  }
  return [...found];
})()"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_theme_that_is_chosen_wins_and_the_graph_is_drawn_in_it(browser, site, dark):
    page = visit(browser, site, dark=dark)
    show(page, "graph")
    page.wait("document.querySelector('canvas').width > 300")

    for theme, ground, model in (
        ("light", "rgb(246, 245, 241)", "43 90 160"),
        ("dark", "rgb(18, 21, 24)", "134 180 245"),
    ):
        page.ask(
            f"document.documentElement.dataset.theme = '{theme}';"
            "document.dispatchEvent(new Event('rocky-theme')); true"
        )
        assert ground == page.ask("getComputedStyle(document.body).backgroundColor")
        assert model in page.ask(DRAWN)


CONTRAST = """(() => {
  const parts = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (rgb) => {
    const [r, g, b] = rgb.map((each) => each / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (at) => {
    for (; at; at = at.parentElement) {
      const found = parts(getComputedStyle(at).backgroundColor);
      if (found.length < 4 || found[3] === 1) return found.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const faint = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const at = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !at.getClientRects().length || at.closest('option')) continue;
    const [a, b] = [light(parts(getComputedStyle(at).color).slice(0, 3)), light(ground(at))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) faint.add(`${walk.currentNode.data.trim()} ${at.className} ${ratio.toFixed(2)}`);
  }
  return [...faint];
})()"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_text_stands_out_from_its_ground(browser, site, dark):
    page = visit(browser, site, dark=dark)
    faint = []
    for route in ("", "tables", "runs", "table/fct_revenue", "table/raw.orders/amount"):
        show(page, route)
        faint += page.ask(CONTRAST)

    assert [] == faint


def test_whatever_can_be_pressed_or_filled_has_a_name(browser, site):
    page = visit(browser, site)
    nameless = []
    for route in ("", "tables", "graph", "runs", "findings", "table/fct_revenue"):
        show(page, route)
        nodes = page.send("Accessibility.getFullAXTree")["nodes"]
        nameless += [
            (route, each["role"]["value"])
            for each in nodes
            if not each.get("ignored")
            and each["role"]["value"]
            in (
                "button",
                "link",
                "combobox",
                "searchbox",
                "table",
                "region",
                "img",
                "image",
                "listbox",
                "navigation",
            )
            and not each.get("name", {}).get("value")
        ]
    assert [] == nameless


def test_the_graph_is_walked_by_keys_and_says_where_one_is(browser, site):
    page = visit(browser, site, "#/table/fct_orders")
    page.wait("document.querySelector('canvas').width > 300")
    page.ask("document.querySelector('canvas').focus()")
    assert page.text("#graph-said").startswith("fct_orders, model")
    page.press("ArrowRight")
    page.wait("document.querySelector('#graph-said').textContent.startsWith('fct_revenue')")
    page.press("Enter")
    page.wait("document.title.startsWith('fct_revenue ')")
    assert [] == page.complaints()


def test_what_is_drawn_does_not_overlap_and_leads_to_the_right(browser, site):
    page = visit(browser, site)
    found = page.ask(
        """(() => {
          const edges = [];
          for (let at = 1; at < 300; at += 1) for (const by of [2, 3, 7]) edges.push([Math.floor(at / by), at]);
          edges.push([299, 0], [5, 5]);
          const { boxes, lines } = Rocky.layered(Array.from({ length: 320 }, () => [100, 40]), edges, 0);
          const overlap = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h - 1e-6 && b.y < a.y + a.h - 1e-6;
          let overlaps = 0;
          boxes.forEach((a, i) => boxes.forEach((b, j) => { if (i < j && overlap(a, b)) overlaps += 1; }));
          const through = lines.filter((line) => line.y1 === line.y2 && boxes.some((box) =>
            box.x < line.x2 - 1 && box.x + box.w > line.x1 + 1 && box.y < line.y1 && box.y + box.h > line.y1)).length;
          return [boxes.length, overlaps, through, lines.filter((line) => line.x2 <= line.x1).length];
        })()"""
    )

    assert [320, 0, 0, 0] == found


def test_no_name_or_text_of_a_project_acts(browser, tmp_path):
    docs(open_project(tmp_path, HOSTILE), DocsRequest())
    page = visit(browser, tmp_path / "target/docs")
    page.ask("window.owned = () => { window.wasOwned = true; }")

    names = page.ask("Rocky.store.index.tables.map((table) => table.name)")
    assert {"<b>bold", "__proto__"} <= set(names)
    routes = ["#/", "#/tables", "#/graph", "#/findings"]
    for name in names:
        routes.append(page.ask(f"Rocky.store.tableLink(Rocky.store.named({json.dumps(name)}))"))
        routes += page.ask(
            f"Rocky.store.named({json.dumps(name)}).columns.map((column) =>"
            f" Rocky.store.columnLink(Rocky.store.named({json.dumps(name)}), column))"
        )
    for route in routes:
        page.ask("document.title = 'waiting'")
        page.ask(f"location.hash = {json.dumps(route)}; dispatchEvent(new Event('hashchange'))")
        page.wait("document.title !== 'waiting'")
        assert "Not found" != page.text("h1")
        assert 0 == page.ask(
            "document.querySelectorAll('main script, main svg[onload], main b[onload], main iframe').length"
        )
        assert 0 == page.ask("[...document.querySelectorAll('main img')].length")
        assert [] == page.ask(
            "[...document.querySelectorAll('a')].map((each) => each.getAttribute('href')).filter((href) => !href.startsWith('#'))"
        )
    assert "<b>bold" == page.text("h1") or page.ask("document.title").startswith("__proto__")
    assert page.ask("window.wasOwned === undefined && ({}).polluted === undefined")
    assert [] == page.complaints()


def test_its_policy_refuses_a_script_that_somebody_puts_into_a_page(browser, site):
    page = visit(browser, site)
    page.ask(
        "(() => { const made = document.createElement('script'); made.textContent = 'window.ran = 1';"
        " document.head.append(made); })()"
    )

    assert page.ask("window.ran === undefined")
    assert any("Content Security Policy" in each for each in page.complaints())


def test_a_web_server_serves_it_as_it_is(browser, site):
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        page = browser.open_page()
        page.visit(f"http://127.0.0.1:{server.server_port}/#/table/fct_revenue")
        assert "fct_revenue" == page.text("h1")
        assert [] == page.complaints()
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_part_that_was_not_copied_is_named(browser, site, tmp_path):
    for path in site.rglob("*"):
        if path.is_file() and path.name != "part-0.js":
            target = tmp_path / path.relative_to(site)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    page = browser.open_page()
    page.visit(f"{(tmp_path / 'index.html').as_uri()}#/table/fct_revenue")

    assert "data/part-0.js could not be loaded" in page.text(".lead")


def test_tables_of_pipelines_and_of_unknown_columns_are_shown_as_what_they_are(browser, tmp_path):
    config = (
        '[adapter.default]\ntype = "spark"\nwarehouse = "warehouse"\n\n'
        '[pipeline.bronze]\ntype = "load"\nsource_dir = "in"\n'
        'target = { catalog = "c", schema = "bronze" }\n\n'
        '[pipeline.p]\nmodels = "models/**"\n\n[compile]\nundeclared = "unknown"\n'
    )
    files = {
        "rocky.toml": config,
        "in/orders.csv": "id\n1\n",
        "models/everything.sql": "SELECT * FROM lake.events\n",
        "models/loaded.sql": "SELECT id FROM c.bronze.orders\n",
    }
    report = docs(open_project(tmp_path, files), DocsRequest())
    page = visit(browser, Path(report.folder), "#/table/everything")

    page.wait("document.title.startsWith('everything')")
    assert "rocky discover lake.events --write makes them known" in page.text("main")
    assert "1\npipeline table" in visit(browser, Path(report.folder)).text(".stats")
    show(page, "table/c.bronze.orders")
    assert "table" == page.text("main .badge")
    assert "pipeline\nbronze" in page.text(".chips")
    assert "rocky run --pipeline bronze makes them known" in page.text("main")
    assert [] == page.complaints()
