"""The normal form of a query's text: what is left when cosmetics are taken away.

Made from the tokens, so comments and white space are gone by nature. Keywords and plain names are
upper-cased (Spark compares names without case); strings stay as they are; table aliases and CTE
names become numbers, since renaming them changes no row.
"""

from collections.abc import Sequence

from blake3 import blake3
from sqlglot.tokens import Token, TokenType

from rocky.binder.binding import Binding

_VERSION = "1\n"
# Literals whose letters matter; numbers and names do not tell `E` from `e`.
_LITERALS = frozenset({TokenType.RAW_STRING, TokenType.HEREDOC_STRING, TokenType.NATIONAL_STRING})


def normal_hash(tokens: Sequence[Token], binding: Binding) -> bytes:
    """The digest of the normal form."""
    texts = [token.text for token in tokens]
    kept: list[str] = []
    for index, token in enumerate(tokens):
        kind = token.token_type
        if kind is TokenType.STRING or kind in _LITERALS:
            kept.append(texts[index])
            texts[index] = "'"
        elif kind is TokenType.IDENTIFIER:
            texts[index] = "`" + texts[index]
    if texts and texts[-1] == ";":
        texts.pop()
    numbers = {name: f"#{index}" for index, name in enumerate(binding.alias_names)}
    if numbers:
        at = {token.start: index for index, token in enumerate(tokens)}
        for place in binding.alias_places:
            index = at.get(place, -1)
            number = numbers.get(tokens[index].text.lower()) if index >= 0 else None
            if number is not None:
                texts[index] = number
    form = f"{_VERSION}{chr(10).join(texts).upper()}\0{chr(0).join(kept)}"
    return blake3(form.encode("utf-8", "surrogatepass")).digest()
