"""Authorship: who made a change, shown by the signatures of its commits.

An author and a committer are what somebody typed. A commit that git has signed with an SSH key
names the holder of that key, by the same lists of signers that approvals are held to. The names
that were typed count beside it: they only ever refuse more.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from rocky.branches.approvals.policy import Signers, SignersFile
from rocky.branches.approvals.ssh import Keygen, NotASignature, parse_signature
from rocky.errors import ApprovalRefused
from rocky.project.git import ChangeCommit, Repository, read_commit

GIT_NAMESPACE: Final = "git"
"""What git has its signatures made for."""
_SIGNATURE: Final = re.compile(rb"^(gpgsig|gpgsig-sha256) (.*(?:\n .*)*)\n", re.MULTILINE)
_SHOWN_COMMIT: Final = 12
_HOW: Final = (
    "`git config gpg.format ssh`, `git config user.signingkey KEY.pub`, `git rebase"
    " --exec 'git commit --amend --no-edit -S' BASE` signs commits anew"
)


@dataclass(frozen=True, slots=True)
class ProvenAuthors:
    """Those whose keys have signed the commits of a change, and these keys' fingerprints."""

    people: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class SignedCommit:
    """A commit's object without its signature, and the signature."""

    payload: bytes
    signature: str


def prove_authors(
    repository: Repository,
    commits: Iterable[ChangeCommit],
    signers: Signers,
    keygen: Keygen,
    now: datetime,
) -> ProvenAuthors:
    """Who signed commits. Raises ApprovalRefused for one that nobody who is listed has signed."""
    people: set[str] = set()
    keys: set[str] = set()
    for commit in commits:
        shown = f"commit `{commit.commit_id[:_SHOWN_COMMIT]}`"
        signed = parse_commit(read_commit(repository, commit.commit_id))
        if signed is None:
            raise ApprovalRefused(
                f"{shown} is not signed with an SSH key, and `author_proof` in `[branch.approval]`"
                f" wants every commit of a change signed; {_HOW}"
            )
        try:
            envelope = parse_signature(signed.signature)
        except NotASignature as failure:
            raise ApprovalRefused(f"the signature of {shown} cannot be read: {failure}") from None
        fingerprint = envelope.key.fingerprint
        found = _signers_of(signed, fingerprint, commit, signers, keygen, now)
        if not found:
            raise ApprovalRefused(
                f"{shown} is signed with {fingerprint}, which {signers.origin or 'no list'} does"
                f" not allow to sign commits now; it has to be listed for `{GIT_NAMESPACE}`, or"
                " without `namespaces`"
            )
        people |= found
        keys.add(fingerprint)
    return ProvenAuthors(frozenset(people), frozenset(keys))


def parse_commit(data: bytes) -> SignedCommit | None:
    """A commit's object taken apart; None when it has no signature, or more than one."""
    head, blank, message = data.partition(b"\n\n")
    head += b"\n"
    found = _SIGNATURE.findall(head)
    if len(found) != 1 or not blank:
        return None
    text = found[0][1].replace(b"\n ", b"\n").decode("ascii", "replace")
    # Git signs the object as it is without this one header.
    return SignedCommit(_SIGNATURE.sub(b"", head) + b"\n" + message, f"{text}\n")


def _signers_of(
    signed: SignedCommit,
    fingerprint: str,
    commit: ChangeCommit,
    signers: Signers,
    keygen: Keygen,
    now: datetime,
) -> frozenset[str]:
    """Whom every list names for the key and a good signature; nobody when one list does not."""
    found: set[str] = set()
    # The lists of several commits are often one and the same.
    for file in {each.text: each for each in signers.files}.values():
        named = {
            name
            for name in _names_for(file, fingerprint, commit.addresses)
            if keygen.verify(
                signed.payload, signed.signature, file.text, name, now, GIT_NAMESPACE
            ).good
        }
        if not named:
            return frozenset()
        found |= named
    return frozenset(found)


def _names_for(file: SignersFile, fingerprint: str, typed: Iterable[str]) -> Iterator[str]:
    """Who the key may be by a list: the names it has, and of patterns those that were typed."""
    seen: set[str] = set()
    addresses = tuple(typed)
    for line in file.lines_of(fingerprint):
        plain = [each for each in line.patterns if not any(mark in each for mark in "*?!")]
        for name in (*plain, *(each for each in addresses if line.names(each))):
            if name not in seen:
                seen.add(name)
                yield name
