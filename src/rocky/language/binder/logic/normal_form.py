"""The normal form of a query's text: what is left when cosmetics are taken away.

Made from the tokens, so comments and white space are gone by nature. Keywords and plain names are
upper-cased (Spark compares names without case); strings stay as they are, and so do names that are
values: those of a path into a variant, and all of them where a function writes names into its
result. Table aliases and CTE names become numbers, since renaming them changes no row.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import compress, count
from operator import attrgetter

from blake3 import blake3
from sqlglot.tokens import Token, TokenType

from rocky.language.binder.scopes import Binding
from rocky.language.syntax.parser import ParsedQuery
from rocky.language.syntax.tidy_sql import WRITES_NAMES
from rocky.language.syntax.tokens import kind_class

_VERSION = "2\n"
# Literals whose letters matter; numbers and names do not tell `E` from `e`.
_LITERALS = frozenset(
    {
        TokenType.STRING,
        TokenType.RAW_STRING,
        TokenType.HEREDOC_STRING,
        TokenType.NATIONAL_STRING,
    }
)
_QUOTED = re.compile(kind_class([*_LITERALS, TokenType.IDENTIFIER]))
_COLON = chr(TokenType.COLON)
_TYPES = frozenset({TokenType.ARRAY, TokenType.MAP, TokenType.STRUCT})
_IN_PATHS = frozenset(
    {
        TokenType.DOT,
        TokenType.L_BRACKET,
        TokenType.R_BRACKET,
        TokenType.NUMBER,
        TokenType.STRING,
        TokenType.STAR,
    }
)
_text, _start = attrgetter("text"), attrgetter("start")


def normal_hash(parsed: ParsedQuery, binding: Binding) -> bytes:
    """The digest of the normal form: of the text, and of where aliases are named in it."""
    made_from = (*binding.alias_names, *binding.alias_places)
    known = parsed.memo.get("normal")
    if known is None or known[0] != made_from:
        known = parsed.memo["normal"] = made_from, _normal_hash(parsed, binding)
    found: bytes = known[1]
    return found


def _normal_hash(parsed: ParsedQuery, binding: Binding) -> bytes:
    tokens = parsed.tokens
    texts: list[str] = list(map(_text, tokens))
    kept: list[str] = []
    for match in _QUOTED.finditer(parsed.kinds):
        index = match.start()
        if tokens[index].token_type in _LITERALS:
            kept.append(texts[index])
            texts[index] = "'"
        else:
            texts[index] = "`" + texts[index]
    if texts and texts[-1] == ";":
        texts.pop()
    if binding.alias_names:
        numbers = {name: f"#{index}" for index, name in enumerate(binding.alias_names)}
        is_place = frozenset(binding.alias_places).__contains__
        for found in compress(count(), map(is_place, map(_start, tokens))):
            number = numbers.get(tokens[found].text.lower())
            if number is not None:
                texts[found] = number
    if _COLON in parsed.kinds:
        kept.extend(texts[index] for index in _path_names(tokens))
    form = chr(10).join(texts)
    upper = form.upper()
    if any(name in upper for name in WRITES_NAMES):
        kept.append(form)
    kept.extend(f"{index} {level}" for index, level in parsed.levels)
    form = f"{_VERSION}{upper}\0{chr(0).join(kept)}"
    return blake3(form.encode("utf-8", "surrogatepass")).digest()


def _path_names(tokens: Sequence[Token]) -> Iterator[int]:
    """Where the names of paths into variants are: `v:Items[0].Price`, not `struct<a:int>`."""
    types, path = 0, False
    for index, token in enumerate(tokens):
        kind = token.token_type
        before = tokens[index - 1].token_type if index else None
        if kind is TokenType.LT and (types or before in _TYPES):
            types += 1
        elif kind is TokenType.GT and types:
            types -= 1
        elif kind is TokenType.COLON:
            path = not types
        elif path and before in (TokenType.COLON, TokenType.DOT):
            yield index
        elif kind not in _IN_PATHS:
            path = False
