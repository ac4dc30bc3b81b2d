"""The keys of TOML files: which record reads a file, and what a path of keys means in it.

The records of `rocky.project` are all there is: nothing is listed here that they do not say.
"""

import re
from collections.abc import Mapping
from inspect import cleandoc
from typing import Annotated, Any, Final, NamedTuple, get_args, get_origin, get_type_hints

from rocky.diagnostics.diagnostic import Span
from rocky.ide.view import OpenFile
from rocky.project.columns import ColumnRecord, OutputColumn
from rocky.project.configuration.config import Config
from rocky.project.configuration.model import FolderDefaults, ModelSettings
from rocky.project.contracts import ContractRecord, PromisedColumn
from rocky.project.function_records import FunctionRecord, ParameterRecord
from rocky.project.model_text import find_front_matter
from rocky.project.seeds import SeedRecord
from rocky.project.sources import SourceRecord
from rocky.project.toml.documents import Tagged, refused_keys
from rocky.project.toml.key_words import choices_in, default_words, records_in, value_words
from rocky.project.toml.parser import Place, locate_keys
from rocky.project.toml.variables import Keys


class SourceFile(NamedTuple):
    """A file of sources."""

    source: tuple[SourceRecord, ...] = ()


class FunctionFile(NamedTuple):
    """A file of functions."""

    function: tuple[FunctionRecord, ...] = ()


# Columns are read one by one, so their records do not show in the annotation.
_READ_ONE_BY_ONE: Final[Mapping[tuple[type, str], type]] = {
    (SourceRecord, "columns"): ColumnRecord,
    (SeedRecord, "columns"): ColumnRecord,
    (ContractRecord, "columns"): PromisedColumn,
    (ModelSettings, "output"): OutputColumn,
    (FunctionRecord, "columns"): OutputColumn,
    (FunctionRecord, "parameters"): ParameterRecord,
}
_NAMED: Final = frozenset({"adapter", "pipeline", "hook", "role"})
"""Blocks that may leave their name out."""


class KeyCard(NamedTuple):
    """What there is to say of a key. `about` is of the block that it is in."""

    name: str
    value: str
    default: str
    about: str
    choices: tuple[str, ...] = ()
    refused: str | None = None


class TomlPart(NamedTuple):
    """The TOML of a file and where it begins: all of it, or the front matter of a model."""

    text: str
    start: int


def toml_part(file: OpenFile) -> TomlPart | None:
    if file.kind == "toml":
        return TomlPart(file.text, 0)
    matter = find_front_matter(file.text) if file.kind in ("sql", "rocky") else None
    if matter is None:
        return None
    end = matter.end if matter.end is not None else len(file.text)
    return TomlPart(file.text[matter.start : end], matter.start)


def root_record(file: OpenFile) -> type:
    """The record that reads a file's TOML."""
    path = file.path
    name = path.rpartition("/")[2]
    if path == file.view.project.config_path:
        return Config
    if name == "_defaults.toml":
        return FolderDefaults
    if name.endswith(".contract.toml"):
        return ContractRecord
    folder = path.partition("/")[0]
    own: dict[str, type] = {"sources": SourceFile, "functions": FunctionFile, "seeds": SeedRecord}
    return own.get(folder, ModelSettings)


def keys_at(text: str, offset: int) -> tuple[Keys, Place] | None:
    """The path of keys whose key or value an offset is in: the longest that fits."""
    found = [
        (keys, place)
        for keys, place in locate_keys(text).items()
        if _is_in(place.key, offset) or _is_in(place.value, offset)
    ]
    return max(found, key=lambda each: len(each[0]), default=None)


def _is_in(span: Span, offset: int) -> bool:
    return span.start <= offset <= span.end


def find_key(root: type, keys: Keys, text: str) -> KeyCard | None:
    """What a path of keys means; None for one that no record knows."""
    names = [each for each in keys if isinstance(each, str)]
    owner = record_at(root, keys[:-1], text)
    if owner is None or not names:
        return None
    name = names[-1]
    refusal = refused_keys(owner).get(name)
    if refusal is not None:
        return KeyCard(name, "", "", _about(owner), refused=f"{refusal.reason}; {refusal.help}")
    hints = get_type_hints(owner, include_extras=True)
    field = name if name in hints else f"{name}_"
    if field not in hints:
        return None
    return _card(owner, field, hints[field])


def known_keys(record: type) -> list[KeyCard]:
    """The keys that a record reads, in its order."""
    hints = get_type_hints(record, include_extras=True)
    refused = refused_keys(record)
    return [_card(record, name, hint) for name, hint in hints.items() if name not in refused]


def _card(owner: Any, field: str, hint: Any) -> KeyCard:
    default = getattr(owner, "_field_defaults", {}).get(field, ...)
    listed = (owner, field) in _READ_ONE_BY_ONE
    words = "list of table" if listed else value_words(hint)
    inner = [record for _, record in records_in(hint)]
    about = _about(inner[0]) if len(inner) == 1 else _about(owner)
    return KeyCard(field.rstrip("_"), words, default_words(default), about, choices_in(hint))


def _about(record: type) -> str:
    return cleandoc(record.__doc__ or "")


def record_at(root: type, keys: Keys, text: str) -> type | None:
    """The record that reads the table at a path; None where keys are the user's own."""
    hint = _hint_at(root, keys, text)
    return _record(hint, [each for each in keys if isinstance(each, str)], text)


def types_at(root: type, keys: Keys, text: str) -> tuple[str, ...]:
    """What `type` may be in the table at a path, if that decides how it is read."""
    hint = _hint_at(root, keys, text)
    return tuple(tag for tag, _ in records_in(hint) if tag) if hint is not None else ()


def _hint_at(root: type, keys: Keys, text: str) -> Any:
    hint: Any = root
    names: list[str] = []
    for key in keys:
        if isinstance(key, int):
            continue
        names.append(key)
        hint = _step(hint, key, names, text)
        if hint is None:
            return None
    return hint


def _step(hint: Any, key: str, names: list[str], text: str) -> Any:
    record = _record(hint, names[:-1], text)
    if record is None:
        inner = get_args(hint)
        return inner[1] if get_origin(hint) in (dict, Mapping) and len(inner) > 1 else None
    listed = _READ_ONE_BY_ONE.get((record, key))
    if listed is not None:
        return listed
    hints = get_type_hints(record, include_extras=True)
    if record is Config and key not in hints:
        key = key.removesuffix("s")
    return hints.get(key, hints.get(f"{key}_"))


def _record(hint: Any, names: list[str], text: str) -> type | None:
    """The record of an annotation; of several the one whose `type` the table says."""
    if get_origin(hint) in (dict, Mapping):
        return None
    rule = get_args(hint)[1] if get_origin(hint) is Annotated else None
    found = list(records_in(hint))
    if isinstance(rule, Tagged) or len(found) > 1:
        said = _type_in(names, text)
        default = rule.default if isinstance(rule, Tagged) else None
        return next((each for tag, each in found if tag == (said or default)), None) or (
            found[0][1] if found else None
        )
    return found[0][1] if found else None


def _type_in(names: list[str], text: str) -> str | None:
    """The `type` that the table of some names says."""
    for keys, place in locate_keys(text).items():
        plain = [each for each in keys if isinstance(each, str)]
        if plain in ([*names, "type"], names):
            said = re.fullmatch(r"[\"'](\w+)[\"']", text[place.value.start : place.value.end])
            if said is not None:
                return said[1]
    return None
