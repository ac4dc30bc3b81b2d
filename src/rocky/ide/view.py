"""A view of a compiled project, and a file of it as it stands in an editor.

Features are functions of an `OpenFile` and an offset. Spans are offsets in texts of files: only
whoever speaks a protocol counts lines and other units. The text may be newer than the compilation,
and half-written: then its query is read as it is, over the tables of the compilation.
"""

import posixpath
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from rocky.analysis.classification.facts import Classifications
from rocky.analysis.classification.flow import classify
from rocky.analysis.column_graph import column_graph
from rocky.analysis.compilation import Compilation
from rocky.analysis.lineage import Lineage
from rocky.analysis.names import CompiledTables, Names
from rocky.analysis.python_plans import PlanColumn, PlanFrame, PythonPlan, kept_plan
from rocky.diagnostics.diagnostic import Span
from rocky.ide.python_frames import PlanFrames, PlannedModel
from rocky.language.binder.name_uses import NameNotes, NameUse
from rocky.language.binder.query import BoundQuery, bind_text
from rocky.language.binder.usage import find_usage
from rocky.language.datatypes.text import encode_type
from rocky.language.dsl.lowering import lower_text
from rocky.language.dsl.mapped_text import MappedText
from rocky.language.ir import CONSTRUCT, Use
from rocky.language.macros.expansion import Expansion
from rocky.language.quotes import only_code
from rocky.language.tables import Table
from rocky.project import ModelFile, Project
from rocky.project.macros import Macros
from rocky.project.model_text import fill_variables, find_front_matter, has_variables
from rocky.project.python_models import inputs_of

Kind = Literal["sql", "rocky", "python", "toml", "macro", "function", "seed", "other"]


class Place(NamedTuple):
    """A span of a file."""

    path: str
    span: Span


class Query(NamedTuple):
    """The SQL that a text stands for; `place` leads from a span of it to one of the text."""

    sql: str
    place: Callable[[Span], Span]
    bans: Mapping[int, int]


class PlacedName(NamedTuple):
    """A name use at its place in a file; `definition` is the place in the same file."""

    span: Span
    use: NameUse
    definition: Span | None


class PlacedCall(NamedTuple):
    """A call of a function at the place of its name."""

    span: Span
    name: str
    arguments: int


NO_FRAMES: Final[Mapping[str, PlanFrames]] = MappingProxyType({})


class View:
    """A compilation, with the indexes that several questions need, each made when first asked.

    `earlier` are Python models by path as they were before an edit that broke them.
    """

    def __init__(
        self, compilation: Compilation, earlier: Mapping[str, PlanFrames] = NO_FRAMES
    ) -> None:
        self.compilation = compilation
        self.project: Project = compilation.project
        self._open: dict[str, OpenFile] = {}
        self._earlier = earlier
        self._frames: dict[str, PlanFrames | None] = {}

    @cached_property
    def names(self) -> Names:
        return Names(self.project)

    @cached_property
    def models(self) -> dict[str, ModelFile]:
        """Models by path."""
        return {model.path: model for model in self.project.models.values()}

    @property
    def lineage(self) -> Lineage:
        return column_graph(self.compilation)

    @cached_property
    def classifications(self) -> Classifications:
        return classify(self.compilation)

    def tables(self, reader: str) -> CompiledTables:
        """The tables as one model sees them, by its key."""
        return CompiledTables(self.project, self.compilation.models, self.names, reader, _as_it_is)

    def frames(self, path: str) -> PlanFrames | None:
        """The frames of a Python model, by its own plan or the last one that there was."""
        if path not in self._frames:
            self._frames[path] = self._planned(path) or self._earlier.get(path) or self._bare(path)
        return self._frames[path]

    def _planned(self, path: str) -> PlanFrames | None:
        model = self.models.get(path)
        if model is None or not model.is_python or model.key not in self.compilation.models:
            return None
        plan = kept_plan(self.compilation.models.record(model.key).plan)
        return (
            PlanFrames(PlannedModel(model, plan)) if plan is not None and plan.has_frames else None
        )

    def _bare(self, path: str) -> PlanFrames | None:
        """Without a plan, what a Python model reads: its parameters."""
        model = self.models.get(path)
        if model is None or not model.is_python:
            return None
        tables = self.tables(model.key)
        frames = []
        for each in inputs_of(model):
            table = tables.find(each.parts)
            if table is not None:
                fields = [(f.name, encode_type(f.type), f.nullable) for f in table.fields]
                columns = [PlanColumn(*field) for field in fields]
                frames.append(PlanFrame(each.table, [], [], columns))
        return PlanFrames(PlannedModel(model, PythonPlan(frames=frames)))

    def text_of(self, path: str) -> str:
        """A file as the compilation has it."""
        return self.project.texts[path].text

    def readers(self, table: str) -> list[ModelFile]:
        """The models that read a table, by its declared name."""
        found = (self.project.models.get(name.lower()) for name in self.downstream(table))
        return [model for model in found if model is not None]

    def downstream(self, table: str) -> tuple[str, ...]:
        return self.compilation.downstream.get(table, ())

    def upstream(self, table: str) -> tuple[str, ...]:
        return self.compilation.upstream.get(table, ())

    def open(self, path: str, text: str | None = None) -> "OpenFile":
        """A file; without a text, as the compilation has it."""
        if text is not None and text != self.text_of(path):
            return OpenFile(self, path, text)
        found = self._open.pop(path, None)
        if found is None or (text is not None and found.text != text):
            found = OpenFile(self, path, text if text is not None else self.text_of(path))
        # What was asked for last is asked for next; the others would fill the memory with trees.
        while len(self._open) >= _KEPT:
            del self._open[next(iter(self._open))]
        self._open[path] = found
        return found


_KEPT: Final = 64
"""How many files a view keeps worked out."""


def _as_it_is(table: Table) -> Table:
    return table


@dataclass(frozen=True)
class OpenFile:
    """A file in an editor. What is worked out of it is kept as long as it."""

    view: View
    path: str
    text: str

    @cached_property
    def kind(self) -> Kind:
        if self.path in self.view.models:
            return {".rocky": "rocky", ".py": "python"}.get(_ending(self.path), "sql")  # type: ignore[return-value]  # of Kind
        folder = self.path.partition("/")[0]
        match _ending(self.path):
            case ".py":
                # One that is half written is no model at the moment.
                return "python" if self.view.frames(self.path) is not None else "other"
            case ".toml":
                return "toml"
            case ".sql":
                named: dict[str, Kind] = {"macros": "macro", "functions": "function"}
                return named.get(folder, "sql")
            case ".rocky":
                return "rocky"
            case ".csv":
                return "seed"
            case _:
                return "other"

    @cached_property
    def model(self) -> ModelFile | None:
        """The model that the file is, or whose sidecar it is."""
        found = self.view.models.get(self.path)
        if found is None and self.kind == "toml":
            models = self.view.models.values()
            found = next((each for each in models if each.settings_path == self.path), None)
        return found

    @cached_property
    def sql_start(self) -> int:
        """Where the query begins: after front matter."""
        matter = find_front_matter(self.text) if self.kind in ("sql", "rocky") else None
        return matter.sql_start if matter is not None else 0

    @cached_property
    def code(self) -> str:
        """The query as it is written, as long as the file: all that is no code is blank."""
        return " " * self.sql_start + only_code(self.text[self.sql_start :])

    @cached_property
    def query(self) -> Query | None:
        """The query of a model; None for what has none."""
        model = self.model
        if self.kind not in ("sql", "rocky"):
            return None
        if model is not None and model.path == self.path and model.text == self.text:
            return Query(model.sql, model.place_in_file, model.bans)
        return read_query(self.text, self.view.project, rocky=self.kind == "rocky")

    @cached_property
    def notes(self) -> tuple[NameNotes, BoundQuery] | None:
        """The query bound, with its names."""
        query = self.query
        if query is None or not query.sql.strip():
            return None
        notes = NameNotes()
        key = self.model.key if self.model is not None else ""
        return notes, bind_text(query.sql, self.view.tables(key), query.bans, notes)

    @cached_property
    def names(self) -> tuple[PlacedName, ...]:
        """The names that stand in the file as they stand in its query, in order."""
        query, notes = self.query, self.notes
        if query is None or notes is None:
            return ()
        found = [
            PlacedName(span, use, self._placed(use.definition, query))
            for each, use in notes[0].uses.items()
            if (span := self._placed(each, query)) is not None
        ]
        return tuple(sorted(found, key=lambda each: each.span))

    @cached_property
    def calls(self) -> tuple[PlacedCall, ...]:
        """The calls of functions that stand in the file, in order."""
        query, notes = self.query, self.notes
        if query is None or notes is None:
            return ()
        uses = [each for each in find_usage(notes[1]) if each.arguments != CONSTRUCT]
        found = (self._call(each, query) for each in uses)
        return tuple(sorted({each for each in found if each is not None}))

    def name_at(self, offset: int) -> PlacedName | None:
        """The smallest name that an offset is in, or at the end of."""
        found = [each for each in self.names if each.span.start <= offset <= each.span.end]
        return min(found, key=lambda each: each.span.end - each.span.start, default=None)

    def call_at(self, offset: int) -> PlacedCall | None:
        return next(
            (each for each in self.calls if each.span.start <= offset <= each.span.end), None
        )

    def _call(self, use: Use, query: Query) -> PlacedCall | None:
        span = self._placed(Span(use.start, use.end), query)
        return PlacedCall(span, use.name, use.arguments) if span is not None else None

    def _placed(self, span: Span | None, query: Query) -> Span | None:
        """A span of the query in the file; None for what stands there in other words."""
        if span is None:
            return None
        place = query.place(span)
        written = self.text[place.start : place.end]
        return place if written == query.sql[span.start : span.end] else None


def read_query(text: str, project: Project, *, rocky: bool) -> Query | None:
    """The query of a text that is not compiled; None for a `.rocky` text that is no pipeline."""
    matter = find_front_matter(text)
    start = matter.sql_start if matter is not None else 0
    sql = text[start:]
    steps: list[Callable[[Span], Span]] = []
    if has_variables(sql):
        filled, _ = fill_variables(sql, {})
        sql = filled.text
        steps.append(filled.written)
    if rocky:
        lowered = lower_text(sql)
        if not isinstance(lowered, MappedText):
            return None
        sql = lowered.text
        steps.append(lowered.written)
    expanded = Macros(dict(project.macros)).expand(sql, keep=False) if project.macros else None
    bans: Mapping[int, int] = {}
    if isinstance(expanded, Expansion):
        sql, bans = expanded.text, expanded.bans
        steps.append(expanded.written)

    def place(span: Span) -> Span:
        for step in reversed(steps):
            span = step(span)
        return Span(span.start + start, span.end + start)

    return Query(sql, place, bans)


def _ending(path: str) -> str:
    return posixpath.splitext(path)[1].lower()
