"""The contract of a load: a file that says what its tables promise, judged before anything is read.

It is one file for all tables of the pipeline, named in the settings; those in `contracts/` are for
models.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rocky.diagnostics import Diagnostic, Severity
from rocky.errors import RunRefused
from rocky.project.contracts import Contract, read_contract
from rocky.project.documents import parse_document
from rocky.project.files import read_text


def load_contract(root: Path, path: str, pipeline: str, env: Mapping[str, str]) -> Contract:
    """The contract in a file. Raises RunRefused when it cannot be read."""
    found: list[Diagnostic] = []
    read = read_text(str(root), path, found.append)
    document = parse_document(path, read[0], env, found.append) if read is not None else None
    contract = read_contract(document, pipeline, found.append) if document is not None else None
    wrong = [each.message for each in found if each.severity is Severity.ERROR]
    if contract is None or wrong:
        raise RunRefused(f"the contract of pipeline `{pipeline}` has no use: {'; '.join(wrong)}")
    return contract


def contract_for(contract: Contract, model: str) -> Contract:
    """The contract as one of a generated model."""
    return replace(contract, model=model)
