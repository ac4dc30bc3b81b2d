"""Disclosure: how far tables are loaded, as whoever looks at a page may see it.

It is a value of a table, so it is hidden where the column is classified.
"""

from dataclasses import replace

from rocky.analysis.disclosure import tags_text
from rocky.ledger.run_records import WatermarkState
from rocky.operations.proof.replay import RecordReport
from rocky.operations.records.history import ExecutionsReport
from rocky.operations.rows.disclosure import disclosure_for
from rocky.operations.state.kept_state import StateReport, show_state
from rocky.operations.state.watermark_values import hide_executions
from rocky.protocol.memory import Memory


def shown_state(memory: Memory) -> StateReport:
    """The state, without watermarks of tables of which any column is hidden."""
    found, page = show_state(memory.workspace), memory.page()
    looking = disclosure_for(memory.workspace, page.compilation)
    columns = {(each.target or each.name).lower(): each.columns for each in page.index.tables}

    def shown(mark: WatermarkState) -> WatermarkState:
        of_table = looking.in_stored(mark.table, columns.get(mark.table.lower(), ()))
        secrets = tuple(each for found in of_table for each in found)
        if mark.table.lower() not in columns:
            secrets = looking.everything
        return replace(mark, last_value=f"hidden ({tags_text(secrets)})") if secrets else mark

    return replace(found, watermarks=tuple(map(shown, found.watermarks)))


def shown_history(memory: Memory, found: object) -> object:
    """The executions of a model; runs have no such values."""
    if not isinstance(found, ExecutionsReport):
        return found
    shown = hide_executions(memory.workspace, [each.execution for each in found.executions])
    pairs = zip(found.executions, shown, strict=True)
    return replace(found, executions=tuple(replace(each, execution=one) for each, one in pairs))


def shown_record(memory: Memory, found: object) -> object:
    """All that is recorded of a run."""
    if not isinstance(found, RecordReport):
        return found
    shown = hide_executions(memory.workspace, [each.execution for each in found.models])
    pairs = zip(found.models, shown, strict=True)
    return replace(found, models=tuple(replace(each, execution=one) for each, one in pairs))
