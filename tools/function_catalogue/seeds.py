"""Seeds: calls that Spark documents, read out of the examples of its functions.

They are where probing starts when arguments must be literals of a certain form, such as a
format or a JSON path.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JJavaError

from rocky.language.datatypes.text import fields_from_json
from tools.function_catalogue.analyser import Analyser
from tools.function_catalogue.probes import Probe

_EXAMPLE = re.compile(r"^\s*>\s*(SELECT.*?);\s*$", re.MULTILINE | re.DOTALL | re.IGNORECASE)
_OPEN, _CLOSE = "([{", ")]}"


@dataclass(frozen=True, slots=True)
class Seed:
    """The arguments of an example call, as probes."""

    arguments: tuple[Probe, ...]


def read_seeds(analyser: Analyser, name: str, examples: str) -> list[Seed]:
    """The calls of `name` in its examples whose arguments Spark can type by themselves."""
    seeds: list[Seed] = []
    for query in _EXAMPLE.findall(examples):
        for arguments, rest in _calls(name, query):
            seed = _seed(analyser, arguments, rest)
            if seed is not None and seed not in seeds:
                seeds.append(seed)
    return seeds


def _seed(analyser: Analyser, arguments: list[str], rest: str) -> Seed | None:
    if not arguments:
        return Seed(())
    table = re.search(r"\bFROM\b.*", rest, re.DOTALL | re.IGNORECASE)
    tail = table[0] if table else ""
    probes: list[Probe] = []
    for argument in arguments:
        text = re.sub(r"^DISTINCT\s+", "", argument, flags=re.IGNORECASE)
        field = _typed(analyser, text, "")
        if field is not None:
            probes.append(Probe(text, field.type, field.nullable, foldable=True))
            continue
        field = _typed(analyser, text, tail)
        if field is None:
            return None
        probes.append(Probe("", field.type, nullable=False))
    return Seed(tuple(probes))


def _typed(analyser: Analyser, text: str, tail: str) -> Any:
    try:
        schema = analyser.session.sql(f"SELECT {text} AS r {tail}").schema().json()
    except Py4JJavaError:
        return None
    fields = fields_from_json(json.loads(schema))
    return fields[0] if len(fields) == 1 else None


def _calls(name: str, query: str) -> list[tuple[list[str], str]]:
    found = []
    for match in re.finditer(rf"\b{re.escape(name)}\s*\(", query, re.IGNORECASE):
        arguments, end = _split(query, match.end())
        if end is not None:
            found.append((arguments, query[end:]))
    return found


def _split(text: str, start: int) -> tuple[list[str], int | None]:
    """The top-level arguments from `start`, and the place after the closing parenthesis."""
    depth, quote, begin = 0, "", start
    arguments: list[str] = []
    at = start
    while at < len(text):
        mark = text[at]
        if quote:
            if mark == "\\":
                at += 1
            elif mark == quote:
                quote = ""
        elif mark in "'\"`":
            quote = mark
        elif mark in _OPEN:
            depth += 1
        elif mark in _CLOSE and depth:
            depth -= 1
        elif mark in ",)" and not depth:
            arguments.append(text[begin:at].strip())
            begin = at + 1
            if mark == ")":
                return ([] if arguments == [""] else arguments), at + 1
        at += 1
    return [], None
