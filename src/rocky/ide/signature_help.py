"""Signature help: the call that an offset is inside of, and which of its arguments is written."""

import re
from typing import Final, NamedTuple

from rocky.ide.functions import FunctionCard, find_card, macro_card
from rocky.ide.view import OpenFile
from rocky.language.quotes import only_code

_NAME: Final = re.compile(r"@?[\w.]+\s*$")


class SignatureHelp(NamedTuple):
    """A function and the number of the argument at the cursor, from 0."""

    function: FunctionCard
    argument: int


def signature_help(file: OpenFile, offset: int) -> SignatureHelp | None:
    """What the innermost call around an offset may be given; the text need not parse."""
    if file.kind not in ("sql", "rocky", "macro", "function") or offset < file.sql_start:
        return None
    code = only_code(file.text[file.sql_start : offset])
    depth = commas = 0
    for at in range(len(code) - 1, -1, -1):
        mark = code[at]
        if mark in ")]}":
            depth += 1
        elif mark in "([{" and depth:
            depth -= 1
        elif mark == "," and not depth:
            commas += 1
        elif mark == "(":
            name = _NAME.search(code, 0, at)
            found = _card(file, name[0].strip()) if name is not None else None
            if found is not None:
                return SignatureHelp(found, commas)
            # Parentheses around a value: the call may be outside of them.
            commas = 0
        elif mark == ";" or mark in "[{":
            return None
    return None


def _card(file: OpenFile, name: str) -> FunctionCard | None:
    if name.startswith("@"):
        return macro_card(file.view, name[1:])
    return find_card(file.view, name)
