"""JSON Schemas of what `rocky COMMAND -o json` prints, from the types of its reports.

    python tools/generate_schemas.py          write src/rocky/cli/schemas/*.schema.json

A command's module names its reports in `REPORTS`, by the words that follow `rocky`. `make schemas`
runs this; a test wants the checked-in files to be what it would write.
"""

import dataclasses
import json
import sys
import types
from collections.abc import Mapping, Sequence, Set
from datetime import datetime
from enum import Enum
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from rocky.cli.app import COMMANDS
from rocky.cli.app import main as main_command
from rocky.operations.findings import ErrorReport
from rocky.operations.report import flattened, is_hidden

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


Shape = tuple[dict[str, Any], list[str]]
"""Properties by name, and the names of those that must be there."""


class Schemas:
    """The definitions of one schema file, each dataclass once."""

    def __init__(self) -> None:
        self.definitions: dict[str, Any] = {}
        self._named: dict[Any, str] = {}

    def of(self, hint: Any) -> dict[str, Any]:  # noqa: C901, PLR0911 - a return for each kind of type
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
        if hasattr(kind, "_fields"):
            return self._tuple(kind)
        if issubclass(kind, Mapping):
            return {"type": "object", "additionalProperties": self.of(arguments[1])}
        if issubclass(kind, Sequence | Set):
            return {"type": "array", "items": self.of(arguments[0])}
        raise TypeError(f"no JSON Schema for {hint}")

    def _tuple(self, kind: Any) -> dict[str, Any]:
        """A named tuple: in JSON a list, each place of a type of its own."""
        items = [self.of(each) for each in get_type_hints(kind, include_extras=True).values()]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "items": False}

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
        if kind not in self._named:
            name = kind.__name__
            if name in self.definitions:
                # Two packages may each have a part of that name.
                name = f"{name}_of_{kind.__module__.rpartition('.')[2]}"
            self._named[kind] = name
            self.definitions[name] = {}
            self.definitions[name] = self.object_of(kind)
        return {"$ref": f"#/$defs/{self._named[kind]}"}

    def object_of(self, kind: Any, extra: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The schema of a dataclass, written out; `extra` are further properties it must have."""
        description = {"description": " ".join((kind.__doc__ or "").split())}
        more = extra or {}
        found = [
            {
                "type": "object",
                "properties": {**more, **properties},
                "required": [*more, *required],
                "additionalProperties": False,
            }
            for properties, required in self._shapes(kind, frozenset())
        ]
        if len(found) == 1:
            return description | found[0]
        return description | {"type": "object", "anyOf": found}

    def _shapes(self, kind: Any, without: Set[str]) -> list[Shape]:
        """The forms that a dataclass may have: several where a flat field may be several things."""
        shapes: list[Shape] = [({}, [])]
        hints = get_type_hints(kind, include_extras=True)
        for each in dataclasses.fields(kind):
            if each.name in without or is_hidden(each):
                continue
            inner = flattened(each)
            if inner is not None:
                found = self._flat_shapes(hints[each.name], inner)
            else:
                found = [self._property(each, hints[each.name])]
            shapes = [_merged(one, other) for one in shapes for other in found]
        return shapes

    def _property(self, field: "dataclasses.Field[Any]", hint: Any) -> Shape:
        has_default = not (
            field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        )
        if has_default and type(None) in get_args(hint):
            # Left out, never null.
            hint = reduce(or_, _parts(hint))
        return {field.name: self.of(hint)}, [] if has_default else [field.name]

    def _flat_shapes(self, hint: Any, without: Set[str]) -> list[Shape]:
        found = [shape for part in _parts(hint) for shape in self._shapes(part, without)]
        if type(None) not in get_args(hint):
            return found
        return [(found[0][0], [])] if len(found) == 1 else [*found, ({}, [])]


def _parts(hint: Any) -> list[Any]:
    """The types that a value may have, but for None."""
    return [part for part in get_args(hint) or (hint,) if part is not type(None)]


def _merged(one: Shape, other: Shape) -> Shape:
    """Both shapes in one; of a name that both have, the first counts."""
    more = [name for name in other[1] if name not in one[0]]
    return {**one[0], **{k: v for k, v in other[0].items() if k not in one[0]}}, [*one[1], *more]


def reports_of(command: str) -> Mapping[str, Any]:
    """The reports of a command, by the words that its documents give as `command`."""
    found = main_command.get_command(None, command)
    module = sys.modules[found.callback.__module__]
    if not hasattr(module, "REPORTS"):
        # A group whose commands are loaded one by one: each of their modules names its own.
        inner = (found.get_command(None, name) for name in module.COMMANDS)
        parts = [sys.modules[each.callback.__module__] for each in inner]
        known = reduce(or_, (dict(each.REPORTS) for each in parts))
        return {f"{command} {name}": known[f"{command} {name}"] for name in module.COMMANDS}
    reports: Mapping[str, Any] = module.REPORTS
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
