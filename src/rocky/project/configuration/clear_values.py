"""Clear values: the tags whose values a person is shown, by the roles that the person is in."""

from collections.abc import Iterator, Mapping
from typing import Final

from rocky.diagnostics.suggestion import suggestion
from rocky.project.configuration.classifications import ClassificationTag
from rocky.project.configuration.grants import Role, members_of
from rocky.project.toml.documents import Problem
from rocky.project.toml.variables import Unset, written

EVERYBODY: Final = "*"
"""In `clear_for`: a tag whose values are shown to all."""


def clear_tags(
    tags: Mapping[str, ClassificationTag], roles: Mapping[str, Role], person: str | None
) -> frozenset[str]:
    """The tags whose values are shown to a person; without one, those shown to everybody."""
    return frozenset(
        tag
        for tag, declared in tags.items()
        if any(_is_in(roles, role, person) for role in declared.clear_for)
    )


def _is_in(roles: Mapping[str, Role], role: str, person: str | None) -> bool:
    if role == EVERYBODY:
        return True
    return bool(person) and person in members_of(roles, role)


def find_clear_problems(
    tags: Mapping[str, ClassificationTag], roles: Mapping[str, Role]
) -> Iterator[Problem]:
    """Roles that `clear_for` names and nobody declares."""
    for tag, declared in tags.items():
        for index, role in enumerate(declared.clear_for):
            if role != EVERYBODY and role not in roles and not isinstance(role, Unset):
                shown = written(role)
                hint = suggestion(shown, roles) or f"declare it: `[role.{shown}]` with `members`"
                at = ("classifications", "tags", tag, "clear_for", index)
                yield Problem(at, f"no role `{shown}`", hint)
