"""Column uses of a Python model: the texts and attributes of its code that mean columns.

What a column in an expression means was found by the binder, in the SQL of the plan, each piece of
which knows its call. What a call says outside of expressions (`drop("a")`, the keys of a join, the
names that columns get) is told by the frames before and behind it. A name that code puts together
has no place of its own, and is not here.
"""

import ast
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

from rocky.analysis.python_plans import PlanTables
from rocky.diagnostics.diagnostic import Span
from rocky.ide.python_arguments import Meaning, called, use_of
from rocky.ide.python_frames import FrameColumn, PlanFrames
from rocky.ide.python_tree import PythonTree, arguments_of, entries_of, texts_of
from rocky.ide.view import View
from rocky.language.binder.name_uses import NameNotes, NameUse
from rocky.language.binder.query import bind_text
from rocky.language.datatypes.types import DataType
from rocky.language.names import split_name
from rocky.project.call_places import Site

_MAIN: Final = "\n)\n"
_NAMING: Final = ("alias", "name")


class Root(NamedTuple):
    """Where a column got its name: in a table, or in a frame of the model."""

    table: str
    column: str
    frame: int = -1


class ColumnUse(NamedTuple):
    """A name of a column in the text that a plan was built from.

    One that `defines` gives the column its name. The key of a join means a column of the other
    side too. `seen` is the column as the frame has it in which it is looked up.
    """

    span: Span
    name: str
    root: Root
    type: DataType | None = None
    nullable: bool = True
    origins: tuple[tuple[str, str, str], ...] = ()
    defines: bool = False
    other: Root | None = None
    seen: FrameColumn | None = None


class CodeNames(NamedTuple):
    """The names of columns in a model's code, in order, and columns that it names otherwise."""

    uses: tuple[ColumnUse, ...]
    hidden: frozenset[Root]


_KNOWN: Final["WeakKeyDictionary[PlanFrames, CodeNames]"] = WeakKeyDictionary()


def column_uses(view: View, frames: PlanFrames) -> tuple[ColumnUse, ...]:
    """The names of columns that stand in a model's code, in order."""
    return code_names(view, frames).uses


def code_names(view: View, frames: PlanFrames) -> CodeNames:
    """What a model's code names; worked out once a plan."""
    found = _KNOWN.get(frames)
    if found is None:
        reader = _Reader(view, frames)
        uses: dict[Span, ColumnUse] = {}
        for each in (*reader.in_expressions(), *reader.in_calls(), *reader.definitions()):
            if each.defines or each.span not in uses:
                uses[each.span] = each
            elif each.other is not None:
                uses[each.span] = uses[each.span]._replace(root=each.root, other=each.other)
        made = reader.origins
        placed = (
            use._replace(
                origins=use.origins or made.get(use.root, ()),
                seen=reader.seen_by_call(use) or use.seen,
            )
            for use in (uses[span] for span in sorted(uses))
        )
        found = _KNOWN[frames] = CodeNames(tuple(placed), frozenset(reader.hidden))
    return found


def output_root(view: View, frames: PlanFrames, column: str) -> Root | None:
    """Where a column that the model gives got its name."""
    top = frames.named(len(frames.frames) - 1, column) if frames.frames else None
    return _Reader(view, frames).root(top) if top is not None else None


class _Reader:
    """One model's code, read along its plan."""

    def __init__(self, view: View, frames: PlanFrames) -> None:
        self._tables = view.tables(frames.model.key)
        self._frames = frames
        self._plan = frames.plan
        self._tree: PythonTree = frames.tree
        self._ctes: list[tuple[int, str]] = []
        self.origins: dict[Root, tuple[tuple[str, str, str], ...]] = {}
        """The columns of tables that columns are made from, as far as the SQL names them."""
        self.hidden: set[Root] = set()
        """What calls name by a text that is put together, or that stands in another file."""

    # -------------------------------------------------------------- expressions

    def in_expressions(self) -> Iterator[ColumnUse]:
        """The columns that the SQL of the plan names, at the calls that it stands for."""
        if not self._plan.sql:
            return
        notes = NameNotes()
        bind_text(self._plan.sql, PlanTables(self._tables, self._plan), {}, notes)
        self._ctes = sorted(
            (span.start, use.name)
            for span, use in notes.uses.items()
            if use.role == "cte" and use.definition == span
        )
        for span, use in notes.uses.items():
            seen = self._seen(use)
            root = self.root(seen) if seen is not None else self._table_root(use)
            if root is None:
                continue
            if use.role == "output":
                self.origins.setdefault(root, use.origins)
            elif use.role in ("column", "lateral"):
                site = self._site(span)
                place = self._written(span, use, site) if site is not None else None
                if place is not None:
                    facts = (use.type, use.nullable, use.origins)
                    yield ColumnUse(place, use.name, root, *facts, seen=seen)
                elif site is not None:
                    self.hidden.add(root)

    def _table_root(self, use: NameUse) -> Root | None:
        if use.table is None or use.column is None:
            return None
        return Root(use.table.lower(), use.column.lower())

    def _seen(self, use: NameUse) -> FrameColumn | None:
        """The column that a name of the SQL means, in the frame that names it."""
        if use.definition is None:
            return None
        number = self._frame_at(use.definition.start)
        return self._frames.named(number, use.name) if number is not None else None

    def seen_by_call(self, use: ColumnUse) -> FrameColumn | None:
        """The column that a use means among those of the frame whose call it stands in."""
        node = self._tree.node_at(use.span)
        for call in self._tree.enclosing(node) if node is not None and not use.defines else ():
            number = None
            if isinstance(call, ast.Call):
                number = self._frames.by_call.get(self._tree.span(call))
            for below in self._frames.frames[number].inputs if number is not None else ():
                column = self._frames.named(below, use.name)
                if column is not None and self.root(column) == use.root:
                    return column
            if number is not None:
                return None
        return None

    def _site(self, span: Span) -> Site | None:
        """The call that a name of the SQL stands for; None for one that lowering wrote."""
        piece = bisect_right(self._plan.starts, span.start) - 1
        if piece < 0 or self._plan.places[piece] < 0:
            return None
        return Site(*self._plan.sites[self._plan.places[piece]])

    def _frame_at(self, offset: int) -> int | None:
        """The frame in whose query an offset of the SQL is."""
        main = self._plan.sql.rfind(_MAIN) + len(_MAIN) if self._ctes else 0
        if offset >= main:
            return len(self._frames.frames) - 1
        at = bisect_right(self._ctes, (offset, "\uffff")) - 1
        return self._frames.by_name.get(self._ctes[at][1]) if at >= 0 else None

    def _written(self, span: Span, use: NameUse, site: Site) -> Span | None:
        """Where the code writes a name of the SQL."""
        node = self._node(site)
        if isinstance(node, ast.Attribute):
            return self._tree.attribute(node) if node.attr.lower() == use.name.lower() else None
        if isinstance(node, ast.Subscript):
            return self._among(texts_of(node.slice), use.name)
        if not isinstance(node, ast.Call):
            return None
        texts = [each for part in arguments_of(node) for each in texts_of(part)]
        found = self._among(texts, use.name)
        piece = bisect_right(self._plan.starts, span.start) - 1
        return found or self._in_sql(texts, span, self._plan.starts[piece])

    def _node(self, site: Site) -> ast.expr | None:
        if site.path != self._frames.model.path:
            return None
        return self._tree.by_span.get(self._tree.site_span(site))

    def _among(self, texts: Iterable[ast.Constant], name: str) -> Span | None:
        """The text that is a name, or the last part of one: `o.amount`."""
        for each in texts:
            span, value = self._tree.inside(each), str(each.value).lower()
            if span is not None and value == name.lower():
                return span
            if span is not None and value.endswith(f".{name.lower()}") and " " not in value:
                return Span(span.end - len(name), span.end)
        return None

    def _in_sql(self, texts: list[ast.Constant], span: Span, start: int) -> Span | None:
        """The place of a name in a text that is SQL, as `filter` takes it."""
        word = self._plan.sql[span.start : span.end]
        for each in texts:
            inside, value = self._tree.inside(each), str(each.value)
            if inside is None:
                continue
            if self._plan.sql.startswith(value, start) and span.end <= start + len(value):
                at = inside.start + span.start - start
                return Span(at, at + len(word))
            found = list(re.finditer(rf"(?<![\w.'\"]){re.escape(word)}(?![\w'\"])", value))
            if len(found) == 1:
                return Span(inside.start + found[0].start(), inside.start + found[0].end())
        return None

    # -------------------------------------------------------------- calls and what they name

    def in_calls(self) -> Iterator[ColumnUse]:
        """Names among the arguments of calls that give frames."""
        for span, number in self._frames.by_call.items():
            call = self._tree.by_span.get(span)
            frame = self._frames.frames[number]
            if not isinstance(call, ast.Call) or not frame.inputs:
                continue
            for name, place, meaning in self._listed(call):
                sides = [self._frames.named(each, name) for each in frame.inputs]
                first = sides[0]
                if first is None:
                    continue
                other = sides[1] if meaning == "key" and len(sides) > 1 else None
                yield self._use(place, first)._replace(other=self.root(other) if other else None)

    def _listed(self, call: ast.Call) -> Iterator[tuple[str, Span, Meaning]]:
        """The names that are arguments of a call as they are, or as columns by themselves."""
        for text in (each for part in arguments_of(call) for each in texts_of(part)):
            use, place = use_of(self._tree, text), self._tree.inside(text)
            if use is not None and use.holder is call and use.meaning != "sql" and place:
                yield str(text.value), place, use.meaning
        for part in entries_of(call) if called(call) == "select" else ():
            if isinstance(part, ast.Attribute):
                yield part.attr, self._tree.attribute(part), "name"
            elif isinstance(part, ast.Call) and called(part) in ("col", "column"):
                yield from self._single(texts_of(part.args[0]) if part.args else ())
            elif isinstance(part, ast.Subscript):
                yield from self._single(texts_of(part.slice))

    def _single(self, texts: Iterable[ast.Constant]) -> Iterator[tuple[str, Span, Meaning]]:
        for text in texts:
            place = self._tree.inside(text)
            if place is not None:
                yield str(text.value), place, "name"

    def definitions(self) -> Iterator[ColumnUse]:
        """The names that columns get where they are made."""
        for number, frame in enumerate(self._frames.frames):
            if not frame.columns or not frame.calls:
                continue
            node = self._node(Site(*self._plan.sites[frame.calls[0]]))
            for column in self._frames.columns(number)[frame.kept :]:
                if isinstance(node, ast.Call) and self._frames.root(column) == column:
                    place = self._naming(node, column.name)
                    if place is not None:
                        yield self._use(place, column)._replace(defines=True)

    def _naming(self, call: ast.Call, name: str) -> Span | None:
        """The text in a call that gives a column its name."""
        found = [each for each in _names_given(call, self._is_frame) if each.value == name]
        if not found and self._tree.module is not None:
            # The column was put together before, and kept in a variable.
            found = [each for each in _names_given(self._tree.module) if each.value == name]
            found = found if len(found) == 1 else []
        return self._tree.inside(found[0]) if found else None

    def _is_frame(self, node: ast.AST) -> bool:
        return isinstance(node, ast.expr) and self._tree.span(node) in self._frames.by_call

    def _use(self, place: Span, column: FrameColumn) -> ColumnUse:
        kind, nullable = column.type, column.nullable
        return ColumnUse(place, column.name, self.root(column), kind, nullable, seen=column)

    def root(self, column: FrameColumn) -> Root:
        """Where a column got its name, as a value that is the same for all of its uses."""
        found = self._frames.root(column)
        if found.frame in self._frames.tables:
            name = self._frames.frames[found.frame].name
            table = self._tables.find(split_name(name.lower()))
            if table is not None:
                return Root(table.name.lower(), found.name.lower())
        return Root("", found.name.lower(), found.frame)


def _names_given(
    node: ast.AST, is_other: Callable[[ast.AST], bool] | None = None
) -> Iterator[ast.Constant]:
    """The texts in a node that name columns; not those in calls that give another frame."""
    if isinstance(node, ast.Call):
        yield from (
            each
            for each in _given_by(node)
            if isinstance(each, ast.Constant) and isinstance(each.value, str)
        )
        parts: Iterable[ast.AST] = arguments_of(node)
        if called(node) in _NAMING and isinstance(node.func, ast.Attribute):
            parts = [node.func.value]
        elif isinstance(node.func, ast.Attribute) and is_other is None:
            parts = [node.func, *parts]
    else:
        parts = ast.iter_child_nodes(node)
    for each in parts:
        if is_other is None or not is_other(each):
            yield from _names_given(each, is_other)


def _given_by(call: ast.Call) -> list[ast.expr]:
    """The arguments of a call that are new names."""
    arguments = call.args
    keywords = {each.arg: each.value for each in call.keywords}
    first = arguments[0] if arguments else None
    match called(call):
        case "alias" | "name" | "toDF":
            return list(arguments)
        case "withColumn":
            return [each for each in (first, keywords.get("colName")) if each is not None][:1]
        case "withColumnRenamed":
            return [*arguments[1:2], *(each for key, each in keywords.items() if key == "new")]
        case "withColumns":
            return [key for key in first.keys if key] if isinstance(first, ast.Dict) else []
        case "withColumnsRenamed":
            return list(first.values) if isinstance(first, ast.Dict) else []
        case _:
            return []
