"""Records of branches and promotions: who changed what, on whose approval.

A promotion's record holds the approvals it was made on, word for word with their signatures, so
that the ledger alone answers who agreed to what.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from rocky.ledger.pipeline_records import GracePeriod, LoadedFile
from rocky.ledger.record import Record, RunId, format_time, key_of
from rocky.ledger.run_records import PartitionRecord, WatermarkState

BRANCHES = "branches"
PROMOTIONS = "promotions"

PRODUCTION = "production"
"""What the parent of a branch that is none of another branch is called."""

PROMOTED = "promote"
REVERTED = "revert"
UNDONE = "undone"
"""The kinds of a promotion: one, one taken back, one that moved nothing in the end."""


class BranchStatus(StrEnum):
    """How a branch stands. As it is stored."""

    OPEN = "open"
    DELETED = "deleted"


ENDING = ("status", "deleted_at", "deleted_by")
"""What changes in the record of a branch that is deleted; all else is as it was made."""


@dataclass(frozen=True, slots=True)
class BranchRecord(Record):
    """A branch. `tables` are the versions of the parent's tables that it was made of, by target.

    `warehouse` is where its tables are, `parent_warehouse` where those of its parent are, which is
    `production` or another branch. `base_commit` is the commit of the code that it is compared
    with. `from_run` is the run after which the parent was taken, if it was not as it is. `at` are
    the branch's own versions that are the same as those in `tables`: 0, the clone, unless it says
    otherwise.
    """

    name: str
    schema_prefix: str
    created_by: str
    created_at: datetime
    warehouse: str
    parent_warehouse: str
    parent: str = PRODUCTION
    adapter: str = "default"
    from_run: RunId | None = None
    base_commit: str | None = None
    git_branch: str | None = None
    description: str | None = None
    tables: Mapping[str, int] = field(default_factory=dict)
    at: Mapping[str, int] = field(default_factory=dict)
    status: BranchStatus = BranchStatus.OPEN
    deleted_at: datetime | None = None
    deleted_by: str | None = None


def former_key(branch: BranchRecord) -> str:
    """What the row of a branch is kept under when a later one has its name."""
    return key_of(f"#{branch.name.lower()}", format_time(branch.created_at))


@dataclass(frozen=True, slots=True)
class ApprovalRecord(Record):
    """A signed statement as it was relied on: its exact text, its signature, who that was.

    `allowed_signer` is the line of `allowed_signers` that the key was found in.
    """

    approval_id: str
    kind: str
    approver: str
    key_fingerprint: str
    statement: str
    signature: str
    allowed_signer: str


@dataclass(frozen=True, slots=True)
class PromotedTable(Record):
    """A table that a promotion moved: from one version of it to the next, all at once.

    `from_version` is absent for a table that did not exist. The content hashes are over the sorted
    hashes of the files. `built_by` is the run of the branch that made the content, which is that of
    `branch_version`; `branch_before` is the branch's version of what was replaced. `..._before` is
    all that was remembered of the table, so that going back brings it back. `skip_hash` is the code
    that made the content, `skip_hash_before` that of what was replaced; of a seed, its file's hash.
    """

    target: str
    model_name: str
    to_version: int
    to_content: str
    from_version: int | None = None
    from_content: str | None = None
    branch_version: int | None = None
    branch_before: int | None = None
    built_by: RunId | None = None
    built_at: datetime | None = None
    built_from: str | None = None
    sql_hash: str | None = None
    recipe_hash: str | None = None
    watermark_before: WatermarkState | None = None
    partitions_before: tuple[PartitionRecord, ...] = ()
    grace_before: tuple[GracePeriod, ...] = ()
    loaded_before: tuple[LoadedFile, ...] = ()
    skip_hash: str | None = None
    skip_hash_before: str | None = None


@dataclass(frozen=True, slots=True)
class PromotionRecord(Record):
    """A promotion, or a revert of one: `run_id` is also its name.

    `state_hash` is what the approvals were about; `verdict` is the worst change of the code since
    `base_commit`, and `breaking` the changes that broke something. `tables` were moved; `left` are
    tables that were not, with why. `recovers` is the run that began the work and died.
    """

    run_id: RunId
    kind: str
    branch: str
    by: str
    at: datetime
    tables: tuple[PromotedTable, ...] = ()
    left: Mapping[str, str] = field(default_factory=dict)
    state_hash: str | None = None
    verdict: str | None = None
    breaking: tuple[str, ...] = ()
    base_commit: str | None = None
    git_commit: str | None = None
    git_dirty: bool | None = None
    policy: Mapping[str, str] = field(default_factory=dict)
    approvals: tuple[ApprovalRecord, ...] = ()
    reverts: RunId | None = None
    recovers: RunId | None = None
    reason: str | None = None

    @property
    def approvers(self) -> tuple[str, ...]:
        """Who approved; who only gave a reason for breaking readers did not."""
        return tuple(each.approver for each in self.approvals if each.kind == "approval")
