"""Baselines: what was nullable when a contract's readers last agreed, kept in git.

`NAME.baseline.json` lies beside `NAME.contract.toml`. It is written only on request, never by a
plain compile: a baseline that followed every change would hold nothing. One that cannot be read
is an error, not an absent one.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.diagnostic import Span
from rocky.language.datatypes.types import UNKNOWN
from rocky.language.ir import ModelIr
from rocky.project.contracts import Contract
from rocky.project.files import read_text, write_atomically

_VERSION: Final = 1
_RECORD_AGAIN: Final = (
    "restore the file, or run `rocky compile --record-baselines` to record it again"
)


@dataclass(frozen=True, slots=True)
class Baseline:
    """Nullability by lower-case column name, and where the file at `path` says so."""

    path: str
    nullable: Mapping[str, bool]
    places: Mapping[str, Span]


def baseline_path(contract_path: str) -> str:
    """Where the baseline of a contract is kept."""
    return contract_path.removesuffix(".contract.toml") + ".baseline.json"


def encode_baseline(ir: ModelIr) -> str:
    """The baseline of a model as text: sorted, one column a line, so that a change is one line.

    Columns of unknown type are left out: nothing is known that could be held against them.
    """
    columns = {
        column.name.lower(): {"nullable": column.nullable}
        for column in reversed(ir.columns)
        if column.type is not UNKNOWN
    }
    lines = ",\n".join(
        f"    {json.dumps(name, ensure_ascii=False)}: {json.dumps(columns[name])}"
        for name in sorted(columns)
    )
    body = f"{{\n{lines}\n  }}" if lines else "{}"
    model = json.dumps(ir.name, ensure_ascii=False)
    return f'{{\n  "columns": {body},\n  "model": {model},\n  "version": {_VERSION}\n}}\n'


def decode_baseline(path: str, text: str) -> Baseline | Diagnostic:
    """The baseline in a text, or what is wrong with it."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as failure:
        at = min(failure.pos, max(len(text) - 1, 0))
        message = f"the baseline `{path}` is not valid JSON: {failure.msg.lower()}"
        return _unusable(path, message, Span(at, min(at + 1, len(text))))
    except RecursionError:
        return _unusable(path, f"the baseline `{path}` nests values too deeply")
    reason = _fault_in(data)
    if reason is not None:
        return _unusable(path, f"the baseline `{path}` cannot be used: {reason}")
    columns: dict[str, dict[str, bool]] = data["columns"]
    nullable = {name.lower(): column["nullable"] for name, column in columns.items()}
    return Baseline(path, nullable, _locate(text, columns))


def _fault_in(data: Any) -> str | None:
    if not isinstance(data, dict) or not isinstance(data.get("columns"), dict):
        return "it has no `columns`"
    if data.get("version") != _VERSION:
        return f"its version is `{data.get('version')}`, not `{_VERSION}`"
    for name, column in data["columns"].items():
        if not isinstance(column, dict) or not isinstance(column.get("nullable"), bool):
            return f"column `{name}` has no `nullable`"
    return None


def _locate(text: str, names: Mapping[str, Any]) -> dict[str, Span]:
    """Where each column's name stands; in a file that was edited by hand some may not be found."""
    places: dict[str, Span] = {}
    start = text.find('"columns"') + len('"columns"')
    for name in names:
        quoted = json.dumps(name, ensure_ascii=False)
        at = text.find(quoted, start)
        if at >= 0:
            places[name.lower()] = Span(at, at + len(quoted))
    return places


def _unusable(path: str, message: str, span: Span | None = None) -> Diagnostic:
    return Diagnostic(Code.UNUSABLE_FILE, message, span, path, help=_RECORD_AGAIN)


def load_baseline(root: Path, contract: Contract) -> Baseline | Diagnostic | None:
    """The recorded baseline of a contract, what is wrong with it, or None when there is none."""
    path = baseline_path(contract.path)
    try:
        (root / path).lstat()
    except FileNotFoundError:
        return None
    except OSError as failure:
        reason = (failure.strerror or str(failure)).lower()
        return _unusable(path, f"`{path}` cannot be read: {reason}")
    problems: list[Diagnostic] = []
    read = read_text(str(root), path, problems.append)
    return decode_baseline(path, read[0]) if read is not None else problems[0]


def write_baseline(root: Path, contract: Contract, ir: ModelIr) -> str:
    """Record a model's nullability beside its contract; the path of the file comes back.

    The file is complete or as it was before, whenever the process may end. Raises OSError.
    """
    path = baseline_path(contract.path)
    write_atomically(root / path, encode_baseline(ir))
    return path
