"""The project for assistants: endpoints as tools of the Model Context Protocol, on two streams.

A message is a line of JSON. Only what shows no values of any table is offered: whatever is answered
may leave this machine.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from rocky.operations.report import encode_report
from rocky.operations.workspace import Workspace
from rocky.protocol.changes import Lookout
from rocky.protocol.endpoint import Endpoint, describe_error, parse_arguments, without_quotes
from rocky.protocol.endpoints import ENDPOINTS
from rocky.protocol.memory import Memory
from rocky.protocol.notices import Notices
from rocky.version import __version__

VERSIONS: Final = ("2025-06-18", "2025-03-26", "2024-11-05")
"""Of the protocol, newest first."""
_PARSE: Final = -32700
_INVALID: Final = -32600
_UNKNOWN: Final = -32601
_ARGUMENTS: Final = -32602


class Tool(NamedTuple):
    """An endpoint by the name that assistants call it by, and when to call it."""

    name: str
    endpoint: str
    about: str


TOOLS: Final = (
    Tool("lineage", "lineage", "Where a model's or a column's values come from and go to."),
    Tool("types", "catalog", "Tables with their columns, types, nullability and descriptions."),
    Tool(
        "check_sql",
        "check_sql",
        "Type-check a query over the project's tables, without running it.",
    ),
    Tool("why", "why", "Whether a run would build or reuse a model, and for which reason."),
    Tool(
        "blast_radius", "path", "All columns that a column reaches, or the way between two columns."
    ),
    Tool(
        "what_would_break",
        "suppose",
        "Which models would not compile if a column had another type, could be null or were gone.",
    ),
    Tool("findings", "compile", "What the compiler finds in the project."),
    Tool("breaking_changes", "diff", "What changed since a base of git, and what breaks readers."),
    Tool("compliance", "compliance", "Which classified columns are masked, where and by what."),
    Tool("history", "history", "What ran, newest first, without the texts of failures."),
)


class Assistant:
    """One conversation. It is for reading, and remembers the project between questions."""

    def __init__(self, workspace: Workspace) -> None:
        self.memory = Memory(workspace)
        endpoints = {each.name: each for each in ENDPOINTS}
        self._tools = {each.name: (each, endpoints[each.endpoint]) for each in TOOLS}

    def converse(self, lines: Iterable[str], write: Callable[[str], None]) -> None:
        """Answer every line until there are no more."""
        lookout = Lookout(self.memory, Notices())
        lookout.start()
        try:
            for line in lines:
                if line.strip() and (answer := self.answer(line)) is not None:
                    write(json.dumps(answer, separators=(",", ":")))
        finally:
            lookout.close()

    def answer(self, line: str) -> dict[str, Any] | None:
        """The answer to a message; None to one that wants none."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return _error(None, _PARSE, "a message is a line of JSON")
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            return _error(None, _INVALID, "a message is an object with a `method`")
        if "id" not in message:
            return None
        given = message.get("params")
        given = given if isinstance(given, dict) else {}
        match message["method"]:
            case "initialize":
                found = self._begin(given)
            case "ping":
                found = {}
            case "tools/list":
                found = {"tools": [_describe(*each) for each in self._tools.values()]}
            case "tools/call":
                return self._call(message["id"], given)
            case method:
                return _error(message["id"], _UNKNOWN, f"no method `{method}`")
        return {"jsonrpc": "2.0", "id": message["id"], "result": found}

    def _begin(self, given: dict[str, Any]) -> dict[str, Any]:
        wanted = given.get("protocolVersion")
        return {
            "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "rocky", "version": __version__},
            "instructions": "Questions about a project of SQL models. Nothing is run or changed,"
            " and no value of any table is shown.",
        }

    def _call(self, number: Any, given: dict[str, Any]) -> dict[str, Any]:
        name, arguments = given.get("name"), given.get("arguments") or {}
        found_tool = self._tools.get(name) if isinstance(name, str) else None
        if found_tool is None or not isinstance(arguments, dict):
            return _error(
                number, _ARGUMENTS, f"no tool `{name}`; there is {', '.join(self._tools)}"
            )
        _, endpoint = found_tool
        try:
            texts = {key: _texts(value) for key, value in arguments.items()}
            asked = parse_arguments(endpoint.parameters, texts)
            found = without_quotes(endpoint, encode_report(endpoint.answer(self.memory, asked)))
            failed = False
        except Exception as failure:  # noqa: BLE001 - whatever it is, it is said and ends nothing
            found, failed = describe_error(failure).document, True
        result = {
            "content": [{"type": "text", "text": json.dumps(found, separators=(",", ":"))}],
            "structuredContent": found,
            "isError": failed,
        }
        return {"jsonrpc": "2.0", "id": number, "result": result}


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [str(each).lower() if isinstance(each, bool) else str(each) for each in values]


def _describe(tool: Tool, endpoint: Endpoint) -> dict[str, Any]:
    kinds = {str: "string", int: "integer", bool: "boolean"}
    properties: dict[str, Any] = {}
    for each in endpoint.parameters:
        kind: dict[str, Any] = {"type": kinds[each.kind]}
        kind = {"type": "array", "items": kind} if each.many else kind
        properties[each.name] = kind | {"description": each.about}
    required = [each.name for each in endpoint.parameters if each.required]
    return {
        "name": tool.name,
        "description": tool.about,
        "inputSchema": {"type": "object", "properties": properties, "required": required},
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    }


def _error(number: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}
