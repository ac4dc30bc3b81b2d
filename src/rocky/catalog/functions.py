"""Functions: the built-in functions of Spark 4.1, and what a call of one gives.

The rules are data: `tools/generate_function_catalogue.py` asks Spark's own analyser. They are
read when the first function is looked up. A wrong refusal is worse than no answer: where
Spark's answer is not known, the result is UNKNOWN and nothing is reported.
"""

import gzip
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from rocky.catalog.operand import Operand, Refusal, Typing
from rocky.catalog.signatures import Rules, Signature
from rocky.datatypes.types import UNKNOWN

SPARK_VERSION: Final = "4.1"
_UNKNOWN_TYPING: Final[Typing] = (UNKNOWN, True)


class FunctionInfo:
    """A built-in function: its kind, and how many arguments it takes.

    `arities` is the set of argument counts, or `(least, None)` when there is no most.
    """

    __slots__ = ("arities", "deterministic", "kind", "name", "rules", "signatures", "stored")

    def __init__(self, name: str, stored: list[Any], rules: Rules) -> None:
        kind, deterministic, counts, arities = stored
        self.name = name
        self.kind: str = kind
        self.deterministic = bool(deterministic)
        self.arities: frozenset[int] | tuple[int, None] = (
            frozenset(counts) if isinstance(counts, list) else (counts, None)
        )
        self.rules = rules
        self.stored: dict[str, list[Any]] = arities
        self.signatures: dict[int, Signature | None] = {}

    def takes(self, count: int) -> bool:
        """Whether Spark has this function with so many arguments."""
        arities = self.arities
        return count >= arities[0] if isinstance(arities, tuple) else count in arities

    def signature(self, count: int) -> Signature | None:
        """The signature for so many arguments, or None when Spark told nothing of it."""
        if count not in self.signatures:
            stored = self.stored.get(str(count))
            found = None
            if stored is not None:
                foldable = stored[1] if len(stored) > 1 else {}
                found = Signature(
                    self.name,
                    self.rules,
                    stored[0],
                    {int(at): text for at, text in foldable.items()},
                )
            self.signatures[count] = found
        return self.signatures[count]


@cache
def _load_catalogue() -> tuple[dict[str, list[Any]], Rules]:
    packed = Path(__file__).with_name("data") / f"spark-{SPARK_VERSION}.json.gz"
    stored = json.loads(gzip.decompress(packed.read_bytes()))
    return stored["functions"], Rules(stored)


@cache
def find_function(name: str) -> FunctionInfo | None:
    """The built-in function of a lower-case name, or None."""
    functions, rules = _load_catalogue()
    stored = functions.get(name)
    return None if stored is None else FunctionInfo(name, stored, rules)


@cache
def all_names() -> tuple[str, ...]:
    """The names of all built-in functions, sorted."""
    return tuple(sorted(_load_catalogue()[0]))


def type_call(info: FunctionInfo, args: Sequence[Operand]) -> Typing | Refusal:
    """What a call gives, or why Spark would not take it."""
    count = len(args)
    signature = info.signatures.get(count) or info.signature(count)
    if signature is None:
        return _type_untold(info, args)
    types = tuple([arg.type for arg in args])
    entry = signature.memo.get(types) or signature.entry(types)
    if entry.refusal is not None:
        return entry.refusal
    if signature.foldable:
        refusal = _refuse_columns(signature, args)
        if refusal is not None:
            return refusal
    if entry.typing is not None:
        return entry.typing
    flags = [arg.nullable for arg in args]
    rule, found = entry.rule, entry.type
    if found is None:
        found = (entry.maker(types, flags) if entry.maker is not None else None) or UNKNOWN
    return found, rule is None or rule(types, flags)


def _refuse_columns(signature: Signature, args: Sequence[Operand]) -> Refusal | None:
    for at, condition in signature.foldable.items():
        if not args[at].foldable and args[at].type is not UNKNOWN:
            message = f"argument {at + 1} of `{signature.name}` must be a constant"
            return Refusal(condition, message, at)
    return None


def _type_untold(info: FunctionInfo, args: Sequence[Operand]) -> Typing | Refusal:
    count = len(args)
    if not info.takes(count):
        return _wrong_count(info, count)
    known = [int(text) for text in info.stored]
    most = max(known, default=0)
    if isinstance(info.arities, tuple) and most and count > most:
        return _type_tail(info, args, most)
    return _UNKNOWN_TYPING


def _type_tail(info: FunctionInfo, args: Sequence[Operand], most: int) -> Typing | Refusal:
    """A call longer than any that was asked: each further argument behaves like the last."""
    head = args[: most - 1]
    found: list[Typing] = []
    for last in args[most - 1 :]:
        typing = type_call(info, [*head, last])
        if isinstance(typing, Refusal):
            return typing
        found.append(typing)
    types = {typing[0] for typing in found}
    return types.pop() if len(types) == 1 else UNKNOWN, any(nullable for _, nullable in found)


def _wrong_count(info: FunctionInfo, count: int) -> Refusal:
    arities = info.arities
    if isinstance(arities, tuple):
        wanted = f"at least {arities[0]} argument{'' if arities[0] == 1 else 's'}"
    else:
        counts = sorted(arities)
        wanted = " or ".join(", ".join(map(str, counts)).rsplit(", ", 1))
        wanted += " argument" if counts == [1] else " arguments"
    return Refusal(
        "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", f"`{info.name}` takes {wanted}, not {count}", None
    )
