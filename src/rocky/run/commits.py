"""What the commits of a build left behind, as far as it is recorded."""

from collections.abc import Sequence

from rocky.ledger.records import CommitRecord
from rocky.run.pinning import PinnedTable
from rocky.store.actions import parse_add
from rocky.store.change import Committed
from rocky.store.files import DataFile


def added_files(pinned: PinnedTable, commit: Committed) -> Sequence[DataFile]:
    """The files a commit added; one that an earlier attempt had made is read from the log."""
    if not commit.repeated or commit.commit_hash is None:
        return commit.added
    actions = pinned.table.log.read_commit(commit.snapshot.version)
    return [parse_add(action["add"]) for action in actions if action.get("add")]


def commit_records(commits: Sequence[Committed]) -> tuple[CommitRecord, ...]:
    return tuple(
        CommitRecord(each.snapshot.version, each.commit_hash, each.checkpoint_hash)
        for each in commits
        if each.commit_hash is not None
    )
