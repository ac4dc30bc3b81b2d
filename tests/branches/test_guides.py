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


def assert_happens(walk: Walk, name: str, *, bless: bool) -> None:
    page = GUIDES / f"{name}.md"
    happened = walk.page(page.read_text())
    if bless:
        page.write_text(happened)
    assert masked(happened) == masked(page.read_text())


def test_every_line_of_the_guides_of_branches_prints_what_they_show(walk, bless):
    assert_happens(walk, "branches", bless=bless)
    # It goes on where the first ends.
    assert_happens(walk, "promote", bless=bless)


def test_every_line_of_the_audit_prints_what_the_guide_shows(walk, bless):
    assert_happens(walk, "audit-a-change", bless=bless)
