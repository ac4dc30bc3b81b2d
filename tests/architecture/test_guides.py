"""What a newcomer meets first: indexes that have every page, and install lines that work today."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from rocky.ledger.schema import SCHEMA_VERSION
from tests.architecture.console import README, ROOT

PAGES = [README, *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "src").rglob("*.py"))]
INSTALLS = re.compile(r"pip install\s+(?:-\S+\s+)*['\"]?(?P<what>[^\s'\"`]+)")
ENTRY = re.compile(r"^- \[(.*?)\]\((\w[\w-]*\.md)\): ", re.MULTILINE)
EXTRA = re.compile(r"rocky-spark\[[a-z{}]+\]")
"""Works where Rocky is installed: pip takes what is there, and adds what the extra needs."""
LINKS_AT_MOST = 20
SCREEN = 60
"""Lines that somebody sees of a page before deciding to scroll, a picture counted as thirty."""
SCHEMA = re.compile(r"\(schema (\d+)\)|  schema (\d+)$|state/v(\d+)/", re.MULTILINE)


def installed() -> list[tuple[str, str]]:
    return [
        (page.relative_to(ROOT).as_posix(), found["what"])
        for page in PAGES
        for found in INSTALLS.finditer(page.read_text())
    ]


def test_no_page_installs_from_an_index_that_has_no_rocky():
    wrong = [
        (page, what)
        for page, what in installed()
        if what.startswith("rocky") and not EXTRA.fullmatch(what)
    ]

    assert [] == wrong
    assert {".[java]", "dist/rocky_spark-*.whl"} <= {
        what for page, what in installed() if page == "README.md"
    }


def pip(*arguments: str) -> str:
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout


@pytest.mark.slow
def test_an_extra_is_added_to_the_rocky_that_is_installed():
    assert "Requirement already satisfied: rocky-spark[connect]" in pip("rocky-spark[connect]")


@pytest.mark.slow
def test_a_clone_can_be_installed():
    assert "Would install rocky-spark-" in pip("--no-deps", "--no-build-isolation", ".")


def title_of(page: Path) -> str:
    return page.read_text().partition("\n")[0].removeprefix("# ")


@pytest.mark.parametrize("folder", ["guides", "concepts", "reference"])
def test_an_index_has_every_page_once_under_its_title(folder):
    index = ROOT / "docs" / folder / "README.md"
    pages = {page.name: title_of(page) for page in index.parent.glob("*.md") if page != index}

    listed = ENTRY.findall(index.read_text())

    assert sorted((title, name) for name, title in pages.items()) == sorted(listed)


def test_the_readme_ends_with_a_short_map():
    _, _, last = README.read_text().partition("## Read on\n")

    assert 0 < len(re.findall(r"\]\(", last)) <= LINKS_AT_MOST
    for folder in ("guides", "concepts", "reference", "decisions"):
        assert f"(docs/{folder}/README.md)" in last


def test_the_first_screen_of_the_readme_has_the_commands_the_picture_and_what_one_gets():
    first, _, _ = README.read_text().partition("\n## ")
    lines = first.splitlines()

    assert len(lines) + 30 * len(re.findall(r"^!\[", first, re.MULTILINE)) <= SCREEN
    assert ["$ make demo", "$ make test"] == [
        line.partition("  ")[0] for line in lines if line[:1] == "$"
    ]
    assert 1 == first.count("![")


def test_the_outputs_in_the_guides_have_the_schema_of_today():
    shown = {
        (page.name, int(number))
        for page in (ROOT / "docs" / "guides").glob("*.md")
        for found in SCHEMA.findall(page.read_text())
        for number in found
        if number
    }

    assert {
        ("doctor.md", SCHEMA_VERSION),
        ("state.md", SCHEMA_VERSION),
        ("remote-state.md", SCHEMA_VERSION),
    } == shown
