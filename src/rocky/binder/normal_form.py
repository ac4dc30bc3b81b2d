"""The normal form of a query's text: what is left when cosmetics are taken away.

Made from the tokens, so comments and white space are gone by nature. Keywords and plain names are
upper-cased (Spark compares names without case); strings stay as they are; table aliases and CTE
names become numbers, since renaming them changes no row.
"""

from collections.abc import Sequence

from blake3 import blake3
from sqlglot.tokens import Token, TokenType

from rocky.binder.binding import Binding

_VERSION = b"1\n"


def normal_hash(tokens: Sequence[Token], binding: Binding) -> bytes:
    """The digest of the normal form."""
    numbers: dict[str, str] = {
        name: f"#{index}" for index, name in enumerate(binding.alias_names)
    }
    places = set(binding.alias_places) if numbers else set()
    words: list[str] = []
    literal = TokenType.STRING
    for token in tokens:
        kind = token.token_type
        text = token.text
        if kind is literal:
            words.append(f"'{text!r}")
        elif token.start in places and text.lower() in numbers:
            words.append(numbers[text.lower()])
        elif kind is TokenType.IDENTIFIER:
            words.append(f"`{text.upper()}")
        elif kind is not TokenType.SEMICOLON:
            words.append(text.upper())
    return blake3(_VERSION + "\n".join(words).encode("utf-8", "surrogatepass")).digest()
