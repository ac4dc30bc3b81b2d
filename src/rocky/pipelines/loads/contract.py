"""The contract of a load: one file, named in the settings, that holds for all its tables."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rocky.diagnostics import Diagnostic, Severity
from rocky.diagnostics.diagnostic import SourceText, format_place
from rocky.errors import RunRefused
from rocky.project.contracts import Contract, read_contract
from rocky.project.files import read_text
from rocky.project.toml.documents import parse_document


def load_contract(root: Path, path: str, pipeline: str, env: Mapping[str, str]) -> Contract:
    """The contract in a file. Raises RunRefused when it cannot be read."""
    found: list[Diagnostic] = []
    read = read_text(str(root), path, found.append)
    document = parse_document(path, read[0], env, found.append) if read is not None else None
    contract = read_contract(document, pipeline, found.append) if document is not None else None
    wrong = [each for each in found if each.severity is Severity.ERROR]
    if contract is None or wrong:
        text = SourceText(path, read[0]) if read is not None else None
        said = "; ".join(f"{format_place(path, text, each.span)}: {each.message}" for each in wrong)
        raise RunRefused(f"cannot read the contract of pipeline `{pipeline}`: {said}")
    return contract


def contract_for(contract: Contract, model: str) -> Contract:
    """The contract as one of a generated model."""
    return replace(contract, model=model)


def contract_tags(root: Path, path: str, pipeline: str) -> dict[str, tuple[str, ...]]:
    """The tags that the contract of a load gives to columns, as far as it can be read.

    A run says what is wrong with it.
    """
    try:
        contract = load_contract(root, path, pipeline, {})
    except RunRefused:
        return {}
    return tags_in(contract)


def tags_in(contract: Contract | None) -> dict[str, tuple[str, ...]]:
    """The tags that a contract gives to columns."""
    columns = contract.columns if contract is not None else ()
    return {each.name: each.classification for each in columns if each.classification}
