"""Interface files: what a project publishes of its tables, for other projects to build on.

An interface holds names, types and promises, and never a query. Its hash is of its content, and is
computed again whenever a file is read: one that was edited by hand is not what anybody published.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, NamedTuple

from rocky.canonical import sorted_json, text_hash
from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.diagnostic import Span
from rocky.language.datatypes.text import TypeSyntaxError, parse_type, type_from_json
from rocky.language.datatypes.types import DataType, StructField
from rocky.project.files import read_text
from rocky.project.toml.documents import Parsed, Problems
from rocky.project.toml.records import read_record

INTERFACE_VERSION: Final = 1
"""The newest form of the file that this Rocky reads."""

_PARTS: Final = 3
_DEEPEST: Final = 200
_FETCH: Final = "fetch it again with `rocky imports update`, or have it published again"


def _read_type(value: Any) -> DataType:
    """A type as a text, or as Spark's schema JSON where parts of it are never null."""
    if _nesting(value) > _DEEPEST:
        raise ValueError("`type` nests types too deeply")
    try:
        return parse_type(value) if isinstance(value, str) else type_from_json(value)
    except TypeSyntaxError as fault:
        raise ValueError(f"`type`: {fault}") from fault
    except (KeyError, TypeError, AttributeError) as fault:
        raise ValueError("`type` is neither a text nor a type of Spark's schema JSON") from fault


def _nesting(value: Any) -> int:
    """How deep a type goes, before anything walks down it."""
    deepest = 0
    waiting = [(value, 0)]
    while waiting:
        each, depth = waiting.pop()
        if isinstance(each, str):
            for character in each:
                depth += (character == "<") - (character == ">")
                deepest = max(deepest, depth)
        deepest = max(deepest, depth)
        inner = each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
        waiting += [(one, depth + 1) for one in inner]
    return deepest


_Type = Annotated[DataType, Parsed(_read_type)]


class InterfaceColumn(NamedTuple):
    """A published column."""

    name: str
    type: _Type
    nullable: bool
    description: str | None = None
    classification: str | None = None

    @property
    def field(self) -> StructField:
        return StructField(self.name, self.type, self.nullable)


class InterfaceContract(NamedTuple):
    """The rules that a published table is held to."""

    required: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    strict: bool = False


class InterfaceTable(NamedTuple):
    """A published table: `name` is the model's, `target` the table's full name."""

    name: str
    target: str
    columns: tuple[InterfaceColumn, ...]
    strategy: str = ""
    contract: InterfaceContract = InterfaceContract()
    description: str | None = None
    tags: Mapping[str, str] = {}

    @property
    def key(self) -> str:
        """The target as Spark compares it."""
        return self.target.lower()

    @property
    def fields(self) -> tuple[StructField, ...]:
        return tuple(each.field for each in self.columns)

    def column(self, name: str) -> InterfaceColumn | None:
        key = name.lower()
        return next((each for each in self.columns if each.name.lower() == key), None)


class ReadColumn(NamedTuple):
    """A column of another project's table, as its reader accepted it; `by` says where it goes.

    An entry of `by` is `model.column` for a value, and `model` for what only decides about rows.
    """

    name: str
    type: _Type
    nullable: bool
    by: tuple[str, ...] = ()
    classification: str | None = None


class InterfaceRead(NamedTuple):
    """A table of another project that this one reads, as it was accepted.

    `by` are the models that read it. Of these, `whole` take any column along, `ordered` read by
    the places of columns, and `exact` read otherwise when any column comes.
    """

    import_: str
    project: str
    table: str
    columns: tuple[ReadColumn, ...] = ()
    by: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    ordered: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()
    strategy: str = ""
    contract: InterfaceContract = InterfaceContract()


class _File(NamedTuple):
    interface_version: int
    interface_hash: str
    project: str
    tables: tuple[InterfaceTable, ...]
    reads: tuple[InterfaceRead, ...] = ()


@dataclass(frozen=True, slots=True)
class Interface:
    """A published interface. `path` and `text` are of the file it was read from."""

    project: str
    tables: tuple[InterfaceTable, ...]
    reads: tuple[InterfaceRead, ...]
    hash: str
    path: str = ""
    text: str = field(default="", repr=False)

    def table(self, target: str) -> InterfaceTable | None:
        key = target.lower()
        return next((each for each in self.tables if each.key == key), None)

    def place(self, target: str, column: str | None = None) -> Span | None:
        """Where the file names a table, or one of its columns; None in a file laid out anew."""
        at = self.text.find(f'"target": {_quoted(target)}')
        if at < 0 or column is None:
            return _value_at(self.text, at, "target", target)
        start = self.text.rfind('"columns": [', 0, at)
        found = self.text.find(f'"name": {_quoted(column)}', start, at) if start >= 0 else -1
        return _value_at(self.text, found, "name", column)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _value_at(text: str, at: int, key: str, value: str) -> Span | None:
    """The place of a value whose key stands at an offset; None for a negative one."""
    start = at + len(f'"{key}": ')
    return None if at < 0 else Span(start, min(start + len(_quoted(value)), len(text)))


def content_hash(content: Mapping[str, Any]) -> str:
    """BLAKE3 of the canonical JSON of an interface, without its own hash."""
    bare = {key: value for key, value in content.items() if key != "interface_hash"}
    return text_hash(sorted_json(bare))


def load_interface(root: str, path: str) -> Interface | Diagnostic:
    """The interface in a file, or what is wrong with it."""
    problems: list[Diagnostic] = []
    read = read_text(root, path, problems.append)
    return problems[0] if read is None else decode_interface(path, read[0])


def decode_interface(path: str, text: str) -> Interface | Diagnostic:
    """The interface in a text, or what is wrong with it: E017, and E034 for a newer form."""
    try:
        content = json.loads(text)
        found = content_hash(content) if isinstance(content, dict) else ""
    except json.JSONDecodeError as failure:
        at = min(failure.pos, max(len(text) - 1, 0))
        message = f"the interface `{path}` is not valid JSON: {failure.msg.lower()}"
        return _unusable(path, message, Span(at, min(at + 1, len(text))))
    except RecursionError:
        return _unusable(path, f"the interface `{path}` nests values too deeply")
    version = content.get("interface_version") if isinstance(content, dict) else None
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        return _unusable(
            path, f"`{path}` is not an interface: it has no usable `interface_version`"
        )
    if version > INTERFACE_VERSION:
        return _too_new(path, text, version)
    if content.get("interface_hash") != found:
        message = f"the interface `{path}` is not as it was published: its content has another hash"
        return _unusable(path, message, _place_of(text, "interface_hash"))
    problems: Problems = []
    read = read_record(_File, content, (), problems)
    reason = problems[0].message if problems else next(_faults(read), None) if read else ""
    if read is None or reason is not None:
        return _unusable(path, f"the interface `{path}` cannot be used: {reason}")
    return Interface(read.project, read.tables, read.reads, read.interface_hash, path, text)


def _faults(file: _File) -> Iterator[str]:
    """What no record can tell: names that clash, and names that are none."""
    targets: set[str] = set()
    models: set[str] = set()
    for table in file.tables:
        parts = table.target.split(".")
        if len(parts) != _PARTS or not all(parts):
            yield f"`{table.target}` is not `catalog.schema.table`"
        if table.key in targets:
            yield f"table `{table.target}` is there twice"
        targets.add(table.key)
        if table.name.lower() in models:
            yield f"two tables are called `{table.name}`"
        models.add(table.name.lower())
        names = [each.name.lower() for each in table.columns]
        for name in sorted({each for each in names if names.count(each) > 1}):
            yield f"column `{name}` of `{table.target}` is there twice"
        if not names:
            yield f"table `{table.target}` has no columns"


def _place_of(text: str, key: str) -> Span | None:
    found = re.search(rf'"{key}"\s*:\s*("[^"\n]*"|[^\s,}}]+)', text)
    return Span(*found.span(1)) if found else None


def _too_new(path: str, text: str, version: int) -> Diagnostic:
    return Diagnostic(
        Code.IMPORT_TOO_NEW,
        f"the interface `{path}` has version {version}, this Rocky reads up to {INTERFACE_VERSION}",
        _place_of(text, "interface_version"),
        path,
        help="upgrade Rocky, or have the interface published in the older form",
    )


def _unusable(path: str, message: str, span: Span | None = None) -> Diagnostic:
    return Diagnostic(Code.UNUSABLE_FILE, message, span, path, help=_FETCH)
