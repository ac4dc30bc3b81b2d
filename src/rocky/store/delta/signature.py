"""Signatures under commits: a run signs with a key of its own, which nobody keeps.

The public half stands in the run's record before its first commit, the private half only in the
memory of its process. So a commit that a dead run did not come to record can be told from one that
somebody made to look like it. Signatures have the form of `ssh-keygen -Y sign`, so OpenSSH alone
can check them.
"""

import base64
import hashlib
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from blake3 import blake3

from rocky.store.delta.actions import Action, format_commit

SIGNATURE: Final = "signature"
"""The key of commitInfo that holds it."""
NAMESPACE: Final = b"rocky-commit"
FENCE: Final = "rocky/fence"
"""The application id of the transaction that carries a table's fencing token."""
HIGHEST_FENCE: Final = 2**62
"""No run gets so far by counting: a higher one was put there by somebody else."""
_MAGIC: Final = b"SSHSIG"
_KEY_TYPE: Final = b"ssh-ed25519"
_HASH: Final = b"sha512"


class SigningKey:
    """A key pair that ends with the process."""

    @cached_property
    def _private(self) -> Any:
        # Loading it takes as long as a small command: only who commits pays.
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415
            Ed25519PrivateKey,
        )

        return Ed25519PrivateKey.generate()

    @cached_property
    def public(self) -> str:
        """The public half, as a line of OpenSSH."""
        blob = _packed(_KEY_TYPE, self._private.public_key().public_bytes_raw())
        return f"{_KEY_TYPE.decode()} {base64.b64encode(blob).decode()}"

    def sign(self, message: bytes) -> str:
        """The signature, as the Base64 between the lines that OpenSSH puts around it."""
        raw = self._private.sign(_signed_bytes(message))
        blob = base64.b64decode(self.public.split()[1])
        made = _MAGIC + struct.pack(">I", 1)
        made += _packed(blob, NAMESPACE, b"", _HASH, _packed(_KEY_TYPE, raw))
        return base64.b64encode(made).decode()


def is_signed(public: str, message: bytes, signature: str, namespace: bytes = NAMESPACE) -> bool:
    """Whether a signature over a message, made for a namespace, is by the holder of a key."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - as for making them
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415
        Ed25519PublicKey,
    )

    try:
        kind, encoded = public.split()
        blob = base64.b64decode(encoded, validate=True)
        made = base64.b64decode(signature, validate=True)
        head = _MAGIC + struct.pack(">I", 1) + _packed(blob, namespace, b"", _HASH)
        raw = made[-_RAW_BYTES:]
        if kind.encode() != _KEY_TYPE or made != head + _packed(_packed(_KEY_TYPE, raw)):
            return False
        key = Ed25519PublicKey.from_public_bytes(blob[-_KEY_BYTES:])
        key.verify(raw, _signed_bytes(message, namespace))
    except (InvalidSignature, ValueError):
        return False
    return True


_RAW_BYTES: Final = 64
_KEY_BYTES: Final = 32


def _packed(*texts: bytes) -> bytes:
    return b"".join(struct.pack(">I", len(each)) + each for each in texts)


def _signed_bytes(message: bytes, namespace: bytes = NAMESPACE) -> bytes:
    return _MAGIC + _packed(namespace, b"", _HASH, hashlib.sha512(message).digest())


# ------------------------------------------------------------------ commits


@dataclass(frozen=True, slots=True)
class CommitAuthority:
    """By whose authority a commit is made.

    `sign` is given the statement to be signed. `fence` is the token of the claim that the run
    holds: a table that has had a commit of a higher one is no longer the run's to write; None
    where no claim could be asked for. `check` raises when the claim is known to be lost.
    """

    sign: Callable[[bytes], str] | None = None
    fence: int | None = None
    check: Callable[[], None] = lambda: None


NO_AUTHORITY: Final = CommitAuthority()


def sign_commit(
    authority: CommitAuthority, prefix: str, version: int, actions: list[Action]
) -> bytes:
    """The bytes of a commit, with the signature of whoever makes it.

    Raises what `authority.check` does: nothing is signed once the claim is known to be lost.
    """
    data = format_commit(actions)
    if authority.sign is None:
        return data
    authority.check()
    signature = authority.sign(commit_statement(prefix, version, data))
    info = {**actions[0]["commitInfo"], SIGNATURE: signature}
    return format_commit([{"commitInfo": info}, *actions[1:]])


def is_commit_signed(public: str | None, prefix: str, version: int, data: bytes) -> bool:
    """Whether the bytes of a commit, to the last one, are signed by the holder of a key."""
    # The signature is the last thing that the first line says, and the rest is what was signed.
    line, _, others = data.partition(b"\n")
    found = _SIGNED.fullmatch(line)
    if public is None or found is None:
        return False
    unsigned = found[1] + b"}}\n" + others
    return is_signed(public, commit_statement(prefix, version, unsigned), found[2].decode())


_SIGNED: Final = re.compile(
    rb'(\{"commitInfo":\{.*),"' + SIGNATURE.encode() + rb'":"([A-Za-z0-9+/=]+)"\}\}'
)


def commit_statement(prefix: str, version: int, unsigned: bytes) -> bytes:
    """What is signed: the bytes of a commit, and which commit of which table they are.

    A table is named by its folder below the warehouse's root.
    """
    return f"rocky commit\n{prefix}\n{version}\n{blake3(unsigned).hexdigest()}\n".encode()
