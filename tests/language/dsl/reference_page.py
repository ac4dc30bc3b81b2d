"""The examples of the language's reference page: its tables, and each pipeline with the SQL beside it."""

import re
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parents[3] / "docs/reference/dsl.md"
_BLOCK = re.compile(r"^```(rocky|sql)(?: (\w+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Example(NamedTuple):
    """A pipeline, SQL that gives the same rows, and whether their order counts."""

    pipeline: str
    sql: str
    ordered: bool


def tables() -> dict[str, str]:
    """The queries that make the tables the examples read."""
    return {
        name: text
        for kind, name, text in _BLOCK.findall(PAGE.read_text())
        if kind == "sql" and name not in ("", "ordered")
    }


def examples() -> list[Example]:
    """Every pipeline of the page. Raises AssertionError for one without SQL behind it."""
    blocks = [each for each in _BLOCK.findall(PAGE.read_text()) if each[1] in ("", "ordered")]
    found: list[Example] = []
    for index, (kind, _, text) in enumerate(blocks):
        if kind == "rocky":
            after, note, sql = blocks[index + 1]
            assert after == "sql", text
            found.append(Example(text, sql, note == "ordered"))
    return found
