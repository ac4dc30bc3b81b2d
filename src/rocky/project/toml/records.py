"""Records read from TOML: a NamedTuple's annotations say what its table may hold.

`read_record(Budget, table, ...)` gives a `Budget` and adds a `Problem` for every unknown
key, wrong type and bad choice; a field that is wrong keeps its default, so one mistake
never hides the next. NamedTuples, because forty frozen dataclasses cost 40 ms of start-up
and these 5; and an own reader, because pydantic costs 100 ms and knows no places.

Understood annotations: str, int, float, bool, Any, Literal, X | Y, tuple[X, ...],
Mapping[str, X], NamedTuple classes, and Annotated with the rules defined here.
"""

import json
import types
from collections.abc import Callable, Iterable, Mapping
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from rocky.diagnostics.suggestion import closest, suggestion
from rocky.project.toml.documents import (
    AtLeast,
    Between,
    Parsed,
    Problem,
    Problems,
    ReadBy,
    Reader,
    Refusal,
    Tagged,
    refused_keys,
)
from rocky.project.toml.variables import Keys, Substituted, Unset, written

Record = TypeVar("Record")

INVALID: Final = object()
"""What a reader returns for a value it has reported."""


def read_record(cls: type[Record], table: Any, at: Keys, problems: Problems) -> Record | None:
    """The record in a table, or None when a required part of it is missing or wrong."""
    read: Record | object = reader_for(cls)(table, at, problems)
    return None if read is INVALID else read  # type: ignore[return-value]  # INVALID is the only other object


_READERS: dict[Any, Reader] = {}


def reader_for(hint: Any) -> Reader:
    """The reader of an annotation; made once."""
    reader = _READERS.get(hint)
    if reader is None:
        reader = _READERS[hint] = _make_reader(hint)
    return reader


def _make_reader(hint: Any) -> Reader:
    if hint is Any:
        return _read_anything
    if hint in _SCALARS:
        return _SCALARS[hint]
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _annotated_reader(args[0], args[1])
    if origin is Literal:
        return _choice_reader(args)
    if origin in (Union, types.UnionType):
        return _union_reader([arg for arg in args if arg is not type(None)])
    if origin is tuple:
        return _list_reader(reader_for(args[0]))
    if origin in (dict, Mapping):
        return _mapping_reader(reader_for(args[1]))
    return _record_reader(hint)


def describe(value: Any) -> str:
    """What kind of TOML value this is, in words."""
    for kind, words in _KINDS:
        if isinstance(value, kind):
            return words
    return "a date or time"


LIST: Final = "a list"
_KINDS: Final = (
    (bool, "a flag"),
    (int, "a whole number"),
    (float, "a number"),
    (str, "a text"),
    (list, LIST),
    (dict, "a table"),
)


def wrong_type(wanted: str, value: Any, at: Keys, problems: Problems) -> Any:
    if isinstance(value, Unset):
        return INVALID
    found = f"`{value.written}`" if isinstance(value, Substituted) else describe(value)
    help_text = None
    if wanted == LIST and isinstance(value, str) and at:
        # One name is what people write who have one.
        help_text = f"write `{at[-1]} = [{json.dumps(value, ensure_ascii=False)}]`"
    problems.append(Problem(at, f"{_shown(at)} must be {wanted}, not {found}", help_text))
    return INVALID


def _shown(at: Keys) -> str:
    """What a message calls the value at a path: its key, and which item of a list it is."""
    name = next((str(key) for key in reversed(at) if isinstance(key, str)), "value")
    last = at[-1] if at else None
    return f"item {last + 1} of `{name}`" if isinstance(last, int) else f"`{name}`"


def misspelt(table: Mapping[str, Any], known: Iterable[str]) -> set[str]:
    """The known keys that unknown keys of a table were most likely meant to be.

    The unknown key is reported; that the known one is missing would be a second report of it.
    """
    names = sorted(known)
    found = (closest(key, names) for key in table if key not in names)
    return {name for name in found if name is not None and name not in table}


def unknown_key(key: str, known: Iterable[str], at: Keys) -> Problem:
    names = sorted(known)
    listed = "known keys: " + ", ".join(f"`{name}`" for name in names)
    help_text = suggestion(key, names) or (listed if names else None)
    return Problem(at, f"unknown key `{key}`{block_of(at[:-1])}", help_text, True)


def block_of(at: Keys) -> str:
    """Which table of a file is meant, as ` in [adapter.local]`; nothing for the file itself."""
    if at and isinstance(at[-1], int):
        return f" in {_shown(at)}"
    named = ".".join(str(each) for each in at if isinstance(each, str))
    return f" in [{named}]" if named else ""


def _refused_key(key: str, value: Any, refusal: Refusal, at: Keys) -> Problem:
    block = not at and isinstance(value, dict)
    shown = f"`[{key}]`" if block else f"`{key}`"
    when = "not supported yet" if refusal.later else "not supported"
    return Problem((*at, key), f"{shown} is {when}: {refusal.reason}", refusal.help, on_key=True)


def _read_anything(value: Any, at: Keys, problems: Problems) -> Any:  # noqa: ARG001 - a Reader
    return value


def _read_text(value: Any, at: Keys, problems: Problems) -> Any:
    if type(value) is str or type(value) is Substituted:
        return value
    return wrong_type("a text", value, at, problems)


def _read_whole(value: Any, at: Keys, problems: Problems) -> Any:
    if isinstance(value, Substituted):
        try:
            return int(value)
        except ValueError:
            pass
    elif isinstance(value, int) and not isinstance(value, bool):
        return value
    return wrong_type("a whole number", value, at, problems)


def _read_number(value: Any, at: Keys, problems: Problems) -> Any:
    if isinstance(value, Substituted):
        try:
            return float(value)
        except ValueError:
            pass
    elif isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return wrong_type("a number", value, at, problems)


def _read_flag(value: Any, at: Keys, problems: Problems) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, Substituted) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    return wrong_type("`true` or `false`", value, at, problems)


_SCALARS: Final[dict[Any, Reader]] = {
    str: _read_text,
    int: _read_whole,
    float: _read_number,
    bool: _read_flag,
}


def _annotated_reader(hint: Any, rule: Any) -> Reader:
    match rule:
        case AtLeast(least):
            return _range_reader(reader_for(hint), least, None)
        case Between(least, most):
            return _range_reader(reader_for(hint), least, most)
        case Parsed(parse):
            return _parsing_reader(parse)
        case ReadBy(reader):
            return reader
        case Tagged():
            return _tagged_reader(rule)
        case _:
            return reader_for(hint)


def _range_reader(inner: Reader, least: float, most: float | None) -> Reader:
    wanted = f"at least {least:g}" if most is None else f"between {least:g} and {most:g}"

    def read(value: Any, at: Keys, problems: Problems) -> Any:
        number = inner(value, at, problems)
        if number is INVALID or (number >= least and (most is None or number <= most)):
            return number
        problems.append(Problem(at, f"{_shown(at)} must be {wanted}"))
        return INVALID

    return read


def _parsing_reader(parse: Callable[[Any], Any]) -> Reader:
    def read(value: Any, at: Keys, problems: Problems) -> Any:
        if isinstance(value, Unset):
            return INVALID
        try:
            return parse(value)
        except ValueError as failure:
            if isinstance(value, Substituted):
                # What the parser says may quote the value.
                problems.append(Problem(at, f"the value of `{value.written}` cannot be used here"))
            else:
                offset = getattr(failure, "offset", None)
                hint = getattr(failure, "help", None)
                problems.append(Problem(at, str(failure), hint, offset=offset))
            return INVALID

    return read


def _choice_reader(choices: tuple[Any, ...]) -> Reader:
    listed = ", ".join(f"`{choice}`" for choice in choices)

    def read(value: Any, at: Keys, problems: Problems) -> Any:
        if isinstance(value, str) and value in choices and not isinstance(value, Unset):
            return str(value)
        if not isinstance(value, str) or isinstance(value, Unset):
            return wrong_type(f"one of {listed}", value, at, problems)
        shown = written(value)
        near = suggestion(shown, choices)
        problems.append(Problem(at, f"`{shown}` is not one of {listed}", near))
        return INVALID

    return read


def _union_reader(hints: list[Any]) -> Reader:
    if len(hints) == 1:
        return reader_for(hints[0])
    by_kind: list[tuple[type | tuple[type, ...], Reader]] = [
        (_python_type(hint), reader_for(hint)) for hint in hints
    ]

    def read(value: Any, at: Keys, problems: Problems) -> Any:
        for kind, reader in by_kind:
            if isinstance(value, kind) and isinstance(value, bool) == (kind is bool):
                return reader(value, at, problems)
        return by_kind[-1][1](value, at, problems)

    return read


def _python_type(hint: Any) -> type | tuple[type, ...]:
    origin = get_origin(hint)
    if origin is Annotated:
        return _python_type(get_args(hint)[0])
    if hint in (str, bool, int):
        kind: type = hint
        return kind
    if hint is float:
        return (int, float)
    if origin is Literal:
        return str
    return list if origin is tuple else dict


def _list_reader(item: Reader) -> Reader:
    def read(value: Any, at: Keys, problems: Problems) -> Any:
        if not isinstance(value, list):
            return wrong_type(LIST, value, at, problems)
        if item is _read_text and all(type(one) is str for one in value):
            return tuple(value)
        read_items = [item(one, (*at, index), problems) for index, one in enumerate(value)]
        return tuple(one for one in read_items if one is not INVALID)

    return read


def _mapping_reader(item: Reader) -> Reader:
    def read(value: Any, at: Keys, problems: Problems) -> Any:
        if not isinstance(value, dict):
            return wrong_type("a table", value, at, problems)
        found = {key: item(one, (*at, key), problems) for key, one in value.items()}
        return {key: one for key, one in found.items() if one is not INVALID}

    return read


def _record_reader(cls: Any) -> Reader:
    hints = get_type_hints(cls, include_extras=True)
    refused = refused_keys(cls)
    # A trailing underscore keeps a field clear of Python's own words: `import_` is `import`.
    slots = {
        name.removesuffix("_"): (index, reader_for(hints[name]))
        for index, name in enumerate(cls._fields)
        if name not in refused
    }
    blank = [cls._field_defaults.get(name, INVALID) for name in cls._fields]
    required = [(name, index) for name, (index, _) in slots.items() if blank[index] is INVALID]

    def read(value: Any, at: Keys, problems: Problems) -> Any:
        if not isinstance(value, dict):
            return wrong_type("a table", value, at, problems)
        values = blank.copy()
        for key, one in value.items():
            if key in refused:
                problems.append(_refused_key(key, one, refused[key], at))
                continue
            slot = slots.get(key)
            if slot is None:
                problems.append(unknown_key(key, slots, (*at, key)))
                continue
            index, reader = slot
            found = reader(one, (*at, key), problems)
            if found is not INVALID:
                values[index] = found
        for _, index in required:
            if values[index] is INVALID:
                _report_missing(required, slots, value, at, problems)
                return INVALID
        return tuple.__new__(cls, values)

    return read


def _named_tuples(rule: Tagged) -> tuple[Any, ...]:
    return rule.records


def _report_missing(
    required: list[tuple[str, int]],
    known: Iterable[str],
    value: dict[str, Any],
    at: Keys,
    problems: Problems,
) -> None:
    meant = misspelt(value, known)
    for name, _ in required:
        if name not in value and name not in meant:
            problems.append(Problem(at, f"missing key `{name}`"))


_EMPTY: Final[dict[str, Any]] = {}


def _tagged_reader(rule: Tagged) -> Reader:
    readers = {cls._field_defaults["type"]: reader_for(cls) for cls in _named_tuples(rule)}
    choose = _choice_reader(tuple(readers))

    def read(value: Any, at: Keys, problems: Problems) -> Any:
        tag: Any
        if isinstance(value, str):
            tag, at_tag, rest = value, at, _EMPTY
        elif not isinstance(value, dict):
            return wrong_type("a table", value, at, problems)
        elif "type" in value or rule.default:
            implied = (kind for sign, kind in rule.signs if sign in value)
            tag, at_tag = value.get("type", next(implied, rule.default)), (*at, "type")
            rest = {key: one for key, one in value.items() if key != "type"}
        else:
            problems.append(Problem(at, f"this {rule.noun} has no `type`"))
            return INVALID
        chosen = choose(tag, at_tag, problems)
        if chosen is INVALID:
            return INVALID
        before = len(problems)
        made = readers[chosen](rest, at, problems)
        problems[before:] = [rule.name_owner(each, at) for each in problems[before:]]
        return made

    return read
