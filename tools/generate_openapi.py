"""The OpenAPI document of the protocol, from its table of endpoints and the types of their reports.

    python tools/generate_openapi.py          write src/rocky/web/openapi.json

`make schemas` runs this too; a test wants the checked-in file to be what it would write.
"""

import json
from pathlib import Path
from typing import Any

from rocky.operations.findings import ErrorReport
from rocky.protocol.endpoint import API, Endpoint, Parameter
from rocky.protocol.endpoints import ENDPOINTS
from rocky.web.jobs import ACTIONS, Job, JobsReport
from tools.generate_schemas import Schemas

FILE = Path(__file__).parents[1] / "src" / "rocky" / "web" / "openapi.json"
KINDS = {str: "string", int: "integer", bool: "boolean"}


def format_openapi() -> str:
    """The document as it is checked in."""
    schemas = Schemas()
    paths = {f"{API}{each.name}": {"get": describe(each, schemas)} for each in ENDPOINTS}
    paths[f"{API}actions"] = {"get": answered("actions", "What may act.", (JobsReport,), schemas)}
    for each in ACTIONS:
        properties = {one.name: kind_of(one) for one in each.parameters}
        body = {"schema": {"type": "object", "properties": properties}}
        told = answered("actions", each.about, (Job,), schemas, status="202")
        told["requestBody"] = {"content": {"application/json": body}}
        paths[f"{API}actions/{each.name}"] = {"post": told}
    stream = {"description": "events `change` and `job`", "content": {"text/event-stream": {}}}
    paths[f"{API}events"] = {
        "get": {"summary": "What changes, as it does.", "responses": {"200": stream}}
    }
    error = schemas.object_of(ErrorReport)
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "Rocky",
            "version": "1",
            "description": "The protocol of `rocky ui` and `rocky serve`. Each answer is the"
            " report of the operation behind a command. Fields are only ever added.",
        },
        "paths": paths,
        "components": {
            "schemas": {"Error": error, **dict(sorted(schemas.definitions.items()))},
        },
    }
    text = json.dumps(document, indent=1, ensure_ascii=False)
    return text.replace('"#/$defs/', '"#/components/schemas/') + "\n"


def describe(endpoint: Endpoint, schemas: Schemas) -> dict[str, Any]:
    """One question."""
    about = endpoint.about
    if endpoint.shows_values:
        about += " Not served to others."
    elif endpoint.may_quote:
        about += " Others get it without the texts of failures."
    told = answered(endpoint.name, about, endpoint.reports, schemas)
    if endpoint.parameters:
        told["parameters"] = [
            {
                "name": each.name,
                "in": "query",
                "required": each.required,
                "description": each.about,
                "schema": kind_of(each),
            }
            for each in endpoint.parameters
        ]
    return told


def kind_of(parameter: Parameter) -> dict[str, Any]:
    found: dict[str, Any] = {"type": KINDS[parameter.kind]}
    if parameter.choices:
        found["enum"] = list(parameter.choices)
    return {"type": "array", "items": found} if parameter.many else found


def answered(
    name: str, about: str, reports: tuple[Any, ...], schemas: Schemas, status: str = "200"
) -> dict[str, Any]:
    head = {"version": {"type": "string"}, "endpoint": {"const": name}}
    shapes = [schemas.object_of(each, head) for each in reports]
    whole = shapes[0] if len(shapes) == 1 else {"oneOf": shapes}
    refused = {"schema": {"$ref": "#/components/schemas/Error"}}
    return {
        "summary": about,
        "responses": {
            status: {"description": about, "content": {"application/json": {"schema": whole}}},
            "default": {
                "description": "Why it was refused.",
                "content": {"application/json": refused},
            },
        },
    }


if __name__ == "__main__":
    FILE.write_text(format_openapi())
