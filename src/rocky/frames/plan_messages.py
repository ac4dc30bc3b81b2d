"""Messages of a plan, walked: which of them are inside another, without where they come from."""

from typing import Any, Final

_FOLLOWED: Final[dict[Any, int]] = {}
"""Fields that hold one message or several, 0 for others: asking a field each time is slow."""
_ONE, _SEVERAL = 1, 2


def messages_in(message: Any) -> list[Any]:
    """The messages right inside a relation or an expression."""
    found: list[Any] = []
    for field, value in message.ListFields():
        kind = _FOLLOWED.get(field)
        if kind is None:
            kind = _FOLLOWED[field] = _kind_of(field, value)
        if kind == _ONE:
            found.append(value)
        elif kind:
            found.extend(value)
    return found


def _kind_of(field: Any, value: Any) -> int:
    inner = field.message_type
    # What is common to all is the call that made them.
    if inner is None or inner.GetOptions().map_entry or field.name == "common":
        return 0
    return _ONE if hasattr(value, "DESCRIPTOR") else _SEVERAL
