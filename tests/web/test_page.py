"""The page over a server, in a real browser: what people see and press, and what strangers get."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files

import pytest

from rocky.operations.execution import test as testing
from rocky.operations.execution.run import run
from rocky.plan.request import RunRequest
from rocky.web.server import PageServer
from tests.operations.projects import open_project
from tests.operations.shops import OpenShop
from tests.operations.sites import HOSTILE
from tests.operations.test_docs_page import CONTRAST
from tests.servers.browser import Browser, Page, open_browser
from tests.web.servers import serving

pytestmark = [pytest.mark.slow, pytest.mark.server]

ROUTES = (
    "",
    "tables",
    "graph",
    "graph?overlay=governance",
    "graph?show=tests,pipelines",
    "runs",
    "run/latest",
    "findings",
    "reach?from=raw.orders.id",
    "branches",
    "evidence",
    "evidence/latest",
    "checks",
    "governance",
    "state",
    "table/by_country",
    "table/raw.orders/country",
)


TESTS = (
    '[[tests]]\ntype = "unique"\ncolumn = "id"\n'
    '[[tests]]\ntype = "unique"\ncolumn = "country"\nseverity = "warning"\n'
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[Browser]:
    with open_browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="module")
def shop(tmp_path_factory) -> Iterator[OpenShop]:
    """A shop with a tag, that was run twice, by an engine that needs no JVM."""
    with pytest.MonkeyPatch.context() as patch:
        found = OpenShop(tmp_path_factory.mktemp("shop"), patch)
        source = (found.root / "sources/raw.toml").read_text()
        tagged = source.replace(
            '"country", type = "string"', '"country", type = "string", classification = "pii"'
        )
        found.write("sources/raw.toml", tagged)
        found.write("models/stg_orders.toml", TESTS)
        run(found.workspace, RunRequest(test=True))
        run(found.workspace, RunRequest(test=True))
        yield found


@pytest.fixture(scope="module")
def server(shop) -> Iterator[PageServer]:
    with serving(shop.workspace, allow_actions=True) as found:
        yield found


def visit(browser: Browser, server: PageServer, **size) -> Page:
    page = browser.open_page(**size)
    page.visit(server.address.url)
    page.wait(
        "document.querySelector('.pages a') !== null && document.querySelector('h1') !== null"
    )
    return page


def show(page: Page, route: str) -> None:
    """Go to a view, and wait for all of its parts."""
    page.ask("document.title = 'waiting'")
    page.ask(f"location.hash = {json.dumps(f'#/{route}')}; dispatchEvent(new Event('hashchange'))")
    page.wait("document.title !== 'waiting'")
    page.wait(
        "![...document.querySelectorAll('main p.quiet')].some((each) => each.textContent === 'Looking …')"
    )


def test_the_address_opens_the_page_and_leaves_no_token_in_it(browser, server):
    page = visit(browser, server)

    assert "/" == page.ask("location.pathname + location.search")
    assert "" == page.ask("document.cookie")
    assert page.ask(
        "!document.documentElement.outerHTML.includes(" + json.dumps(server.guard.token) + ")"
    )
    origin = f"http://127.0.0.1:{server.server_port}/"
    assert all(each.startswith(origin) for each in page.requested())
    assert [] == page.complaints()


AXE = files("axe_core_python") / "axe.min.js"
AUDIT = """axe.run(document, { resultTypes: ['violations'] }).then((found) =>
  found.violations.flatMap((rule) => rule.nodes.map((node) =>
    `${rule.id}: ${node.html.slice(0, 160)}: ${node.failureSummary}`)))"""


@pytest.mark.parametrize(
    ("width", "dark"),
    [
        (1280, False),
        (390, True),
        pytest.param(1280, True, marks=pytest.mark.exhaustive),
        pytest.param(960, False, marks=pytest.mark.exhaustive),
        pytest.param(390, False, marks=pytest.mark.exhaustive),
    ],
    ids=["desk", "phone", "desk-dark", "half", "phone-light"],
)
def test_every_view_opens_fits_its_window_and_breaks_no_rule_of_axe(browser, server, width, dark):
    page = visit(browser, server, width=width, dark=dark)
    page.ask(AXE.read_text(encoding="utf-8") + "; 1")
    faint, broken = [], []
    for route in ROUTES:
        show(page, route)
        assert "Not loaded" != page.text("h1"), page.text("main")
        assert page.ask("document.documentElement.scrollWidth <= innerWidth"), route
        faint += page.ask(CONTRAST)
        broken += [f"{route}: {each}" for each in page.ask(AUDIT)]
    assert [] == faint
    assert [] == broken
    assert [] == page.complaints()


def test_whatever_can_be_pressed_or_filled_has_a_name(browser, server):
    page = visit(browser, server)
    named = {
        "button",
        "link",
        "textbox",
        "combobox",
        "checkbox",
        "searchbox",
        "table",
        "region",
        "img",
        "image",
        "listbox",
        "navigation",
        "group",
    }
    nameless = []
    for route in ROUTES:
        show(page, route)
        nodes = page.send("Accessibility.getFullAXTree")["nodes"]
        nameless += [
            (route, each["role"]["value"])
            for each in nodes
            if not each.get("ignored")
            and each["role"]["value"] in named - {"group"}
            and not each.get("name", {}).get("value")
        ]
        assert 1 == page.ask("document.querySelectorAll('h1').length"), route
    assert [] == nameless


def test_an_overlay_is_switched_on_and_off_counted_and_told_in_words(browser, server):
    page = visit(browser, server)
    show(page, "graph")
    page.wait("document.querySelector('canvas').width > 300")
    for name, said in (
        ("governance", "exposed"),
        ("replay", "can be built again"),
        ("drift", "says nothing of any table here"),
    ):
        page.ask(f"document.querySelector('[data-overlay={name}]').click()")
        page.wait(f"document.querySelector('.overlay-legend').textContent.includes('{said}')")
        assert "true" == page.ask(
            f"document.querySelector('[data-overlay={name}]').getAttribute('aria-pressed')"
        )
        assert page.ask("location.hash") == f"#/graph?overlay={name}"
    page.ask("document.querySelector('[data-overlay=governance]').click()")
    page.wait("document.querySelector('.overlay-legend').textContent.includes('exposed')")
    page.ask("document.querySelector('.overlay-list').open = true")
    page.wait("document.querySelector('.overlay-list').textContent.includes('country (pii)')")
    page.ask("document.querySelector('canvas').focus()")
    page.wait("document.querySelector('#graph-said').textContent !== ''")
    page.ask("document.querySelector('[data-overlay=governance]').click()")
    assert "" == page.ask("document.querySelector('.overlay-legend').textContent")
    page.ask("document.querySelector('[data-overlay=breaking]').click()")
    page.wait("document.querySelector('.overlay-legend .empty') !== null")
    assert [] == page.complaints()


def test_tests_and_pipelines_are_boxes_that_say_how_they_went(browser, server):
    page = visit(browser, server)
    show(page, "graph?show=tests")
    view = "document.querySelector('.graph').rockyView"
    nodes = f"{view}.nodes.map((node) => [node.name, node.kind, node.words])"
    boxes = page.ask(nodes)
    assert ["unique:id", "test", "test of stg_orders · passed"] in boxes
    assert ["unique:country", "test", "test of stg_orders · warned"] in boxes
    edge = f"{view}.edges.some(([from, to]) => {view}.nodes[from].name === 'stg_orders' && {view}.nodes[to].name === 'unique:id')"
    assert page.ask(edge)
    page.ask("document.querySelector('[data-part=pipelines]').click()")
    page.wait("location.hash === '#/graph?show=tests,pipelines'")
    page.wait("document.activeElement?.dataset.part === 'pipelines'")
    found = [each for each in page.ask(nodes) if each[1] == "pipeline"]
    assert [["shop", "pipeline", "transformation pipeline · last run success"]] == found
    page.ask("document.querySelector('[data-part=tests]').click()")
    page.wait("location.hash === '#/graph?show=pipelines'")
    assert "unique:id" not in [each[0] for each in page.ask(nodes)]
    folders = page.ask(
        "Rocky.folderGraph({ parts: new Set(['tests']), whole: true, label: 'x' })"
        ".nodes.filter((node) => node.kind === 'test').map((node) => [node.name, node.words])"
    )
    assert [["2 tests", "of models · 1 warned, 1 passed"]] == folders, "one box for all of a folder"


def test_the_layout_of_a_graph_is_computed_once(browser, server):
    page = visit(browser, server)
    same = "(() => { const made = () => Rocky.layered([[9, 9], [9, 9], [9, 9]], [[0, 1], [1, 2]], 0); return made() === made(); })()"
    assert page.ask(same)
    assert page.ask(
        "Rocky.layered([[9, 9], [9, 9]], [[0, 1]], 0) !== Rocky.layered([[9, 9], [9, 9]], [[1, 0]], 0)"
    )


def test_a_box_shows_its_columns_and_the_way_of_the_chosen_one_both_ways(browser, server):
    page = visit(browser, server)
    show(page, "table/stg_orders")
    view = "document.querySelector('.graph').parentNode.querySelector('.graph').rockyView"
    page.wait(f"{view}.columns.isOpen")
    page.ask("document.querySelector('canvas').focus()")
    said = "document.querySelector('#graph-said').textContent"
    page.ask(f"{view}.stepColumn(1)")
    page.wait(f"{said}.startsWith('id, bigint')")
    page.ask(f"{view}.stepColumn(1)")
    page.wait(f"{said}.startsWith('country, string')")
    lit = page.ask(
        f"[...{view}.columns.lit.rows].map((each) => each.split(' ').map(Number))"
        f".map(([box, row]) => {view}.nodes[box].name + '.' + {view}.columns.byNode[box][row].name)"
    )
    assert {"raw.orders.country", "stg_orders.country", "large.country"} <= set(lit)
    assert "raw.orders.id" not in lit
    page.ask(f"{view}.columns.toggle()")
    page.wait(f"!{view}.columns.isOpen")


def test_boxes_open_their_columns_when_one_zooms_in_and_close_when_out(browser, server):
    page = visit(browser, server)
    show(page, "graph")
    view = "document.querySelector('.graph').rockyView"
    page.wait(f"{view}.wide > 300")
    assert not page.ask(f"{view}.columns.isOpen")
    page.ask(f"{view}.zoom(1.5 / {view}.scale)")
    page.wait(f"{view}.columns.isOpen")
    page.ask(f"{view}.zoom(0.5 / {view}.scale)")
    page.wait(f"!{view}.columns.isOpen")


def test_who_may_read_is_told_as_it_is_declared_and_claims_as_they_are(browser, server):
    page = visit(browser, server)
    show(page, "governance")
    assert "No catalogue is governed here" in page.text("main")
    show(page, "state")
    assert "No run of this machine holds a table now" in page.text("main")


def test_a_column_is_followed_to_all_it_reaches_and_to_another(browser, server):
    page = visit(browser, server)
    show(page, "reach?from=raw.orders.country")
    assert "by_country" in page.text("main")
    show(page, "reach?from=raw.orders.id&to=stg_orders.id")
    assert "2 columns on the way" in page.text("main")
    show(page, "reach?from=raw.orders.id&to=alone.one")
    assert "No value of raw.orders.id gets to alone.one" in page.text("main")
    show(page, "reach?from=raw.orders.country")
    page.ask("document.querySelector('input[list=all-fates]').value = 'dropped'")
    page.ask("document.querySelector('form.choices').requestSubmit()")
    page.wait("document.querySelector('.verdict') !== null")
    assert "1 model would break with country gone" in page.text("main")
    assert "models/stg_orders.sql:" in page.text("main")
    assert "#/table/stg_orders" in page.ask("document.querySelector('.verdict ~ ul a').hash")
    show(page, "reach?from=raw.orders.country&becomes=strng")
    assert "strng is not a Spark type" in page.text("main")


def test_a_run_is_shown_in_time_with_why_and_compared_with_the_one_before(browser, server):
    page = visit(browser, server)
    show(page, "run/latest")
    text = page.text("main")
    assert "reused" in text
    assert "In time" in text
    assert page.ask("document.querySelectorAll('.gantt li').length") > 2
    show(page, "runs")
    page.ask(
        "[...document.querySelectorAll('a')].find((each) => each.textContent === 'with the one before').click()"
    )
    page.wait("document.querySelector('h1').textContent === 'Two runs compared'")
    differs = page.ask(
        "[...document.querySelectorAll('main td[data-label=Differs]')].map((each) => each.innerText)"
    )
    assert {"nothing"} == set(filter(None, differs))


def test_rows_are_shown_on_demand_and_classified_values_are_hidden(browser, server):
    page = visit(browser, server)
    show(page, "table/stg_orders")
    page.ask(
        "[...document.querySelectorAll('button')].find((each) => each.textContent === 'Show 20 rows').click()"
    )
    page.wait("document.querySelector('[aria-label=Rows]') !== null")
    rows = page.text("[aria-label=Rows]")
    assert "1" in rows
    assert "DE" not in rows
    assert "country (pii)" in page.text("#s-rows ~ div")


def test_evidence_is_verified_and_each_file_can_be_checked_by_anybody(browser, server):
    page = visit(browser, server)
    show(page, "evidence")
    page.ask(
        "[...document.querySelectorAll('button')].find((each) => each.textContent === 'Verify now').click()"
    )
    page.wait("document.querySelector('.verdict') !== null")
    assert "unchanged and agree" in page.text(".verdict")
    show(page, "evidence/latest")
    assert "b3sum --check" in page.text("main")


def test_the_page_follows_a_save_and_a_run_without_being_loaded_again(browser, shop, server):
    page = visit(browser, server)
    show(page, "tables")
    page.ask("window.same = true")
    shop.write("models/fresh.sql", "SELECT id FROM stg_orders")
    page.wait("document.querySelector('main').textContent.includes('fresh')")
    show(page, "runs")
    before = len(shop.records())
    page.ask("document.querySelector('form.choices button').click()")
    page.wait("document.querySelectorAll('[aria-label=Runs] tbody tr').length > " + str(before))
    assert before + 1 == len(shop.records())
    assert page.ask("window.same")
    (shop.root / "models/fresh.sql").unlink()
    assert [] == page.complaints()


EVIL = """<!doctype html><title>evil</title><script>
window.tried = (async () => {
  const own = 'http://127.0.0.1:%d';
  const said = [];
  const attempt = async (name, act) => {
    try { said.push([name, await act()]); } catch { said.push([name, 'refused']); }
  };
  await attempt('fetch', async () => (await fetch(own + '/api/v1/project', { credentials: 'include' })).text());
  await attempt('blind', async () => (await fetch(own + '/api/v1/project', { mode: 'no-cors', credentials: 'include' })).text());
  await attempt('post', async () => (await fetch(own + '/api/v1/actions/run', { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{}' })).text());
  await attempt('json', async () => (await fetch(own + '/api/v1/actions/run', { method: 'POST', credentials: 'include', headers: { 'Content-Type': 'application/json' }, body: '{}' })).text());
  await attempt('events', () => new Promise((yes) => { const e = new EventSource(own + '/api/v1/events', { withCredentials: true }); e.onopen = () => yes('open'); e.onerror = () => { e.close(); yes('refused'); }; }));
  await attempt('script', () => new Promise((yes) => { const s = document.createElement('script'); s.src = own + '/app.js'; s.onload = () => yes('loaded'); s.onerror = () => yes('refused'); document.head.append(s); }));
  await attempt('frame', () => new Promise((yes) => { const f = document.createElement('iframe'); f.src = own + '/'; f.onload = () => { try { yes(f.contentDocument.body.textContent || 'refused'); } catch { yes('refused'); } }; document.body.append(f); }));
  return said;
})();
</script><form id="form" method="post" action="http://127.0.0.1:%d/api/v1/actions/run" target="there"><input name="select" value="+all"></form><iframe name="there"></iframe>"""


def test_a_malicious_page_in_the_same_browser_gets_nothing_and_does_nothing(browser, shop, server):
    visit(browser, server)
    before = len(shop.records())
    jobs = server.jobs.report().job

    class Evil(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = (EVIL % (server.server_port, server.server_port)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    evil = ThreadingHTTPServer(("127.0.0.1", 0), Evil)
    thread = threading.Thread(target=evil.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        page = browser.open_page()
        # Another site, and the same site on another port, to which browsers send cookies.
        for host in ("localhost", "127.0.0.1"):
            page.visit(f"http://{host}:{evil.server_port}/")
            found = dict(page.ask("window.tried"))
            assert set(found) == {"fetch", "blind", "post", "json", "events", "script", "frame"}
            assert {"refused", ""} >= set(found.values()), found
            page.ask("document.getElementById('form').submit()")
            page.ask("new Promise((done) => setTimeout(done, 300))")
        # By a name that leads here, as after a rebinding.
        page.visit(f"http://rebound.localhost:{server.server_port}/?token={server.guard.token}")
        assert "not the host" in page.text("body")
    finally:
        evil.shutdown()
        thread.join()
        evil.server_close()
    assert before == len(shop.records())
    assert jobs == server.jobs.report().job


def test_checks_say_that_rocky_test_records_nothing(browser, tmp_path, monkeypatch):
    shop = OpenShop(tmp_path, monkeypatch)
    shop.write("models/stg_orders.toml", TESTS)
    run(shop.workspace, RunRequest())
    testing.test(shop.workspace, testing.TestRequest())
    with serving(shop.workspace) as server:
        page = visit(browser, server)
        show(page, "checks")
        assert [] == [each for run in shop.records() for each in run.check_outcomes]
        assert (
            "No test or check is recorded in 1 run. rocky build, rocky run --test and pipelines"
            " record theirs, rocky test tells its caller alone."
        ) == page.text("main .verdict")


def test_no_name_or_text_of_a_hostile_project_acts(browser, tmp_path):
    with serving(open_project(tmp_path, HOSTILE)) as server:
        page = visit(browser, server)
        page.ask("window.owned = () => { window.wasOwned = true; }; true")
        names = page.ask("Rocky.store.index.tables.map((table) => table.name)")
        assert {"<b>bold", "__proto__"} <= set(names)
        routes = [
            "",
            "tables",
            "graph?overlay=governance",
            "graph?overlay=replay",
            "findings",
            "governance",
            "checks",
            "runs",
            "state",
        ]
        routes += [
            page.ask(f"Rocky.store.tableLink(Rocky.store.named({json.dumps(name)})).slice(2)")
            for name in names
        ]
        routes.append(
            "reach?from=" + page.ask("encodeURIComponent('<b>bold.<img src=x onerror=owned()>')")
        )
        routes.append("branch/" + page.ask("encodeURIComponent('<img src=x onerror=owned()>')"))
        for route in routes:
            show(page, route)
            assert 0 == page.ask(
                "document.querySelectorAll('main script, main img, main iframe, main svg[onload]').length"
            )
            assert [] == page.ask(
                "[...document.querySelectorAll('a')].map((each) => each.getAttribute('href')).filter((href) => !href.startsWith('#'))"
            )
        assert page.ask("window.wasOwned === undefined && ({}).polluted === undefined")
        refused = [
            each
            for each in page.complaints()
            if "Content Security Policy" in each or "exception" in each.lower()
        ]
        assert [] == refused
