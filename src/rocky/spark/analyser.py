"""What Spark's own analyser says of a compiled project, compared with Rocky.

Nothing is run and no data is read. A model's readers are analysed over Rocky's schema of it, so a
difference is reported once, where it arises, and not again in everything downstream.

Tables are stubs: names with a schema and no rows, in a small catalogue of ours, because temporary
views take one-part names only and Spark's own tables forget NOT NULL. Names then resolve by
Spark's own rules, and the SQL that is analysed is the author's, unchanged. Columns are compared in
order, by name, type and nullability, also inside a type: `array<int>` prints the same whether or
not its elements can be null, so types are compared as values.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import count
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from rocky.analysis.compilation import Compilation
from rocky.diagnostics import Diagnostic, Severity
from rocky.errors import ModelFailed
from rocky.language.datatypes.parts import is_complete
from rocky.language.datatypes.text import field_to_json, fields_from_json, type_to_json
from rocky.language.datatypes.types import (
    DataType,
    StructField,
)
from rocky.language.ir import ModelIr, OutputColumn
from rocky.language.syntax.references import fill_placeholders
from rocky.project import ModelFile, Project
from rocky.project.configuration.strategies import query_width
from rocky.project.imports import ImportedTable
from rocky.project.pipeline_tables import PipelineTable
from rocky.spark.failures import SPARK_ERRORS
from rocky.spark.functions import make_stub
from rocky.spark.session import open_session

SESSION_CATALOG = "spark_catalog"
DEFAULT_NAMESPACE = "default"
_CLASS = "StubCatalog"
_numbers = count(1)


class Stubs:
    """The stub tables of one session. Catalogue names are fixed when it is made."""

    def __init__(self, session: SparkSession, catalogs: set[str]) -> None:
        self._jvm: Any = session._jvm  # noqa: SLF001 - the JVM has no public door
        compiler = self._jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(self._thread().getContextClassLoader())
        # The bridge to the JVM remembers methods by class name: each class needs a name of its own.
        name = f"{_CLASS}{next(_numbers)}"
        source = (files("rocky.spark") / f"{_CLASS}.java").read_text(encoding="utf-8")
        compiler.cook(source.replace(f"public class {_CLASS}", f"public class {name}"))
        self._loader: Any = compiler.getClassLoader()
        self._catalog: Any = self._loader.loadClass(name).newInstance()
        self._catalogs = {catalog.lower() for catalog in catalogs} | {SESSION_CATALOG}
        for catalog in self._catalogs:
            session.conf.set(f"spark.sql.catalog.{catalog}", name)

    def _thread(self) -> Any:
        return self._jvm.java.lang.Thread.currentThread()

    @contextmanager
    def in_reach(self) -> Iterator[None]:
        """Let Spark find our class: it makes a catalogue when a query first names it."""
        thread = self._thread()
        before = thread.getContextClassLoader()
        thread.setContextClassLoader(self._loader)
        try:
            yield
        finally:
            thread.setContextClassLoader(before)

    def put(self, parts: Sequence[str], fields: Sequence[StructField]) -> None:
        """Make a table answer to a name of one, two or three parts."""
        document = {"type": "struct", "fields": [field_to_json(field) for field in fields]}
        schema = self._jvm.org.apache.spark.sql.types.DataType.fromJson(json.dumps(document))
        for path in self._paths([part.lower() for part in parts]):
            self._catalog.put(path, schema)

    def _paths(self, parts: list[str]) -> list[str]:
        """Where Spark looks for a name: under a catalogue it begins with, else in its own."""
        paths = []
        if len(parts) > 1 and parts[0] in self._catalogs:
            paths.append(".".join(parts))
        if len(parts) == 1:
            paths.append(f"{SESSION_CATALOG}.{DEFAULT_NAMESPACE}.{parts[0]}")
        elif len(parts) == 2:
            paths.append(f"{SESSION_CATALOG}.{parts[0]}.{parts[1]}")
        return paths


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing on which Rocky and Spark do not agree; `column` None is the model as a whole."""

    model: str
    column: str | None
    what: str
    ours: str
    spark: str


def compare_columns(ir: ModelIr, theirs: Sequence[StructField]) -> Iterator[Difference]:
    """What differs between a model's columns and those Spark gives it."""
    if not ir.known:
        return
    if len(ir.columns) != len(theirs):
        ours = ", ".join(column.name for column in ir.columns)
        spark = ", ".join(field.name for field in theirs)
        yield Difference(ir.name, None, "list of columns", ours, spark)
        return
    for column, field in zip(ir.columns, theirs, strict=True):
        yield from _compare_column(ir.name, column, field)


def _compare_column(model: str, column: OutputColumn, field: StructField) -> Iterator[Difference]:
    if column.name != field.name:
        yield Difference(model, column.name, "name", column.name, field.name)
    # An unknown is no claim: `compile` counts those, and there is nothing to compare.
    if not is_complete(column.type):
        return
    if column.type is not field.type:
        yield Difference(model, column.name, "type", *_type_texts(column.type, field.type))
    if column.nullable != field.nullable:
        yield Difference(
            model,
            column.name,
            "nullability",
            _nullability(nullable=column.nullable),
            _nullability(nullable=field.nullable),
        )


def _nullability(*, nullable: bool) -> str:
    return "nullable" if nullable else "not null"


def _type_texts(ours: DataType, theirs: DataType) -> tuple[str, str]:
    if str(ours) != str(theirs):
        return str(ours), str(theirs)
    return json.dumps(type_to_json(ours)), json.dumps(type_to_json(theirs))


_PYTHON: Final = "it is Python, whose columns are declared"


@dataclass(frozen=True, slots=True)
class Verification:
    """What was compared and what differs. `skipped` are models with the reason they were not.

    Python, whose columns are declared, is no query that Spark could disagree about.
    """

    engine: str
    models: int
    columns: int
    differences: tuple[Difference, ...]
    skipped: tuple[tuple[str, str], ...]

    @property
    def agrees(self) -> bool:
        """Whether every query was compared, and nothing differs."""
        return not self.differences and all(why == _PYTHON for _, why in self.skipped)


@dataclass(frozen=True, slots=True)
class RefusedQuery:
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
class ComparedModel:
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
        # Before the stub catalogue, in which Spark would look for them.
        self._stub_functions(project)
        self._stubs = Stubs(session, set(_catalogs(compilation)))
        self._missing: set[str] = set()
        for source in project.sources.values():
            if isinstance(source, ImportedTable) and not source.removed:
                # Before the declared names, which win over short ones.
                self._put_external([source.imported, source.model], source.columns)
            elif isinstance(source, PipelineTable):
                self._put_external(source.parts[1:], source.columns)
        for source in project.sources.values():
            self._put_external(source.name.split("."), source.columns)
        for seed in project.seeds.values():
            self._put_external([seed.name], seed.columns)
            if seed.target.schema:
                self._put_external([seed.target.schema, seed.name], seed.columns)

    def _stub_functions(self, project: Project) -> None:
        """Make the declared functions known: SQL as it is, of code the types alone."""
        self._out_of_reach = {key for key in project.functions if "." in key}
        waiting = {key: each for key, each in project.functions.items() if "." not in key}
        while waiting:
            ready = [key for key, each in waiting.items() if not each.calls & waiting.keys()]
            for key in ready or list(waiting):
                function = waiting.pop(key)
                if not function.signature.usable:
                    continue
                try:
                    make_stub(self._session, function)
                except (ModelFailed, *SPARK_ERRORS):
                    # Whoever calls it is refused by Spark, and compared with what we say.
                    continue

    def analyse_model(self, model: ModelFile, *, compare: bool) -> ComparedModel | str:
        """Ask about one model and let its readers see it; a text says why it was not asked."""
        ir = self._compilation.models.get(model.key)
        errors = self._errors_of(model)
        reason = self._reason_to_skip(model, ir, errors)
        if reason is not None or ir is None:
            self._missing.add(model.name)
            return reason or "it was not compiled"
        if model.is_python:
            self._put_model(model, _fields(ir))
            return _PYTHON
        # A model Rocky is sure about need not be asked when only its readers are compared.
        if not compare and not errors and _is_model_complete(ir):
            self._put_model(model, _fields(ir))
            return ComparedModel((), ())
        answer = self.schema_of(fill_placeholders(model.sql))
        if isinstance(answer, RefusedQuery):
            return self._refused(model, ir, errors, answer)
        self._put_model(model, _fields(ir) if _is_model_complete(ir) else answer)
        width = query_width(model.strategy, len(ir.columns))
        if errors:
            ours = f"refused, {errors[0].code.value}: {errors[0].message}"
            difference = Difference(model.name, None, "acceptance", ours, "accepted")
            return ComparedModel(tuple(answer), (difference,))
        return ComparedModel(
            tuple(answer), tuple(compare_columns(replace(ir, columns=ir.columns[:width]), answer))
        )

    def schema_of(self, sql: str) -> list[StructField] | RefusedQuery:
        """The columns Spark gives a query, or why it refuses it."""
        inner: Any = self._session._jsparkSession  # noqa: SLF001 - plain calls: no rows come back
        try:
            # Refuses whatever is not a query: Spark runs a command as soon as it is analysed.
            inner.sessionState().sqlParser().parseQuery(sql)
            with self._stubs.in_reach():
                schema = json.loads(inner.sql(sql).schema().json())
        except PySparkException as refusal:
            said = str(refusal).strip().splitlines()
            return RefusedQuery(refusal.getCondition() or "no condition", said[0] if said else "")
        except Py4JJavaError as failure:
            # Not every failure in the JVM is an analysis error: a stack overflow, for one.
            return RefusedQuery("internal", str(failure.java_exception.toString()))
        return fields_from_json(schema)

    def _refused(
        self, model: ModelFile, ir: ModelIr, errors: Sequence[Diagnostic], answer: RefusedQuery
    ) -> ComparedModel | str:
        if errors:
            self._missing.add(model.name)
            return f"it has errors, and Spark refuses it too ({answer.condition})"
        if _is_model_complete(ir):
            self._put_model(model, _fields(ir))
        else:
            self._missing.add(model.name)
        difference = Difference(model.name, None, "acceptance", "accepted", str(answer))
        return ComparedModel((), (difference,))

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
        away = sorted(self._out_of_reach.intersection(ir.functions))
        if away:
            return f"it calls `{away[0]}`, which is in a catalogue that is not asked"
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


def _is_model_complete(ir: ModelIr) -> bool:
    return ir.known and all(is_complete(column.type) for column in ir.columns)


def _fields(ir: ModelIr) -> list[StructField]:
    return [StructField(column.name, column.type, column.nullable) for column in ir.columns]
