"""Differences as Markdown, for the comment on a pull request.

Names come from the change that is under review, so none of them may become markup: they stand in
code spans, and in HTML they are escaped. GitHub refuses comments of more than 65,536 characters;
what does not fit is counted, never just left out.
"""

import html
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from rocky.analysis.changes.change import (
    Change,
    Impact,
    TableDiff,
    describe_reach,
    describe_rule,
    group_kinds,
    group_reached,
)
from rocky.diagnostics.render import counted
from rocky.operations.changes.revisions import Difference, describe_sides, describe_verdict

LIMIT: Final = 60_000
_RESERVED: Final = 600
"""Room for what is said of all that did not fit."""
_LONGEST: Final = 160
_REACHED_SHOWN: Final = 40
_ROWS_SHOWN: Final = 100
_TITLES: Final = {
    "breaking": "**Breaking**",
    "uncompared": "**Not all was compared**",
    "warning": "**Changed, nothing breaks**",
    "info": "**Nothing breaks**",
    "affected": "**Affected by changes of other tables**",
    "unchanged": "**Nothing changed**",
}
Item = TypeVar("Item")
_PUNCTUATION: Final = re.compile(r"([\\`*_{}\[\]()#+!|~<>&-])")
_TICKS: Final = re.compile("`+")
_RULER: Final = "|---|---|---|---|---|---|"
_BREAKING_HEAD: Final = f"| table | change | column | before | after | reaches |\n{_RULER}"
_CHANGE_HEAD: Final = f"| impact | change | column | before | after | reaches |\n{_RULER}"


def render_comment(difference: Difference, command: str, *, with_reached: bool) -> str:
    """The comment. Its first line is the same in all, so that a build can find it again."""
    page = _Page()
    verdict = escape_text(describe_verdict(difference))
    page.add(f"<!-- rocky {command} -->\n{_TITLES[difference.verdict]}: {verdict}")
    page.add(f"\n{code_span(describe_sides(difference))}\n")
    for note in difference.notes:
        page.add(f"\nNote: {escape_text(note)}\n")
    if difference.breaking:
        page.add(f"\n{_BREAKING_HEAD}")
        page.add_all(difference.breaking, _breaking_row, "breaking change", LIMIT // 2)
    shown = difference.shown
    blocks: list[TableDiff | Sequence[Change]] = [shown.settings] if shown.settings else []
    blocks += [table for table in shown.tables if table.changes]
    page.add_all(blocks, lambda each: _block(each, with_reached=with_reached), "table")
    if difference.merely_reached:
        page.add_all(
            [difference.merely_reached], _reached_block, "list of tables that are only reached"
        )
    return page.text


class _Page:
    """Text that grows up to a limit."""

    def __init__(self) -> None:
        self.text = ""

    def add(self, block: str) -> None:
        self.text += f"{block}\n"

    def add_all(
        self,
        items: Sequence[Item],
        render: Callable[[Item], str],
        noun: str,
        limit: int = LIMIT - _RESERVED,
    ) -> None:
        """As many as fit, and how many there are more."""
        for index, item in enumerate(items):
            block = render(item)
            if len(self.text) + len(block) > limit:
                rest = counted(len(items) - index, f"more {noun}")
                self.text += f"\nand {rest}: `rocky` prints them all on a terminal\n"
                return
            self.text += f"{block}\n"


def _breaking_row(breaking: tuple[TableDiff | None, Change]) -> str:
    table, change = breaking
    name = table.name if table is not None else "rocky.toml"
    return _row([code_span(name), *_facts(change)])


def _facts(change: Change) -> list[str]:
    words = escape_text(describe_rule(change))
    if change.detail:
        words += f" ({escape_prose(change.detail)})"
    cells = [code_span(each) for each in (change.column, change.before, change.after)]
    return [words, *cells, describe_reach(change)]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _block(changed: TableDiff | Sequence[Change], *, with_reached: bool) -> str:
    """A table, or the settings."""
    if not isinstance(changed, TableDiff):
        return _details("rocky.toml", "settings", _change_table(changed))
    table, parts = changed, []
    if table.base_name is not None and table.base_name != table.name:
        parts.append(f"was {code_span(table.base_name)}")
    parts.append(_change_table(table.changes))
    if with_reached:
        parts += [_reached(change) for change in table.changes if change.reaches]
    return _details(table.name, f"{table.status} {table.kind}", "\n\n".join(parts))


def _reached_block(tables: Sequence[TableDiff]) -> str:
    """The tables that have no change of their own, and whose changes reach them."""
    lines = []
    for table in tables[:_ROWS_SHOWN]:
        by = ", ".join(code_span(each) for each in table.affected_by[:_REACHED_SHOWN])
        rest = len(table.affected_by) - _REACHED_SHOWN
        lines.append(f"- {code_span(table.name)} by {by}" + (f" and {rest:,}" if rest > 0 else ""))
    if len(tables) > _ROWS_SHOWN:
        lines.append(f"- and {counted(len(tables) - _ROWS_SHOWN, 'more table')}")
    return _details(counted(len(tables), "table"), "reached by these changes", "\n".join(lines))


def _change_table(changes: Sequence[Change]) -> str:
    rows = [_row([_impact(change), *_facts(change)]) for change in changes[:_ROWS_SHOWN]]
    rest = len(changes) - _ROWS_SHOWN
    more = ["", f"and {counted(rest, 'more change')}"] if rest > 0 else []
    return "\n".join([_CHANGE_HEAD, *rows, *more])


def _impact(change: Change) -> str:
    word = change.impact.value
    return f"**{word}**" if change.impact is Impact.BREAKING else word


def _reached(change: Change) -> str:
    """What one change reaches, a line a model."""
    of = f" of {code_span(change.column)}" if change.column else ""
    lines = [f"{escape_text(describe_rule(change))}{of} reaches {describe_reach(change)}:", ""]
    groups = group_reached(change.reaches)
    for model, reached in list(groups.items())[:_REACHED_SHOWN]:
        told = [
            f"{', '.join(code_span(each) for each in columns)} ({kind})"
            for kind, columns in group_kinds(reached[:_REACHED_SHOWN]).items()
        ]
        rest = len(reached) - _REACHED_SHOWN
        more = f" and {rest:,} more" if rest > 0 else ""
        lines.append(f"- {code_span(model)}: {'; '.join(told)}{more}")
    if len(groups) > _REACHED_SHOWN:
        lines.append(f"- and {counted(len(groups) - _REACHED_SHOWN, 'more model')}")
    return "\n".join(lines)


def _details(name: str, what: str, body: str) -> str:
    shown = html.escape(_short(name))
    summary = f"<summary><code>{shown}</code> {html.escape(what)}</summary>"
    return f"\n<details>{summary}\n\n{body}\n\n</details>"


# ---------------------------------------------------------------------------- escaping


def code_span(text: str | None) -> str:
    """A text in a code span, where nothing is markup but the bar of a table's cell."""
    if not text:
        return ""
    shown = _short(text)
    longest = max((len(each) for each in _TICKS.findall(shown)), default=0)
    fence = "`" * (longest + 1)
    room = " " if shown[0] == "`" or shown[-1] == "`" else ""
    # In a cell of a table `\|` is a bar, also within a code span.
    return f"{fence}{room}{shown}{room}{fence}".replace("|", r"\|")


def escape_text(text: str) -> str:
    """A text in which nothing is markup, nor calls anybody."""
    return _PUNCTUATION.sub(r"\\\1", _printable(text)).replace("@", "@\u200b")


def escape_prose(text: str) -> str:
    """Prose of ours, in which names stand between backticks."""
    parts = _short(text).split("`")
    if len(parts) % 2 == 0:
        return escape_text(_short(text))
    return "".join(
        code_span(part) if index % 2 else escape_text(part) for index, part in enumerate(parts)
    )


def _short(text: str) -> str:
    """On one line; of a long one the middle goes, since names differ at both ends."""
    line = " ".join(_printable(text).split())
    half = _LONGEST // 2
    return line if len(line) <= _LONGEST else f"{line[:half]}…{line[1 - half :]}"


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() else " " for each in text)
