"""The function catalogue: Spark 4.1's built-in functions, and what a call of one gives.

The rules are data that `tools/generate_function_catalogue.py` got by asking Spark's own analyser.
A wrong refusal is worse than no answer: where Spark's is not known, the result is UNKNOWN.
"""

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from rocky.language.datatypes import types as t
from rocky.language.datatypes.casts import expression_type
from rocky.language.datatypes.types import DataType
from rocky.language.functions.operand import Operand, Refusal, Typing
from rocky.language.functions.templates import (
    ALL_CLASSES,
    Maker,
    NullRule,
    build_maker,
    build_null_rule,
    class_of,
    follows_flags,
    is_fixed,
    relatives_of,
)

_ORDINALS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_UNEXPECTED: Final = "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"
_STAND_INS: Final = (t.DOUBLE, t.INT, t.STRING)


@dataclass(frozen=True, slots=True)
class Entry:
    """What is remembered for one tuple of argument types.

    `typing` is the whole answer where nothing depends on nullability; else `type`, or the
    `maker` of the type, and the null `rule` give it.
    """

    typing: Typing | None = None
    refusal: tuple[str, str, int | None] | None = None
    type: DataType | None = None
    maker: Maker | None = None
    rule: NullRule | None = None


UNKNOWN_ENTRY: Final = Entry(typing=(t.UNKNOWN, True))


class Rules:
    """The stored rules: rows, and the outcomes they lead to. Built when first asked for."""

    __slots__ = (
        "makers",
        "null_rules",
        "outcomes",
        "refusals",
        "rows",
        "stored",
        "templates",
        "texts",
    )

    def __init__(self, stored: dict[str, Any]) -> None:
        self.texts: list[str] = stored["rows"]
        self.rows: dict[int, list[int]] = {}
        self.outcomes: list[list[int] | None] = stored["outcomes"]
        self.refusals: list[tuple[str, int | None, str]] = stored["refusals"]
        self.templates: list[Any] = stored["templates"]
        self.stored: list[Any] = stored["null_rules"]
        self.makers: dict[int, Maker] = {}
        self.null_rules: dict[int, NullRule] = {}

    def row(self, at: int) -> list[int]:
        found = self.rows.get(at)
        if found is None:
            found = self.rows[at] = [int(text) for text in self.texts[at].split()]
        return found

    def maker(self, at: int) -> Maker:
        found = self.makers.get(at)
        if found is None:
            found = self.makers[at] = build_maker(self.templates[at])
        return found

    def null_rule(self, at: int) -> NullRule:
        found = self.null_rules.get(at)
        if found is None:
            found = self.null_rules[at] = build_null_rule(self.stored[at])
        return found


class Signature:
    """One function with one number of arguments."""

    __slots__ = ("foldable", "memo", "name", "root", "rules")

    def __init__(self, name: str, rules: Rules, root: int, foldable: dict[int, str]) -> None:
        self.name = name
        self.rules = rules
        self.root = root
        self.foldable = foldable
        self.memo: dict[tuple[DataType, ...], Entry] = {}

    def entry(self, types: tuple[DataType, ...]) -> Entry:
        """What these argument types give, from memory or from the stored rows."""
        found = self.memo.get(types)
        if found is None:
            found = self.memo[types] = self._find(types)
        return found

    def _find(self, types: tuple[DataType, ...]) -> Entry:
        seen = tuple(expression_type(each) for each in types)
        classes = [class_of(each) for each in seen]
        if None not in classes:
            return self._entry(self._walk(classes), seen)
        if t.UNKNOWN in seen:
            return self._among(seen)
        return self._renamed(seen)

    def _walk(self, classes: Sequence[int | None]) -> int:
        at = self.root
        for which in classes:
            at = self.rules.row(at)[which or 0]
        return at

    def _reached(self, choices: Sequence[Sequence[int]]) -> set[int]:
        reached = {self.root}
        for choice in choices:
            reached = {self.rules.row(at)[which] for at in reached for which in choice}
        return reached

    def _entry(self, outcome: int, types: tuple[DataType, ...]) -> Entry:
        rules = self.rules
        stored = rules.outcomes[outcome]
        if stored is None:
            return UNKNOWN_ENTRY
        if len(stored) == 1:
            return Entry(refusal=self._refusal(stored[0], types))
        template, rule = stored
        maker, when = rules.maker(template), rules.stored[rule]
        if follows_flags(rules.templates[template]):
            return Entry(maker=maker, rule=rules.null_rule(rule))
        made = maker(types, (False,) * len(types)) or t.UNKNOWN
        if isinstance(when, bool):
            return Entry(typing=(made, when))
        return Entry(type=made, rule=rules.null_rule(rule))

    def _refusal(self, at: int, types: tuple[DataType, ...]) -> tuple[str, str, int | None]:
        condition, argument, required = self.rules.refusals[at]
        if argument is None or argument >= len(types):
            taken = ", ".join(f"`{each}`" for each in types)
            return condition, f"`{self.name}` does not take {taken} together", None
        ordinal = _ORDINALS[argument]
        if not required:
            message = f"`{self.name}` does not take `{types[argument]}` as {ordinal} argument"
        else:
            wanted = required.strip("()").replace('"', "`").lower()
            message = f"the {ordinal} argument of `{self.name}` must be {wanted}"
            message += f", not `{types[argument]}`"
        return condition, message, argument

    # -- types of no class ------------------------------------------------------------------

    def _among(self, types: tuple[DataType, ...]) -> Entry:
        """What all calls with the known types have in common; an unknown type is any type."""
        reached = self._reached([relatives_of(each) for each in types])
        stored = [self.rules.outcomes[at] for at in reached]
        accepted = [each for each in stored if each is not None and len(each) == 2]
        templates = {each[0] for each in accepted}
        if None in stored or len(templates) != 1:
            return UNKNOWN_ENTRY
        template = templates.pop()
        if not is_fixed(self.rules.templates[template]):
            return UNKNOWN_ENTRY
        never = all(self.rules.stored[each[1]] is False for each in accepted)
        made = self.rules.maker(template)(types, (True,) * len(types)) or t.UNKNOWN
        return Entry(typing=(made, not never))

    def _renamed(self, types: tuple[DataType, ...]) -> Entry:
        for names in _renamings(types):
            renamed = [_rename(each, names) for each in types]
            classes = [class_of(each) for each in renamed]
            if None in classes:
                continue
            outcome = self._walk(classes)
            stored = self.rules.outcomes[outcome]
            if stored is not None and len(stored) == 2:
                return self._entry(outcome, types)
        return self._refused_by_all(types) or self._refused_elsewhere(types) or UNKNOWN_ENTRY

    def _refused_by_all(self, types: tuple[DataType, ...]) -> Entry | None:
        """The refusal of a type whose relatives no call takes in that position."""
        for at, each in enumerate(types):
            if class_of(each) is not None:
                continue
            choices = [ALL_CLASSES] * len(types)
            choices[at] = relatives_of(each)
            stored = [self.rules.outcomes[reached] for reached in self._reached(choices)]
            if all(found is not None and len(found) == 1 for found in stored):
                narrowed = [relatives_of(other)[0] for other in types]
                return self._entry(self._walk(narrowed), types)
        return None

    def _refused_elsewhere(self, types: tuple[DataType, ...]) -> Entry | None:
        """The refusal of another argument, one whose class is known, beside every relative."""
        reached = self._reached([relatives_of(each) for each in types])
        stored = [self.rules.outcomes[at] for at in reached]
        refusals = {found[0] for found in stored if found is not None and len(found) == 1}
        if len(refusals) != 1 or len(stored) != 1:
            return None
        condition, argument, _ = self.rules.refusals[next(iter(refusals))]
        if condition != _UNEXPECTED or argument is None or class_of(types[argument]) is None:
            return None
        return Entry(refusal=self._refusal(refusals.pop(), types))


def _renamings(types: tuple[DataType, ...]) -> list[dict[DataType, DataType]]:
    """Ways to read the parts that have no class as parts that have one."""
    parts: dict[DataType, None] = {}
    for each in types:
        if class_of(each) is None and isinstance(each, t.ArrayType):
            parts[each.element] = None
        elif class_of(each) is None and isinstance(each, t.MapType):
            # A map is renamed as a whole: both of its classes are asked.
            parts[each.key] = parts[each.value] = None
    if len(parts) == 1:
        part = next(iter(parts))
        order = _STAND_INS if part.kind in t.NUMERIC_KINDS else (t.STRING, t.INT, t.DOUBLE)
        return [{part: other} for other in order]
    pair = list(parts)[:2]
    return [{pair[0]: one, pair[1]: two} for one, two in ((t.STRING, t.INT), (t.INT, t.STRING))]


def _rename(type: DataType, names: dict[DataType, DataType]) -> DataType:  # noqa: A002 - the noun of this package
    if type in names:
        return names[type]
    if isinstance(type, t.ArrayType):
        return t.array(_rename(type.element, names), type.contains_null)
    if isinstance(type, t.MapType):
        key, value = _rename(type.key, names), _rename(type.value, names)
        if key.kind == value.kind:
            value = t.INT if key is t.STRING else t.STRING
        return t.map_of(key, value, type.contains_null)
    return type


SPARK_VERSION: Final = "4.1"
_UNKNOWN_TYPING: Final[Typing] = (t.UNKNOWN, True)


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


def type_call(info: FunctionInfo, args: Sequence[Operand]) -> Typing:
    """What a call gives. Raises `Refusal` when Spark would not take it."""
    count = len(args)
    signature = info.signatures.get(count) or info.signature(count)
    if signature is None:
        return _type_untold(info, args)
    types = tuple([arg.type for arg in args])
    entry = signature.memo.get(types) or signature.entry(types)
    if entry.refusal is not None:
        raise Refusal(*entry.refusal)
    for at, condition in signature.foldable.items():
        if not args[at].foldable and args[at].type is not t.UNKNOWN:
            message = f"argument {at + 1} of `{signature.name}` must be a constant"
            raise Refusal(condition, message, at)
    if entry.typing is not None:
        return entry.typing
    flags = [arg.nullable for arg in args]
    rule, found = entry.rule, entry.type
    if found is None:
        found = (entry.maker(types, flags) if entry.maker is not None else None) or t.UNKNOWN
    return found, rule is None or rule(types, flags)


def _type_untold(info: FunctionInfo, args: Sequence[Operand]) -> Typing:
    count = len(args)
    if not info.takes(count):
        raise _wrong_count(info, count)
    known = [int(text) for text in info.stored]
    most = max(known, default=0)
    if isinstance(info.arities, tuple) and most and count > most:
        return _type_tail(info, args, most)
    return _UNKNOWN_TYPING


def _type_tail(info: FunctionInfo, args: Sequence[Operand], most: int) -> Typing:
    """A call longer than any that was asked: each further argument behaves like the last."""
    head = args[: most - 1]
    found = [type_call(info, [*head, last]) for last in args[most - 1 :]]
    types = {typing[0] for typing in found}
    return types.pop() if len(types) == 1 else t.UNKNOWN, any(nullable for _, nullable in found)


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
