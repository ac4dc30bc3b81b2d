"""`grouping` and `grouping_id`: calls that speak of the keys of GROUP BY, not of their values."""

from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.scopes import Scope
from rocky.language.binder.shapes import shape_of

GROUPING_CALLS: Final = frozenset({"grouping", "grouping_id"})


def check_grouping_call(key: str, nodes: list[Any], node: exp.Expr, scope: Scope) -> None:
    """Report a call outside grouping sets, or one that names something else than their keys."""
    grouping = scope.grouping
    if key == "grouping" and len(nodes) != 1:
        scope.binding.error(
            Code.UNKNOWN_FUNCTION,
            f"`grouping` takes 1 argument, not {len(nodes)}",
            node,
            "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
        )
        return
    if grouping is None or not grouping.has_sets:
        scope.binding.error(
            Code.INVALID_AGGREGATION,
            f"`{key}` needs ROLLUP, CUBE or GROUPING SETS",
            node,
            "UNSUPPORTED_GROUPING_EXPRESSION",
        )
        return
    shapes = [shape_of(each, scope.inside or scope) for each in nodes]
    # ORDER BY knows the key only as what it was made of.
    unknown = scope.clause == "order" and any(shape[0] != "column" for shape in shapes)
    if key == "grouping" and (unknown or shapes[0] not in grouping.written):
        scope.binding.error(
            Code.INVALID_AGGREGATION,
            "`grouping` takes a grouping key, as GROUP BY has it",
            node,
            "GROUPING_COLUMN_MISMATCH",
        )
    elif key == "grouping_id" and shapes and shapes != grouping.order:
        scope.binding.error(
            Code.INVALID_AGGREGATION,
            "`grouping_id` takes all grouping keys in their order, or none",
            node,
            "GROUPING_ID_COLUMN_MISMATCH",
        )
