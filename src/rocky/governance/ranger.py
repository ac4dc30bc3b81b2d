"""Ranger: policies as its own documents, read, written and removed over its REST interface.

Ranger keeps one policy for the same resources and type, so a grant is put into the policy that is
there, whoever made it, and taken out of it again; a policy that we made is removed with its last
item. Policies over patterns, exceptions or denials are shown as they are named and left alone.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rocky.analysis.masks.expressions import mask_fields
from rocky.errors import GovernanceRefused
from rocky.governance.catalogue import GROUP, Abilities
from rocky.governance.facts import ALL_ROWS, CLEAR, Fact, Held, Kind, Securable
from rocky.governance.protection import FilteredRows, MaskedColumn
from rocky.governance.rest import RANGERS, HttpRefusal, RestClient
from rocky.language.datatypes.types import StructField
from rocky.language.names import quote_name
from rocky.project.configuration.governed_catalog import GovernedCatalog

POLICY: Final = "/service/public/v2/api/policy"
RANGER: Final = Abilities(
    kinds=frozenset({"grant", "mask", "row_filter"}),
    privileges=frozenset({"SELECT", "MODIFY", "CREATE TABLE"}),
    grant_levels=frozenset({"schema", "table"}),
    groups="apart",
    masks_first=True,
)
EVERYBODY: Final = "public"
"""Ranger's group of all users."""
_ACCESS: Final = {"SELECT": "select", "MODIFY": "update", "CREATE TABLE": "create"}
_PRIVILEGE: Final = {access: privilege for privilege, access in _ACCESS.items()}
_LABEL: Final = "rocky"
_COLUMN: Final = "{col}"
"""What stands for the column in an expression of Ranger's."""
_PAGE: Final = 200
_NOT_FOUND: Final = 404
_TYPES: Final[Mapping[Kind, int]] = {"grant": 0, "mask": 1, "row_filter": 2}
_ITEMS: Final = {0: "policyItems", 1: "dataMaskPolicyItems", 2: "rowFilterPolicyItems"}
_UNSAYABLE: Final = ("denyPolicyItems", "allowExceptions", "denyExceptions")
_LIMITS: Final = ("zoneName", "validitySchedules", "conditions", "isDenyAllElse", "policyPriority")
"""What makes a policy hold in some cases only; another one may stand beside it."""
_FIELDS: Final = {GROUP: "groups", "role:": "roles"}

Policy = dict[str, Any]


_LONGEST: Final = 1024
"""Characters that Ranger's database keeps of an expression."""


def mask_fact(column: str, subject: str, expression: str) -> Fact:
    """A mask of a column for a user or `group:NAME`; `{col}` in the expression is the column."""
    return Fact("mask", "column", column, subject or GROUP + EVERYBODY, value=expression)


def filter_fact(table: str, subject: str, expression: str) -> Fact:
    """A row filter of a table for a user or `group:NAME`."""
    return Fact("row_filter", "table", table, subject or GROUP + EVERYBODY, value=expression)


class RangerCatalogue:
    """One service of a Ranger Admin."""

    abilities = RANGER

    def __init__(self, settings: GovernedCatalog) -> None:
        pair = f"{settings.user}:{settings.token}"
        encoded = b64encode(pair.encode()).decode()
        self._rest = RestClient(settings, f"Basic {encoded}", (encoded,))
        self._service = settings.service or ""

    @property
    def title(self) -> str:
        return f"ranger {self._rest.host} {self._service}"

    def held(self, securables: Sequence[Securable]) -> Held:
        wanted: dict[tuple[str, ...], Securable] = {}
        for each in securables:
            if each.level in ("catalog", "column"):
                continue
            if wanted.setdefault(_place(each), each).key != each.key:
                raise GovernanceRefused(
                    f"Ranger knows no catalogs: it cannot tell `{each.name}` from"
                    f" `{wanted[_place(each)].name}`"
                )
        facts: list[Fact] = []
        for policy in self._policies():
            facts += _facts_of(policy, wanted)
        return Held(tuple(sorted(set(facts))))

    def put(self, fact: Fact, before: Fact | None) -> None:
        policy = self._policy_of(fact)
        if policy is None:
            made = _new_policy(fact, self._service)
            self._rest.call("POST", POLICY, made)
            return
        _take(policy, before or fact)
        policy[_items_key(fact)] = _with_item(policy.get(_items_key(fact)) or [], _item(fact))
        self._rest.call("PUT", f"{POLICY}/{int(policy['id'])}", policy)

    def remove(self, fact: Fact) -> None:
        policy = self._policy_of(fact)
        if policy is None or not _take(policy, fact):
            return
        path = f"{POLICY}/{int(policy['id'])}"
        is_empty = not any(policy.get(key) for key in (*_ITEMS.values(), *_UNSAYABLE))
        if is_empty and _LABEL in (policy.get("policyLabels") or ()):
            try:
                self._rest.call("DELETE", path)
            except HttpRefusal as refused:
                # A proxy, or a server at another path, knows nothing of policies.
                if (refused.status, refused.code) != (_NOT_FOUND, RANGERS):
                    raise
        else:
            self._rest.call("PUT", path, policy)

    def masks(self, column: MaskedColumn) -> tuple[Fact, ...]:
        named = StructField(_COLUMN, column.column.type, column.column.nullable)
        masked = mask_fields(column.strategies, named)
        if _COLUMN in masked.replace(quote_name(_COLUMN), ""):
            raise GovernanceRefused(f"the mask of `{column.on}` has `{_COLUMN}` in its expression")
        _refuse_long(f"the mask of `{column.on}`", masked)
        clear = (mask_fact(column.on, each, CLEAR) for each in column.clear)
        return mask_fact(column.on, "", masked), *clear

    def row_filters(self, rows: FilteredRows) -> tuple[Fact, ...]:
        _refuse_long(f"the row filter of `{rows.table}`", rows.expression)
        clear = (filter_fact(rows.table, each, ALL_ROWS) for each in rows.clear)
        return filter_fact(rows.table, "", rows.expression), *clear

    def statement(self, fact: Fact, *, removed: bool) -> str:
        verb = "without" if removed else "with"
        return f"policy `{_policy_name(fact)}` of service `{self._service}` {verb} {fact}"

    def _policy_of(self, fact: Fact) -> Policy | None:
        """The policy of exactly these resources and this type."""
        resources, kind = _resources(fact), _TYPES[fact.kind]
        for policy in self._policies():
            if any(policy.get(key) for key in _LIMITS):
                continue
            if policy.get("policyType", 0) == kind and _same_resources(policy, resources):
                if policy.get("isEnabled") is False:
                    raise GovernanceRefused(
                        f"the policy `{policy.get('name')}` of Ranger is disabled, so nothing in"
                        " it would hold; enable it, or remove it"
                    )
                return policy
        return None

    def _policies(self) -> Iterator[Policy]:
        start = 0
        while True:
            query: dict[str, str | int] = {
                "serviceName": self._service,
                "startIndex": start,
                "pageSize": _PAGE,
            }
            found = self._rest.call("GET", POLICY, query=query) or []
            yield from (each for each in found if isinstance(each, dict))
            if len(found) < _PAGE:
                return
            start += len(found)


def _refuse_long(what: str, expression: str) -> None:
    if len(expression) > _LONGEST:
        raise GovernanceRefused(
            f"{what} has {len(expression)} characters, and Ranger keeps {_LONGEST} of an"
            " expression; use a simpler mask, or classify fields in columns of their own"
        )


def _with_item(items: Sequence[dict[str, Any]], item: dict[str, Any]) -> list[dict[str, Any]]:
    """The items with one more. The first that fits a reader decides, so everybody comes last."""
    found = [*items, item]
    return sorted(found, key=lambda each: EVERYBODY in (each.get("groups") or ()))


def _place(securable: Securable) -> tuple[str, ...]:
    """Database, table and column, in lower case: Ranger's services know no catalogs."""
    return tuple(part.lower() for part in securable.parts[1:])


def _resources(fact: Fact) -> dict[str, list[str]]:
    parts = fact.on.split(".")[1:]
    values = {"database": [parts[0]]}
    if fact.kind == "row_filter":
        return {**values, "table": [parts[1]]}
    table = parts[1] if len(parts) > 1 else "*"
    column = parts[2] if len(parts) > 2 else "*"
    return {**values, "table": [table], "column": [column]}


def _same_resources(policy: Mapping[str, Any], wanted: Mapping[str, list[str]]) -> bool:
    found = _values(policy)
    return found == {key: [each.lower() for each in values] for key, values in wanted.items()}


def _values(policy: Mapping[str, Any]) -> dict[str, list[str]] | None:
    """The resources of a policy that names them one by one; None for one that excludes some."""
    found = {}
    for key, resource in (policy.get("resources") or {}).items():
        if not isinstance(resource, Mapping) or resource.get("isExcludes"):
            return None
        found[str(key)] = [str(each).lower() for each in resource.get("values") or ()]
    return None if policy.get("additionalResources") else found


def _facts_of(policy: Policy, wanted: Mapping[tuple[str, ...], Securable]) -> Iterator[Fact]:
    """What a policy says about what is asked for."""
    if policy.get("isEnabled") is False:
        return
    values, kind = _values(policy), policy.get("policyType", 0)
    place = _single_place(values)
    table = wanted.get(place[:2]) if place is not None else None
    items = policy.get(_ITEMS.get(kind, "")) or ()
    is_limited = any(policy.get(key) for key in (*_UNSAYABLE, *_LIMITS))
    is_limited = is_limited or any(item.get("conditions") for item in items)
    if place is None or kind not in _ITEMS or is_limited:
        about = _about(values, wanted)
        if about is not None:
            yield Fact("policy", about.level, about.name, name=str(policy.get("name")))
        return
    if table is None or (len(place) > 2 and kind == 0):
        if table is not None:
            yield Fact("policy", table.level, table.name, name=str(policy.get("name")))
        return
    for item in items:
        yield from _facts_of_item(item, kind, table, place)


def _facts_of_item(
    item: Mapping[str, Any], kind: int, table: Securable, place: tuple[str, ...]
) -> Iterator[Fact]:
    subjects = [
        *(item.get("users") or ()),
        *(f"{GROUP}{each}" for each in item.get("groups") or ()),
        *(f"role:{each}" for each in item.get("roles") or ()),
    ]
    for subject in map(str, subjects):
        if kind == 0:
            for access in item.get("accesses") or ():
                name = str(access.get("type"))
                if access.get("isAllowed", True):
                    privilege = _PRIVILEGE.get(name, name.upper())
                    yield Fact("grant", table.level, table.name, subject, privilege)
        elif kind == 1:
            info = item.get("dataMaskInfo") or {}
            value = info.get("valueExpr") or info.get("dataMaskType") or ""
            on = f"{table.name}.{place[2]}"
            yield Fact("mask", "column", on, subject, value=str(value))
        else:
            info = item.get("rowFilterInfo") or {}
            value = str(info.get("filterExpr") or "")
            yield Fact("row_filter", "table", table.name, subject, value=value)


def _single_place(values: Mapping[str, list[str]] | None) -> tuple[str, ...] | None:
    """The one schema, table or column that resources name; None where they name more."""
    if values is None or set(values) - {"database", "table", "column"}:
        return None
    parts: list[str] = []
    for key in ("database", "table", "column"):
        names = values.get(key, ["*"])
        if names == ["*"]:
            break
        if len(names) != 1 or "*" in names[0] or "?" in names[0]:
            return None
        parts.append(names[0])
    rest = [values.get(key, ["*"]) for key in ("database", "table", "column")][len(parts) :]
    return tuple(parts) if parts and all(names == ["*"] for names in rest) else None


def _about(
    values: Mapping[str, list[str]] | None, wanted: Mapping[tuple[str, ...], Securable]
) -> Securable | None:
    """Something that is asked for and that resources may cover."""
    names = (values or {}).get("database", ["*"])
    for place, securable in sorted(wanted.items()):
        if any(name in ("*", place[0]) or "*" in name or "?" in name for name in names):
            return securable
    return None


def _items_key(fact: Fact) -> str:
    return _ITEMS[_TYPES[fact.kind]]


def _policy_name(fact: Fact) -> str:
    return f"rocky {fact.kind.replace('_', ' ')}: {fact.on.split('.', 1)[1].lower()}"


def _new_policy(fact: Fact, service: str) -> Policy:
    return {
        "service": service,
        "name": _policy_name(fact),
        "policyType": _TYPES[fact.kind],
        "description": "kept by Rocky from rocky.toml",
        "isEnabled": True,
        "isAuditEnabled": True,
        "policyLabels": [_LABEL],
        "resources": {
            key: {"values": values, "isExcludes": False, "isRecursive": False}
            for key, values in _resources(fact).items()
        },
        _items_key(fact): [_item(fact)],
    }


def _item(fact: Fact) -> dict[str, Any]:
    access = _ACCESS[fact.name] if fact.kind == "grant" else "select"
    field, name = _field(fact.subject)
    item: dict[str, Any] = {
        "users": [],
        "groups": [],
        "roles": [],
        field: [name],
        "accesses": [{"type": access, "isAllowed": True}],
        "delegateAdmin": False,
    }
    if fact.kind == "mask":
        item["dataMaskInfo"] = {"dataMaskType": "CUSTOM", "valueExpr": fact.value}
        if fact.value == CLEAR:
            item["dataMaskInfo"] = {"dataMaskType": CLEAR}
    if fact.kind == "row_filter":
        item["rowFilterInfo"] = {"filterExpr": fact.value}
    return item


def _field(subject: str) -> tuple[str, str]:
    """Where an item lists a principal, and by which name."""
    for prefix, field in _FIELDS.items():
        if subject.startswith(prefix):
            return field, subject.removeprefix(prefix)
    return "users", subject


def _take(policy: Policy, fact: Fact) -> bool:
    """Take a fact out of a policy, and leave all others. Whether it was in it."""
    key = _items_key(fact)
    kept: list[dict[str, Any]] = []
    taken = False
    for item in policy.get(key) or ():
        left = _without(item, fact)
        taken = taken or left != [item]
        kept += left
    policy[key] = kept
    return taken


def _without(item: dict[str, Any], fact: Fact) -> list[dict[str, Any]]:
    """The items that say all that an item says but for one fact."""
    field, name = _field(fact.subject)
    if name not in (item.get(field) or ()):
        return [item]
    accesses = item.get("accesses") or ()
    access = _ACCESS.get(fact.name, fact.name.lower()) if fact.kind == "grant" else "select"
    if all(each.get("type") != access for each in accesses):
        return [item]
    others = {**item, field: [each for each in item[field] if each != name]}
    rest = [each for each in accesses if each.get("type") != access]
    own = {**item, "users": [], "groups": [], "roles": [], field: [name], "accesses": rest}
    has_others = any(others.get(each) for each in ("users", "groups", "roles"))
    return [*([others] if has_others else []), *([own] if rest else [])]
