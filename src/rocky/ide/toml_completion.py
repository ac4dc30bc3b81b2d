"""Completion in TOML: blocks, keys and values that the record of a file reads.

Where a value is the name of something of the project, those names are offered.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from rocky.diagnostics.codes import REGISTRY
from rocky.ide.completion_items import CompletionItem, matching
from rocky.ide.hover import columns_of
from rocky.ide.repair import Word, word_at
from rocky.ide.toml_keys import (
    KeyCard,
    TomlPart,
    find_key,
    known_keys,
    record_at,
    root_record,
    types_at,
)
from rocky.ide.view import OpenFile
from rocky.project.configuration.config import Config
from rocky.project.toml.variables import Keys

_HEADER: Final = re.compile(r"^[ \t]*(\[\[?)([^\]\n]*)", re.MULTILINE)
_PAIR: Final = re.compile(r"^\s*([\w.\"'-]+)\s*=\s*(.*)$", re.DOTALL)
_INLINE: Final = re.compile(r"[{,]\s*([\w-]*)$")
_COLUMN_KEYS: Final = frozenset(
    "column columns unique_key update_columns partition_by cluster_by timestamp_column time_column"
    " updated_at partition_columns to_column required protected".split()
)
_TABLE_KEYS: Final = frozenset({"to_table", "table", "ref", "depends_on", "inputs"})
_CONTRACT: Final = ".contract.toml"
_INLINE_KEY: Final = re.compile(r"[{,]\s*([\w-]+)\s*=\s*[\"'][^\"']*$")
_NAME: Final = re.compile(r"\bname\s*=\s*[\"']([^\"'\n]*)[\"']")
_TYPES: Final = tuple(
    "boolean tinyint smallint int bigint float double decimal(18,2) string binary date timestamp"
    " timestamp_ntz".split()
)
_COLUMN_BLOCKS: Final = frozenset({"classification", "columns"})


def complete_toml(file: OpenFile, part: TomlPart, offset: int) -> tuple[CompletionItem, ...]:
    """What can be written at an offset of a file's TOML."""
    text, at = part.text, offset - part.start
    line_start = text.rfind("\n", 0, at) + 1
    line = text[line_start:at]
    word = word_at(file.text, offset)
    if line.lstrip().startswith("#"):
        return ()
    if line.lstrip().startswith("["):
        return matching(_blocks(file, word), word.prefix)
    table = _table_at(text[:line_start])
    pair = _PAIR.match(line)
    root = root_record(file)
    if pair is None:
        owner = record_at(root, table, text)
        cards = known_keys(owner) if owner is not None else _own_names(file, table)
        present = _present(text, line_start)
        shown = (_key_item(each, word) for each in cards if each.name not in present)
        return matching(shown, word.prefix)
    keys: Keys = (*table, *pair[1].replace('"', "").split("."))
    inline = _INLINE.search(pair[2])
    if inline is not None and pair[2].lstrip()[:1] in "{[" and "{" in pair[2]:
        owner = record_at(root, keys, text)
        cards = known_keys(owner) if owner is not None else []
        return matching((_key_item(each, word) for each in cards), word.prefix)
    return matching(_values(file, keys, text, at, word), word.prefix)


def _table_at(before: str) -> tuple[str, ...]:
    """The names of the table that a line after a text is in."""
    found = list(_HEADER.finditer(before))
    if not found:
        return ()
    return tuple(each.strip().strip("\"'") for each in found[-1][2].split(".") if each.strip())


def _present(text: str, at: int) -> set[str]:
    """The keys that the table around a line has already."""
    starts = [found.start() for found in _HEADER.finditer(text)]
    low = max((each for each in starts if each < at), default=0)
    high = min((each for each in starts if each > at), default=len(text))
    lines = text[low:high].splitlines()
    here = text[at:].partition("\n")[0]
    pairs = (_PAIR.match(line) for line in lines if line != here)
    return {pair[1].partition(".")[0] for pair in pairs if pair is not None}


def _own_names(file: OpenFile, table: Keys) -> list[KeyCard]:
    """Keys that are names of the project: columns, codes of findings."""
    last = table[-1] if table else ""
    if last == "lints":
        return [
            KeyCard(row.name, "`allow`, `warn`, `error`", "none", row.summary)
            for row in REGISTRY
            if row.suppressible
        ]
    if last in _COLUMN_BLOCKS and file.model is not None:
        named = columns_of(file.view, file.model.key)
        return [
            KeyCard(name, str(kind), "none", "a column of the model") for name, kind, _ in named
        ]
    return []


def _key_item(card: KeyCard, word: Word) -> CompletionItem:
    is_block = card.value in ("table", "list of table")
    detail = f"{card.value}; default {card.default}"
    text = card.name if is_block else f"{card.name} = "
    return CompletionItem(card.name, "key", word.span, text, detail, card.about)


def _blocks(file: OpenFile, word: Word) -> Iterator[CompletionItem]:
    root = root_record(file)
    for card in known_keys(root):
        if "table" in card.value:
            yield CompletionItem(card.name, "block", word.span, card.name, card.value, card.about)
            inner = record_at(root, (card.name,), "")
            for each in known_keys(inner) if inner is not None and inner is not root else ():
                if "table" in each.value:
                    path = f"{card.name}.{each.name}"
                    yield CompletionItem(path, "block", word.span, path, each.value, each.about, 1)


def _values(file: OpenFile, keys: Keys, text: str, at: int, word: Word) -> Iterator[CompletionItem]:
    written = text[text.rfind("\n", 0, at) + 1 : at].partition("=")[2]
    quoted = written.count('"') % 2 == 1 or written.count("'") % 2 == 1
    root = root_record(file)
    card = find_key(root, keys, text)
    flags = card is not None and card.value == "flag"
    named = [*(card.choices if card is not None else ()), *_named_values(file, keys)]
    named += _contract_values(file, keys, text[:at], written)
    if keys[-1] == "type":
        named = [*types_at(root, keys[:-1], text), *named]
    if (root is Config and keys[-2:-1] == ("lints",)) or keys[-1:] == ("lints",):
        named += ["allow", "warn", "error"]
    for order, value in enumerate(dict.fromkeys(named)):
        bare = quoted or (flags and value in ("true", "false"))
        shown = value if bare else f'"{value}"'
        yield CompletionItem(value, "value", word.span, shown, None, None, 0, order)


def _named_values(file: OpenFile, keys: Keys) -> Iterable[str]:
    view, project = file.view, file.view.project
    key = next((each for each in reversed(keys) if isinstance(each, str)), "")
    if key in _COLUMN_KEYS:
        table = file.model.key if file.model is not None else _promised(file)
        return [name for name, _, _ in columns_of(view, table)] if table is not None else []
    if key in _TABLE_KEYS or "inputs" in keys:
        groups = (project.models, project.sources, project.seeds)
        return [each.name for group in groups for each in group.values()]
    if key == "adapter":
        return list(project.config.adapter)
    if key == "group":
        return list(project.config.group)
    if key == "use":
        return list(project.config.test)
    return []


def _promised(file: OpenFile) -> str | None:
    """The model that a contract is about, also while the contract is half written."""
    if not file.path.endswith(_CONTRACT):
        return None
    contracts = file.view.project.contracts.values()
    found = next((each.model for each in contracts if each.path == file.path), None)
    key = (found or file.path.rpartition("/")[2].removesuffix(_CONTRACT)).lower()
    return key if key in file.view.project.models else None


def _contract_values(file: OpenFile, keys: Keys, before: str, written: str) -> list[str]:
    """The names of columns that a contract may promise, and the types of the one that is named."""
    table = _promised(file)
    if table is None or keys[:1] != ("columns",):
        return []
    columns = columns_of(file.view, table)
    inline = _INLINE_KEY.search(written)
    key = inline[1] if inline is not None else keys[-1]
    if key == "name":
        return [name for name, _, _ in columns]
    if key != "type":
        return []
    named = _NAME.findall(written if inline is not None else before[before.rfind("[[") :])
    own = [str(kind) for name, kind, _ in columns if named and name.lower() == named[-1].lower()]
    return [*own, *_TYPES]
