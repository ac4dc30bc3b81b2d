"""Storage: the fitted rules of all functions as one compressed file."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

from tools.function_catalogue.diagram import Diagram, draw_function
from tools.function_catalogue.facts import FunctionFacts

# Calls that mean something only beside GROUP BY, where a probe cannot stand.
_STATED = {"grouping": ("byte", 1), "grouping_id": ("long", 0)}
# The names of the arguments become the names of the fields: no rule over types can say that.
_NAMING = frozenset({"struct", "named_struct", "arrays_zip"})
_NAME = re.compile(r"[a-z_][a-z0-9_]*")


def write_catalogue(facts: dict[str, FunctionFacts], path: Path, version: str) -> list[str]:
    """Fit and store; gives notes on the cells no rule explains."""
    diagram = Diagram()
    functions: dict[str, Any] = {}
    notes: list[str] = []
    for name, found in sorted(facts.items()):
        # Operators are functions to Spark; their rules are written by hand.
        if not _NAME.fullmatch(name):
            continue
        if name in _NAMING:
            found.arities.clear()
        functions[name], more = draw_function(diagram, found)
        notes += more
    for name, (result, least) in _STATED.items():
        if name in functions:
            counts = [1] if least else 0
            functions[name] = ["aggregate", 1, counts, _stated(diagram, result)]
    stored = {
        "spark": version,
        "templates": diagram.templates.values,
        "null_rules": diagram.null_rules.values,
        "refusals": diagram.refusals.values,
        "outcomes": diagram.outcomes.values,
        # As text, read when a look-up needs them: most rows never do.
        "rows": [" ".join(map(str, row)) for row in diagram.rows.values],
        "functions": functions,
    }
    text = json.dumps(stored, separators=(",", ":"))
    path.parent.mkdir(parents=True, exist_ok=True)
    # No time of writing inside: the same facts give the same bytes.
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    notes.append(f"{len(functions)} functions, {len(text)} characters, {path.stat().st_size} bytes")
    return notes


def _stated(diagram: Diagram, result: str) -> dict[str, list[int]]:
    outcome = diagram.accepted(json.dumps(result), "false")
    arities = {"0": [outcome]}
    at = outcome
    for count in range(1, 4):
        at = diagram.rows.add([at] * len(diagram.rows.values[0]))
        arities[str(count)] = [at]
    return arities
