"""JSON Schemas of what `rocky COMMAND -o json` prints, from the types of its reports.

    python tools/generate_schemas.py          write src/rocky/cli/schemas/*.schema.json

A command's module names its reports in `REPORTS`, by the words that follow `rocky`. `make schemas`
runs this; a test wants the checked-in files to be what it would write.
"""

import dataclasses
import json
import types
from collections.abc import Mapping, Sequence, Set
from datetime import datetime
from enum import Enum
from functools import reduce
from importlib import import_module
from operator import or_
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from rocky.cli.app import COMMANDS
from rocky.operations.report import ErrorReport, flattened, is_hidden

FOLDER = Path(__file__).parents[1] / "src" / "rocky" / "cli" / "schemas"
ERROR = "error"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
PATTERNS = {"RunId": r"^(run-\d{8}-\d{6}-\d{3})?$"}
MOMENT = {
    "type": "string",
    "format": "date-time",
    "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$",
}
PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


class Schemas:
    """The definitions of one schema file, each dataclass once."""

    def __init__(self) -> None:
        self.definitions: dict[str, Any] = {}

    def of(self, hint: Any) -> dict[str, Any]:  # noqa: PLR0911 - a return for each kind of type
        """The schema of the values of a type."""
        origin, arguments = get_origin(hint), get_args(hint)
        if hint is Any or hint is object:
            return {}
        if hint in PLAIN:
            return {"type": PLAIN[hint]}
        if origin is Annotated:
            return self._annotated(*arguments)
        if origin is Literal:
            return {"enum": list(arguments)}
        if origin in (Union, types.UnionType):
            return self._union(arguments)
        if hasattr(hint, "__supertype__"):
            named = {"pattern": PATTERNS[hint.__name__]} if hint.__name__ in PATTERNS else {}
            return {**self.of(hint.__supertype__), **named}
        if isinstance(hint, type) and issubclass(hint, Enum):
            return {"enum": [each.value for each in hint]}
        if hint is datetime:
            return dict(MOMENT)
        if dataclasses.is_dataclass(hint):
            return self._reference(hint)
        kind = origin or hint
        if issubclass(kind, Mapping):
            return {"type": "object", "additionalProperties": self.of(arguments[1])}
        if issubclass(kind, Sequence | Set):
            return {"type": "array", "items": self.of(arguments[0])}
        raise TypeError(f"no JSON Schema for {hint}")

    def _annotated(self, hint: Any, note: Any = None, *_more: Any) -> dict[str, Any]:
        """A text that is one of those named in a tuple, or that matches a pattern."""
        if isinstance(note, tuple):
            return {"enum": list(note)}
        return {"type": "string", "pattern": note} if isinstance(note, str) else self.of(hint)

    def _union(self, members: Sequence[Any]) -> dict[str, Any]:
        found = [self.of(each) for each in members]
        if all(set(each) == {"type"} for each in found):
            return {"type": [each["type"] for each in found]}
        return {"anyOf": found}

    def _reference(self, kind: Any) -> dict[str, Any]:
        name = kind.__name__
        if name not in self.definitions:
            self.definitions[name] = {}
            self.definitions[name] = self.object_of(kind)
        return {"$ref": f"#/$defs/{name}"}

    def object_of(self, kind: Any, extra: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The schema of a dataclass, written out; `extra` are further properties it must have."""
        properties: dict[str, Any] = dict(extra or {})
        required = list(properties)
        self._add_fields(kind, frozenset(), properties, required)
        return {
            "description": " ".join((kind.__doc__ or "").split()),
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }

    def _add_fields(
        self, kind: Any, without: Set[str], properties: dict[str, Any], required: list[str]
    ) -> None:
        hints = get_type_hints(kind, include_extras=True)
        for each in dataclasses.fields(kind):
            if each.name in without or is_hidden(each):
                continue
            hint = hints[each.name]
            inner = flattened(each)
            if inner is not None:
                (own,) = (part for part in get_args(hint) or (hint,) if part is not type(None))
                always = required if own is hint else []
                self._add_fields(own, inner, properties, always)
                continue
            has_default = not (
                each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
            )
            if has_default and type(None) in get_args(hint):
                # Left out, never null.
                parts = [part for part in get_args(hint) if part is not type(None)]
                hint = reduce(or_, parts)
            properties.setdefault(each.name, self.of(hint))
            if not has_default and each.name not in required:
                required.append(each.name)


def reports_of(command: str) -> Mapping[str, Any]:
    """The reports of a command, by the words that its documents give as `command`."""
    module = import_module(f"rocky.cli.commands.{COMMANDS[command][0]}")
    reports: Mapping[str, Any] = getattr(module, "REPORTS", {})
    return {words: each for words, each in reports.items() if words.split()[0] == command}


def format_schema(command: str) -> str:
    """The schema file of a command, or of what any command prints when it fails."""
    schemas = Schemas()
    shapes = []
    title = f"What `rocky {command} -o json` prints"
    if command == ERROR:
        title = "What any command prints with -o json when it could not do its work"
        head = {"version": {"type": "string"}, "command": {"type": "string"}}
        shapes.append(schemas.object_of(ErrorReport, head))
    else:
        for words, report in reports_of(command).items():
            head = {"version": {"type": "string"}, "command": {"const": words}}
            union = get_origin(report) in (Union, types.UnionType)
            shapes += [
                schemas.object_of(kind, head) for kind in (get_args(report) if union else (report,))
            ]
    whole: dict[str, Any] = {
        "$schema": DIALECT,
        "title": title,
        **(shapes[0] if len(shapes) == 1 else {"type": "object", "oneOf": shapes}),
    }
    if schemas.definitions:
        whole["$defs"] = dict(sorted(schemas.definitions.items()))
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    for command in (ERROR, *(each for each in COMMANDS if reports_of(each))):
        (FOLDER / f"{command}.schema.json").write_text(format_schema(command))


if __name__ == "__main__":
    main()
