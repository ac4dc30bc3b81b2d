"""Libraries of macros that are made of their texts alone, and what becomes of calls."""

from rocky.diagnostics import Code
from rocky.language.macros.declaration import Declaration, parse_declaration
from rocky.language.macros.expansion import Expansion
from rocky.language.macros.library import Macro, MacroLibrary
from rocky.language.macros.pieces import copied


def library(*texts: str) -> MacroLibrary:
    macros = []
    for text in texts:
        declared = parse_declaration(text)
        assert isinstance(declared, Declaration), declared
        path = f"macros/{declared.name}.sql"
        macros.append(Macro(path, declared, [copied(text, path)]))
    return MacroLibrary(macros)


def expanded(text: str, *macros: str) -> str:
    return expansion(text, *macros).text


def expansion(text: str, *macros: str) -> Expansion:
    made = library(*macros)
    found = made.expand(text)
    assert isinstance(found, Expansion), (found, made.faults)
    return found


def faults(text: str, *macros: str) -> list[tuple[Code, str]]:
    made = library(*macros)
    found = made.expand(text)
    assert isinstance(found, list)
    return [(each.code, each.message) for each in [*found, *made.faults]]
