"""Databricks: grants as in Unity Catalog, and tags, masks and row filters by SQL statements.

A mask is a function that is named by the hash of what it says, so another mask is another function
and what a column has tells which one holds. Masks and filters are read back with the table, tags
from `information_schema`.
"""

import json
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

from rocky.analysis.masks.expressions import mask_fields
from rocky.canonical import text_hash
from rocky.errors import CatalogueUnreachable, GovernanceRefused
from rocky.governance.catalogue import GROUP, Abilities
from rocky.governance.declaration import ISOLATED, READ_WRITE
from rocky.governance.facts import Fact, Held, Securable
from rocky.governance.protection import FilteredRows, MaskedColumn
from rocky.governance.rest import HttpRefusal, RestClient, segment
from rocky.governance.unity import API, UnityCatalogue, listed
from rocky.language.datatypes.text import format_type
from rocky.language.datatypes.types import StructField
from rocky.language.names import quote_name, quote_text
from rocky.project.configuration.governed_catalog import GovernedCatalog
from rocky.project.configuration.grants import PRIVILEGES

DATABRICKS: Final = Abilities(
    kinds=frozenset({"grant", "tag", "mask", "row_filter", "isolation", "workspace"}),
    privileges=frozenset(PRIVILEGES),
    grant_levels=frozenset({"catalog", "schema", "table"}),
    groups="by_name",
)
STATEMENTS: Final = "/api/2.0/sql/statements"
_DONE: Final = ("SUCCEEDED", "CLOSED")
_WAITING: Final = ("PENDING", "RUNNING")
_PAUSE: Final = 0.5
_NOT_FOUND: Final = 404
_TAG_TABLES: Final = {
    "catalog": ("catalog_tags", ("catalog_name",)),
    "schema": ("schema_tags", ("catalog_name", "schema_name")),
    "table": ("table_tags", ("catalog_name", "schema_name", "table_name")),
}


def mask_fact(column: str, parameters: str, expression: str) -> Fact:
    """A mask of a column, given by its full name, by a function of `parameters` (`v STRING`)."""
    text = f"({parameters}) RETURN {expression}"
    return Fact("mask", "column", column, value=_function("mask", column, text), definition=text)


def filter_fact(table: str, parameters: str, expression: str, columns: Sequence[str]) -> Fact:
    """A row filter of a table: rows for which the expression of its `columns` is true are seen."""
    text = f"({parameters}) RETURN {expression}"
    on = ", ".join(map(quote_name, columns))
    value = _function("filter", table, f"{text} ON ({on})")
    return Fact("row_filter", "table", table, value=value, definition=f"{text}\0{on}")


class DatabricksCatalogue(UnityCatalogue):
    """A workspace of Databricks with a SQL warehouse, where statements need one."""

    abilities = DATABRICKS
    kind = "databricks"

    def __init__(self, settings: GovernedCatalog) -> None:
        super().__init__(settings)
        self._statements = _Statements(self._rest, settings)

    def held(self, securables: Sequence[Securable]) -> Held:
        grants = super().held(securables)
        absent = {each.key for each in grants.absent}
        there = [each for each in securables if each.key not in absent and each.level != "column"]
        columns = [each for each in securables if each.level == "column"]
        facts, missing = [*grants.facts], [*grants.absent]
        for each in there:
            if each.level == "table":
                answer = self._rest.call("GET", f"{API}/tables/{segment(each.name)}")
                facts += _table_facts(each, answer)
                missing += _missing_columns(each, answer, columns)
            if each.level == "catalog":
                facts += self._catalog_facts(each)
            if self._statements.is_usable:
                facts += self._tags(each)
        return Held(tuple(sorted(set(facts))), tuple(missing))

    def put(self, fact: Fact, before: Fact | None) -> None:
        if fact.kind == "grant":
            super().put(fact, before)
            return
        if fact.kind in ("isolation", "workspace"):
            self._rest.call("PATCH", *_catalog_call(fact, removed=False))
            return
        for statement in _sql_of(fact, removed=False):
            self._statements.run(statement)

    def remove(self, fact: Fact) -> None:
        if fact.kind == "grant":
            super().remove(fact)
        elif fact.kind in ("isolation", "workspace"):
            self._rest.call("PATCH", *_catalog_call(fact, removed=True))
        else:
            for statement in _sql_of(fact, removed=True):
                self._statements.run(statement)

    def masks(self, column: MaskedColumn) -> tuple[Fact, ...]:
        masked = mask_fields(column.strategies, column.column)
        if column.clear:
            masked = f"IF({_is_one_of(column.clear)}, {quote_name(column.column.name)}, {masked})"
        return (mask_fact(column.on, _parameters([column.column]), masked),)

    def row_filters(self, rows: FilteredRows) -> tuple[Fact, ...]:
        kept = f"({rows.expression})"
        if rows.clear:
            kept = f"{_is_one_of(rows.clear)} OR {kept}"
        names = [each.name for each in rows.columns]
        return (filter_fact(rows.table, _parameters(rows.columns), kept, names),)

    def statement(self, fact: Fact, *, removed: bool) -> str:
        match fact.kind:
            case "tag" | "mask" | "row_filter":
                return "; ".join(_sql_of(fact, removed=removed))
            case "isolation" | "workspace":
                path, body = _catalog_call(fact, removed=removed)
                return f"PATCH {path} {json.dumps(body)}"
            case _:
                return super().statement(fact, removed=removed)

    def _written(self, privilege: str) -> str:
        return privilege.replace(" ", "_")

    def _catalog_facts(self, catalog: Securable) -> Iterator[Fact]:
        """Whether a catalog is isolated, and the workspaces that reach it then."""
        answer = self._rest.call("GET", f"{API}/catalogs/{segment(catalog.name)}")
        if not isinstance(answer, dict) or answer.get("isolation_mode") != ISOLATED:
            return
        yield Fact("isolation", "catalog", catalog.name, value=ISOLATED)
        page: dict[str, str | int] = {}
        while True:
            path = f"{API}/bindings/catalog/{segment(catalog.name)}"
            answer = self._rest.call("GET", path, query=page)
            for each in listed(answer, "bindings"):
                number, value = str(each["workspace_id"]), str(each.get("binding_type", READ_WRITE))
                yield Fact("workspace", "catalog", catalog.name, name=number, value=value)
            if not answer.get("next_page_token"):
                return
            page = {"page_token": str(answer["next_page_token"])}

    def _tags(self, securable: Securable) -> Iterator[Fact]:
        source, columns = _TAG_TABLES[securable.level]
        catalog = quote_name(securable.parts[0])
        same = " AND ".join(
            f"lower({column}) = {quote_text(part.lower())}"
            for column, part in zip(columns, securable.parts, strict=True)
        )
        asked = (
            f"SELECT tag_name, tag_value FROM {catalog}.information_schema.{source} WHERE {same}"  # noqa: S608 - its parts are quoted
        )
        for row in self._statements.rows(asked):
            value = "" if row[1] is None else str(row[1])
            yield Fact("tag", securable.level, securable.name, name=str(row[0]), value=value)


def _table_facts(table: Securable, answer: Any) -> Iterator[Fact]:
    """The masks and the row filter of a table, as it says itself."""
    for column in listed(answer, "columns"):
        mask = column.get("mask")
        if isinstance(mask, dict) and mask.get("function_name"):
            on = f"{table.name}.{column['name']}"
            yield Fact("mask", "column", on, value=str(mask["function_name"]))
    found = answer.get("row_filter") if isinstance(answer, dict) else None
    if isinstance(found, dict) and found.get("function_name"):
        yield Fact("row_filter", "table", table.name, value=str(found["function_name"]))


def _missing_columns(
    table: Securable, answer: Any, wanted: Sequence[Securable]
) -> Iterator[Securable]:
    """Columns that are asked for and that a table says it has not got."""
    known = {f"{table.name}.{each.get('name')}".lower() for each in listed(answer, "columns")}
    for each in wanted:
        own = each.name.rpartition(".")[0].lower() == table.name.lower()
        if known and own and each.name.lower() not in known:
            yield each


def _parameters(columns: Sequence[StructField]) -> str:
    return ", ".join(f"{quote_name(each.name)} {format_type(each.type)}" for each in columns)


def _is_one_of(principals: Sequence[str]) -> str:
    """SQL that is true for who reads as one of these users, or is in one of these groups."""
    users = [each.lower() for each in principals if not each.startswith(GROUP)]
    groups = [each.removeprefix(GROUP) for each in principals if each.startswith(GROUP)]
    said = [f"is_account_group_member({quote_text(each)})" for each in groups]
    if users:
        said.insert(0, f"lower(current_user()) IN ({', '.join(map(quote_text, users))})")
    return f"({' OR '.join(said)})"


def _sql_of(fact: Fact, *, removed: bool) -> list[str]:
    """The statements that make a tag, a mask or a row filter hold, or hold no longer."""
    if fact.kind == "tag":
        return [_tag_statement(fact, removed=removed)]
    text, _, on = fact.definition.partition("\0")
    function = quote_full(fact.value)
    made = [] if removed or not text else [f"CREATE OR REPLACE FUNCTION {function}{text}"]
    if fact.kind == "mask":
        table, _, column = fact.on.rpartition(".")
        done = "DROP MASK" if removed else f"SET MASK {function}"
        return [*made, f"ALTER TABLE {quote_full(table)} ALTER COLUMN {quote_name(column)} {done}"]
    done = "DROP ROW FILTER" if removed else f"SET ROW FILTER {function} ON ({on})"
    return [*made, f"ALTER TABLE {quote_full(fact.on)} {done}"]


def _catalog_call(fact: Fact, *, removed: bool) -> tuple[str, dict[str, Any]]:
    """Path and body of what a catalog is told of its isolation, or of a workspace."""
    name = segment(fact.on)
    if fact.kind == "isolation":
        return f"{API}/catalogs/{name}", {"isolation_mode": "OPEN" if removed else fact.value}
    bound = {"workspace_id": int(fact.name), "binding_type": fact.value}
    return f"{API}/bindings/catalog/{name}", {"remove" if removed else "add": [bound]}


class _Statements:
    """SQL that a warehouse runs, waited for."""

    def __init__(self, rest: RestClient, settings: GovernedCatalog) -> None:
        self._rest = rest
        self._warehouse = settings.warehouse_id
        self._patience = settings.timeout_seconds * (settings.retries + 1)

    @property
    def is_usable(self) -> bool:
        return self._warehouse is not None

    def run(self, statement: str) -> Any:
        """The answer of a statement. Raises GovernanceRefused for one that did not succeed."""
        if self._warehouse is None:
            raise GovernanceRefused(
                "tags, masks and row filters are set by SQL;"
                " write `warehouse_id` in `[governance.catalog]`"
            )
        body = {
            "statement": statement,
            "warehouse_id": self._warehouse,
            "wait_timeout": "30s",
            "on_wait_timeout": "CONTINUE",
            "format": "JSON_ARRAY",
            "disposition": "INLINE",
        }
        answer = self._rest.call("POST", STATEMENTS, body)
        deadline = time.monotonic() + self._patience
        while _state(answer) in _WAITING:
            if time.monotonic() > deadline:
                raise CatalogueUnreachable(
                    f"a statement was not done within {self._patience} s: {statement}"
                )
            time.sleep(_PAUSE)
            answer = self._rest.call("GET", f"{STATEMENTS}/{segment(answer['statement_id'])}")
        if _state(answer) not in _DONE:
            error = answer.get("status", {}).get("error") or {}
            said = " ".join(str(error.get("message", _state(answer))).split())
            raise GovernanceRefused(f"Databricks refused `{statement}`: {said}")
        return answer

    def rows(self, statement: str) -> list[list[Any]]:
        """The rows of a query, all chunks of them."""
        answer = self.run(statement)
        result = answer.get("result") or {}
        found = list(result.get("data_array") or ())
        while result.get("next_chunk_internal_link"):
            try:
                result = self._rest.call("GET", str(result["next_chunk_internal_link"])) or {}
            except HttpRefusal as refused:
                raise CatalogueUnreachable(f"the rest of an answer is gone: {refused}") from None
            found += result.get("data_array") or ()
        return found


def _state(answer: Any) -> str:
    return str(answer.get("status", {}).get("state", "")) if isinstance(answer, dict) else ""


def _tag_statement(fact: Fact, *, removed: bool) -> str:
    if fact.level == "column":
        table, _, column = fact.on.rpartition(".")
        what = f"TABLE {quote_full(table)} ALTER COLUMN {quote_name(column)}"
    else:
        what = f"{fact.level.upper()} {quote_full(fact.on)}"
    name = quote_text(fact.name)
    if removed:
        return f"ALTER {what} UNSET TAGS ({name})"
    return f"ALTER {what} SET TAGS ({name} = {quote_text(fact.value)})"


def _function(kind: str, on: str, text: str) -> str:
    catalog, schema = on.split(".")[:2]
    # In lower case, as it is given back.
    return f"{catalog}.{schema}.rocky_{kind}_{text_hash(text)[:16]}".lower()


def quote_full(name: str) -> str:
    """A full name as SQL has it."""
    return ".".join(map(quote_name, name.split(".")))
