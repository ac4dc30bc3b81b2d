"""Labels: the tags of a thing, and what people note of it for themselves (`meta`).

Tags are a table of texts, or a list of words: a word is a tag of the value "true", so `tag:nightly`
selects both forms. What a variable holds may be a secret: whatever is shown or stored of a label is
the text as it is written in its file.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Any, Final

from rocky.project.toml.documents import Problem, Problems, ReadBy
from rocky.project.toml.records import INVALID, reader_for, wrong_type
from rocky.project.toml.variables import Keys, written

SET: Final = "true"
"""The value of a tag that is only a word."""


def _read_tags(value: Any, at: Keys, problems: Problems) -> Any:
    if isinstance(value, dict):
        return reader_for(Mapping[str, str])(value, at, problems)
    if not isinstance(value, list):
        wanted = 'a list such as `["nightly"]` or a table such as `{ layer = "mart" }`'
        return wrong_type(wanted, value, at, problems)
    words = reader_for(tuple[str, ...])(value, at, problems)
    if words is INVALID:
        return INVALID
    if not all(words):
        problems.append(Problem(at, "a tag must not be empty"))
    # As it is written: a tag is recorded and shown, and is no place for what a variable holds.
    return {str(written(word)): SET for word in words if word}


Tags = Annotated[Mapping[str, str], ReadBy(_read_tags)]
Meta = Mapping[str, Any]
NO_TAGS: Final[Mapping[str, str]] = {}
NO_META: Final[Mapping[str, Any]] = {}


def shown_text(text: str | None) -> str | None:
    """A text as it is written in its file; None where there is none."""
    return None if text is None else str(written(text))


def shown_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """Tags with their values as they are written."""
    return {name: str(written(value)) for name, value in tags.items()}


def shown_meta(value: Any) -> Any:
    """What TOML holds as JSON has it: texts as they are written, dates and times as ISO texts."""
    match value:
        case str():
            return str(written(value))
        case Mapping():
            return {str(key): shown_meta(each) for key, each in value.items()}
        case list() | tuple():
            return [shown_meta(each) for each in value]
        case float() if not math.isfinite(value):
            return str(value)
        case bool() | int() | float():
            return value
        case _:
            return value.isoformat()


def format_tags(tags: Mapping[str, str]) -> str:
    """Tags on one line: a word where it is only a word, otherwise `name=value`."""
    return ", ".join(
        name if value == SET else f"{name}={value}" for name, value in shown_tags(tags).items()
    )
