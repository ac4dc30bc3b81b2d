"""Decisions: what is done about the differences between a live source and its copy.

A decision changes nothing: the run that carries it out commits the copy first and records the
decision with it, so a crash in between finds the same differences again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rocky.datatypes.types import StructField
from rocky.drift.projection import Projected, quote_name
from rocky.ledger.pipeline_records import DriftRecord, GracePeriod


@dataclass(frozen=True, slots=True)
class DriftDecision:
    """What a copy selects from its source, and why that is not simply everything.

    `replace` asks for a full refresh that replaces the table in one commit. `grace` are periods to
    write; `ended` the columns, in lower case, whose period is over.
    """

    records: tuple[DriftRecord, ...]
    projection: tuple[Projected, ...]
    replace: bool = False
    grace: tuple[GracePeriod, ...] = ()
    ended: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[StructField, ...]:
        """The columns the copy has afterwards."""
        return tuple(each.field for each in self.projection)

    @property
    def select_list(self) -> str:
        """The projection as a query writes it."""
        return ", ".join(f"{each.sql} AS {quote_name(each.name)}" for each in self.projection)

    @property
    def filled(self) -> frozenset[str]:
        """Columns, in lower case, that the source does not have: null in all that is copied."""
        return self._done(("fill_null", "keep_null"))

    @property
    def doubtful(self) -> frozenset[str]:
        """Columns, in lower case, that may not say what the source says: none may be a key."""
        return self._done(("fill_null", "keep_null", "try_cast"))

    def _done(self, actions: tuple[str, ...]) -> frozenset[str]:
        return frozenset(each.column.lower() for each in self.records if each.action in actions)

    def with_reached(self, reached: Mapping[str, tuple[str, ...]]) -> "DriftDecision":
        """The decision with the columns downstream of each changed column."""
        return replace(
            self,
            records=tuple(
                replace(record, reaches=reached.get(record.column, record.reaches))
                for record in self.records
            ),
        )
