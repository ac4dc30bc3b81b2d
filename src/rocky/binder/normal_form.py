"""The normal form of a query's text: what is left when cosmetics are taken away.

Made from the tokens, so comments and white space are gone by nature. Keywords and plain names are
upper-cased (Spark compares names without case); strings stay as they are; table aliases and CTE
names become numbers, since renaming them changes no row.
"""

import re
from itertools import count
from operator import attrgetter

from blake3 import blake3
from sqlglot.tokens import TokenType

from rocky.binder.binding import Binding
from rocky.syntax.kinds import kind_class
from rocky.syntax.parser import ParsedQuery

_VERSION = "1\n"
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
_text, _start = attrgetter("text"), attrgetter("start")


def normal_hash(parsed: ParsedQuery, binding: Binding) -> bytes:
    """The digest of the normal form."""
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
        at = dict(zip(map(_start, tokens), count(), strict=False))
        for place in binding.alias_places:
            found = at.get(place)
            if found is not None:
                number = numbers.get(tokens[found].text.lower())
                if number is not None:
                    texts[found] = number
    form = f"{_VERSION}{chr(10).join(texts).upper()}\0{chr(0).join(kept)}"
    return blake3(form.encode("utf-8", "surrogatepass")).digest()
