"""Models on disk: one `.sql` file each, with an optional sidecar or front matter.

`sql` is what the compiler reads; with front matter it starts inside the file, so a span in
the file is a span in `sql` moved by `sql_offset`. A model whose own files cannot be used
still exists, so that its readers are not told it is unknown: it is *blocked*.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from rocky.diagnostics import Code
from rocky.project.assertions import AssertionRecord
from rocky.project.lint_levels import Level
from rocky.project.settings import Freshness, ModelSettings
from rocky.project.strategies import FullRefresh, Strategy
from rocky.source import Span


class Target(NamedTuple):
    """The table a model is written to."""

    catalog: str
    schema: str
    table: str

    @property
    def full_name(self) -> str:
        return f"{self.catalog}.{self.schema}.{self.table}"

    @property
    def key(self) -> str:
        """The full name as Spark compares it."""
        return self.full_name.lower()


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model as it stands on disk, with its settings resolved.

    `settings_path` is the file its own settings are in (None without any) and
    `settings_start` where the TOML begins in it. The hashes are BLAKE3 digests: of the
    file's bytes, and of everything in TOML that has a say in this model.
    """

    name: str
    path: str
    text: str
    sql: str
    sql_offset: int
    target: Target
    settings: ModelSettings
    pipeline: str | None
    settings_path: str | None
    settings_start: int
    text_hash: bytes
    settings_hash: bytes

    @property
    def key(self) -> str:
        """The name as Spark compares it."""
        return self.name.lower()

    @property
    def strategy(self) -> Strategy:
        return self.settings.strategy or _DEFAULT_STRATEGY

    @property
    def depends_on(self) -> tuple[str, ...]:
        return self.settings.depends_on

    @property
    def tags(self) -> Mapping[str, str]:
        return self.settings.tags

    @property
    def intent(self) -> str | None:
        return self.settings.intent

    @property
    def freshness(self) -> Freshness | None:
        return self.settings.freshness

    @property
    def tests(self) -> tuple[AssertionRecord, ...]:
        return self.settings.tests

    @property
    def classification(self) -> Mapping[str, str]:
        return self.settings.classification

    @property
    def lints(self) -> Mapping[Code, Level]:
        return self.settings.lints

    def place_in_file(self, span: Span) -> Span:
        """A span of `sql` as a span of the file."""
        return Span(span.start + self.sql_offset, span.end + self.sql_offset)


_DEFAULT_STRATEGY: Final = FullRefresh()


class FrontMatter(NamedTuple):
    """The TOML at the top of a model and where it and the SQL begin; `end` None: not closed."""

    start: int
    end: int | None
    sql_start: int


_OPEN: Final = re.compile(r"\s*---[ \t]*toml[ \t]*\r?\n")
_CLOSE: Final = re.compile(r"^---[ \t]*\r?(?:\n|\Z)", re.MULTILINE)


def find_front_matter(text: str) -> FrontMatter | None:
    """Where the front matter of a model is, if its text begins with one."""
    opened = _OPEN.match(text)
    if opened is None:
        return None
    closed = _CLOSE.search(text, opened.end())
    if closed is None:
        return FrontMatter(opened.end(), None, len(text))
    return FrontMatter(opened.end(), closed.start(), closed.end())
