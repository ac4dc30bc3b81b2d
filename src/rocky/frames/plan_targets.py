"""Targets: what the process that builds plans is asked for, as plain values."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from rocky.analysis.python_plans import PlanRequest
from rocky.language.datatypes.text import decode_type, encode_type
from rocky.language.datatypes.types import StructField
from rocky.language.declared_functions import DeclaredFunction, FunctionParameter
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
    return {
        "id": model.key,
        "file": str(root / model.path),
        "text": model.text,
        "function": FUNCTION,
        "root": str(root),
        "folders": [str(root / each) for each in (folder, *folder.parents)],
        "code": {path: modules.add(data) for path, data in model.imports.code.items()},
        "doubtful": model.imports.doubt is not None,
        "plain": model.imports.irregularity is None,
        "inputs": {each.parameter: each.table for each in inputs_of(model)},
        "tables": encode_schemas(request),
        "functions": [encode_function(each) for each in request.functions],
    }


def encode_schemas(request: PlanRequest) -> dict[str, list[tuple[str, str, bool]]]:
    """The columns of the tables that a plan is built over."""
    return {
        name: [(each.name, encode_type(each.type), each.nullable) for each in fields]
        for name, fields in request.tables.items()
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
