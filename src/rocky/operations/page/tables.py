"""Tables on the page: models, sources and seeds of a compiled project as the page's records."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from rocky.analysis.column_graph import column_graph
from rocky.analysis.compilation import Compilation, unpack_schema
from rocky.analysis.disclosure import Disclosure, origin_of, tags_text
from rocky.analysis.lineage import ColumnRef
from rocky.language.datatypes.types import UNKNOWN, StructField
from rocky.language.ir import OutputColumn
from rocky.operations.digest import place_of
from rocky.operations.findings import findings_of
from rocky.operations.graph.source_kinds import source_kind
from rocky.operations.graph.unknown_origins import typing_command, unknown_origins
from rocky.operations.page.declared_tests import describe_tests, place_tests
from rocky.operations.page.records import (
    ColumnLink,
    PageCode,
    PageColumn,
    PageContract,
    PageFinding,
    PageTable,
    PromisedColumn,
    TableDetails,
    UnknownColumns,
)
from rocky.operations.page.runs import PastRuns
from rocky.operations.report import OnDemand
from rocky.project import ModelFile, SourceTable
from rocky.project.collisions import target_of_seed
from rocky.project.configuration.classifications import joined_tags
from rocky.project.configuration.labels import shown_meta, shown_tags, shown_text
from rocky.project.contracts import Contract
from rocky.project.descriptions import Described, describe_declared, describe_model
from rocky.project.pipeline_tables import PipelineTable
from rocky.project.secrets import url_without_password
from rocky.project.seeds import SeedTable

_Declared = ModelFile | SourceTable | SeedTable
_Column = OutputColumn | StructField
_PART_COLUMNS: Final = 1000
"""So many columns, about, have their details in one file: some 200 kB."""


@dataclass(frozen=True, slots=True)
class PageTables:
    """The tables of a project, their details by place, and every finding."""

    tables: tuple[PageTable, ...]
    details: Sequence[TableDetails]
    findings: tuple[PageFinding, ...]


def describe_tables(compilation: Compilation, past: PastRuns) -> PageTables:
    """All that is known of the tables of a project."""
    collector = _Collector(compilation, past)
    parts = list(collector.parts())
    return PageTables(
        tuple(
            collector.entry(each, part)
            for each, part in zip(collector.declared, parts, strict=True)
        ),
        OnDemand(collector.declared, collector.details),
        collector.findings,
    )


class _Collector:
    """One look at a compilation: every table knows its place before any is described."""

    def __init__(self, compilation: Compilation, past: PastRuns) -> None:
        self._compilation, self._past = compilation, past
        # A page is for everybody who can open it.
        self._disclosure = Disclosure(compilation)
        project = compilation.project
        # A model hides a source or a seed of its name, as it does for who reads it.
        hidden = project.models
        self.declared: list[_Declared] = [
            *(each for key, each in project.sources.items() if key not in hidden),
            *(
                each
                for key, each in project.seeds.items()
                if key not in hidden and key not in project.sources
            ),
            *(project.models[name.lower()] for name in compilation.order),
        ]
        self._places = {each.key: place for place, each in enumerate(self.declared)}
        self._lineage = column_graph(compilation)
        self.findings = tuple(self._findings())
        self._found: dict[int, list[PageFinding]] = {}
        for finding in self.findings:
            if finding.table is not None:
                self._found.setdefault(finding.table, []).append(finding)

    def parts(self) -> Iterator[int]:
        """The file of each table's details: tables that run one after the other share one."""
        filled = 0
        for each in self.declared:
            yield filled // _PART_COLUMNS
            filled += len(self._column_names(each)) + 1

    # -------------------------------------------------------------- the index

    def entry(self, table: _Declared, part: int) -> PageTable:
        """The table as the index has it."""
        said = self._described(table)
        found = Counter(each.severity for each in self._found.get(self._places[table.key], ()))
        last = self._past.last.get(table.key)
        return PageTable(
            name=table.name,
            part=part,
            columns=self._column_names(table),
            reads=self._reads(table),
            description=said.table,
            owner=shown_text(table.owner),
            tags=shown_tags(table.tags) or None,
            column_descriptions=said.columns or None,
            classified=joined_tags(table.classification) or None,
            errors=found["error"] or None,
            warnings=found["warning"] or None,
            outcome=last.outcome if last is not None else None,
            **self._kind_facts(table),
        )

    def _kind_facts(self, table: _Declared) -> dict[str, Any]:
        if isinstance(table, ModelFile):
            went = self._went(table)
            tests = describe_tests(table, went, self._disclosure)
            ended = Counter(each.result for each in tests)
            return {
                "kind": "model",
                "path": table.path,
                "target": table.target.full_name,
                "strategy": table.strategy.type,
                "pipeline": table.pipeline,
                "tests": tuple(each.name for each in tests),
                "tests_passed": ended["passed"] or None,
                "tests_warned": ended["warned"] or None,
                "tests_failed": ended["failed"] or None,
                "tests_went": tuple(each.result for each in tests) if went else (),
            }
        if isinstance(table, SeedTable):
            target = target_of_seed(table, self._compilation.project.config)
            return {"kind": "seed", "path": table.path, "target": target.full_name}
        facts = {"kind": source_kind(table), "path": table.file}
        if isinstance(table, PipelineTable):
            return {**facts, "pipeline": table.pipeline, "target": table.name}
        return facts

    def _went(self, model: ModelFile) -> dict[str, bool]:
        """How the tests of a model last went, by name."""
        checks = self._past.checks
        return {**checks.get(model.key, {}), **checks.get(model.target.key, {})}

    def _reads(self, table: _Declared) -> tuple[int, ...]:
        upstream = self._compilation.upstream.get(table.name, ())
        return tuple(sorted({self._places[each.lower()] for each in upstream}))

    # -------------------------------------------------------------- the details

    def details(self, table: _Declared) -> TableDetails:
        """All that is shown of the table."""
        past, ir = self._past, self._compilation.models.get(table.key)
        found = TableDetails(
            columns=tuple(self._page_columns(table)),
            complete=not isinstance(table, ModelFile) or (ir is not None and ir.known),
            unknown=tuple(self._unknown(table)),
            meta=shown_meta(_meta(table)) or None,
            findings=tuple(self._found.get(self._places[table.key], ())),
            last=past.last.get(table.key),
            built=past.built.get(table.key),
            recent=tuple(past.recent.get(table.key, ())),
        )
        if not isinstance(table, ModelFile):
            return replace(found, settings=_declared_settings(table))
        contract = self._compilation.project.contracts.get(table.key)
        tests = describe_tests(table, self._went(table), self._disclosure)
        return replace(
            found,
            rows_by=tuple(
                self._links((each.source, each.role) for each in self._lineage.rows_of(table.name))
            ),
            contract=_contract(contract, self._columns(table)) if contract is not None else None,
            tests=tuple(place_tests(table, tests, self._compilation.project.texts)),
            code=self._code(table),
            settings=_model_settings(table) or None,
            determinism=ir.determinism if ir is not None else (),
        )

    def _unknown(self, table: _Declared) -> Iterator[UnknownColumns]:
        """The tables of unknown columns that columns come from, each once."""
        own = typing_command(self._compilation.project, table.name)
        if own is not None and not isinstance(table, ModelFile):
            yield UnknownColumns(table.name, own)
            return
        ir = self._compilation.models.get(table.key)
        if ir is not None and (not ir.known or any(e.type == UNKNOWN for e in ir.columns)):
            found = unknown_origins(self._compilation, [table.name])
            named = {each.source: each.command for each in found if each.command is not None}
            yield from (UnknownColumns(name, command) for name, command in named.items())

    def _code(self, model: ModelFile) -> PageCode | None:
        """The text as it is written: what is put in place of a variable may be a secret."""
        if model.key in self._compilation.project.blocked:
            return None
        return PageCode(
            text=model.text[model.sql_offset :],
            language=_language(model),
            line=model.text.count("\n", 0, model.sql_offset) + 1,
        )

    def _page_columns(self, table: _Declared) -> Iterator[PageColumn]:
        described = self._described(table).columns
        classified = {
            name.lower(): value for name, value in joined_tags(table.classification).items()
        }
        contract = self._compilation.project.contracts.get(table.key)
        promises = _promises(contract) if isinstance(table, ModelFile) and contract else {}
        lineage, facts = self._lineage, self._disclosure.facts
        for column in self._columns(table):
            key, place = column.name.lower(), ColumnRef(table.name, column.name)
            tags = facts.of(table.key, key)
            yield PageColumn(
                name=column.name,
                type=str(column.type),
                nullable=column.nullable,
                description=described.get(key),
                classification=classified.get(key) or tags_text(tags),
                tagged_at=None if key in classified else origin_of(tags),
                promise=promises.get(key),
                sources=tuple(
                    self._links((hop.source, hop.kind) for hop in lineage.hops_into(place))
                ),
                readers=tuple(
                    self._links((hop.target, hop.kind) for hop in lineage.hops_from(place))
                ),
            )

    def _links(self, found: Iterator[tuple[ColumnRef, str]]) -> list[ColumnLink]:
        """Columns of tables that there are, each once, in an order of their own."""
        links = {
            ColumnLink(self._places[column.table.lower()], column.column, how)
            for column, how in found
            if column.table.lower() in self._places
        }
        return sorted(links)

    def _columns(self, table: _Declared) -> Sequence[_Column]:
        if not isinstance(table, ModelFile):
            return table.columns
        ir = self._compilation.models.get(table.key)
        return ir.columns if ir is not None else ()

    def _column_names(self, table: _Declared) -> tuple[str, ...]:
        # From the record: unpacking the lineage of every model would cost more than all the rest.
        if isinstance(table, ModelFile):
            models = self._compilation.models
            columns = unpack_schema(models.record(table.key))[0] if table.key in models else ()
            return tuple(name for name, _, _ in columns)
        return tuple(each.name for each in table.columns)

    def _described(self, table: _Declared) -> Described:
        if isinstance(table, ModelFile):
            return describe_model(table, self._compilation.project.contracts.get(table.key))
        return describe_declared(table)

    def _findings(self) -> Iterator[PageFinding]:
        for each in findings_of(self._compilation.diagnostics, self._compilation.project):
            yield PageFinding(
                code=each.code,
                name=each.name,
                severity=each.severity.value,
                message=each.message,
                place=place_of(each),
                help=each.help,
                table=self._places.get((each.model or "").lower()),
            )


def _language(model: ModelFile) -> Literal["sql", "rocky", "python"]:
    if model.is_python:
        return "python"
    return "rocky" if model.is_rocky else "sql"


def _meta(table: _Declared) -> Mapping[str, Any]:
    return table.settings.meta if isinstance(table, ModelFile) else table.meta


def _contract(contract: Contract, columns: Sequence[_Column]) -> PageContract:
    there = {each.name.lower() for each in columns}
    return PageContract(
        path=contract.path,
        strict=contract.strict,
        no_new_nullable=contract.no_new_nullable,
        absent=tuple(each.name for each in contract.columns if each.name.lower() not in there),
    )


def _promises(contract: Contract) -> dict[str, PromisedColumn]:
    """What is promised of columns, by lower-case name."""
    listed = {each.name.lower(): each for each in contract.columns}
    required = {each.column.lower() for each in contract.required}
    protected = {each.column.lower() for each in contract.protected}
    return {
        key: PromisedColumn(
            type=str(listed[key].type) if key in listed and listed[key].type is not None else None,
            nullable=listed[key].nullable if key in listed else None,
            required=key in required,
            protected=key in protected,
            optional=key in listed and listed[key].optional,
        )
        for key in {**listed, **dict.fromkeys(required), **dict.fromkeys(protected)}
    }


def _declared_settings(table: SourceTable | SeedTable) -> dict[str, str]:
    if isinstance(table, SeedTable):
        return {"format": "csv"}
    place = {"path": url_without_password(table.path)} if table.path is not None else {}
    return {"format": table.format, **place}


def _model_settings(model: ModelFile) -> dict[str, str]:
    """What of a model's settings readers of its table want to know, as it is written."""
    chosen = {
        name: shown_meta(value)
        for name, value in model.strategy._asdict().items()
        if value not in (None, (), False) and name != "type"
    }
    options = model.settings.format_options
    if options is not None:
        chosen |= {name: shown_meta(each) for name, each in options._asdict().items() if each}
    return {
        name: ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        for name, value in chosen.items()
    }
