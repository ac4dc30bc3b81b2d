"""Record: what everything the ledger keeps can do."""

from collections.abc import Mapping
from typing import Any, Final, NewType, Self

from rocky.ledger.encoding import decode_record, encode_record

RunId = NewType("RunId", str)
"""`run-YYYYMMDD-HHMMSS-mmm`, in UTC: run ids sort as the runs began."""

NO_RUN: Final = RunId("")


class Record:
    """What all records can do: become a JSON object and come back from one."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """A JSON object: times as RFC 3339 in UTC, absent instead of null."""
        return encode_record(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The record in a JSON object; unknown keys are left alone. Raises MalformedRecord."""
        return decode_record(cls, data)
