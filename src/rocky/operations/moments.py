"""Moments as people write them: a date, a time, or an age."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

_AGE: Final = re.compile(r"([1-9][0-9]{0,5})([mhdw])")
_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_FIRST_MOMENT: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""Before any run: years of fewer digits would not sort among run ids."""

FORMS: Final = "a date (2026-05-30), a time (2026-05-30T11:04:22Z) or an age (30m, 12h, 7d, 2w)"
"""What a moment may look like, for messages."""


def parse_moment(text: str) -> datetime:
    """The moment that a text names; without a zone it is UTC. Raises ValueError for any other."""
    age = _AGE.fullmatch(text)
    try:
        if age is not None:
            moment = datetime.now(UTC) - timedelta(**{_UNITS[age[2]]: int(age[1])})
        else:
            moment = datetime.fromisoformat(text)
            moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except OverflowError:
        return _FIRST_MOMENT
    return max(moment, _FIRST_MOMENT)
