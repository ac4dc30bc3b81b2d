"""Targets: what the process that builds plans is asked for, as plain values."""

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from rocky.analysis.python_plans import PlanRequest
from rocky.language.datatypes.text import decode_type, encode_type
from rocky.language.datatypes.types import StructField
from rocky.language.declared_functions import DeclaredFunction, FunctionParameter
from rocky.project.models import Imports
from rocky.project.python_models import FUNCTION, inputs_of


class SentModules:
    """The texts of modules, each sent once however many targets import it."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self._keys: dict[bytes, str] = {}

    def add(self, data: bytes) -> str:
        """The key under which a text is sent."""
        key = self._keys.setdefault(data, str(len(self._keys)))
        # Bytes as a text: in which encoding they are, Python says when it compiles them.
        self.texts[key] = data.decode("latin-1")
        return key


def encode_target(request: PlanRequest, root: Path, modules: SentModules) -> dict[str, Any]:
    """What is built for a model of the project at `root`, whose path is whole."""
    model = request.model
    folder = PurePosixPath(model.path).parent
    code = PlanCode(
        model.key,
        str(root / model.path),
        model.text,
        FUNCTION,
        model.imports,
        tuple(str(root / each) for each in (folder, *folder.parents)),
        {each.parameter: each.table for each in inputs_of(model)},
        request.tables,
        request.functions,
    )
    return encode_code(code, root, modules)


class PlanCode(NamedTuple):
    """A function to call: its file with what that imports, and the table of each parameter.

    Modules are looked for in `folders`. A parameter whose table has no name gets the session.
    """

    id: str
    file: str
    text: str
    function: str
    imports: Imports
    folders: tuple[str, ...]
    inputs: Mapping[str, str]
    tables: Mapping[str, Sequence[StructField]]
    functions: Sequence[DeclaredFunction] = ()


def encode_code(code: PlanCode, root: Path, modules: SentModules) -> dict[str, Any]:
    """What is built for a function of a file, whose path is whole."""
    return {
        "id": code.id,
        "file": code.file,
        "text": code.text,
        "function": code.function,
        "root": str(root),
        "folders": list(code.folders),
        "code": {path: modules.add(data) for path, data in code.imports.code.items()},
        "doubtful": code.imports.doubt is not None,
        "plain": code.imports.irregularity is None,
        "inputs": dict(code.inputs),
        "tables": encode_schemas(code.tables),
        "functions": [encode_function(each) for each in code.functions],
    }


def encode_schemas(
    tables: Mapping[str, Sequence[StructField]],
) -> dict[str, list[tuple[str, str, bool]]]:
    """The columns of the tables that a plan is built over."""
    return {
        name: [(each.name, encode_type(each.type), each.nullable) for each in fields]
        for name, fields in tables.items()
    }


def encode_function(function: DeclaredFunction) -> dict[str, Any]:
    """A function of the project, but for where it is declared."""
    columns, returns = function.columns, function.returns
    return {
        "name": function.name,
        "kind": function.kind,
        "parameters": [
            [each.name, encode_type(each.type), each.default, each.optional]
            for each in function.parameters
        ],
        "returns": encode_type(returns) if returns is not None else None,
        "columns": [[each.name, encode_type(each.type), each.nullable] for each in columns]
        if columns is not None
        else None,
        "nullable": function.nullable,
        "deterministic": function.deterministic,
        "aggregate": function.aggregate,
        "body": function.body,
        "digest": function.digest.hex(),
        "usable": function.usable,
    }


def decode_function(said: Mapping[str, Any]) -> DeclaredFunction:
    columns, returns = said["columns"], said["returns"]
    return DeclaredFunction(
        said["name"],
        said["kind"],
        tuple(
            FunctionParameter(name, decode_type(kind), default, optional)
            for name, kind, default, optional in said["parameters"]
        ),
        decode_type(returns) if returns is not None else None,
        tuple(StructField(name, decode_type(kind), null) for name, kind, null in columns)
        if columns is not None
        else None,
        nullable=said["nullable"],
        deterministic=said["deterministic"],
        aggregate=said["aggregate"],
        body=said["body"],
        digest=bytes.fromhex(said["digest"]),
        usable=said["usable"],
    )
