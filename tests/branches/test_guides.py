"""What the guides of branches and of audits show is what happens: every line of them is typed."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.branches.walks import Walk, masked

ROOT = Path(__file__).parents[2]
GUIDES = ROOT / "docs" / "guides"
HASH = re.compile(r"\b[0-9a-f]{64}\b")
# Commands of the audit whose last hashes are the same: what is recorded, and what is computed.
SAME = [
    ("-> 'state'\" | head", "'state_hash' FROM promotions", "s ->> 'state_hash'"),
    ("'to_content' AS to_content", "t.value ->> 'content'", 'b3sum --no-names "$FILE"'),
    (
        "fct_revenue.recipe_hash'",
        "'recipe_hash' FROM input_provenance",
        "'model_ir_canonical_json' FROM input_provenance",
    ),
    ("state.contracts.fct_revenue", 'contracts/fct_revenue.contract.toml" | b3sum'),
    ("state.config_hash", 'rocky.toml" | b3sum'),
    ('b3sum --no-names "$LOG"', "'$.commits'"),
    ("SELECT value FROM promotions", "'value_hash' FROM evidence_chain"),
    ("json_remove(value, '$.entry_hash')", "value ->> 'previous' FROM"),
]

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


@pytest.mark.slow
def test_every_line_of_the_guides_of_branches_prints_what_they_show(walk, bless):
    assert_happens(walk, "branches", bless=bless)
    # It goes on where the first ends.
    assert_happens(walk, "promote", bless=bless)


@pytest.mark.slow
def test_every_line_of_the_audit_prints_what_the_guide_shows(walk, tmp_path, bless):
    shutil.copy(ROOT / "tools" / "verify_run.py", tmp_path)

    assert_happens(walk, "audit-a-change", bless=bless)

    for commands in SAME:
        found = {HASH.findall(walk.printed(each))[-1] for each in commands}
        assert (commands, 1) == (commands, len(found))
    assert "0 findings" in walk.printed("verify_run.py")


@pytest.mark.slow
def test_every_line_of_the_audit_by_seals_prints_what_the_guide_shows(walk, tmp_path, bless):
    shutil.copy(ROOT / "tools" / "verify_run.py", tmp_path)

    assert_happens(walk, "audit-by-seals", bless=bless)
