"""The tutorial with three roles, and the questions of an audit: what the pages show is what happens."""

import re
import shlex
from pathlib import Path

import pytest

from tests.architecture.console import ROOT

PAGE = ROOT / "docs" / "tutorial" / "three-roles.md"
GUIDE = ROOT / "docs" / "guides" / "comply.md"
FENCE = re.compile(
    r"```(?P<kind>toml|sql|csv|console)(?P<name>[^\n]*)\n(?P<text>.*?)```", re.DOTALL
)
SPARK = re.compile(r"<!-- spark -->.*?<!-- end of spark -->", re.DOTALL)


def write_block(root: Path, name: str, text: str) -> None:
    """Write a file of the page; `more` goes to the end of what is there."""
    file, _, more = name.strip().partition(" ")
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text((path.read_text() if more else "") + text)


def command_of(line: str) -> tuple[str | None, list[str]]:
    """The person and the arguments of a line of a console block."""
    words = shlex.split(line.removeprefix("$ "))
    who = words.pop(0).partition("=")[2] if words[0].startswith("ROCKY_IDENTITY=") else None
    assert words[0] == "rocky"
    return who, words[1:]


def replayed(page: str, root: Path, rocky) -> str:
    """The page with what its commands print; files are written as they come."""

    def shown(found: re.Match[str]) -> str:
        if found["kind"] != "console":
            if found["name"].strip():
                write_block(root, found["name"], found["text"])
            return found.group()
        lines = []
        for line in found["text"].splitlines():
            if line.startswith("$ "):
                answer = rocky(*command_of(line)[1])
                said = (answer.out + answer.err).replace(str(root), "...").rstrip()
                lines += [line, *(each.rstrip() for each in said.splitlines())]
        return "```console\n" + "\n".join(lines) + "\n```"

    return FENCE.sub(shown, page)


@pytest.fixture
def text_rocky(rocky, monkeypatch):
    monkeypatch.setenv("ROCKY_OUTPUT", "table")
    return rocky


@pytest.mark.slow
def test_what_the_tutorial_with_three_roles_shows_is_what_happens(text_rocky, tmp_path, bless):
    page = PAGE.read_text()
    (spark,) = SPARK.findall(page)
    before, after = page.split(spark)
    expected = replayed(before, tmp_path, text_rocky) + spark + after
    if bless:
        PAGE.write_text(expected)

    assert expected == PAGE.read_text()


def test_each_question_of_an_audit_is_answered_by_one_command(text_rocky, tmp_path):
    for block in FENCE.finditer(SPARK.sub("", PAGE.read_text())):
        if block["kind"] != "console" and "known" not in block["name"]:
            write_block(tmp_path, block["name"], block["text"])
    rows = re.findall(
        r"^\| ([^|]+\?) \| `(rocky [^`]+)` \| `([^`]+)` \|", GUIDE.read_text(), re.MULTILINE
    )

    assert len(rows) >= 6
    for question, command, part in rows:
        answer = text_rocky(*command_of(command)[1])
        assert 0 == answer.code, (question, answer.err)
        assert part in answer.out + answer.err, (question, answer.out)
