"""Arguments that mean columns: where a text in Python code is the name of a column, or SQL of them.

Told from the calls around a text, by their names; whether a frame has such a column is not known
here.
"""

import ast
from typing import Final, Literal, NamedTuple

from rocky.ide.python_tree import PythonTree

Meaning = Literal["name", "sql", "key"]
"""A name of a column, SQL over columns, or a name that both sides of a join have."""

_EVERY: Final = range(1000)
_FIRST: Final = range(1)
_METHODS: Final[dict[str, range]] = {
    **dict.fromkeys(
        (
            "select", "groupBy", "groupby", "rollup", "cube", "agg", "orderBy", "sort",
            "sortWithinPartitions", "drop", "dropDuplicates", "drop_duplicates",
            "dropDuplicatesWithinWatermark", "partitionBy", "repartition", "repartitionByRange",
            "describe", "sum", "avg", "mean", "max", "min",
        ),
        _EVERY,
    ),
    **dict.fromkeys(("withColumn", "withColumnRenamed", "pivot", "sampleBy"), _FIRST),
    "join": range(1, 2),
    "fillna": range(1, 2),
    "fill": range(1, 2),
    "dropna": range(2, 3),
    "replace": range(2, 3),
    "unpivot": range(2),
    "melt": range(2),
}  # fmt: skip
"""Methods of frames and groups, and which of their arguments are names."""
_SQL: Final = {"filter": _FIRST, "where": _FIRST, "selectExpr": _EVERY, "expr": _FIRST}
_KEYWORDS: Final = frozenset(
    {"cols", "on", "subset", "ids", "values", "existing", "colName", "col"}
)
_VALUES: Final = frozenset(
    {"lit", "typedLit", "udf", "pandas_udf", "udtf", "when", "broadcast", "call_function"}
)
"""Functions whose first argument is no column."""
_SEVERAL: Final = frozenset(
    "array coalesce concat create_map greatest least named_struct struct hash xxhash64 datediff"
    " date_diff months_between corr covar_pop covar_samp".split()
)
"""Functions that take more columns after the first."""


class Use(NamedTuple):
    """What a text is to the call or the brackets that it is an argument of."""

    meaning: Meaning
    holder: ast.Call | ast.Subscript


def use_of(tree: PythonTree, literal: ast.Constant) -> Use | None:
    """What a text means where it stands; None for one that names no column."""
    node: ast.AST = literal
    holder = tree.parents.get(node)
    keyword = None
    while isinstance(holder, ast.List | ast.Tuple | ast.Set | ast.Starred | ast.Dict | ast.keyword):
        if isinstance(holder, ast.Dict) and node not in holder.keys:
            return None
        if isinstance(holder, ast.keyword):
            keyword = holder.arg
        node, holder = holder, tree.parents.get(holder)
    if isinstance(holder, ast.Subscript):
        return Use("name", holder) if node is holder.slice else None
    if not isinstance(holder, ast.Call) or node is holder.func:
        return None
    at = holder.args.index(node) if node in holder.args else -1
    meaning = _meaning(tree, holder, at, keyword)
    return Use(meaning, holder) if meaning is not None else None


def _meaning(tree: PythonTree, call: ast.Call, at: int, keyword: str | None) -> Meaning | None:
    name = called(call)
    if is_function(tree, call):
        if name in _SQL:
            return "sql"
        named = at == 0 or (at > 0 and name in _SEVERAL) or keyword in _KEYWORDS
        return "name" if named and name not in _VALUES else None
    if not isinstance(call.func, ast.Attribute):
        return None
    if at in _SQL.get(name, ()) or (name in _SQL and keyword == "condition"):
        return "sql"
    if at in _METHODS.get(name, ()) or (name in _METHODS and keyword in _KEYWORDS):
        return "key" if name == "join" else "name"
    return None


def called(call: ast.Call) -> str:
    """The last name of what is called."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def is_function(tree: PythonTree, call: ast.Call) -> bool:
    """Whether a call is one of a function that was imported, or of a module that was."""
    func = call.func
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
        # `Window.partitionBy` is a method of a class.
        return func.value.id in imported(tree) and func.attr not in ("partitionBy", "orderBy")
    return isinstance(func, ast.Name) and func.id in imported(tree)


def imported(tree: PythonTree) -> set[str]:
    """The names that imports of a text give."""
    return {
        each.asname or each.name.partition(".")[0]
        for node in tree.parents
        if isinstance(node, ast.Import | ast.ImportFrom)
        for each in node.names
    }
