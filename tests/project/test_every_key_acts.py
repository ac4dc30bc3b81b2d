"""A setting does something or is refused: nobody writes one and waits for what never comes."""

import ast
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import pytest

import rocky
from rocky.project.columns import ColumnRecord, OutputColumn
from rocky.project.configuration.config import Config
from rocky.project.configuration.model import AssertionRecord, FolderDefaults, ModelSettings
from rocky.project.contracts import ContractRecord, PromisedColumn
from rocky.project.function_records import FunctionRecord, ParameterRecord
from rocky.project.seeds import SeedRecord
from rocky.project.sources import SourceRecord
from rocky.project.toml.documents import Problems, Tagged, refused_keys
from rocky.project.toml.records import reader_for

PACKAGE = Path(rocky.__file__).parent
ACTING = tomllib.loads((Path(__file__).parent / "acting_keys.toml").read_text())
ONE_VALUE = "one value"
FILES = (
    *(Config, ModelSettings, FolderDefaults, SourceRecord, SeedRecord, ContractRecord),
    FunctionRecord,
)
LISTED = (ColumnRecord, OutputColumn, PromisedColumn, AssertionRecord, ParameterRecord)
"""Records that are read one by one, so that no annotation of a file's record shows them."""


def records_in(hint: Any) -> Iterator[type]:
    """The records in an annotation."""
    if get_origin(hint) is Annotated:
        inner, rule = get_args(hint)[:2]
        yield from rule.records if isinstance(rule, Tagged) else records_in(inner)
    elif hasattr(hint, "_fields"):
        yield hint
    else:
        for each in get_args(hint):
            yield from records_in(each)


@cache
def all_records() -> tuple[type, ...]:
    """Every record of the configuration model."""
    found: dict[type, None] = {}
    waiting: list[type] = [*FILES, *LISTED]
    while waiting:
        record = waiting.pop(0)
        if record not in found:
            found[record] = None
            hints = get_type_hints(record, include_extras=True)
            waiting += (inner for hint in hints.values() for inner in records_in(hint))
    return tuple(found)


def keys_of(record: type) -> set[str]:
    """The keys of a record that must act: a `type` that chooses the record has acted."""
    fields = set(record._fields) - refused_keys(record).keys()
    return fields - {"type"} if "type" in record._field_defaults and has_tag(record) else fields


def has_tag(record: type) -> bool:
    return get_type_hints(record)["type"] is str


@cache
def texts() -> dict[Path, str]:
    return {path: path.read_text() for path in sorted(PACKAGE.rglob("*.py"))}


def package_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


@cache
def places_in(path: Path) -> list[tuple[str, ast.AST]]:
    """The functions, methods and assignments of a module, each with its name."""
    found: list[tuple[str, ast.AST]] = []
    for outer in ast.parse(texts()[path]).body:
        inner = outer.body if isinstance(outer, ast.ClassDef) else []
        found.append((name_of(outer), outer))
        found += ((f"{name_of(outer)}.{name_of(each)}", each) for each in inner)
    return found


def places(package: str, name: str) -> list[ast.AST]:
    """The places of a name in a package. Only modules that hold the word are parsed, or it takes seconds."""
    word = name.rpartition(".")[2]
    return [
        place
        for path, text in texts().items()
        if package_of(path) == package and word in text
        for found, place in places_in(path)
        if found == name
    ]


def name_of(node: ast.AST) -> str:
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.AnnAssign(target=ast.Name(id=name)):
            return name
        case _:
            return ""


def reads_key(place: ast.AST, key: str) -> bool:
    """Whether code reads a key: as an attribute, in a pattern, or by its name."""
    for node in ast.walk(place):
        match node:
            case ast.Attribute(attr=name, ctx=ast.Load()) if name == key:
                return True
            case ast.Constant(value=value) if value == key:
                return True
            case ast.MatchClass(kwd_attrs=names) if key in names:
                return True
            case _:
                continue
    return False


def readers_of(key: str) -> list[str]:
    """Where a key of this name is read, for whoever looks for the new place of one."""
    return [
        f"{package_of(path)}:{name}"
        for path in texts()
        for name, place in places_in(path)
        if reads_key(place, key)
    ]


def test_every_key_has_the_place_that_acts_on_it():
    named = {name: set(keys) for name, keys in ACTING.items()}
    wanted = {each.__name__: keys_of(each) for each in all_records() if keys_of(each)}

    assert wanted == named


@pytest.mark.parametrize("record", all_records(), ids=lambda record: record.__name__)
def test_the_place_reads_the_key(record):
    wrong = {}
    for key, said in ACTING.get(record.__name__, {}).items():
        if said == ONE_VALUE:
            hint = get_type_hints(record)[key]
            assert Literal is get_origin(hint)
            assert 1 == len(get_args(hint))
            continue
        if not any(reads_key(place, key) for place in places(*said.split(":"))):
            wrong[key] = f"{said} does not read it; read in {readers_of(key)}"

    assert {} == wrong


@pytest.mark.parametrize(
    ("record", "key"),
    [(record, key) for record in all_records() for key in refused_keys(record)],
    ids=lambda each: each if isinstance(each, str) else each.__name__,
)
def test_a_refused_key_is_reported_with_a_reason_and_what_to_do(record, key):
    problems: Problems = []
    reader_for(record)({key: {}}, ("here",), problems)

    (found,) = [each for each in problems if each.keys == ("here", key)]
    assert found.on_key
    assert found.message.startswith(f"`{key}` is not supported")
    assert found.help
