"""The corpus: queries over the shop's tables and what Spark says about each.

`queries/` holds what Spark accepts, `refused/` what it does not, one family a file and one
`-- query: name` block a query; the answers lie beside them under the same names, written by
`tools/record_corpus.py` and never by hand.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parent
ACCEPTED = CORPUS / "queries"
REFUSED = CORPUS / "refused"
ANSWERS = CORPUS / "answers"

_BLOCK = re.compile(r"^-- (?:query|table): (\S+)[ \t]*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Question:
    """One query of the corpus; `refused` when Spark is known to reject it."""

    family: str
    name: str
    sql: str
    refused: bool

    @property
    def id(self) -> str:
        return f"{self.family}/{self.name}"


def _blocks(path: Path) -> Iterator[tuple[str, str]]:
    pieces = _BLOCK.split(path.read_text(encoding="utf-8"))
    for name, body in zip(pieces[1::2], pieces[2::2], strict=True):
        yield name, body.strip()


@cache
def shop_tables() -> dict[str, str]:
    """The columns of each table, in Spark's DDL."""
    return dict(_blocks(CORPUS / "tables.sql"))


@cache
def questions() -> tuple[Question, ...]:
    """Every query of the corpus, in the order of the files."""
    return tuple(
        Question(path.stem, name, sql, folder is REFUSED)
        for folder in (ACCEPTED, REFUSED)
        for path in sorted(folder.glob("*.sql"))
        for name, sql in _blocks(path)
    )


def by_family(of: Iterable[Question]) -> dict[str, list[Question]]:
    """Questions by the file they stand in."""
    found: dict[str, list[Question]] = {}
    for each in of:
        found.setdefault(each.family, []).append(each)
    return found


@cache
def recorded_answers() -> dict[str, Any]:
    """Spark's answer to each question, by the question's id.

    An answer is a list of [name, type, nullable], the type as in Spark's schema JSON; or, for a
    refused query, {"condition": ...} with "start" and "stop" where Spark points into the query.
    """
    return {
        f"{path.stem}/{name}": answer
        for path in sorted(ANSWERS.glob("*.json"))
        for name, answer in json.loads(path.read_text(encoding="utf-8")).items()
    }


def format_answers(answers: dict[str, Any]) -> str:
    """The text of an answer file: one line a query, so that a diff shows what changed."""
    rows = (
        f"{json.dumps(name)}: {json.dumps(answer, ensure_ascii=False, separators=(',', ':'))}"
        for name, answer in answers.items()
    )
    return "{\n" + ",\n".join(rows) + "\n}\n"
