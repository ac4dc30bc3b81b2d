"""`[role.NAME]` and `[[grant]]`: who may do what with which tables.

A role is Rocky's own: a catalogue is told of its members. Whoever is in a role that inherits
another has all that the other is given. What `on` names stands for tables of the project, by
patterns, so that a new table is granted like its neighbours.
"""

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any, Final, NamedTuple

from rocky.diagnostics.suggestion import suggestion
from rocky.project.configuration.circles import find_circles
from rocky.project.toml.documents import Problem, Problems, ReadBy
from rocky.project.toml.records import INVALID, LIST, reader_for, wrong_type
from rocky.project.toml.variables import Keys, Unset, written

PRIVILEGES: Final[Mapping[str, tuple[str, ...]]] = {
    "BROWSE": ("catalog",),
    "USE CATALOG": ("catalog",),
    "CREATE SCHEMA": ("catalog",),
    "USE SCHEMA": ("catalog", "schema"),
    "CREATE TABLE": ("catalog", "schema"),
    "SELECT": ("catalog", "schema", "table"),
    "MODIFY": ("catalog", "schema", "table"),
    "MANAGE": ("catalog", "schema", "table"),
}
"""What can be granted, and on what, from the outside in."""

_TEXTS: Final = reader_for(tuple[str, ...])
_PART: Final = re.compile(r"[^.{}\s]+|\{(?:catalog|schema|table)\}")
_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")
_PARTS: Final = ("catalog", "schema", "table")
_NOT_IN_NAMES: Final = re.compile(r"[\0-\x1f\x7f`\"']")


def _read_privileges(value: Any, at: Keys, problems: Problems) -> Any:
    """Privileges in capitals; unknown ones are reported one by one."""
    names = _TEXTS(value, at, problems)
    if names is INVALID:
        return INVALID
    found = []
    for index, name in enumerate(names):
        meant = " ".join(name.upper().replace("_", " ").split())
        if meant in PRIVILEGES:
            found.append(meant)
        elif not isinstance(name, Unset):
            shown = written(name)
            help_text = suggestion(shown.upper(), PRIVILEGES) or "there are " + ", ".join(
                f"`{each}`" for each in PRIVILEGES
            )
            problems.append(Problem((*at, index), f"unknown permission `{shown}`", help_text))
    return tuple(dict.fromkeys(found))


def _read_names(value: Any, at: Keys, problems: Problems) -> Any:
    """One text or a list of them."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        return wrong_type(LIST, value, at, problems)
    names = _TEXTS(value, at, problems)
    if names is INVALID:
        return INVALID
    for index, name in enumerate(names):
        place = (*at, index) if len(names) > 1 else at
        if not isinstance(name, Unset) and (not name.strip() or _NOT_IN_NAMES.search(name)):
            problems.append(Problem(place, "this is no name of a role, a user or a group"))
    return names


def read_pattern(value: Any, at: Keys, problems: Problems) -> Any:
    if not isinstance(value, str):
        return wrong_type("a text", value, at, problems)
    parts = value.split(".")
    if not isinstance(value, Unset) and (
        len(parts) > len(_PARTS) or not all(_PART.fullmatch(each) for each in parts)
    ):
        message = "`on` is a catalog, `catalog.schema` or `catalog.schema.table`"
        help_text = 'each part may have `*` and `?`, or be `{schema}`: `on = "shop.marts.*"`'
        problems.append(Problem(at, message, help_text))
        return INVALID
    return value


Privileges = Annotated[tuple[str, ...], ReadBy(_read_privileges)]
Names = Annotated[tuple[str, ...], ReadBy(_read_names)]


class Role(NamedTuple):
    """Who is in a role, what it may do where it is granted something, and whose rights it has."""

    inherits: tuple[str, ...] = ()
    permissions: Privileges = ()
    members: tuple[str, ...] = ()


class Grant(NamedTuple):
    """`privileges` on what `on` stands for, to roles and principals.

    Without `privileges` it is the roles' permissions, their own and those they inherit.
    """

    to: Names
    on: Annotated[str, ReadBy(read_pattern)]
    privileges: Privileges = ()

    @property
    def level(self) -> str:
        """What is granted on: `catalog`, `schema` or `table`."""
        return _PARTS[self.on.count(".")]

    def match(self, catalog: str, schema: str, table: str) -> dict[str, str] | None:
        """What the placeholders stand for where `on` names a table, or what it is in; else None.

        Names are compared as Spark compares them, whatever their case.
        """
        bound: dict[str, str] = {}
        for pattern, name in zip(self.on.split("."), (catalog, schema, table), strict=False):
            if pattern.startswith("{"):
                if bound.setdefault(pattern[1:-1], name) != name:
                    return None
            elif not fnmatchcase(name.lower(), pattern.lower()):
                return None
        return bound


def fill(name: str, bound: Mapping[str, str]) -> str:
    """A name of `to` with its placeholders replaced."""
    return _PLACEHOLDER.sub(lambda found: bound[found[1]], name)


def ancestors(roles: Mapping[str, Role], name: str) -> tuple[str, ...]:
    """A role and all that it inherits, nearest first, each once."""
    found: dict[str, None] = {}
    waiting = [name]
    while waiting:
        one = waiting.pop(0)
        if one in roles and one not in found:
            found[one] = None
            waiting += roles[one].inherits
    return tuple(found)


def members_of(roles: Mapping[str, Role], name: str) -> tuple[str, ...]:
    """The members of a role and of all roles that inherit it, sorted."""
    heirs = (role for each, role in roles.items() if name in ancestors(roles, each))
    return tuple(sorted({member for role in heirs for member in role.members}))


def permissions_of(roles: Mapping[str, Role], name: str) -> tuple[str, ...]:
    """The permissions of a role with those that it inherits."""
    found = (one for each in ancestors(roles, name) for one in roles[each].permissions)
    return tuple(dict.fromkeys(found))


def find_grant_problems(roles: Mapping[str, Role], grants: tuple[Grant, ...]) -> Iterator[Problem]:
    """What is wrong with roles and grants, each at its line."""
    for name, role in roles.items():
        for index, parent in enumerate(role.inherits):
            if parent not in roles and not isinstance(parent, Unset):
                yield Problem(
                    ("role", name, "inherits", index),
                    f"no role `{written(parent)}`",
                    suggestion(written(parent), roles),
                )
    yield from _find_circles(roles)
    for index, grant in enumerate(grants):
        yield from _find_problems(roles, grant, ("grant", index))
    yield from _find_idle(roles, grants)


def _find_circles(roles: Mapping[str, Role]) -> Iterator[Problem]:
    """A problem for each `inherits` that closes a circle, told once."""
    for circle in find_circles({name: role.inherits for name, role in roles.items()}):
        message = f"roles inherit each other: {circle.text}"
        if circle.names[0] == circle.owner:
            message = f"role `{circle.owner}` inherits itself"
        keys = ("role", circle.owner, "inherits", circle.entry)
        yield Problem(keys, message, "remove one of these names from `inherits`")


def _find_problems(roles: Mapping[str, Role], grant: Grant, at: Keys) -> Iterator[Problem]:
    given = {part[1:-1] for part in grant.on.split(".") if part.startswith("{")}
    for name in grant.to:
        for used in _PLACEHOLDER.findall(name):
            if used not in given:
                yield Problem(
                    (*at, "to"),
                    f"`{{{used}}}` in `to` is not in `on`",
                    f'write it in `on` too, as in `on = "shop.{{{used}}}"`',
                )
    for name in grant.to:
        if grant.privileges or isinstance(name, Unset):
            continue
        if name not in roles:
            message = f"nothing says what `{written(name)}` is granted: it is no role"
            help_text = suggestion(written(name), roles) or 'write `privileges = ["SELECT"]`'
            yield Problem((*at, "to"), message, help_text)
        elif not permissions_of(roles, name):
            message = f"role `{written(name)}` has no `permissions`, and the grant no `privileges`"
            yield Problem(at, message, 'write `privileges = ["SELECT"]`')
    for index, privilege in enumerate(grant.privileges):
        levels = PRIVILEGES[privilege]
        if _PARTS.index(levels[0]) > _PARTS.index(grant.level):
            message = f"`{privilege}` cannot be granted on a {grant.level}"
            yield Problem((*at, "privileges", index), message)


def _find_idle(roles: Mapping[str, Role], grants: tuple[Grant, ...]) -> Iterator[Problem]:
    """Permissions that no grant gives to anybody."""
    bare = {name for grant in grants if not grant.privileges for name in grant.to}
    used = {one for name in bare for one in ancestors(roles, name)}
    for name, role in roles.items():
        if role.permissions and name not in used:
            yield Problem(
                ("role", name, "permissions"),
                f"the permissions of role `{name}` are granted on nothing",
                f'add `[[grant]]` with `to = "{name}"` and `on = "catalog.schema.*"`',
                on_key=True,
            )
