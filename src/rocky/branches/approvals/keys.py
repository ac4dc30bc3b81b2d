"""Which key signs, and under which name.

A key is named by a file or by the text of its public half, as git's `user.signingkey` does; with a
public one an agent signs. Private keys are `ssh-keygen`'s alone: no file of theirs is read here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rocky.branches.approvals.keygen import Keygen, KeyPlace, SigningKey
from rocky.branches.approvals.signers import Signers
from rocky.branches.approvals.statement import is_principal
from rocky.errors import ApprovalRefused

VARIABLE: Final = "ROCKY_SIGNING_KEY"
_DEFAULT: Final = ".ssh/id_ed25519"
_LITERAL: Final = "key::"


@dataclass(frozen=True, slots=True)
class KeyChoices:
    """Where a key may be named: by option, by variable, in git's settings, at its usual place."""

    option: str | None = None
    variable: str | None = None
    git: str | None = None
    home: Path | None = None


def find_key(choices: KeyChoices, keygen: Keygen) -> SigningKey:
    """The first key that is named. Raises ApprovalRefused."""
    for named, by in _named(choices):
        place = _place_of(named, choices.home)
        if place.path is not None and not place.path.exists():
            raise ApprovalRefused(f"there is no key `{place}`, which {by} names")
        return keygen.describe(place)
    if choices.home is not None:
        usual = choices.home / _DEFAULT
        for path in (usual, usual.with_name(f"{usual.name}.pub")):
            if path.exists():
                return keygen.describe(KeyPlace(path))
    raise ApprovalRefused(
        f"there is no key to sign with: name one with `--key FILE`, `{VARIABLE}` or git's"
        " `user.signingkey`, or make one with `ssh-keygen -t ed25519`"
    )


def find_principal(key: SigningKey, signers: Signers, asked: str | None, email: str | None) -> str:
    """Under which name a key signs: as asked, git's address, or the one it has in the list.

    Raises ApprovalRefused when the key is not in the list, or is there under several names.
    """
    if not signers.files:
        raise ApprovalRefused(
            "there is no list of those who may approve: put a file `allowed_signers` beside"
            " `rocky.toml`, with a line `EMAIL PUBLIC-KEY` for each of them"
        )
    if not signers.is_listed(key.fingerprint):
        raise ApprovalRefused(
            f"the key `{key.place}` ({key.fingerprint}) is not in {signers.origin};"
            " a line `EMAIL PUBLIC-KEY` puts it there"
        )
    if asked is not None:
        if not is_principal(asked):
            raise ApprovalRefused(f"`{asked}` is no name of a signer")
        return asked
    if email is not None and is_principal(email):
        listed = signers.may_be(key.fingerprint, [email])
        if listed is not None:
            return listed
    only = signers.sole_principals(key.fingerprint)
    if len(only) == 1:
        return only[0]
    raise ApprovalRefused(
        f"the key `{key.place}` has several names in {signers.origin}: choose with `--as NAME`"
    )


def _named(choices: KeyChoices) -> Iterator[tuple[str, str]]:
    places = (
        (choices.option, "`--key`"),
        (choices.variable, f"`{VARIABLE}`"),
        (choices.git, "git's `user.signingkey`"),
    )
    return ((named, by) for named, by in places if named)


def _place_of(named: str, home: Path | None) -> KeyPlace:
    if named.startswith((_LITERAL, "ssh-", "sk-ssh-")):
        return KeyPlace(literal=named.removeprefix(_LITERAL).strip())
    if named.startswith("~/") and home is not None:
        return KeyPlace(home / named[2:])
    return KeyPlace(Path(named))
