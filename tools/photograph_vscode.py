"""Take the pictures of VS Code anew: `python tools/photograph_vscode.py`. Needs Chromium, no Spark.

What `make vscode vscode-server` makes must be there.
"""

import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import pytest  # noqa: E402 - found by the line above

from tests.branches.shops import BranchShop, enter_shop  # noqa: E402
from tests.editors.code import Editor, serve_code  # noqa: E402
from tests.servers.browser import open_browser  # noqa: E402
from tools.photograph_page import make_shop  # noqa: E402

FOLDER = ROOT / "docs" / "pictures"
MOST_BYTES = 150_000
SHOTS = {
    "vscode": ("governance", {}),
    "vscode-dark": ("replay", {"workbench.colorTheme": "Dark Modern"}),
}
"""The overlay that is on, and the settings."""


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patch:
        root = Path(scratch) / "shop"
        root.mkdir()
        enter_shop(root, patch)
        patch.setenv("UNITY_TOKEN", "none")
        patch.setenv("LOGNAME", "eve")
        make_shop(BranchShop(root))
        profile, home = Path(scratch) / "profile", Path(scratch) / "code"
        with serve_code(home, environment=os.environ) as server, open_browser(profile) as browser:
            for name, (overlay, settings) in SHOTS.items():
                server.configure(settings)
                editor = Editor(browser.open_page(width=1200, height=760))
                editor.visit(server.link(root, root / "models/marts/revenue.sql"))
                _take(editor, overlay, FOLDER / f"{name}.png")


def _take(editor: Editor, overlay: str, path: Path) -> None:
    editor.wait_for('[id="rocky-spark.rocky.rocky.status"]', "Rocky")
    editor.command("View: Show Rocky")
    editor.wait_for(".sidebar", "stg_customers")
    editor.command("Rocky: Show Lineage")
    editor.wait_panel("page.querySelector('.graph')?.rockyView.wide")
    editor.panel(
        f"page.querySelector('[data-overlay={overlay}][aria-pressed=false]')?.click() || true"
    )
    editor.wait_panel("page.querySelector('.overlay-legend code')")
    editor.page.ask("new Promise((done) => setTimeout(done, 1500))")
    editor.page.picture(path)
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise SystemExit(f"{path.name} has {size} bytes, which is more than {MOST_BYTES}")
    print(f"{path.name} {size}")


if __name__ == "__main__":
    main()
