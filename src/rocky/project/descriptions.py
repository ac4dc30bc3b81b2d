"""Descriptions: what is said of tables and of their columns, wherever it is said.

Of one column the model's own words win over those of its contract. Every text is as it is written:
what a variable holds may be a secret, and descriptions end in logs of tables and in interfaces.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from rocky.project.configuration.labels import shown_text
from rocky.project.contracts import Contract
from rocky.project.models import ModelFile
from rocky.project.seeds import SeedTable
from rocky.project.sources import SourceTable


class Described(NamedTuple):
    """What is said of a table, and of its columns by lower-case name."""

    table: str | None
    columns: Mapping[str, str]


UNDESCRIBED: Final = Described(None, {})


def describe_model(model: ModelFile, contract: Contract | None) -> Described:
    """What is said of a model."""
    return Described(shown_text(model.description), dict(_columns(model, contract)))


def describe_declared(table: SourceTable | SeedTable) -> Described:
    """What is said of a source or a seed."""
    columns = {name.lower(): str(shown_text(each)) for name, each in table.described.items()}
    return Described(shown_text(table.description), columns)


def _columns(model: ModelFile, contract: Contract | None) -> Iterator[tuple[str, str]]:
    for column in contract.columns if contract is not None else ():
        if column.description:
            yield column.name.lower(), str(shown_text(column.description))
    for name, setting in model.settings.columns.items():
        if setting.description:
            yield name.lower(), str(shown_text(setting.description))
