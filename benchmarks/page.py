"""The page over a large project, in Chromium: until it answers, is seen, and is moved.

The browser is started before the server, so that only what is ours is timed: the address, the frame
of the page, the first view, the graph of all tables, and frames while it is dragged and zoomed,
with an overlay on. Times are of the wall; beside them the CPU that the server and the page's own
thread have used until then, which says more on a machine that has other things to do. What becomes
of the questions of other views is told in CPU alone.
"""

import argparse
import gzip
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT.parent))

from tests.servers.browser import Browser, Page, open_browser  # noqa: E402 - beside the benchmarks

OVERLAYS = ("drift", "replay", "governance", "breaking")
ROCKY = (sys.executable, "-m", "rocky.cli")
DRAGGED = """(async () => {
  const view = document.querySelector('.graph').rockyView;
  const times = [];
  const paint = view.paint.bind(view);
  let spent = 0;
  view.paint = () => {
    const from = performance.now();
    paint();
    spent += performance.now() - from;
  };
  let last = performance.now();
  for (let at = 0; at < 90; at += 1) {
    if (at % 3 === 2) view.zoom(at < 45 ? 1.06 : 1 / 1.06);
    else { view.x += at % 2 ? 14 : -9; view.y += 3; view.moved = true; view.draw(); }
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    times.push((now - last) / 2);
    last = now;
  }
  delete view.paint;
  times.sort((a, b) => a - b);
  return [times[45], times[85], spent / 90];
})()"""
DRAWN = (
    "(() => { const view = document.querySelector('.graph')?.rockyView;"
    " return view && view.wide && !view.waits; })()"
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=10_000)
    parser.add_argument("--starts", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as profile:
        generate = [sys.executable, str(ROOT / "generate.py"), "--models", str(given.models)]
        subprocess.run([*generate, folder], check=True, stdout=subprocess.DEVNULL)
        compiled = [*ROCKY, "compile", "-c", folder, "-q"]
        subprocess.run(compiled, check=False, stdout=subprocess.DEVNULL)
        begun = time.perf_counter()
        with open_browser(Path(profile)) as browser:
            browser.open_page().ask("1")
            print(f"the browser alone      {(time.perf_counter() - begun) * 1000:7.0f} ms")
            for number in range(given.starts):
                _start(browser, folder, last=number + 1 == given.starts)
    assets = [*(ROOT.parent / "src/rocky/operations/page/assets").glob("*.js"),
              *(ROOT.parent / "src/rocky/web/assets").glob("*.js")]  # fmt: skip
    size = sum(len(gzip.compress(each.read_bytes(), 9)) for each in assets)
    print(f"all scripts, gzipped   {size / 1000:7.1f} kB")
    return 0


def _start(browser: Browser, folder: str, *, last: bool) -> None:
    page = browser.open_page()
    page.send("Performance.enable", timeDomain="threadTicks")
    begun = time.perf_counter()
    with subprocess.Popen(
        [*ROCKY, "ui", "--no-open", "-c", folder],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()

        def said(words: str) -> None:
            spent = (time.perf_counter() - begun) * 1000
            print(
                f"{words:22} {spent:7.0f} ms, CPU of the server {_cpu(server.pid):5.2f} s,"
                f" of the page {_thread(page):5.2f} s"
            )

        said("address printed")
        try:
            page.send("Page.navigate", url=address)
            page.wait("document.querySelector('.pages a') !== null")
            said("frame seen")
            page.wait("document.querySelector('main h1') !== null")
            said("first view seen")
            painted = page.ask(
                "performance.getEntriesByName('first-contentful-paint')[0]?.startTime || 0"
            )
            print(f"first contentful paint {painted:7.0f} ms after the browser was sent there")
            if last:
                _look(page, address)
                _ask(page, server.pid)
            else:
                # A person stays: the index is kept for the next start.
                page.ask("new Promise((done) => setTimeout(done, 3000))")
        finally:
            server.terminate()


def _cpu(process: int) -> float:
    """Seconds of CPU that a process has used; nothing where the system does not say."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _thread(page: Page) -> float:
    """Seconds of CPU that the page's thread has used for this document: script, layout, paint."""
    found = page.send("Performance.getMetrics")["metrics"]
    return next(float(each["value"]) for each in found if each["name"] == "TaskDuration")


def _ask(page: Page, process: int) -> None:
    """The questions behind the views, over the server: the CPU of each, and that of asking again.

    What is kept would answer for itself, so the second asks for something else of the same kind.
    """
    index = page.ask("fetch('/api/v1/project').then((found) => found.json())")
    models = [each["name"] for each in index["tables"] if each["kind"] == "model"]
    for words, first, then in (
        ("reach of a column", "path?from=raw.table_0.price", "path?from=raw.table_0.quantity"),
        ("reach of another table", "path?from=raw.table_1.price", "path?from=raw.table_1.status"),
        (
            "way between two",
            f"path?from=raw.table_2.price&to={models[-1]}.gross_amount",
            f"path?from=raw.table_2.price&to={models[-2]}.gross_amount",
        ),
        ("lineage of a source", "lineage?target=raw.table_3", "lineage?target=raw.table_4"),
        ("why", f"why?model={models[-1]}", f"why?model={models[-2]}"),
        ("details of tables", "details?part=3", "details?part=4"),
        *((f"overlay {each}", f"overlay?name={each}", "") for each in OVERLAYS),
        ("readers", "readers", ""),
        ("state", "state", ""),
        ("compliance", "compliance", ""),
    ):
        told = []
        for address in filter(None, (first, then)):
            before = _cpu(process)
            status = page.ask(
                f"fetch('/api/v1/{address}').then((found) => found.text().then(() => found.status))"
            )
            told.append(f"{_cpu(process) - before:5.2f} s ({status})")
        print(f"{words:22} CPU of the server {', then '.join(told)}")


def _look(page: Page, address: str) -> None:
    for name, route in (("folders", "#/graph"), ("all tables", "#/graph?all")):
        start, before = time.perf_counter(), _thread(page)
        page.ask(f"location.hash = '{route}'")
        page.wait(DRAWN)
        page.ask("new Promise(requestAnimationFrame)")
        spent = (time.perf_counter() - start) * 1000
        print(
            f"graph of {name:13} {spent:7.0f} ms, CPU of the page {_thread(page) - before:5.2f} s"
        )
    # A person looks at it: where the boxes are is kept meanwhile.
    page.ask("new Promise((done) => setTimeout(done, 3000))")
    page.visit("about:blank")
    start = time.perf_counter()
    page.visit(f"{address.partition('?')[0]}#/graph?all")
    page.wait(DRAWN)
    spent = (time.perf_counter() - start) * 1000
    print(f"loaded again, all      {spent:7.0f} ms, CPU of the page {_thread(page):5.2f} s")
    for words in ("moved", "with an overlay"):
        found = [page.ask(DRAGGED) for _ in range(5)]
        middle, slow, own = (statistics.median(each) for each in zip(*found, strict=True))
        low, high = min(each[0] for each in found), max(each[0] for each in found)
        print(
            f"{words:22} {middle:7.1f} ms a frame, of 5 times {low:.1f} to {high:.1f}"
            f" (95th of 100: {slow:.1f}; our script {own:.1f})"
        )
        if words == "moved":
            page.ask("document.querySelector('[data-overlay=replay]').click()")
            page.wait("document.querySelector('.overlay-legend .legend') !== null")


if __name__ == "__main__":
    sys.exit(main())
