"""`[[function]]` blocks: what a TOML file says of functions, checked key by key.

Which keys there are depends on the kind: one that would have no effect is refused.
"""

import re
from typing import Any, Final, NamedTuple

from rocky.language.datatypes.parts import holds_kind
from rocky.language.datatypes.types import UNKNOWN, DataType
from rocky.language.declared_functions import (
    CODE_KINDS,
    DeclaredFunction,
    FunctionKind,
    FunctionParameter,
)
from rocky.project.columns import OutputColumn, TypeText, read_columns
from rocky.project.files import Report
from rocky.project.toml.documents import Document, Problem, Problems
from rocky.project.toml.records import INVALID, misspelt, reader_for, unknown_key, wrong_type
from rocky.project.toml.variables import Keys, written

_OF_KINDS: Final[dict[str, tuple[str, ...]]] = {
    "body": ("sql",),
    "module": ("python", "pandas", "arrow"),
    "attribute": ("python", "pandas", "arrow"),
    "class_": ("java",),
    "jar": ("java",),
    "aggregate": ("pandas", "arrow", "catalog"),
    "columns": ("sql", "python", "arrow", "catalog"),
    "nullable": ("python", "pandas", "arrow", "java", "catalog"),
}
"""Keys that only functions of some kinds have."""
_NEEDED: Final[dict[str, tuple[str, ...]]] = {
    "sql": ("body",),
    "python": ("module", "attribute"),
    "pandas": ("module", "attribute"),
    "arrow": ("module", "attribute"),
    "java": ("class_",),
    "catalog": (),
}
_NAME_PARTS: Final = 3
_NAME: Final = re.compile(r"[^\W\d]\w*")
NO_NAME: Final = "`{}` cannot be the name of a function: letters, digits and `_`, no digit first"


def is_function_name(name: str) -> bool:
    """Whether queries can call a name without quotes: it is looked for in their texts."""
    return _NAME.fullmatch(name) is not None


class FunctionRecord(NamedTuple):
    """A `[[function]]` block."""

    name: str
    kind: FunctionKind
    parameters: tuple[Any, ...] = ()
    returns: TypeText | None = None
    columns: tuple[Any, ...] | None = None
    nullable: bool | None = None
    deterministic: bool | None = None
    aggregate: bool = False
    body: str | None = None
    module: str | None = None
    attribute: str | None = None
    class_: str | None = None
    jar: str | None = None
    description: str | None = None
    owner: str | None = None


class ParameterRecord(NamedTuple):
    """A parameter of a function; `type` is written as Spark writes it."""

    name: str
    type: TypeText
    default: str | None = None
    optional: bool = False


class FunctionBlock(NamedTuple):
    """A block that was read; `at` is where it stands in its document."""

    signature: DeclaredFunction
    document: Document
    at: Keys
    module: str | None = None
    attribute: str | None = None
    java_class: str | None = None
    jar: str | None = None
    description: str | None = None
    owner: str | None = None


def read_function_blocks(document: Document, report: Report) -> list[FunctionBlock]:
    """The functions a file declares; what is wrong with them is reported."""
    problems: Problems = []
    found: list[FunctionBlock] = []
    for key, value in document.data.items():
        if key != "function":
            problems.append(unknown_key(key, ("function",), (key,)))
        elif not isinstance(value, list):
            wrong_type("written `[[function]]`", value, (key,), problems)
        else:
            for index, block in enumerate(value):
                function = _read_block(block, document, ("function", index), problems)
                if function is not None:
                    found.append(function)
    for problem in problems:
        report(document.diagnose(problem))
    return found


def _read_block(
    block: Any, document: Document, at: Keys, problems: Problems
) -> FunctionBlock | None:
    before = len(problems)
    record = reader_for(FunctionRecord)(block, at, problems)
    place = document.span_of((*at, "name"))
    if record is INVALID:
        name = block.get("name") if isinstance(block, dict) else None
        if not isinstance(name, str) or not name:
            return None
        broken = DeclaredFunction(name, "catalog", usable=False, path=document.path, place=place)
        return FunctionBlock(broken, document, at)
    problems.extend(_wrong_keys(record, block, at))
    _check_name(record, at, problems)
    parameters = _read_parameters(record, at, problems)
    columns = None
    if record.columns is not None:
        columns = read_columns(record.columns, (*at, "columns"), problems, OutputColumn)
    returns = record.returns
    if returns is not None:
        _check_type(returns, (*at, "returns"), problems)
    signature = DeclaredFunction(
        written(record.name),
        record.kind,
        parameters,
        returns,
        columns,
        True if record.nullable is None else record.nullable,
        record.deterministic,
        record.aggregate,
        record.body,
        usable=len(problems) == before,
        path=document.path,
        place=place,
    )
    return FunctionBlock(
        signature,
        document,
        at,
        record.module,
        record.attribute,
        record.class_,
        record.jar,
        record.description,
        record.owner,
    )


def _wrong_keys(record: FunctionRecord, block: dict[str, Any], at: Keys) -> list[Problem]:
    """Keys without an effect, and keys that are missing."""
    found: list[Problem] = []
    meant = misspelt(block, [name.removesuffix("_") for name in FunctionRecord._fields])
    for name, kinds in _OF_KINDS.items():
        key = name.removesuffix("_")
        if key in block and record.kind not in kinds:
            message = f"`{key}` is not for a function of kind `{record.kind}`"
            of = " or ".join(f"`{kind}`" for kind in kinds)
            worked_out = "whether its result can be null is worked out from its body"
            advice = worked_out if key == "nullable" else f"it belongs to the kind {of}"
            found.append(Problem((*at, key), message, advice, on_key=True))
    for name in _NEEDED[record.kind]:
        key = name.removesuffix("_")
        if key not in block and key not in meant:
            found.append(Problem(at, f"a function of kind `{record.kind}` needs `{key}`"))
    gives = [key for key in ("returns", "columns") if key in block]
    if len(gives) > 1:
        message = "a function gives a value (`returns`) or rows (`columns`), not both"
        found.append(Problem((*at, "columns"), message, "keep one of the two", on_key=True))
    elif not gives and record.kind != "sql" and not meant & {"returns", "columns"}:
        message = f"function `{written(record.name)}` does not say what it gives"
        advice = 'write `returns = "string"`, or `columns = [...]` for one that gives rows'
        found.append(Problem(at, message, advice))
    if record.columns is not None and record.aggregate:
        message = "a function that gives rows is no aggregate"
        found.append(Problem((*at, "aggregate"), message, "remove it", on_key=True))
    if record.columns is not None and "nullable" in block:
        message = "a function that gives rows says of each column whether it can be null"
        found.append(Problem((*at, "nullable"), message, "put it beside the column", on_key=True))
    if record.columns == () and record.kind != "sql":
        found.append(Problem((*at, "columns"), "a function that gives rows has columns"))
    if record.kind == "sql" and record.deterministic:
        message = "Rocky works out itself whether a SQL function is deterministic"
        found.append(Problem((*at, "deterministic"), message, "remove it", on_key=True))
    return found


def _check_name(record: FunctionRecord, at: Keys, problems: Problems) -> None:
    parts = record.name.split(".")
    most = _NAME_PARTS if record.kind == "catalog" else 1
    if len(parts) <= most:
        wrong = next((part for part in parts if not is_function_name(part)), None)
        if wrong is not None:
            problems.append(Problem((*at, "name"), NO_NAME.format(written(wrong))))
        return
    message = (
        "the name of a function is `name`, `schema.name` or `catalog.schema.name`"
        if most > 1
        else "a function that is made in the session of a run has a name without a schema"
    )
    problems.append(Problem((*at, "name"), message))


def _read_parameters(
    record: FunctionRecord, at: Keys, problems: Problems
) -> tuple[FunctionParameter, ...]:
    found: dict[str, FunctionParameter] = {}
    for index, value in enumerate(record.parameters):
        here = (*at, "parameters", index)
        read = reader_for(ParameterRecord)(value, here, problems)
        if read is INVALID:
            continue
        key = read.name.lower()
        if key in found:
            message = f"parameter `{written(read.name)}` is declared twice"
            problems.append(Problem((*here, "name"), message))
            continue
        _check_type(read.type, (*here, "type"), problems)
        problems.extend(_wrong_default(record.kind, read, here))
        last = next(reversed(found.values()), None)
        left_out = read.default is not None or read.optional
        if last is not None and last.may_be_left_out and not left_out:
            message = f"`{written(read.name)}` cannot be left out, and `{last.name}` before it can"
            advice = "parameters that a call can leave out come last"
            problems.append(Problem((*here, "name"), message, advice))
        found[key] = FunctionParameter(written(read.name), read.type, read.default, read.optional)
    return tuple(found.values())


def _wrong_default(kind: str, read: ParameterRecord, at: Keys) -> list[Problem]:
    if read.default is not None and kind not in ("sql", "catalog"):
        message = "only a SQL function has defaults that Rocky knows"
        advice = "`optional = true` says that the code has one" if kind in CODE_KINDS else None
        return [Problem((*at, "default"), message, advice, on_key=True)]
    if read.optional and kind not in CODE_KINDS:
        message = f"a parameter of a function of kind `{kind}` cannot be `optional`"
        advice = "`default` says what it is where a call leaves it out" if kind == "sql" else None
        return [Problem((*at, "optional"), message, advice, on_key=True)]
    return []


def _check_type(kind: DataType, at: Keys, problems: Problems) -> None:
    if kind is not UNKNOWN and holds_kind(kind, "char", "varchar"):
        problems.append(Problem(at, f"`{kind}` cannot be the type of a function", "use `string`"))
