"""The checks of a replication run: what its copies are after it, held against their sources.

Tables that had nothing new are looked at too: that nothing comes any more is what some checks are
there to find.
"""

from collections.abc import Mapping

from rocky.errors import StoreUnreadable
from rocky.ledger.check_history import load_counts
from rocky.ledger.pipeline_records import RowCount
from rocky.pipelines.checks.tables import CheckedTable, SourceSide, UnreadableTable
from rocky.pipelines.replication.copies import Copy
from rocky.pipelines.replication.planning import ReplicationPlan
from rocky.pipelines.replication.routing import RoutedTable
from rocky.project.models import Target
from rocky.run.literals import quote_name, quote_text
from rocky.run.notes import RunSoFar
from rocky.run.surroundings import Surroundings

Histories = Mapping[str, tuple[RowCount, ...]]


class CopiedTables:
    """The tables of one run as its checks see them."""

    def __init__(self, around: Surroundings, plan: ReplicationPlan) -> None:
        self._around = around
        self._plan = plan

    def find(self, so_far: RunSoFar) -> list[CheckedTable | UnreadableTable]:
        """Every table that was copied or had nothing new; what failed is not looked at."""
        made = {each.step.key: each.watermark for each in so_far.outcomes if each.succeeded}
        copies = {each.routed.key: each for each in self._plan.copies if each.model.key in made}
        routed = [*(each.routed for each in copies.values()), *self._plan.unchanged]
        history = load_counts(self._around.ledger.path, [each.target.full_name for each in routed])
        tables = [
            self._checked(each, copies.get(each.key), made.get(each.key), history)
            for each in routed
        ]
        return [each for each in tables if each is not None]

    def _checked(
        self, routed: RoutedTable, copy: Copy | None, high: str | None, history: Histories
    ) -> CheckedTable | UnreadableTable | None:
        table = self._around.warehouse.table(routed.target)
        try:
            snapshot = table.snapshot()
        except StoreUnreadable as error:
            return UnreadableTable(routed.target.full_name, str(error))
        if snapshot is None:
            return None
        names = {field.name.lower() for field in snapshot.schema}
        has_time = routed.timestamp_column.lower() in names
        return CheckedTable(
            routed.target,
            table,
            snapshot,
            self._source(copy, high) if copy is not None else None,
            routed.asset_key[0],
            routed.found.schema,
            routed.timestamp_column if has_time else None,
            tuple(each.name for each in routed.metadata),
            self._on_notice(routed.target, copy),
            history.get(routed.target.full_name, ()),
            unchanged=copy is None,
        )

    def _source(self, copy: Copy, high: str | None) -> SourceSide:
        declared = self._plan.run.project.sources[copy.model.sources[0].declared_name.lower()]
        pin = self._around.sources.look(declared)
        where = None
        if pin is None and high is not None:
            # Rows that arrived after the copy began wait for the next one.
            name = quote_name(copy.routed.timestamp_column)
            where = f"{name} <= {quote_text(high)} OR {name} IS NULL"
        return SourceSide(declared, pin, where=where)

    def _on_notice(self, target: Target, copy: Copy | None) -> tuple[str, ...]:
        periods = list(self._plan.history.grace.get(target.key, ()))
        ended = {each.column for each in copy.notes.ended} if copy is not None else set()
        periods += copy.notes.grace if copy is not None else ()
        return tuple({each.column: each for each in periods if each.column not in ended})
