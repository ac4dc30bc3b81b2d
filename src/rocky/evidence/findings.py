"""Findings: what does not fit, each with a code, the thing it is about and what that means.

A finding says that evidence and tables disagree. What is merely unfinished, such as a commit of a
run that died, is a note: it is said, and is nobody's guilt.
"""

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum


class FindingCode(StrEnum):
    """What kind of disagreement it is. As it is printed."""

    CHAIN_BROKEN = "chain_broken"
    RECORD_CHANGED = "record_changed"
    RECORD_MISSING = "record_missing"
    RECORD_UNCHAINED = "record_unchained"
    RECORD_MALFORMED = "record_malformed"
    RECORD_INCONSISTENT = "record_inconsistent"
    HASH_MISMATCH = "hash_mismatch"
    FILE_MISSING = "file_missing"
    FILE_CHANGED = "file_changed"
    ROWS_MISMATCH = "rows_mismatch"
    COMMIT_CHANGED = "commit_changed"
    COMMIT_MISSING = "commit_missing"
    FOREIGN_COMMIT = "foreign_commit"
    LOG_FILE_UNKNOWN = "log_file_unknown"
    HEAD_UNKNOWN = "head_unknown"
    ANCHOR_AHEAD = "anchor_ahead"
    ANCHOR_BEHIND = "anchor_behind"
    ANCHOR_MISSING = "anchor_missing"
    PROMOTION_UNFINISHED = "promotion_unfinished"
    ERASURE_UNFINISHED = "erasure_unfinished"
    ERASED_FILE_PRESENT = "erased_file_present"
    FOREIGN_JOURNAL = "foreign_journal"
    APPROVAL_UNSIGNED = "approval_unsigned"
    SEAL_MALFORMED = "seal_malformed"
    SEAL_SIGNATURE = "seal_signature"
    SEAL_UNLISTED_SIGNER = "seal_unlisted_signer"
    SEAL_HEAD_MISSING = "seal_head_missing"
    SEAL_TABLE_BEHIND = "seal_table_behind"
    SEAL_TABLE_CHANGED = "seal_table_changed"


@dataclass(frozen=True, slots=True)
class Finding:
    """One disagreement: `where` names the file, row or table, `message` says what it means."""

    code: FindingCode
    where: str
    message: str


@dataclass(frozen=True, slots=True)
class Findings:
    """What is found while checking, in the order in which it was, nothing twice."""

    found: dict[Finding, None] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    checked: Counter[str] = field(default_factory=Counter)

    def add(self, code: FindingCode, where: str, message: str) -> None:
        self.found[Finding(code, where, message)] = None

    def expect(self, holds: bool, code: FindingCode, where: str, message: str) -> bool:  # noqa: FBT001 - what is expected
        """Whether something holds; reported when it does not."""
        if not holds:
            self.add(code, where, message)
        return holds

    def note(self, text: str) -> None:
        self.notes[text] = None
