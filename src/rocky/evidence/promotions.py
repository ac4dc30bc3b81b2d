"""Promotions, checked: what one says it moved must be what the tables' logs say, and was approved.

The approvals it carries must be about the state that it says was promoted. Whether they were signed
is for `ssh-keygen` to say, which anybody can ask.
"""

import json
from collections.abc import Mapping
from typing import Any

from rocky.evidence.findings import FindingCode, Findings
from rocky.evidence.places import TablePlace
from rocky.evidence.recorded import Recorded, maker_of
from rocky.evidence.tables import History
from rocky.ledger.branch_records import PROMOTIONS, PromotedTable, PromotionRecord


def check_promotions(
    recorded: Recorded, histories: Mapping[TablePlace, History], findings: Findings
) -> None:
    """Report promotions that are not what tables and approvals say."""
    for promotion in recorded.promotions.values():
        where = f"{PROMOTIONS} {promotion.run_id}"
        findings.checked["promotions"] += 1
        for table in promotion.tables:
            _check_table(where, promotion, table, (recorded, histories), findings)
        for approval in promotion.approvals:
            findings.expect(
                _state_of(approval.statement) == (promotion.branch, promotion.state_hash),
                FindingCode.RECORD_INCONSISTENT,
                where,
                f"approval `{approval.approval_id}` is not about what was promoted",
            )


def _check_table(
    where: str,
    promotion: PromotionRecord,
    table: PromotedTable,
    known: tuple[Recorded, Mapping[TablePlace, History]],
    findings: Findings,
) -> None:
    recorded, histories = known
    maker = maker_of(promotion.run_id, table.model_name)
    execution = recorded.executions.get(maker)
    if promotion.run_id in recorded.runs:
        findings.expect(
            execution is not None and execution.commit_version == table.to_version,
            FindingCode.RECORD_INCONSISTENT,
            where,
            f"no execution says that it moved `{table.target}` to version {table.to_version}",
        )
    root = recorded.root_of(promotion.run_id)
    if root is None:
        return
    history = histories.get(recorded.places.table(root, table.target), History())
    if promotion.run_id < history.since:
        # The table was dropped and made anew.
        return
    for version, said in (
        (table.to_version, table.to_content),
        (table.from_version, table.from_content),
    ):
        found = None if version is None else history.content(version)
        findings.expect(
            found in (None, said),
            FindingCode.HASH_MISMATCH,
            where,
            f"`{table.target}` was not, at version {version}, what it says",
        )


def _state_of(statement: str) -> tuple[Any, Any]:
    """The branch and the state that a statement is about."""
    try:
        document = json.loads(statement)
        return document.get("branch"), document.get("state_hash")
    except (ValueError, AttributeError):
        return None, None
