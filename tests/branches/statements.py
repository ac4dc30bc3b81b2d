"""Statements about a branch that exists only here, signed with real keys."""

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rocky.branches.approvals.policy import Policy, Signers, parse_signers
from rocky.branches.approvals.signatures import SignedApproval, Signer, sign_statement
from rocky.branches.approvals.ssh import Keygen, KeyLocation
from rocky.branches.approvals.statements import Kind, parse_statement
from rocky.branches.approvals.validity import ApprovalScope, CheckedApprovals, check_approvals
from rocky.branches.state_hash import BranchState
from rocky.canonical import canonical_json
from rocky.ledger.branch_records import BranchRecord

NOW = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
KEYGEN = Keygen(dict(os.environ))

POLICY = Policy(True, 1, 86400, False, Signers())

STATE: Mapping[str, Any] = {
    "version": 1,
    "code": {
        "models": {"orders": {"recipe_hash": "a1", "settings_hash": "b1"}},
        "seeds": {"countries": "c1"},
        "sources": {"raw.orders": "d1"},
        "imports": {},
    },
    "config_hash": "e1",
    "contracts": {"orders": "f1"},
    "tables": {"c.s.orders": {"base_version": 3, "content": "aa", "layout": "bb", "rows": 2}},
    "verdict": {"impact": "warning", "counts": {"warning": 1}, "changes_hash": "99"},
}

RECORD = BranchRecord(
    "feature",
    "branch__feature",
    "author@example.com",
    NOW - timedelta(days=1),
    "warehouse/branch__feature",
    "warehouse",
)


@dataclass(frozen=True)
class Keys:
    """Keys on disk, by name."""

    folder: Path

    def path(self, name: str) -> Path:
        return self.folder / name

    def public(self, name: str) -> str:
        kind, key, *_ = self.path(f"{name}.pub").read_text().split()
        return f"{kind} {key}"

    def listed(self, **people: str) -> str:
        """Lines of a list of signers: `ada="ada@x"` lists the key `ada` for `ada@x`."""
        return "".join(
            f"{principal} {self.public(name.replace('_', '-'))}\n"
            for name, principal in people.items()
        )


EVERYBODY = {
    "ada": "ada@example.com",
    "ada_laptop": "ada@example.com",
    "bob": "bob@example.com",
    "cleo": "cleo@example.com",
    "rsa": "rsa@example.com",
}


@dataclass
class Desk:
    """Where people sign: a folder, a branch, and how it is judged. Change the fields and ask again."""

    root: Path
    keys: Keys
    lists: list[str] = field(default_factory=list)
    state: Mapping[str, Any] = field(default_factory=lambda: STATE)
    record: BranchRecord = RECORD
    authors: frozenset[str] = frozenset({"author@example.com"})
    now: datetime = NOW
    policy: Policy = POLICY

    def question(self, kind: Kind = Kind.APPROVAL) -> ApprovalScope:
        lists = self.lists or [self.keys.listed(**EVERYBODY)]
        signers = Signers(
            tuple(parse_signers(text.encode(), "`allowed_signers`") for text in lists),
            "allowed_signers",
        )
        return ApprovalScope(
            self.record,
            BranchState(self.state),
            replace(self.policy, signers=signers),
            self.authors,
            self.now,
            kind,
        )

    def sign(
        self, key: str, principal: str | None = None, kind: Kind = Kind.APPROVAL, **more: Any
    ) -> SignedApproval:
        who = principal or EVERYBODY[key.replace("-", "_")]
        described = KEYGEN.describe(KeyLocation(self.keys.path(key)))
        signer = Signer(described, who, **more)
        return sign_statement(kind, self.question(kind), signer, self.root, KEYGEN)

    def forge(
        self, signed: SignedApproval, key: str, text: str, namespace: str = "rocky-approval"
    ) -> Path:
        """Another statement in the place of one that was signed, signed anew with a key."""
        for path in (signed.files.statement, signed.files.signature):
            path.unlink()
        return self.put(text, key, namespace)

    def put(self, text: str, key: str, namespace: str = "rocky-approval") -> Path:
        """A statement as somebody would store it who does not ask us."""
        folder = self.root / ".rocky/approvals" / self.record.name
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{parse_statement(text).approval_id}.json"
        path.write_text(text)
        line = ["ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", self.keys.path(key), path]
        subprocess.run(line, check=True, capture_output=True)
        return path

    def check(self, kind: Kind = Kind.APPROVAL) -> CheckedApprovals:
        return check_approvals(self.root, self.question(kind), KEYGEN)

    def verdicts(self, kind: Kind = Kind.APPROVAL) -> list[str]:
        """`counts` or the reason, of each statement in order of their ids."""
        checked = self.check(kind)
        found = [(each.approval_id, "counts") for each in checked.accepted]
        found += [(each.approval_id, each.reason.value) for each in checked.rejected]
        return [verdict for _, verdict in sorted(found)]

    def details(self) -> list[str]:
        return [each.detail for each in self.check().rejected]


def edited_text(signed: SignedApproval, **changes: Any) -> str:
    """A statement that says something else, as its author could have written it."""
    return canonical_json(json.loads(signed.record.statement) | changes)
