"""Modelling: new files turned into a generated model, which reads exactly them.

Only here are files looked into. Files with other columns are sources of their own, and the model's
query puts their rows together by the names of the columns.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from rocky.datatypes.types import StructField
from rocky.drift.projection import quote_name, type_sql
from rocky.errors import SourceUnreadable
from rocky.ledger.pipeline_records import LoadedFile
from rocky.pipelines.generated import GeneratedModel, GeneratedSource
from rocky.pipelines.loads.choosing import Chosen
from rocky.pipelines.loads.files import FoundFile
from rocky.pipelines.loads.fitting import Fitted, Given, fit_columns
from rocky.pipelines.loads.ground import Load, LoadGround
from rocky.pipelines.loads.headers import FileGroup, group_files
from rocky.project.contracts import Contract
from rocky.project.documents import Document
from rocky.project.strategies import Append
from rocky.run.engine import Engine
from rocky.run.notes import StepNotes

REPLACED: Final = "the table is made what the folder holds"


class Modeller:
    """Makes the models of one run. Threads may share it."""

    def __init__(self, ground: LoadGround) -> None:
        self._ground = ground
        self._document = Document(str(ground.project.config_path), "", {})

    def load(self, wanted: Chosen) -> Load:
        """The load of a table. Raises SourceUnreadable when its files have no use."""
        ground, target = self._ground, wanted.table.target
        columns = wanted.snapshot.schema if wanted.snapshot and not ground.replaces else ()
        engine = ground.open_engine()
        files = wanted.files
        sources: list[GeneratedSource] = []
        fitted = Fitted((), ())
        if files:
            groups = group_files(files, ground.pipeline.options)
            given = [
                self._describe(engine, wanted, place, group, columns)
                for place, group in enumerate(groups)
            ]
            fitted = fit_columns(given, columns, ground.contract)
            sources = [
                replace(self._source(wanted, place, each.group), columns=fit.columns)
                for place, (each, fit) in enumerate(zip(given, fitted.fits, strict=True))
            ]
            self._check_pins(files, sources)
        model = GeneratedModel(
            target,
            _sql(sources, fitted, columns),
            Append(
                tuple(sorted(each.digest for each in files)),
                wanted.snapshot.version if wanted.snapshot is not None else -1,
            ),
            tuple(sources),
        )
        notes = StepNotes(
            ("load", ground.name, target.full_name),
            wanted.marker,
            drift=fitted.drift,
            loaded=tuple(self._records(wanted)),
            full_refresh=REPLACED if ground.replaces else None,
        )
        return Load(model, notes)

    def _describe(
        self,
        engine: Engine,
        wanted: Chosen,
        place: int,
        group: FileGroup,
        columns: Sequence[StructField],
    ) -> Given:
        source = self._source(wanted, place, group)
        found = engine.describe(source.declare(self._document))
        if group.format == "csv" and not self._ground.pipeline.options.csv_has_header:
            found = _named(found, columns, self._ground.contract)
        return Given(group, found)

    def _source(self, wanted: Chosen, place: int, group: FileGroup) -> GeneratedSource:
        pipeline = self._ground.pipeline
        options = {"recursiveFileLookup": "true"}
        if group.format == "csv":
            options["sep"] = pipeline.options.csv_delimiter
            options["header"] = "true" if pipeline.options.csv_has_header else "false"
        table = wanted.table.target.table.replace(".", "_")
        name = f"{table}#{place + 1}" if place else table
        return GeneratedSource(
            f"{self._ground.name.replace('.', '_')}.{name}",
            (),
            group.format,
            pipeline.source_dir,
            options,
            tuple(each.place for each in group.files),
        )

    def _check_pins(self, files: Sequence[FoundFile], sources: Sequence[GeneratedSource]) -> None:
        """Raises SourceUnreadable when what will be read is not what was listed."""
        listed = {str(Path(each.place)): each for each in files}
        for source in sources:
            pin = self._ground.sources.look(source.declare(self._document))
            if pin is None or not pin.hashes:
                continue
            for (path, _, _), digest in zip(pin.files, pin.hashes, strict=True):
                if listed[path].digest != digest:
                    raise SourceUnreadable(
                        f"`{listed[path].shown}` was changed while it was being looked at; move"
                        " files into the folder when they are complete"
                    )

    def _records(self, wanted: Chosen) -> Iterator[LoadedFile]:
        """What is recorded: the files of the load, and those that a dead run has brought."""
        target, now = wanted.table.target.full_name, self._ground.now
        replaced = self._ground.replaces
        for each in wanted.files:
            yield LoadedFile(target, each.digest, each.shown, each.size, now, replaced=replaced)
        listed = {each.digest: each for each in wanted.table.files}
        for digest in sorted(wanted.held.unrecorded):
            found = listed.get(digest)
            # It may have left the folder since; its name is not in the table's log.
            path, size = (found.shown, found.size) if found is not None else ("", 0)
            yield LoadedFile(target, digest, path, size, now, replaced=wanted.held.replaced)


def _named(
    found: Sequence[StructField], columns: Sequence[StructField], contract: Contract | None
) -> tuple[StructField, ...]:
    """Columns of a CSV without header: by position those of the table, or of the contract."""
    names = [each.name for each in columns]
    if not names and contract is not None:
        names = [each.name for each in contract.columns]
    given = [*names[: len(found)], *(each.name for each in found[len(names) :])]
    return tuple(
        StructField(name, each.type, each.nullable) for name, each in zip(given, found, strict=True)
    )


def _sql(sources: Sequence[GeneratedSource], fitted: Fitted, columns: Sequence[StructField]) -> str:
    if not sources:
        # All is loaded, and only the record of it is missing.
        nulls = (
            f"CAST(NULL AS {type_sql(each.type)}) AS {quote_name(each.name)}" for each in columns
        )
        return f"SELECT {', '.join(nulls)} WHERE FALSE"
    return " UNION ALL ".join(
        f"SELECT {fit.select_list} FROM {source.sql_name}"  # noqa: S608 - names are quoted
        for source, fit in zip(sources, fitted.fits, strict=True)
    )
