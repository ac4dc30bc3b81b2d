"""The page over a large project, in Chromium: until it answers, is seen, and is moved.

Prints the start of the server, the first answer, the first picture of the graph of all tables, and
the frames a second while it is dragged and zoomed, with an overlay on.
"""

import argparse
import gzip
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT.parent))

from tests.servers.browser import Page, open_browser  # noqa: E402 - beside the benchmarks

DRAGGED = """(async () => {
  const canvas = document.querySelector('canvas');
  const view = document.querySelector('.graph').rockyView;
  const times = [];
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
  times.sort((a, b) => a - b);
  return [times[45], times[85]];
})()"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=10_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as profile:
        generate = [sys.executable, str(ROOT / "generate.py"), "--models", str(given.models)]
        subprocess.run([*generate, folder], check=True, stdout=subprocess.DEVNULL)
        rocky = [sys.executable, "-m", "rocky.cli"]
        subprocess.run(
            [*rocky, "compile", "-c", folder, "-q"], check=False, stdout=subprocess.DEVNULL
        )
        begun = time.perf_counter()
        with subprocess.Popen(
            [*rocky, "ui", "--no-open", "-c", folder], stdout=subprocess.PIPE, text=True
        ) as server:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            print(f"address printed        {(time.perf_counter() - begun) * 1000:7.0f} ms")
            try:
                with open_browser(Path(profile)) as browser:
                    _look(browser.open_page(), address, begun)
            finally:
                server.terminate()
    assets = [*(ROOT.parent / "src/rocky/operations/page/assets").glob("*.js"),
              *(ROOT.parent / "src/rocky/web/assets").glob("*.js")]  # fmt: skip
    size = sum(len(gzip.compress(each.read_bytes(), 9)) for each in assets)
    print(f"all scripts, gzipped   {size / 1000:7.1f} kB")
    return 0


def _look(page: Page, address: str, begun: float) -> None:
    page.visit(address)
    page.wait("document.querySelector('.pages a') !== null")
    print(f"page shown, all cold   {(time.perf_counter() - begun) * 1000:7.0f} ms")
    drawn = (
        "(() => { const view = document.querySelector('.graph')?.rockyView;"
        " return view && view.wide && !view.waits; })()"
    )
    for name, route in (("folders", "#/graph"), ("all tables", "#/graph?all")):
        start = time.perf_counter()
        page.ask(f"location.hash = '{route}'")
        page.wait(drawn)
        page.ask("new Promise(requestAnimationFrame)")
        print(f"graph of {name:13} {(time.perf_counter() - start) * 1000:7.0f} ms")
    page.visit("about:blank")
    start = time.perf_counter()
    page.visit(f"{address.partition('?')[0]}#/graph?all")
    page.wait(drawn)
    print(f"loaded again, warm     {(time.perf_counter() - start) * 1000:7.0f} ms")
    for words in ("moved", "with an overlay"):
        middle, slow = page.ask(DRAGGED)
        print(f"{words:22} {middle:7.1f} ms a frame (95th of 100: {slow:.1f})")
        if words == "moved":
            page.ask("document.querySelector('[data-overlay=replay]').click()")
        page.wait("document.querySelector('.overlay-legend .legend') !== null")


if __name__ == "__main__":
    sys.exit(main())
