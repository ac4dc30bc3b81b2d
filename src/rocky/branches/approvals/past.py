"""What a change is held to: the commit it is compared with, and those whose rules count.

None of it is for who makes the change to choose. The rules are those of the main line as it is now
and as it was when the change left it, so that a key or a rule that was given up since counts no
more. The main line's tip decides about rules only: when it moves on, no approval is void by that.
"""

from dataclasses import dataclass

from rocky.branches.approvals.policy import BaseFiles
from rocky.errors import ApprovalRefused
from rocky.git import Repository, merge_base, resolve_ref, show_file
from rocky.git.main_line import MainLine, find_main_line, is_ancestor
from rocky.ledger.branch_records import BranchRecord

_SHOWN_COMMIT = 12


@dataclass(frozen=True, slots=True)
class Past:
    """The commits before a change. `base` is what it is compared with, `tip` the main line's."""

    base: BaseFiles
    fork: BaseFiles
    tip: BaseFiles

    @property
    def rules(self) -> tuple[BaseFiles, ...]:
        """The commits whose rules count, each once, the main line's tip last."""
        return tuple({each.commit: each for each in (self.base, self.fork, self.tip)}.values())


def find_past(repository: Repository, record: BranchRecord) -> Past:
    """The commits that a branch's change is held to.

    It is compared with the commit where it left the main line. Once it is on the main line there is
    no such commit: then with the one that the branch was made against. Raises UnknownRevision when
    there is no main line here, or nothing in common with it, and ApprovalRefused for a branch that
    was made against no commit, or one that is not in the past of both.
    """
    if record.base_commit is None:
        raise ApprovalRefused(
            f"branch `{record.name}` was made without a commit to compare it with; commit the"
            f" project, then `rocky branch rebase {record.name}` makes it anew, against one"
        )
    main, head = find_main_line(repository), resolve_ref(repository, "HEAD")
    fork = merge_base(repository, main.tip, head)
    base = fork if fork != head else _recorded(repository, record, main, head)
    return Past(_files(repository, base), _files(repository, fork), _files(repository, main.tip))


def _recorded(repository: Repository, record: BranchRecord, main: MainLine, head: str) -> str:
    assert record.base_commit is not None
    base = resolve_ref(repository, record.base_commit)
    for name, commit in (("HEAD", head), (main.name, main.tip)):
        if not is_ancestor(repository, base, commit):
            raise ApprovalRefused(
                f"branch `{record.name}` was made against commit `{base[:_SHOWN_COMMIT]}`, which"
                f" `{name}` does not have; `rocky branch rebase {record.name}` makes it anew,"
                " against one that it has"
            )
    return base


def _files(repository: Repository, commit: str) -> BaseFiles:
    return BaseFiles(commit, lambda path: show_file(repository, commit, path))
