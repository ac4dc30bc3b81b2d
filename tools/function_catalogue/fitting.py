"""Fitting: the simplest rule for each cell that agrees with all Spark said about it.

Every cell keeps all the templates and null rules its observations allow; then the fewest of
them that cover all cells are chosen. So a function whose result is always its first argument
gets that one rule, though each cell alone would also allow a fixed type.
"""

import itertools
import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache
from typing import Any

from rocky.language.datatypes.coercion import widest_of
from rocky.language.datatypes.text import type_to_json
from rocky.language.datatypes.types import STRING, ArrayType, DataType, MapType, StructType
from rocky.language.functions.templates import (
    ARRAY_CLASSES,
    CLASS_TEXTS,
    HOLES,
    MAP_CLASSES,
    Maker,
    NullRule,
    build_maker,
    build_null_rule,
    contains_null,
    is_fixed,
)
from tools.function_catalogue.facts import Cell, Observation, cell_of

MAX_SHAPES = 400
MANY = 4
_STRUCT_HOLES = 3
# What Spark casts a decimal argument to by itself, where it wants one of a certain size.
_DECIMAL_TARGETS = ("decimal(16,6)", "decimal(18,6)", "decimal(10,0)")
NESTED = frozenset(ARRAY_CLASSES + MAP_CLASSES)


def by_cell(observations: Iterable[Observation]) -> dict[Cell, list[Observation]]:
    """Observations grouped by the classes of their arguments."""
    found: dict[Cell, list[Observation]] = defaultdict(list)
    for observation in observations:
        cell = cell_of(observation.arguments)
        if cell is not None:
            found[cell].append(observation)
    return dict(found)


# -- result types -----------------------------------------------------------------------------


def fit_templates(cells: dict[Cell, list[Observation]]) -> dict[Cell, str]:
    """For each cell the JSON text of its template; cells no template explains are left out."""
    fixed = {observation.type for found in cells.values() for observation in found}
    if len(fixed) == 1:
        text = _dump(_fixed(fixed.pop()))
        return dict.fromkeys(cells, text)
    return _cover({cell: _allowed_templates(found) for cell, found in cells.items()})


def _allowed_templates(observations: list[Observation]) -> list[str]:
    first = max(observations, key=_tellingness)
    asked = {(tuple(_types(each)), tuple(_flags(each)), each.type) for each in observations}
    allowed = []
    for template in _templates_of(first):
        text = _dump(template)
        maker = _maker(text)
        if all(maker(types, flags) is wanted for types, flags, wanted in asked):
            allowed.append(text)
    return allowed


@cache
def _maker(text: str) -> Maker:
    return build_maker(json.loads(text))


def _tellingness(observation: Observation) -> int:
    """An extra tells more than its class: fewer holes agree with it by accident."""
    return sum(probe.sql.startswith("x") for probe in observation.arguments)


def _templates_of(observation: Observation) -> list[Any]:
    types, flags = _types(observation), _flags(observation)
    holes: list[tuple[Any, DataType]] = []
    for at, each in enumerate(types):
        holes += [([hole, at], made) for hole, pick in HOLES.items() if (made := pick(each))]
    if "string" in observation.type.text:
        for chosen in _choices(len(types)):
            template = ["text", *chosen]
            holes.append((template, build_maker(template)(types, flags) or STRING))
    for one, two in itertools.combinations(range(len(types)), 2):
        wide = widest_of([types[one], types[two]])
        if wide is not None:
            holes.append((["wide", one, two], wide))
    if len(types) > 2 and (wide := widest_of(types)) is not None:
        holes.append((["wide", *range(len(types))], wide))
    atoms = {f"n{at}": flag for at, flag in enumerate(flags)} | {
        f"c{at}": contains_null(each)
        for at, each in enumerate(types)
        if isinstance(each, ArrayType | MapType)
    }
    return _shapes(observation.type, holes, atoms)


def _shapes(
    wanted: DataType, holes: list[tuple[Any, DataType]], atoms: dict[str, bool]
) -> list[Any]:
    found: list[Any] = [_fixed(wanted)]
    found += [hole for hole, made in holes if made is wanted]
    if isinstance(wanted, ArrayType):
        inner = _shapes(wanted.element, holes, atoms)
        bits = _bits(wanted.contains_null, atoms)
        found += [["array", part, bit] for part in inner for bit in bits]
    elif isinstance(wanted, MapType):
        keys = _shapes(wanted.key, holes, atoms)
        values = _shapes(wanted.value, holes, atoms)
        bits = _bits(wanted.contains_null, atoms)
        found += [["map", k, v, bit] for k in keys for v in values for bit in bits]
    elif isinstance(wanted, StructType) and len(wanted.fields) <= _STRUCT_HOLES:
        parts = [
            [
                [field.name, part, bit]
                for part in _shapes(field.type, holes, atoms)
                for bit in _bits(field.nullable, atoms)[:4]
            ]
            for field in wanted.fields
        ]
        found += [
            ["struct", list(fields)]
            for fields in itertools.islice(itertools.product(*parts), MAX_SHAPES)
        ]
    return found[: MAX_SHAPES * 2]


def _bits(value: bool, atoms: dict[str, bool]) -> list[Any]:  # noqa: FBT001 - the bit itself
    found: list[Any] = [value]
    names = list(atoms)
    for size in (1, 2, len(names)):
        for chosen in itertools.combinations(names, size):
            if any(atoms[name] for name in chosen) == value and list(chosen) not in found:
                found.append(list(chosen))
    contained = [name for name in names if name[0] == "c"]
    if len(contained) > 1 and all(atoms[name] for name in contained) == value:
        found.append({"all": contained})
    return found


# -- nullability ------------------------------------------------------------------------------


def fit_null_rules(cells: dict[Cell, list[Observation]]) -> dict[Cell, str]:
    """For each cell the JSON text of its null rule; cells no rule explains are left out."""
    return _cover({cell: _allowed_rules(cell, found) for cell, found in cells.items()})


def _allowed_rules(cell: Cell, observations: list[Observation]) -> list[str]:
    asked = {(tuple(_types(each)), tuple(_flags(each)), each.nullable) for each in observations}
    return [
        text
        for text, holds in _rules_for(len(cell), _further_atoms(cell))
        if all(holds(types, flags) == nullable for types, flags, nullable in asked)
    ]


@cache
def _rules_for(count: int, further: tuple[tuple[str, ...], ...]) -> list[tuple[str, NullRule]]:
    rules: list[Any] = [False, True, *(list(more) for more in further)]
    for chosen in _choices(count):
        nullable = [f"n{at}" for at in chosen]
        rules.append(nullable)
        rules += [[*nullable, *more] for more in further]
        if len(chosen) > 1:
            rules.append({"all": nullable})
    return [(_dump(rule), build_null_rule(rule)) for rule in rules]


def _choices(count: int) -> list[tuple[int, ...]]:
    """The sets of positions worth trying: every one, but of many positions the plain ones."""
    sizes = range(count, 0, -1) if count < MANY else (count, count - 1, 1)
    return [chosen for size in sizes for chosen in itertools.combinations(range(count), size)]


def _further_atoms(cell: Cell) -> tuple[tuple[str, ...], ...]:
    """Atoms besides the nullability of the arguments that may matter for these classes."""
    contained = [f"c{at}" for at, which in enumerate(cell) if which in NESTED]
    further: list[tuple[str, ...]] = [(atom,) for atom in contained]
    if len(contained) > 1:
        further.append(tuple(contained))
    decimals = [at for at, which in enumerate(cell) if CLASS_TEXTS[which].startswith("decimal")]
    casts = [(f"f{at}:{target}",) for at in decimals for target in _DECIMAL_TARGETS]
    return (*further, *casts)


# -- choosing ---------------------------------------------------------------------------------


def _cover(allowed: dict[Cell, list[str]]) -> dict[Cell, str]:
    """A choice for each cell that uses few different rules, the simple ones first."""
    left = {cell: found for cell, found in allowed.items() if found}
    chosen: dict[Cell, str] = {}
    while left:
        votes = Counter(rule for found in left.values() for rule in found)
        best = min(votes, key=lambda rule: (-votes[rule], _complexity(rule), rule))
        for cell in [cell for cell, found in left.items() if best in found]:
            chosen[cell] = best
            del left[cell]
    return chosen


def _complexity(rule: str) -> tuple[int, int]:
    value = json.loads(rule)
    return (0 if is_fixed(value) and not isinstance(value, dict) else 1, len(rule))


def _types(observation: Observation) -> list[DataType]:
    return [probe.type for probe in observation.arguments]


def _flags(observation: Observation) -> list[bool]:
    return [probe.nullable for probe in observation.arguments]


def _fixed(wanted: DataType) -> Any:
    collation = getattr(wanted, "collation", "UTF8_BINARY")
    return type_to_json(wanted) if collation == "UTF8_BINARY" else f"string collate {collation}"


def _dump(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
