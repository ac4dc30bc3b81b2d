"""Templates filled from the components of a schema's name.

One text joins the parts of a variadic component everywhere (the target's `separator`, else the
source's), unless a placeholder brings its own: `{regions:-}`.
"""

from functools import lru_cache
from typing import Final

from rocky.datatypes.text import parse_type
from rocky.datatypes.types import StructField
from rocky.drift.projection import Projected, type_sql
from rocky.pipelines.replication.patterns import Components
from rocky.project.pipelines import MetadataColumn
from rocky.project.placeholders import find_placeholders
from rocky.run.literals import quote_text

_NULL: Final = "null"
_FORBIDDEN: Final = frozenset("/\\.|`:")


def fill_template(template: str, components: Components, joint: str) -> str:
    """The template with values in place of its placeholders, all of which are known."""
    made: list[str] = []
    at = 0
    for each in find_placeholders(template):
        value = components[each.name]
        made.append(template[at : each.start])
        own = joint if each.joint is None else each.joint
        made.append(value if isinstance(value, str) else own.join(value))
        at = each.end
    return "".join((*made, template[at:]))


def fill_column(column: MetadataColumn, components: Components, joint: str) -> Projected:
    """A metadata column: one value for every row. `NULL` is null; quotes around a text go."""
    kind = parse_type(column.type)
    text = fill_template(column.value, components, joint)
    if column.value.strip().lower() == _NULL:
        value = "NULL"
    elif len(text) > 1 and text[0] == text[-1] == "'":
        value = quote_text(text[1:-1].replace("''", "'"))
    else:
        value = quote_text(text)
    return Projected(
        column.name,
        f"CAST({value} AS {type_sql(kind)})",
        StructField(column.name, kind, nullable=True),
    )


@lru_cache(maxsize=4096)
def name_problem(name: str) -> str | None:
    """Why a part of a table's name cannot be the name of a folder, or None."""
    if not name.strip():
        return "is empty"
    found = next((mark for mark in name if mark in _FORBIDDEN or not mark.isprintable()), None)
    return None if found is None else f"holds {found!r}"
