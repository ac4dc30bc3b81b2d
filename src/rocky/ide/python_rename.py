"""Renaming a column in Python code: the edits of the texts that mean it.

As in SQL, a model that passes a column on keeps its own names: where a list of columns names it,
`"gross"` becomes `F.col("total").alias("gross")`, and what stands behind that list stays. A name
that code puts together is not found, and the change is refused.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Final

from rocky.diagnostics.diagnostic import Span
from rocky.ide.edits import TextEdit
from rocky.ide.python_arguments import use_of
from rocky.ide.python_frames import FrameColumn, FramesInText, PlanFrames
from rocky.ide.python_tree import PythonTree
from rocky.ide.python_uses import ColumnUse, Root, code_names, column_uses, output_root
from rocky.ide.view import View
from rocky.language.names import quote_if_needed
from rocky.project import ModelFile

_LISTS: Final = frozenset({"select", "groupBy", "groupby", "rollup", "cube"})
_FUNCTIONS: Final = "pyspark.sql.functions"


def code_obstacle(view: View, model: ModelFile, table: str, column: str) -> str | None:
    """Why a column of a table cannot get another name in the code of a model; None if it can."""
    frames = view.frames(model.path)
    if frames is None or not frames.plan.sql:
        if not re.search(rf"(?i)\b{re.escape(column)}\b", model.text):
            return None
        return (
            f"the Python model `{model.name}` may use `{column}` of `{table}`, and what its code"
            " does is not known"
        )
    root = _root(view, frames, table, column)
    names = code_names(view, frames)
    passed = table == model.key and root is not None and root.frame < 0
    if not passed and root in names.hidden:
        return (
            f"the Python model `{model.name}` names `{column}` of `{table}` by a text that its code"
            " puts together, or that stands in another file: write the name out"
        )
    for use in names.uses if not passed else ():
        if root in (use.root, use.other) and use.other is not None:
            return (
                f"`{column}` is the key of a join by names in `{model.path}`, where the other side"
                " has it too: join by a condition first"
            )
    listed = root is not None and root.frame < 0
    if listed and _functions(frames) is None and _needs_function(frames, _own(names.uses, root)):
        return f"`{model.path}` lists `{column}` and does not import `{_FUNCTIONS}` for an alias"
    return None


def code_edits(view: View, model: ModelFile, table: str, column: str, new: str) -> list[TextEdit]:
    """The edits in the code of a model that a column of a table gets another name by."""
    frames = view.frames(model.path)
    if frames is None or not frames.plan.sql:
        return []
    root = _root(view, frames, table, column)
    uses = _own(column_uses(view, frames), root)
    if root is None:
        return []
    if root.frame >= 0:
        return [_replaced(frames, use, new) for use in uses]
    if table == model.key:
        return _given_another(frames, uses, column, new)
    lists = [use for use in uses if _is_item(frames, use)]
    listed = [call for use in lists if (call := _list_of(frames, use)) is not None]
    found = []
    for use in uses:
        if _is_behind(frames, use, listed):
            continue
        kept = use.name if _is_item(frames, use) else None
        found.append(_replaced(frames, use, new, kept))
    return found


def local_edits(view: View, path: str, place: Span | None, new: str) -> list[TextEdit]:
    """The edits that rename a column which only the code of a model knows, by its first place."""
    frames = view.frames(path)
    uses = column_uses(view, frames) if frames is not None else ()
    root = next((use.root for use in uses if use.span == place), None)
    if frames is None or root is None:
        return []
    return [_replaced(frames, use, new) for use in _own(uses, root)]


def passes_on(view: View, model: ModelFile, table: str, column: str) -> bool:
    """Whether the model gives a column of a table under its name, and no list in it says so."""
    frames = view.frames(model.path)
    if frames is None or not frames.plan.sql:
        return False
    root = Root(table, column)
    if output_root(view, frames, column) != root:
        return False
    return _last_item(frames, _own(column_uses(view, frames), root), column) is None


def is_named(view: View, model: ModelFile, column: str) -> bool:
    """Whether the code of a model says what one of its columns is called."""
    frames = view.frames(model.path)
    root = output_root(view, frames, column) if frames is not None else None
    if frames is None or root is None:
        return False
    uses = _own(column_uses(view, frames), root)
    if root.frame >= 0:
        return any(use.defines for use in uses)
    return _last_item(frames, uses, column) is not None


def _needs_function(frames: PlanFrames, uses: list[ColumnUse]) -> bool:
    """Whether a list has a column as a text, which can have no alias."""
    texts = [use for use in uses if isinstance(_entry(frames.tree, use.span), ast.Constant)]
    return any(_is_item(frames, use) for use in texts)


def _root(view: View, frames: PlanFrames, table: str, column: str) -> Root | None:
    if table == frames.model.key:
        return output_root(view, frames, column)
    return Root(table, column)


def _own(uses: Iterable[ColumnUse], root: Root | None) -> list[ColumnUse]:
    return [use for use in uses if use.root == root]


def _given_another(
    frames: PlanFrames, uses: list[ColumnUse], column: str, new: str
) -> list[TextEdit]:
    """Edits for a column that the model passes on: an alias in the last list that names it."""
    last = _last_item(frames, uses, column)
    call = _list_of(frames, last) if last is not None else None
    if last is None or call is None:
        return []
    behind = [use for use in uses if _is_behind(frames, use, [call])]
    return [_replaced(frames, last, column, new), *(_replaced(frames, use, new) for use in behind)]


def _last_item(frames: PlanFrames, uses: list[ColumnUse], column: str) -> ColumnUse | None:
    """The name in the list that a model's column passed last on its way out."""
    at = frames.named(len(frames.frames) - 1, column)
    for frame in _way(frames, at):
        calls = _calls_of(frames, frame)
        for use in uses:
            if _is_item(frames, use) and _list_of(frames, use) in calls:
                return use
    return None


def _is_behind(frames: PlanFrames, use: ColumnUse, listed: list[ast.Call]) -> bool:
    """Whether a column has passed one of some lists before it is used."""
    ways = _way(frames, use.seen) if use.seen is not None else ()
    return any(call in listed for frame in ways for call in _calls_of(frames, frame))


def _way(frames: PlanFrames, column: FrameColumn | None) -> Iterator[int]:
    """The frames that a column comes through, from the last to the first."""
    while column is not None:
        yield column.frame
        below = frames.below(column)
        column = below if below is not None and below.name == column.name else None


def _calls_of(frames: PlanFrames, number: int) -> list[ast.Call]:
    """The calls whose lists a frame is made by: its own, and that of its groups."""
    found: list[ast.Call] = []
    known = FramesInText(frames, frames.tree)
    for span, at in frames.by_call.items():
        node = frames.tree.by_span.get(span)
        if at != number or not isinstance(node, ast.Call):
            continue
        found.append(node)
        before: ast.AST | None = node.func.value if isinstance(node.func, ast.Attribute) else None
        if isinstance(before, ast.Name):
            before = known.assigned(before)
        if isinstance(before, ast.Call):
            found.append(before)
    return found


def _is_item(frames: PlanFrames, use: ColumnUse) -> bool:
    """Whether a use is all that an entry of a list of columns says, which so has its name."""
    return not use.defines and _list_of(frames, use) is not None


def _list_of(frames: PlanFrames, use: ColumnUse) -> ast.Call | None:
    """The call in whose list of columns a use is an entry."""
    tree = frames.tree
    node: ast.AST | None = _entry(tree, use.span)
    holder = tree.parents.get(node) if node is not None else None
    while isinstance(holder, ast.List | ast.Tuple | ast.Starred):
        holder = tree.parents.get(holder)
    named = isinstance(holder, ast.Call) and isinstance(holder.func, ast.Attribute)
    if not named or not isinstance(holder, ast.Call) or node is holder.func:
        return None
    name = holder.func.attr if isinstance(holder.func, ast.Attribute) else ""
    return holder if name in _LISTS or (name == "selectExpr" and _is_whole(tree, use)) else None


def _entry(tree: PythonTree, span: Span) -> ast.expr | None:
    """The expression that is a column: a text, `F.col("a")`, `df["a"]` or `df.a`."""
    literal = _literal(tree, span)
    if literal is None:
        return tree.node_at(span)
    use = use_of(tree, literal)
    if use is None:
        return literal
    if isinstance(use.holder, ast.Subscript):
        return use.holder
    func = use.holder.func
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    return use.holder if name in ("col", "column") else literal


def _literal(tree: PythonTree, span: Span) -> ast.Constant | None:
    found = tree.node_at(span)
    return found if isinstance(found, ast.Constant) else None


def _is_whole(tree: PythonTree, use: ColumnUse) -> bool:
    literal = _literal(tree, use.span)
    return literal is not None and tree.inside(literal) == use.span


def _replaced(frames: PlanFrames, use: ColumnUse, new: str, alias: str | None = None) -> TextEdit:
    """One use with another name; with an `alias`, known by that from there on."""
    tree, path = frames.tree, frames.model.path
    literal = _literal(tree, use.span)
    told = use_of(tree, literal) if literal is not None else None
    is_sql = told is not None and told.meaning == "sql"
    if alias is None:
        return TextEdit(path, use.span, quote_if_needed(new) if is_sql else new)
    if is_sql:
        return TextEdit(path, use.span, f"{quote_if_needed(new)} AS {quote_if_needed(alias)}")
    entry = _entry(tree, use.span)
    assert entry is not None
    whole = tree.span(entry)
    before, after = tree.text[whole.start : use.span.start], tree.text[use.span.end : whole.end]
    if entry is literal:
        mark = before[-1:] or '"'
        functions = _functions(frames) or "F."
        column = f"{functions}col({mark}{new}{mark})"
    else:
        mark = before[-1:] if before[-1:] in ("'", '"') else '"'
        column = f"{before}{new}{after}"
    return TextEdit(path, whole, f"{column}.alias({mark}{alias}{mark})")


def _functions(frames: PlanFrames) -> str | None:
    """What stands before the name of a function of Spark's in a file: `F.`, or nothing."""
    package, _, module = _FUNCTIONS.rpartition(".")
    for node in frames.tree.parents:
        for each in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
            source = node.module if isinstance(node, ast.ImportFrom) else None
            if source == package and each.name == module:
                return f"{each.asname or each.name}."
            if source is None and each.name == _FUNCTIONS:
                return f"{each.asname or each.name}."
            if source == _FUNCTIONS and each.name == "col" and each.asname is None:
                return ""
    return None
