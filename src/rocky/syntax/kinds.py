"""Kinds: the tokens of a text as a string, one character a token.

What stands next to what is then a search for a substring, at the speed of C and with no false
alarm from strings or comments; a search over the text itself would cost as much as parsing it.
"""

import re
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Final

from sqlglot.tokens import Token, TokenType

_kind: Final = attrgetter("token_type")


def kinds_of(tokens: Sequence[Token]) -> str:
    """One character for the kind of each token."""
    return "".join(map(chr, map(_kind, tokens)))


def kind_class(kinds: Iterable[TokenType], *, negated: bool = False) -> str:
    """A regular expression for one token of, or not of, some kinds."""
    return f"[{'^' if negated else ''}{''.join(re.escape(chr(kind)) for kind in kinds)}]"
