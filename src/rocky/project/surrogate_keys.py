"""Surrogate keys: columns with hashes of other columns, added around a model's query.

Each value is written with its length before it and a null as `-`, so that no two keys have the same
text.
The columns are part of the query that is compiled and run: readers, contracts and lineage see them.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from rocky.diagnostics.diagnostic import Span
from rocky.language.macros.expansion import Expansion, expansion_of
from rocky.language.macros.pieces import Piece, Place, copied, cut, made, text_of
from rocky.language.names import quote_name
from rocky.project.configuration.model import SurrogateKey
from rocky.project.model_text import blank_comments
from rocky.project.toml.documents import Document, Problem
from rocky.project.toml.variables import Keys

_WORD: Final = re.compile(r"\S+")


def add_keys(
    sql: str, before: Expansion | None, keys: Sequence[SurrogateKey], document: Document
) -> Expansion:
    """A query with key columns behind its own; `before` is how its macros were expanded."""
    pieces = list(before.pieces) if before is not None else [copied(sql, None)]
    text = text_of(pieces)
    end = len(blank_comments(text)[0].rstrip().removesuffix(";"))
    query = cut(pieces, 0, end)
    first = (Place(None, _first_word(sql if before is None else before.source)),)
    around = [made("SELECT *", first)]
    for index, key in enumerate(keys):
        around.append(made(", md5(concat_ws('|', ", first))
        for number, column in enumerate(key.columns):
            place = _place(document, ("surrogate_key", index, "columns", number))
            around.append(made(", " if number else "", first))
            around.append(Piece(_written(column), (*first, place), exact=False))
        around.append(made(f")) AS {quote_name(key.name)}", first))
    around.append(made(" FROM (\n", first))
    macros = {**(before.macros if before is not None else {}), document.path: ""}
    source = sql if before is None else before.source
    return expansion_of(source, [*around, *query, made("\n)", first)], macros)


def _first_word(sql: str) -> Span:
    """Where a query begins: what is wrong with a key is told there, and at its setting."""
    found = _WORD.search(blank_comments(sql)[0])
    return Span(*found.span()) if found is not None else Span(0, len(sql))


def _written(column: str) -> str:
    """A column as a text that no other value has.

    Its length is in bytes: characters cannot be counted in those of a binary value.
    """
    text = f"CAST({quote_name(column)} AS STRING)"
    return f"coalesce(concat(octet_length({text}), ':', {text}), '-')"


def _place(document: Document, keys: Keys) -> Place:
    span = document.span_of(keys)
    assert span is not None
    return Place(document.path, span)


def refuse_keys(keys: Sequence[SurrogateKey], *, python: bool) -> Iterator[Problem]:
    """What is wrong with keys, whatever the query is."""
    for index, key in enumerate(keys):
        at: Keys = ("surrogate_key", index)
        if python:
            yield Problem(at, "a Python model makes its keys itself", "add the column in `model()`")
        if not key.columns:
            yield Problem((*at, "columns"), "a key is made of one column at least")
        if not key.name.strip():
            yield Problem((*at, "name"), "a key has a name")
