"""Completion: what can be written at an offset.

A query is completed by binding it with a name at the cursor and asking which scope that name was
looked up in, so that what is offered is what a compile would find there.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from rocky.diagnostics.diagnostic import Span
from rocky.ide.completion_items import CompletionItem, CompletionKind, matching
from rocky.ide.functions import find_card, function_names, kind_of, macro_card
from rocky.ide.hover import columns_of
from rocky.ide.python_completion import complete_python
from rocky.ide.repair import CURSOR, Word, named_tables, repairs, word_at
from rocky.ide.signature_help import signature_help
from rocky.ide.toml_completion import complete_toml
from rocky.ide.toml_keys import toml_part
from rocky.ide.view import OpenFile, View, read_query
from rocky.language.binder.name_uses import CursorScope, NameNotes, ScopeColumn, scope_at_cursor
from rocky.language.binder.query import bind_text
from rocky.language.datatypes.types import ArrayType, DataType, StructType
from rocky.language.dsl.pipelines import STEP_WORDS
from rocky.language.macros.calls import RESERVED
from rocky.language.names import quote_if_needed, split_name
from rocky.language.quotes import find_quotes, only_code

_KEYWORDS: Final = (
    "SELECT", "DISTINCT", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "JOIN",
    "LEFT JOIN", "FULL JOIN", "CROSS JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN", "ON", "USING",
    "UNION ALL", "INTERSECT", "EXCEPT", "WITH", "AS", "AND", "OR", "NOT", "IN", "EXISTS", "BETWEEN",
    "LIKE", "IS NULL", "IS NOT NULL", "CASE", "WHEN", "THEN", "ELSE", "END", "CAST", "OVER",
    "PARTITION BY", "LATERAL VIEW", "QUALIFY", "NULL", "TRUE", "FALSE", "INTERVAL",
)  # fmt: skip
_BEFORE: Final = re.compile(r"([A-Za-z_]+)\s*$")
_PATH: Final = re.compile(r"(?:(?:`[^`]*`|\w+)\s*\.\s*)+$")
_LINE_START: Final = re.compile(r"(?:^|\n)\s*\|?\s*$")
_FEWEST: Final = 1
"""Letters that must be there before functions are offered: there are hundreds."""


def complete(file: OpenFile, offset: int) -> tuple[CompletionItem, ...]:
    """What can be written at an offset, best first; nothing inside of texts and comments."""
    part = toml_part(file)
    if part is not None and part.start <= offset <= part.start + len(part.text):
        return complete_toml(file, part, offset)
    if file.kind == "python":
        return complete_python(file, offset)
    if file.kind not in ("sql", "rocky", "macro", "function") or offset < file.sql_start:
        return ()
    if _is_quoted(file.text[file.sql_start :], offset - file.sql_start):
        return ()
    word = word_at(file.text, offset)
    if file.text[word.span.start - 1 : word.span.start] == "@":
        return matching(_macros(file, word), word.prefix)
    before = _BEFORE.search(file.code[: word.span.start])
    if before is not None and before[1].lower() == "as" and word.span.start > before.end(1):
        return ()
    items = (*_named_arguments(file, offset, word), *_in_query(file, word))
    return matching(items, word.prefix)


def _named_arguments(file: OpenFile, offset: int, word: Word) -> Iterator[CompletionItem]:
    """The parameters of the macro or the declared function that is called."""
    called = signature_help(file, offset)
    if called is None or called.function.kind != "macro":
        return
    for order, each in enumerate(called.function.signatures[0].parameters):
        name, _, kind = each.text.partition(" ")
        yield CompletionItem(name, "parameter", word.span, f"{name} => ", kind, None, 3, order)


def _is_quoted(text: str, offset: int) -> bool:
    return any(
        span.start < offset < span.end or (kind == "comment" and span.start < offset <= span.end)
        for kind, span in find_quotes(text)
        if text[span.start] != "`"
    )


def _macros(file: OpenFile, word: Word) -> Iterator[CompletionItem]:
    for macro in file.view.project.macros.values():
        card = macro_card(file.view, macro.name)
        if card is not None:
            detail = card.signatures[0].text
            said = card.description
            yield CompletionItem(macro.name, "macro", word.span, macro.name, detail, said, 1)
        if macro.path == file.path:
            for each in macro.declaration.parameters:
                yield CompletionItem(
                    each.name, "parameter", word.span, each.name, each.kind.upper(), None, 0
                )
    for name in sorted(RESERVED):
        yield CompletionItem(name, "macro", word.span, name, "of Rocky", None, 2)


def _in_query(file: OpenFile, word: Word) -> Iterator[CompletionItem]:
    scope = scope_of(file, word)
    text = file.text[: word.span.start]
    path = _PATH.search(text)
    parts = split_name(path[0].replace(" ", "").strip(".").lower()) if path is not None else ()
    if scope is not None:
        yield from _from_scope(scope, word)
    elif path is not None or not _wants_table(file.code[: word.span.start]):
        yield from _from_tables(file.view, parts, file.text, word)
    if path is None and (scope is None or not scope.wants_table):
        yield from _functions(file.view, word)
        yield from _words(file, word)
    if scope is None or scope.wants_table:
        yield from _tables(file.view, scope, parts, word)


def _wants_table(code: str) -> bool:
    before = _BEFORE.search(code)
    return before is not None and before[1].lower() in ("from", "join")


def scope_of(file: OpenFile, word: Word) -> CursorScope | None:
    """The scope at a word, in the nearest text that has one."""
    start = file.sql_start
    body = file.text[start:]
    place = Span(word.span.start - start, word.span.end - start)
    key = file.model.key if file.model is not None else ""
    rocky = file.kind == "rocky"
    for text in _pipelines(body, place) if rocky else repairs(body, place):
        query = read_query(text, file.view.project, rocky=rocky)
        if query is None or CURSOR not in query.sql:
            continue
        notes = NameNotes(CURSOR)
        bind_text(query.sql, file.view.tables(key), query.bans, notes)
        found = scope_at_cursor(notes)
        if found is not None:
            return found
    return None


def _pipelines(body: str, word: Span) -> Iterator[str]:
    """Texts of a pipeline with the cursor's name: whole, then only up to the cursor."""
    head, tail = body[: word.start], body[word.end :]
    yield f"{head}{CURSOR}{tail}"
    code = only_code(head)
    closers = "".join({"(": ")", "{": "}", "[": "]"}[mark] for mark in reversed(_open_marks(code)))
    yield f"{head}{CURSOR}{closers}{tail}"
    for closing in (closers, f" == 1{closers}", f": 1{closers}"):
        yield f"{head}{CURSOR}{closing}\n"


def _open_marks(code: str) -> list[str]:
    found: list[str] = []
    for mark in code:
        if mark in "([{":
            found.append(mark)
        elif mark in ")]}" and found:
            found.pop()
    return found


def _from_scope(scope: CursorScope, word: Word) -> Iterator[CompletionItem]:
    if scope.wants_table:
        return
    if scope.parts:
        yield from _after_dot(scope, word)
        return
    nearest = [each for each in scope.columns if each.distance == 0]
    twice = _ambiguous(nearest)
    for rank, column in enumerate(scope.columns):
        name = quote_if_needed(column.name)
        key = column.name.lower()
        if column.role == "column" and key in twice and column.qualifier and column.distance == 0:
            name = f"{column.qualifier}.{name}"
        yield CompletionItem(
            column.name,
            "column" if column.role != "variable" else "parameter",
            word.span,
            name,
            _detail(column.type, nullable=column.nullable),
            column.qualifier or None,
            column.distance * 2 + (0 if column.role == "column" else 1),
            rank,
        )
    for qualifier in dict.fromkeys(each.qualifier for each in scope.columns if each.qualifier):
        yield CompletionItem(qualifier, "relation", word.span, qualifier, "relation", None, 3)


def _ambiguous(columns: Iterable[ScopeColumn]) -> set[str]:
    owners: dict[str, set[str]] = {}
    for each in columns:
        if each.role == "column":
            owners.setdefault(each.name.lower(), set()).add(each.qualifier)
    return {name for name, found in owners.items() if len(found) > 1}


def _after_dot(scope: CursorScope, word: Word) -> Iterator[CompletionItem]:
    first, *rest = scope.parts
    if not rest:
        own = [each for each in scope.columns if each.qualifier.lower() == first]
        for rank, each in enumerate(own):
            detail = _detail(each.type, nullable=each.nullable)
            yield CompletionItem(
                each.name, "column", word.span, quote_if_needed(each.name), detail, None, 0, rank
            )
        if own:
            return
    # `column.field.`, or `relation.column.field.`
    for each in scope.columns:
        if each.name.lower() == first:
            yield from _fields(each.type, tuple(rest), word)
            return
    for each in scope.columns:
        if rest and each.qualifier.lower() == first and each.name.lower() == rest[0]:
            yield from _fields(each.type, tuple(rest[1:]), word)
            return


def _fields(kind: DataType, path: tuple[str, ...], word: Word) -> Iterator[CompletionItem]:
    inner = kind.element if isinstance(kind, ArrayType) else kind
    if not isinstance(inner, StructType):
        return
    if path:
        found = next((each for each in inner.fields if each.name.lower() == path[0]), None)
        if found is not None:
            yield from _fields(found.type, path[1:], word)
        return
    for rank, each in enumerate(inner.fields):
        detail = _detail(each.type, nullable=each.nullable)
        yield CompletionItem(
            each.name, "field", word.span, quote_if_needed(each.name), detail, None, 0, rank
        )


def _from_tables(
    view: View, parts: tuple[str, ...], text: str, word: Word
) -> Iterator[CompletionItem]:
    """The last resort: columns of all tables that a text names."""
    tables = view.tables("")
    for name, alias in named_tables(text):
        table = tables.find(split_name(name.lower()))
        if table is None or (parts and parts[-1] != alias.lower()):
            continue
        for rank, field in enumerate(table.fields):
            detail = _detail(field.type, nullable=field.nullable)
            shown = quote_if_needed(field.name)
            yield CompletionItem(field.name, "column", word.span, shown, detail, alias, 4, rank)


def _tables(
    view: View, scope: CursorScope | None, parts: tuple[str, ...], word: Word
) -> Iterator[CompletionItem]:
    project = view.project
    groups: tuple[tuple[CompletionKind, Iterable[str]], ...] = (
        ("cte", scope.ctes if scope is not None and not parts else ()),
        ("model", (each.name for each in project.models.values())),
        ("source", (each.name for each in project.sources.values())),
        ("seed", (each.name for each in project.seeds.values())),
    )
    for rank, (kind, names) in enumerate(groups):
        for name in names:
            pieces = split_name(name)
            shared = tuple(each.lower() for each in pieces[: len(parts)])
            if parts and (shared != parts or len(pieces) <= len(parts)):
                continue
            shown = ".".join(quote_if_needed(each) for each in pieces[len(parts) :])
            count = len(columns_of(view, name.lower())) if kind != "cte" else 0
            detail = f"{kind}, {count} columns" if count else kind
            label = ".".join(pieces[len(parts) :])
            yield CompletionItem(label, kind, word.span, shown, detail, None, rank)


def _functions(view: View, word: Word) -> Iterator[CompletionItem]:
    prefix = word.prefix.lower()
    for function in view.project.functions.values():
        card = find_card(view, function.name)
        detail = card.signatures[0].text if card is not None and card.signatures else None
        yield CompletionItem(
            function.name, "function", word.span, f"{function.name}(", detail,
            function.description, 5,
        )  # fmt: skip
    if len(prefix) < _FEWEST:
        return
    for name in function_names():
        if name.startswith(prefix):
            # Its signatures cost a few milliseconds: they are for whoever looks at one.
            yield CompletionItem(name, "function", word.span, f"{name}(", kind_of(name), None, 6)


def _words(file: OpenFile, word: Word) -> Iterator[CompletionItem]:
    if file.kind == "rocky":
        start = file.sql_start
        if _LINE_START.search(file.text[start : word.span.start]):
            for each in ("from", "let", *STEP_WORDS):
                yield CompletionItem(each, "keyword", word.span, each, "step", None, 0)
        return
    lower = word.prefix.islower()
    for each in _KEYWORDS:
        shown = each.lower() if lower else each
        yield CompletionItem(shown, "keyword", word.span, shown, None, None, 7)


def _detail(kind: DataType, *, nullable: bool) -> str:
    return f"{kind}{'' if nullable else ' NOT NULL'}"
