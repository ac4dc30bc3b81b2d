"""Targets: what `rocky lineage TARGET` names, a relation or a column of one.

A source's name may hold dots, so `raw.orders` is a source and `raw.orders.amount` a column
of it, while `fct_revenue.amount` is a column of a model: the longest relation that fits wins.
"""

from dataclasses import dataclass

import click

from rocky.analysis.compilation import Compilation
from rocky.errors import NothingSelected
from rocky.language.datatypes.types import DataType
from rocky.operations.workspace import unknown_name
from rocky.project import SourceTable
from rocky.project.imports import ImportedTable


@dataclass(frozen=True, slots=True)
class KnownColumn:
    """A column and what is known of it."""

    name: str
    type: DataType
    nullable: bool


@dataclass(frozen=True, slots=True)
class KnownRelation:
    """A model, source or seed with its columns; `complete` is False when some may be missing."""

    name: str
    kind: str
    path: str
    columns: tuple[KnownColumn, ...]
    complete: bool = True

    def column(self, name: str) -> KnownColumn:
        """The column of a name. Raises NothingSelected."""
        key = name.lower()
        for column in self.columns:
            if column.name.lower() == key:
                return column
        message = unknown_name("column", name, [each.name for each in self.columns])
        message = message.replace(
            "`rocky list` shows what there is", f"`rocky lineage {self.name}` shows them"
        )
        raise NothingSelected(f"{message} (in {self.kind} `{self.name}`)")


def source_kind(source: SourceTable) -> str:
    """What a table that is only read is called: one of another project is an import."""
    return "import" if isinstance(source, ImportedTable) else "source"


class Relations:
    """Every relation of a compiled project, by the names people may type."""

    def __init__(self, compilation: Compilation) -> None:
        self._compilation = compilation
        project = compilation.project
        self._targets = {model.target.key: key for key, model in project.models.items()}

    def find(self, name: str) -> KnownRelation | None:
        """The relation a name stands for; a model hides a source of its name."""
        project = self._compilation.project
        key = name.lower()
        key = self._targets.get(key, key)
        if key in project.models:
            model = project.models[key]
            ir = self._compilation.models.get(key)
            columns = ir.columns if ir is not None else ()
            known = tuple(KnownColumn(each.name, each.type, each.nullable) for each in columns)
            complete = ir is not None and ir.known
            return KnownRelation(model.name, "model", model.path, known, complete)
        source, seed = project.sources.get(key), project.seeds.get(key)
        if source is not None:
            fields = tuple(KnownColumn(f.name, f.type, f.nullable) for f in source.columns)
            return KnownRelation(source.name, source_kind(source), source.file, fields)
        if seed is not None:
            fields = tuple(KnownColumn(f.name, f.type, f.nullable) for f in seed.columns)
            return KnownRelation(seed.name, "seed", seed.path, fields)
        return None

    def names(self) -> list[str]:
        project = self._compilation.project
        declared = (project.models, project.sources, project.seeds)
        return [each.name for group in declared for each in group.values()]

    def resolve(self, target: str, column: str | None) -> tuple[KnownRelation, KnownColumn | None]:
        """The relation, and the column if one is named; named twice, it must be one column.

        Raises NothingSelected, and UsageError for two columns.
        """
        text = target.replace("`", "")
        relation = self.find(text)
        if relation is not None:
            return relation, relation.column(column) if column is not None else None
        owner, _, name = text.rpartition(".")
        relation = self.find(owner) if owner else None
        if relation is not None:
            if column is not None and column.replace("`", "").lower() != name.lower():
                raise click.UsageError(
                    f"`{target}` names the column `{name}` and `--column` names `{column}`:"
                    " leave one of them out"
                )
            return relation, relation.column(name)
        raise NothingSelected(self._unknown(text))

    def _unknown(self, text: str) -> str:
        """The nearest relation, with the column kept if the text could name one."""
        message = unknown_name("model, source or seed", text, self.names())
        owner, _, column = text.rpartition(".")
        if owner and "did you mean" not in message:
            near = unknown_name("model, source or seed", owner, self.names())
            if "did you mean" in near:
                return near.replace("`?", f".{column}`?")
        return message
