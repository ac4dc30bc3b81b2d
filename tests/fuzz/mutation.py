"""Mutations: stored texts made wrong, the same for the same number.

A case is named by its number, so that one that fails can be run again alone. Bytes that are wrong
anywhere are refused by whatever looks first, so most cases leave the form whole and go deeper: a
case in two changes a value inside the JSON, and of a text that is no JSON three in four exchange
tokens with each other and with those of the other texts.
"""

import json
import os
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

CORPUS = Path(__file__).parent / "corpus"
SECONDS = float(os.environ.get("ROCKY_FUZZ_SECONDS", "600"))
"""How long a target is fuzzed where all the time is given to it."""
FEW = 300

VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 2**63, 2**70, 1e308, float("inf"), float("nan"), "", "x", "\0", "\ud800",
    "9" * 5000, [], [[]], {}, {"a": 1}, [None], "[]", "{}", "null", "../../x", "file:///x",
)  # fmt: skip
PIECES = (b"", b"\0", b"\xff", b"{", b"}", b"[" * 5000, b'"', b"\\", b"1e999", b"\n", b"=", b"'")


def seeds(kind: str) -> list[bytes]:
    """The kept texts of a kind."""
    return [path.read_bytes() for path in sorted((CORPUS / kind).iterdir())]


def cases(known: list[bytes], *, at_length: bool = False) -> Iterator[tuple[int, bytes]]:
    """The texts as they are, then numbered mutations of them."""
    yield from enumerate(known)
    end = time.monotonic() + SECONDS
    number = len(known)
    while number < FEW or (at_length and time.monotonic() < end):
        yield number, mutated(known[number % len(known)], Random(number), known)
        number += 1


def mutated(data: bytes, random: Random, known: Sequence[bytes] = ()) -> bytes:
    """Bytes with one or two things wrong; the tokens of the `known` texts may come into them."""
    if random.random() < 0.5:
        changed = _changed_json(data, random)
        if changed is not None:
            return changed
    if known and random.random() < 0.75:
        changed = _changed_tokens(data, random, known)
        if changed is not None:
            return changed
    for _ in range(random.randint(1, 2)):
        start = random.randrange(len(data) + 1)
        end = min(len(data), start + random.choice((0, 1, 2, 8, 40)))
        match random.randrange(3):
            case 0:
                data = data[:start] + random.choice(PIECES) + data[end:]
            case 1:
                data = data[:start] + data[start:end] * random.randint(0, 3) + data[end:]
            case _:
                data = data[:start]
    return data


_TOKEN = re.compile(r"\s+|\w+|'[^'\n]*'|\"[^\"\n]*\"|`[^`\n]*`|[^\w\s]")
_OTHERS = (
    "''", '""', "``", "`a.b`", "(", ")", "[", "]", "{", "}", "<", ">", ",", ".", "=", "*", "-", "--", "/*", "*/", ";",
    "0", "-1", "1e308", "9" * 40, "1.0.0", "inf", "nan", "true", "null", "\0", "\u00e9", "\U0001f600", "\u202e", "\n",
    "${A}", "${A:-b}", "@var(x)", "../..", "/", "1979-05-27T07:32:00Z",
)  # fmt: skip
_LONGEST = 60


def _changed_tokens(data: bytes, random: Random, known: Sequence[bytes]) -> bytes | None:
    """A text with tokens dropped, doubled, exchanged or put in; None for what is no text."""
    try:
        tokens = _TOKEN.findall(data.decode())
        others = _TOKEN.findall(random.choice(known).decode())
    except UnicodeDecodeError:
        return None
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(tokens) + 1)
        end = min(len(tokens), at + random.choice((1, 1, 2, 5, 20)))
        match random.randrange(6):
            case 0:
                del tokens[at:end]
            case 1:
                tokens[at:at] = tokens[at:end]
            case 2 if tokens:
                first = random.randrange(len(tokens))
                tokens[at:end] = tokens[first : first + random.randint(1, 20)]
            case 3:
                tokens[at:end] = [random.choice(_OTHERS)]
            case 4 if others:
                tokens[at:end] = [random.choice(others)]
            case _ if others:
                first = random.randrange(len(others))
                tokens[at:at] = others[first : first + random.randint(1, _LONGEST)]
    return "".join(tokens).encode()


def _changed_json(data: bytes, random: Random) -> bytes | None:
    """One value of one line replaced, its key dropped or renamed; None where a line is no JSON."""
    try:
        lines = [json.loads(line) for line in data.splitlines() if line.strip()]
    except ValueError:
        return None
    places = [place for line in lines for place in _places(line)]
    if not places:
        return None
    holder, key = random.choice(places)
    match random.randrange(3):
        case 0 if isinstance(holder, dict):
            del holder[key]
        case 1 if isinstance(holder[key], str) and holder[key][:1] in ("{", "["):
            inner = _changed_json(holder[key].encode(), random)
            holder[key] = inner.decode() if inner is not None else "{"
        case _:
            holder[key] = random.choice(VALUES)
    return "".join(f"{json.dumps(line)}\n" for line in lines).encode()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])
