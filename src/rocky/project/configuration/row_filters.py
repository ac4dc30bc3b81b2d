"""`[[row_filter]]`: which rows of a table a catalogue shows, and who sees all of them.

The expression is SQL over the `columns` that it names, checked with the tables that `on` stands
for. A table has one filter: two that it matches would have to be put together by somebody.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Final, NamedTuple

from rocky.diagnostics.suggestion import suggestion
from rocky.project.configuration.governed_catalog import MASKING, GovernedCatalog
from rocky.project.configuration.grants import Grant, Role, read_pattern
from rocky.project.toml.documents import Problem, ReadBy
from rocky.project.toml.variables import Unset, written

_TABLE: Final = "table"


class RowFilter(NamedTuple):
    """Rows of the tables of `on` are seen where `expression` is true.

    Members of the roles in `clear_for` see all of them.
    """

    on: Annotated[str, ReadBy(read_pattern)]
    columns: tuple[str, ...]
    expression: str
    clear_for: tuple[str, ...] = ()

    def covers(self, catalog: str, schema: str, table: str) -> bool:
        """Whether a table is one of those that `on` stands for."""
        return Grant((), self.on).match(catalog, schema, table) is not None


def find_filter_problems(
    filters: tuple[RowFilter, ...], roles: Mapping[str, Role], catalog: GovernedCatalog
) -> Iterator[Problem]:
    """What is wrong with row filters, each at its line."""
    for index, each in enumerate(filters):
        at = ("row_filter", index)
        if catalog.kind not in MASKING:
            message = "`[[row_filter]]` has no effect: no catalogue with row filters is told of it"
            help_text = 'write `[governance.catalog]` with `kind = "databricks"` or "ranger"'
            yield Problem(at, message, help_text)
        elif catalog.kind == "databricks" and catalog.warehouse_id is None:
            message = "row filters are set by SQL, which needs `warehouse_id`"
            yield Problem(at, message, "write it in `[governance.catalog]`")
        if Grant((), each.on).level != _TABLE:
            message = "a row filter is on tables: `on` is `catalog.schema.table`"
            yield Problem((*at, "on"), message, 'use `*` for several: `on = "shop.marts.*"`')
        if not each.columns:
            message = "a row filter goes by columns, and `columns` names none"
            yield Problem((*at, "columns"), message)
        for number, role in enumerate(each.clear_for):
            if role not in roles and not isinstance(role, Unset):
                shown = written(role)
                hint = suggestion(shown, roles) or f"declare it: `[role.{shown}]` with `members`"
                yield Problem((*at, "clear_for", number), f"no role `{shown}`", hint)
