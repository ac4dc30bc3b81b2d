"""Advice about SQL, in the words of the `.rocky` language.

Findings about a pipeline are made from its SQL; what they advise must be something that can be
written in its file.
"""

import re
from typing import Final

_SAME: Final = {
    "leave one out, or give it another name with `AS`": (
        "give it another name, or give the column another value with `set`"
    ),
    "use HAVING for aggregates, or compute it in a subquery first": (
        "`derive` or `group` it in a step before"
    ),
    "use |> AGGREGATE": "use `group`",
    "use SELECT ... GROUP BY in a subquery": "`derive` it in a step after `group`",
    "select it under a name and order by that": "`derive` it in a step before, and sort by that",
    "aggregate in a subquery of FROM first": "`group` in a step before",
}
_COLUMNS: Final = re.compile(r"list the columns: `([^`]+)`")


def advice_in_steps(advice: str) -> str:
    """A help line, for whoever writes steps; one that is true of both stays as it is."""
    found = _SAME.get(advice)
    if found is not None:
        return found
    return _COLUMNS.sub(r"list the columns: `select { \1 }`", advice)
