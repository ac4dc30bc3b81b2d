"""analyse_project: what Spark's own analyser says of a compiled project, compared with Rocky.

Nothing is run and no data is read. A model's readers are analysed over Rocky's schema of it,
so a difference is reported once, where it arises, and not again in everything downstream.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from rocky.compiler.compilation import Compilation
from rocky.datatypes.text import fields_from_json
from rocky.datatypes.types import StructField
from rocky.diagnostics import Diagnostic, Severity
from rocky.ir.model import ModelIr
from rocky.project import ModelFile
from rocky.project.imports import ImportedTable
from rocky.project.strategies import query_width
from rocky.spark.comparison import Difference, compare_columns, is_complete
from rocky.spark.placeholders import fill_placeholders
from rocky.spark.session import open_session
from rocky.spark.stubs import Stubs


@dataclass(frozen=True, slots=True)
class Verification:
    """What was compared and what differs. `skipped` are models with the reason they were not."""

    engine: str
    models: int
    columns: int
    differences: tuple[Difference, ...]
    skipped: tuple[tuple[str, str], ...]

    @property
    def agrees(self) -> bool:
        return not self.differences


@dataclass(frozen=True, slots=True)
class Refused:
    """Spark will not analyse a query: its error condition and the first line of what it says."""

    condition: str
    message: str

    def __str__(self) -> str:
        return f"refused, {self.condition}: {self.message}"


def analyse_project(
    compilation: Compilation,
    *,
    models: Sequence[str] | None = None,
    session: SparkSession | None = None,
) -> Verification:
    """Compare a compilation with Spark. `models` limits what is compared, by declared name.

    Without a session one is started and stopped again. Raises SparkUnavailable.
    """
    if session is None:
        with open_session() as own:
            return analyse_project(compilation, models=models, session=own)
    # A session of its own: catalogues cannot be changed once Spark has made them.
    analyser = Analyser(compilation, session.newSession())
    chosen = set(compilation.order if models is None else models)
    compared = columns = 0
    differences: list[Difference] = []
    skipped: list[tuple[str, str]] = []
    for name in compilation.order:
        model = compilation.project.models[name.lower()]
        outcome = analyser.analyse_model(model, compare=model.name in chosen)
        if model.name not in chosen:
            continue
        if isinstance(outcome, str):
            skipped.append((model.name, outcome))
            continue
        compared += 1
        columns += len(outcome.columns)
        differences += outcome.differences
    engine = f"Spark {session.version}"
    return Verification(engine, compared, columns, tuple(differences), tuple(skipped))


@dataclass(frozen=True, slots=True)
class Compared:
    """A model that both looked at."""

    columns: tuple[StructField, ...]
    differences: tuple[Difference, ...]


class Analyser:
    """Spark's analyser over one project: stub tables for what exists, models in order."""

    def __init__(self, compilation: Compilation, session: SparkSession) -> None:
        self._compilation = compilation
        self._session = session
        project = compilation.project
        apply_settings(session, project.config.adapter.values())
        self._stubs = Stubs(session, set(_catalogs(compilation)))
        self._missing: set[str] = set()
        for source in project.sources.values():
            if isinstance(source, ImportedTable) and not source.removed:
                # Before the declared names, which win over short ones.
                self._put_external([source.imported, source.model], source.columns)
        for source in project.sources.values():
            self._put_external(source.name.split("."), source.columns)
        for seed in project.seeds.values():
            self._put_external([seed.name], seed.columns)
            if seed.target.schema:
                self._put_external([seed.target.schema, seed.name], seed.columns)

    def analyse_model(self, model: ModelFile, *, compare: bool) -> Compared | str:
        """Ask about one model and let its readers see it; a text says why it was not asked."""
        ir = self._compilation.models.get(model.key)
        errors = self._errors_of(model)
        reason = self._reason_to_skip(model, ir, errors)
        if reason is not None or ir is None:
            self._missing.add(model.name)
            return reason or "it was not compiled"
        if model.is_python:
            self._put_model(model, _fields(ir))
            return "it is Python, whose columns are declared"
        # A model Rocky is sure about need not be asked when only its readers are compared.
        if not compare and not errors and _complete(ir):
            self._put_model(model, _fields(ir))
            return Compared((), ())
        answer = self.schema_of(fill_placeholders(model.sql))
        if isinstance(answer, Refused):
            return self._refused(model, ir, errors, answer)
        self._put_model(model, _fields(ir) if _complete(ir) else answer)
        width = query_width(model.strategy, len(ir.columns))
        if errors:
            ours = f"refused, {errors[0].code.value}: {errors[0].message}"
            difference = Difference(model.name, None, "acceptance", ours, "accepted")
            return Compared(tuple(answer), (difference,))
        return Compared(
            tuple(answer), tuple(compare_columns(replace(ir, columns=ir.columns[:width]), answer))
        )

    def schema_of(self, sql: str) -> list[StructField] | Refused:
        """The columns Spark gives a query, or why it refuses it."""
        inner: Any = self._session._jsparkSession  # noqa: SLF001 - plain calls: no rows come back
        try:
            # Refuses whatever is not a query: Spark runs a command as soon as it is analysed.
            inner.sessionState().sqlParser().parseQuery(sql)
            with self._stubs.in_reach():
                schema = json.loads(inner.sql(sql).schema().json())
        except PySparkException as refusal:
            said = str(refusal).strip().splitlines()
            return Refused(refusal.getCondition() or "no condition", said[0] if said else "")
        except Py4JJavaError as failure:
            # Not every failure in the JVM is an analysis error: a stack overflow, for one.
            return Refused("internal", str(failure.java_exception.toString()))
        return fields_from_json(schema)

    def _refused(
        self, model: ModelFile, ir: ModelIr, errors: Sequence[Diagnostic], answer: Refused
    ) -> Compared:
        if errors:
            self._missing.add(model.name)
            return Compared((), ())
        if _complete(ir):
            self._put_model(model, _fields(ir))
        else:
            self._missing.add(model.name)
        difference = Difference(model.name, None, "acceptance", "accepted", str(answer))
        return Compared((), (difference,))

    def _errors_of(self, model: ModelFile) -> list[Diagnostic]:
        """The errors that say Spark would refuse the model."""
        return [
            each
            for each in self._compilation.diagnostics_of(model.name)
            if each.severity is Severity.ERROR and each.condition is not None
        ]

    def _reason_to_skip(
        self, model: ModelFile, ir: ModelIr | None, errors: Sequence[Diagnostic]
    ) -> str | None:
        if ir is None or model.key in self._compilation.project.blocked:
            return "its files are unusable"
        missing = sorted(set(ir.reads) & self._missing)
        if missing:
            return f"it reads `{missing[0]}`, which has no schema"
        if not ir.known and not errors and not ir.columns:
            return "Rocky does not know its columns"
        return None

    def _put_external(self, parts: Sequence[str], columns: Sequence[StructField]) -> None:
        known = [field for field in columns if is_complete(field.type)]
        if len(known) < len(columns) or not columns:
            self._missing.add(".".join(parts))
        else:
            self._stubs.put(parts, known)

    def _put_model(self, model: ModelFile, fields: Sequence[StructField]) -> None:
        target = model.target
        for parts in ([model.name], [target.schema, target.table], list(target)):
            self._stubs.put(parts, fields)


def apply_settings(session: SparkSession, adapters: Any) -> None:
    """The project's own Spark settings, as far as a session can still change them."""
    for adapter in adapters:
        for name, value in adapter.conf.items():
            if not name.startswith("spark.sql.catalog") and session.conf.isModifiable(name):
                session.conf.set(name, value)


def _catalogs(compilation: Compilation) -> Iterator[str]:
    project = compilation.project
    for model in project.models.values():
        yield model.target.catalog
    for source in project.sources.values():
        parts = source.name.split(".")
        if len(parts) == 3:
            yield parts[0]


def _complete(ir: ModelIr) -> bool:
    return ir.known and all(is_complete(column.type) for column in ir.columns)


def _fields(ir: ModelIr) -> list[StructField]:
    return [StructField(column.name, column.type, column.nullable) for column in ir.columns]
