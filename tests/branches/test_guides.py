"""What the guides of branches and of audits show is what happens: every line of them is typed."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.branches.walks import Walk, masked

GUIDES = Path(__file__).parents[2] / "docs" / "guides"

pytestmark = pytest.mark.skipif(shutil.which("sqlite3") is None, reason="needs sqlite3")


@pytest.fixture
def walk(tmp_path, monkeypatch) -> Iterator[Walk]:
    found = Walk(tmp_path, monkeypatch)
    yield found
    found.close()


@pytest.mark.parametrize("name", ["audit-a-change"])
def test_every_line_of_a_guide_prints_what_the_guide_shows(walk, name, bless):
    page = GUIDES / f"{name}.md"
    happened = walk.page(page.read_text())
    if bless:
        page.write_text(happened)

    assert masked(happened) == masked(page.read_text())
