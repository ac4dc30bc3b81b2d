"""TOML written by hand: keys first, then tables, one assertion or test a block."""

import json
import re
from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Any, Final

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


def format_toml(table: Mapping[str, Any]) -> str:
    """A document. What is None or empty is left out."""
    return "\n\n".join(_blocks(table, ())) + "\n" if _kept(table) else ""


def _blocks(table: Mapping[str, Any], at: tuple[str, ...]) -> list[str]:
    kept = _kept(table)
    plain = {key: value for key, value in kept.items() if not _is_block(value)}
    lines = [f"{_key(key)} = {_value(value)}" for key, value in plain.items()]
    blocks = []
    if lines and not at:
        blocks.append("\n".join(lines))
    elif lines:
        blocks.append("\n".join([f"[{_path(at)}]", *lines]))
    for key, value in kept.items():
        here = (*at, key)
        if isinstance(value, Mapping):
            blocks += _blocks(value, here)
        elif _is_block(value):
            for each in value:
                blocks += _item(each, here)
    return blocks


def _item(table: Mapping[str, Any], at: tuple[str, ...]) -> list[str]:
    """One block of a list of them; those inside it follow."""
    kept = _kept(table)
    lines = [f"[[{_path(at)}]]"]
    lines += [
        f"{_key(key)} = {_value(value)}" for key, value in kept.items() if not _is_block(value)
    ]
    inner = {key: value for key, value in kept.items() if _is_block(value)}
    return ["\n".join(lines), *_blocks(inner, at)]


def _is_block(value: Any) -> bool:
    """Whether it has a block of its own: a table, or a list of tables that are not rows."""
    if isinstance(value, Mapping):
        return not isinstance(value, Inline)
    return (
        isinstance(value, list) and bool(value) and all(isinstance(each, Block) for each in value)
    )


class Block(dict[str, Any]):
    """A table that is written as `[[...]]`."""


class Inline(dict[str, Any]):
    """A table that is written on one line."""


def _kept(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if not _is_empty(value)}


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str | list | tuple | dict) and not value)


def _path(at: tuple[str, ...]) -> str:
    return ".".join(map(_key, at))


def _key(key: Any) -> str:
    text = str(key)
    return text if _BARE.fullmatch(text) else _quoted(text)


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case datetime() | date() | time():
            return value.isoformat()
        case Mapping():
            inner = ", ".join(
                f"{_key(key)} = {_value(each)}" for key, each in value.items() if each is not None
            )
            return f"{{ {inner} }}" if inner else "{}"
        case list() | tuple():
            items = [_value(each) for each in value if each is not None]
            if any(isinstance(each, Mapping) for each in value):
                return "[\n" + "".join(f"  {each},\n" for each in items) + "]"
            return f"[{', '.join(items)}]"
        case _:
            return _text(str(value))


def _text(text: str) -> str:
    """A text of TOML; `${` is written so that it stays what it is."""
    return _quoted(text.replace("${", "$${"))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
