"""Unity Catalog: grants over its REST interface, which the open server and Databricks share.

Tables are registered in the open server only: where Databricks' are made, it knows them itself.
The open server has no groups, tags, masks or row filters. Its `PATCH` is no transaction: of several
principals it may have granted to some when it refuses one, so each call is about one.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rocky.errors import GovernanceRefused
from rocky.governance.catalogue import GROUP, Abilities
from rocky.governance.facts import Fact, Held, Securable
from rocky.governance.protection import FilteredRows, MaskedColumn
from rocky.governance.registration import changes_back, refuse_another, registered_value
from rocky.governance.rest import HttpRefusal, RestClient, segment
from rocky.project.configuration.governed_catalog import GovernedCatalog

API: Final = "/api/2.1/unity-catalog"
UNITY: Final = Abilities(
    kinds=frozenset({"grant", "registration"}),
    privileges=frozenset(
        {"USE CATALOG", "CREATE SCHEMA", "USE SCHEMA", "CREATE TABLE", "SELECT", "MODIFY"}
    ),
    grant_levels=frozenset({"catalog", "schema", "table"}),
    groups="none",
)
_NOT_FOUND: Final = 404


class UnityCatalogue:
    """The open Unity Catalog server."""

    abilities = UNITY
    kind = "unity"

    def __init__(self, settings: GovernedCatalog) -> None:
        token = settings.token
        self._rest = RestClient(settings, None if token is None else f"Bearer {token}")
        self._registers = settings.register

    @property
    def title(self) -> str:
        return f"{self.kind} {self._rest.host}"

    def held(self, securables: Sequence[Securable]) -> Held:
        facts: list[Fact] = []
        absent: list[Securable] = []
        for each in securables:
            if each.level == "column":
                continue
            found = self._grants(each)
            if found is None:
                absent.append(each)
            else:
                facts += found
                if self._registers and each.level == "table":
                    value = registered_value(self._table(each.name))
                    facts.append(Fact("registration", "table", each.name, value=value))
        return Held(tuple(sorted(facts)), tuple(absent))

    def put(self, fact: Fact, before: Fact | None) -> None:
        if fact.kind == "registration":
            self._register(fact, before)
            return
        self._patch(fact, add=[self._written(fact.name)], remove=[])

    def remove(self, fact: Fact) -> None:
        if fact.kind == "registration":
            try:
                refuse_another(fact, self._table(fact.on))
                self._rest.call("DELETE", _table_path(fact.on))
            except HttpRefusal as refused:
                if not _is_absent(refused):
                    raise
            return
        self._patch(fact, add=[], remove=[self._written(fact.name)])

    def masks(self, column: MaskedColumn) -> tuple[Fact, ...]:
        raise GovernanceRefused(f"{self.title} has no column masks, so `{column.on}` stays clear")

    def row_filters(self, rows: FilteredRows) -> tuple[Fact, ...]:
        raise GovernanceRefused(f"{self.title} has no row filters: all of `{rows.table}` is shown")

    def statement(self, fact: Fact, *, removed: bool) -> str:
        if fact.kind == "registration":
            done = f"DELETE {_table_path(fact.on)}" if removed else f"POST {API}/tables {fact.on}"
            return f"{done} ({fact.value})"
        verb = "remove" if removed else "add"
        name = self._written(fact.name)
        return f"PATCH {_path(fact.securable)} {verb} {name} for {_principal(fact)}"

    def _table(self, name: str) -> Mapping[str, Any]:
        answer = self._rest.call("GET", _table_path(name))
        return answer if isinstance(answer, Mapping) else {}

    def _register(self, fact: Fact, before: Fact | None) -> None:
        """Make a table known; with other columns than it has there, again, with its grants."""
        granted: list[dict[str, Any]] = []
        if before is not None:
            refuse_another(fact, self._table(fact.on))
            answer = self._rest.call("GET", _path(fact.securable))
            granted = changes_back(listed(answer, "privilege_assignments"))
            self._rest.call("DELETE", _table_path(fact.on))
        self._rest.call("POST", f"{API}/tables", json.loads(fact.definition))
        for change in granted:
            self._rest.call("PATCH", _path(fact.securable), {"changes": [change]})

    def _written(self, privilege: str) -> str:
        """A privilege as this server spells it."""
        return privilege

    def _patch(self, fact: Fact, *, add: list[str], remove: list[str]) -> None:
        change = {"principal": _principal(fact), "add": add, "remove": remove}
        try:
            self._rest.call("PATCH", _path(fact.securable), {"changes": [change]})
        except HttpRefusal as refused:
            # Who is gone has nothing any more; what is gone neither.
            if not (remove and _is_absent(refused)):
                raise

    def _grants(self, securable: Securable) -> list[Fact] | None:
        """The grants on something; None where it is not there."""
        found: list[Fact] = []
        page: dict[str, str | int] = {}
        while True:
            try:
                answer = self._rest.call("GET", _path(securable), query=page)
            except HttpRefusal as refused:
                if _is_absent(refused):
                    return None
                raise
            for each in listed(answer, "privilege_assignments"):
                for privilege in each.get("privileges") or ():
                    # Databricks writes `USE_SCHEMA` for what the open server calls `USE SCHEMA`.
                    name = str(privilege).replace("_", " ")
                    whose = str(each["principal"])
                    found.append(Fact("grant", securable.level, securable.name, whose, name))
            if not answer.get("next_page_token"):
                return found
            page = {"page_token": str(answer["next_page_token"])}


def _is_absent(refused: HttpRefusal) -> bool:
    """Whether the catalogue says that something is not there.

    A proxy, or a server at another path, knows nothing of what the catalogue holds.
    """
    return refused.status == _NOT_FOUND and refused.code not in ("", "ENDPOINT_NOT_FOUND")


def listed(answer: Any, key: str) -> list[Mapping[str, Any]]:
    """The objects in a list of an answer; none where it has none."""
    found = answer.get(key) if isinstance(answer, Mapping) else None
    return [each for each in found or () if isinstance(each, Mapping)]


def _principal(fact: Fact) -> str:
    return fact.subject.removeprefix(GROUP)


def _table_path(name: str) -> str:
    return f"{API}/tables/{segment(name)}"


def _path(securable: Securable) -> str:
    return f"{API}/permissions/{securable.level}/{segment(securable.name)}"
