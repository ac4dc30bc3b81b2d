"""The normal form of a query's text: what is left when cosmetics are taken away.

Made from the tokens, so comments and white space are gone by nature. Keywords and plain names are
upper-cased (Spark compares names without case); strings stay as they are; table aliases and CTE
names become numbers, since renaming them changes no row.
"""

from collections.abc import Sequence
from operator import attrgetter

from blake3 import blake3
from sqlglot.tokens import Token, TokenType

from rocky.binder.binding import Binding

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
_QUOTED = _LITERALS | {TokenType.IDENTIFIER}
_kind, _text, _start = attrgetter("token_type"), attrgetter("text"), attrgetter("start")


def normal_hash(tokens: Sequence[Token], binding: Binding) -> bytes:
    """The digest of the normal form."""
    texts: list[str] = list(map(_text, tokens))
    kept: list[str] = []
    for index in [at for at, kind in enumerate(map(_kind, tokens)) if kind in _QUOTED]:
        if tokens[index].token_type in _LITERALS:
            kept.append(texts[index])
            texts[index] = "'"
        else:
            texts[index] = "`" + texts[index]
    if texts and texts[-1] == ";":
        texts.pop()
    numbers = {name: f"#{index}" for index, name in enumerate(binding.alias_names)}
    if numbers:
        at = dict(zip(map(_start, tokens), range(len(tokens)), strict=True))
        for place in binding.alias_places:
            index = at.get(place, -1)
            number = numbers.get(tokens[index].text.lower()) if index >= 0 else None
            if number is not None:
                texts[index] = number
    form = f"{_VERSION}{chr(10).join(texts).upper()}\0{chr(0).join(kept)}"
    return blake3(form.encode("utf-8", "surrogatepass")).digest()
