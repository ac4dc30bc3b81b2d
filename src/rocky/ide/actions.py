"""Code actions: what can be done about the place at the cursor, each as a change of the project.

Fixes are those that findings carry, and the names that they suggest. The others are offered by
where the cursor stands. `verify_change` says of any of them whether the project compiles with it.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

from rocky.diagnostics import BY_CODE, Diagnostic
from rocky.diagnostics.diagnostic import SourceText, Span
from rocky.diagnostics.suggestion import closest, suggested_name
from rocky.ide.column_rename import written
from rocky.ide.cte_extraction import extract_cte
from rocky.ide.edits import EditSet, TextEdit
from rocky.ide.hover import described_table
from rocky.ide.view import OpenFile
from rocky.language.binder.name_uses import NameUse
from rocky.language.datatypes.types import UNKNOWN
from rocky.language.quotes import find_comments

ActionKind = Literal["fix", "allow", "contract", "extract", "expand"]
_PART: Final = re.compile(r"`[^`]*`|\w+")
_DOTTED: Final = re.compile(r"(?:`[^`]*`|\w+)(?:\s*\.\s*(?:`[^`]*`|\w+))*")
_EXCEPT: Final = re.compile(r"\s*(?:except|exclude)\s*\([^()]*\)", re.IGNORECASE)
_SHORT: Final = 4
"""How many columns stand on one line."""


class CodeAction(NamedTuple):
    """A change that is offered; `finding` is what it would clear, if it is about one."""

    title: str
    kind: ActionKind
    change: EditSet
    finding: Diagnostic | None = None


def code_actions(file: OpenFile, span: Span) -> tuple[CodeAction, ...]:
    """What can be done about a selection, or the place of a cursor: fixes first."""
    found: list[CodeAction] = []
    if file.text == file.view.text_of(file.path):
        for each in file.view.compilation.diagnostics:
            if each.path == file.path and _touches(each.span, span):
                found += finding_actions(file, each)
    found += _expand_star(file, span.start)
    change = extract_cte(file, span.start)
    if isinstance(change, EditSet):
        path = change.created[0][0]
        found.append(CodeAction(f"extract the CTE into `{path}`", "extract", change))
    found += _add_contract(file, span.start)
    return tuple(found)


def _touches(where: Span | None, span: Span) -> bool:
    return where is None or (where.start <= span.end and span.start <= where.end)


def finding_actions(file: OpenFile, finding: Diagnostic) -> Iterator[CodeAction]:
    """What would clear a finding: its own fix, the name that it suggests, an allow."""
    if finding.fix is not None:
        edits = tuple(TextEdit(file.path, edit.span, edit.text) for edit in finding.fix.edits)
        yield CodeAction(finding.fix.title, "fix", EditSet(edits), finding)
    name = suggested_name(finding.help)
    edit = _suggested(file, finding.span, name) if name is not None else None
    if edit is not None:
        yield CodeAction(f"change to `{name}`", "fix", EditSet((edit,)), finding)
    allow = _allow(file, finding)
    if allow is not None:
        title = f"allow {finding.code.value} ({BY_CODE[finding.code].name}) here"
        yield CodeAction(title, "allow", EditSet((allow,)), finding)


def _suggested(file: OpenFile, span: Span | None, name: str) -> TextEdit | None:
    """The edit that puts a name in the place of the most similar one in a span."""
    if span is None:
        return None
    text = file.text[span.start : span.end].partition("(")[0]
    pattern = _DOTTED if "." in name else _PART
    words = {found[0]: found for found in pattern.finditer(text)}
    near = closest(name, words)
    found = words.get(near) if near is not None else next(iter(words.values()), None)
    if found is None or (near is None and len(words) > 1):
        return None
    place = Span(span.start + found.start(), span.start + found.end())
    is_code = file.kind in ("sql", "rocky", "macro") and span.start >= file.sql_start
    parts = name.split(".")
    return TextEdit(file.path, place, ".".join(map(written, parts)) if is_code else name)


def _allow(file: OpenFile, finding: Diagnostic) -> TextEdit | None:
    """A comment that silences a finding of a query on its own line."""
    if finding.span is None or not BY_CODE[finding.code].suppressible:
        return None
    if file.kind not in ("sql", "rocky") or finding.span.start < file.sql_start:
        return None
    source = SourceText(file.path, file.text)
    line = source.line_of(finding.span.start)
    end = source.line_span(line).end
    comment = f"-- rocky: allow({finding.code.value})"
    at = end - file.sql_start
    if any(each.start <= at <= each.end for each in find_comments(file.text[file.sql_start :])):
        start = source.line_span(line).start
        indent = re.match(r"[ \t]*", file.text[start:])
        space = indent[0] if indent is not None else ""
        return TextEdit(file.path, Span(start, start), f"{space}{comment}\n")
    return TextEdit(file.path, Span(end, end), f"  {comment}")


def _expand_star(file: OpenFile, offset: int) -> Iterator[CodeAction]:
    name = file.name_at(offset)
    if name is None or name.use.role != "star" or not name.use.members or file.kind != "sql":
        return
    start, end = name.span
    before = re.search(r"((?:(?:`[^`]*`|\w+)\s*\.\s*)+)$", file.text[:start])
    prefix = before[1] if before is not None else ""
    dropped = _EXCEPT.match(file.text, end)
    place = Span(start - len(prefix), dropped.end() if dropped is not None else end)
    listed = [_listed(each, prefix, name.use.members) for each in name.use.members]
    line = file.text.rfind("\n", 0, place.start) + 1
    column = place.start - line
    glue = ", " if len(listed) <= _SHORT else f",\n{' ' * column}"
    edit = TextEdit(file.path, place, glue.join(listed))
    yield CodeAction("list the columns of `*`", "expand", EditSet((edit,)))


def _listed(column: NameUse, prefix: str, every: Iterable[NameUse]) -> str:
    """A column as a list names it: with its relation where the name alone could be another's."""
    if prefix:
        return f"{prefix}{written(column.name)}"
    same = [each for each in every if each.name.lower() == column.name.lower()]
    if len(same) > 1 and column.qualifier:
        return f"{written(column.qualifier)}.{written(column.name)}"
    return written(column.name)


def _add_contract(file: OpenFile, offset: int) -> Iterator[CodeAction]:
    view, model = file.view, file.model
    if model is None or model.key in view.project.contracts or offset < file.sql_start:
        return
    ir = view.compilation.models.get(model.key)
    if ir is None or not ir.columns or not ir.known:
        return
    said = described_table(view, model.key).columns
    blocks = []
    for each in ir.columns:
        lines = ["[[columns]]", f"name = {_quoted(each.name)}"]
        if each.type is not UNKNOWN:
            lines.append(f"type = {_quoted(str(each.type))}")
        lines.append(f"nullable = {str(each.nullable).lower()}")
        if each.name.lower() in said:
            lines.append(f"description = {_quoted(said[each.name.lower()])}")
        blocks.append("\n".join(lines))
    path = f"contracts/{model.name}.contract.toml"
    change = EditSet(created=((path, "\n\n".join(blocks) + "\n"),))
    yield CodeAction(f"write a contract for `{model.name}`", "contract", change)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
