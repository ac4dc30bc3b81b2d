"""Journals of promotions, checked: what one says is going on, and whether a promotion said it."""

from rocky.errors import StoreUnreadable
from rocky.evidence.findings import FindingCode, Findings
from rocky.evidence.records import LedgerRecords
from rocky.store.delta.signature import is_signed
from rocky.store.journal import load_journals
from rocky.store.warehouse import Warehouse


def check_promotion_journals(
    warehouse: Warehouse, recorded: LedgerRecords, findings: Findings
) -> None:
    """A promotion that was interrupted has left some tables moved and others not."""
    try:
        journals = load_journals(warehouse)
    except StoreUnreadable as error:
        findings.add(FindingCode.FOREIGN_JOURNAL, "promotions", str(error))
        return
    for journal in journals:
        run = recorded.runs.get(journal.run_id)
        key = run.commit_key if run is not None else None
        if key is not None and is_signed(key, journal.statement, journal.signature):
            findings.add(
                FindingCode.PROMOTION_UNFINISHED,
                f"promotion {journal.run_id}",
                "it was interrupted: some tables may have moved and others not;"
                " `rocky branch recover` finishes it",
            )
        else:
            findings.add(
                FindingCode.FOREIGN_JOURNAL,
                f"promotion {journal.run_id}",
                "no promotion of this ledger has signed the journal: it was put there by hand;"
                f" `rocky branch recover --forget {journal.run_id}` removes it",
            )
