"""A VS Code and a browser, started once, and windows that know nothing of each other."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from rocky.operations.migration.template import PlaygroundRequest, playground
from tests.editors.code import PACKAGE, SERVER, CodeServer, Editor, serve_code
from tests.servers.browser import Browser, open_browser


@pytest.fixture(scope="session")
def server(tmp_path_factory) -> Iterator[CodeServer]:
    if not (SERVER.exists() and PACKAGE.exists()):
        said = "needs the extension and a VS Code: make vscode vscode-server"
        assert not os.environ.get("ROCKY_EDITORS"), said
        pytest.skip(said)
    with serve_code(tmp_path_factory.mktemp("code")) as running:
        yield running


@pytest.fixture(scope="session")
def browser(tmp_path_factory) -> Iterator[Browser]:
    with open_browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="module")
def shop(tmp_path_factory) -> Path:
    """The playground, committed."""
    root = tmp_path_factory.mktemp("project") / "shop"
    playground(PlaygroundRequest(root))
    environment = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull}
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "the shop"]):
        who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
        subprocess.run(["git", *who, *words], cwd=root, check=True, env=environment)
    return root


@pytest.fixture
def opened(browser, server) -> Iterator[Callable[..., Editor]]:
    """Opens a window of its own, with settings of its own, until the test ends."""
    # A window that stays open keeps its servers, and whoever comes next waits for them.
    with ExitStack() as windows:

        def make(folder: Path, file: Path | None = None, **settings: Any) -> Editor:
            server.configure({name.replace("__", "."): value for name, value in settings.items()})
            return windows.enter_context(open_window(browser, server, folder, file))

        yield make
    server.configure({})


@pytest.fixture(scope="module")
def editor(browser, server, shop) -> Iterator[Editor]:
    """The editor with `fct_revenue` open, and a project that is served."""
    with open_window(browser, server, shop, shop / "models/marts/fct_revenue.sql") as editor:
        editor.wait_for(".monaco-editor .view-line", "WITH")
        editor.wait_served()
        yield editor


@pytest.fixture
def lineage(editor) -> Editor:
    """The editor with the lineage of `fct_revenue` in its panel."""
    editor.show_lineage("fct_revenue")
    return editor


@contextmanager
def open_window(
    browser: Browser, server: CodeServer, folder: Path, file: Path | None
) -> Iterator[Editor]:
    # Apart: an editor restores what was open, and where one was in it.
    editor = Editor(browser.open_page(width=1440, height=900, apart=True))
    server.windows.add(editor)
    try:
        editor.visit(server.link(folder, file))
        yield editor
    finally:
        editor.page.close()
        server.windows.remove(editor)
