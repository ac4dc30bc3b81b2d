"""SSHSIG: what a signature of OpenSSH's says about itself, and how a public key is named.

Nothing is verified here: `ssh-keygen` does that. The key inside a signature says who claims to have
signed, which is what lists of signers are searched for and what people are told.
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

NAMESPACE: Final = "rocky-approval"
"""What the signatures are for: one made for anything else is no approval."""
ED25519: Final = ("ssh-ed25519", "sk-ssh-ed25519@openssh.com")
"""The kinds of keys that may sign: on disk or in an agent, and in a security token."""

_MAGIC: Final = b"SSHSIG"
_ARMOUR: Final = re.compile(
    r"\s*-----BEGIN SSH SIGNATURE-----\s+([A-Za-z0-9+/=\s]+?)\s*-----END SSH SIGNATURE-----\s*"
)


class NotASignature(ValueError):
    """A text that is no SSH signature; says why."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A public key as OpenSSH writes it on the wire."""

    kind: str
    blob: bytes

    @property
    def fingerprint(self) -> str:
        """`SHA256:...`, as `ssh-keygen -l` prints it."""
        digest = base64.b64encode(hashlib.sha256(self.blob).digest()).decode()
        return f"SHA256:{digest.rstrip('=')}"

    @property
    def is_ed25519(self) -> bool:
        return self.kind in ED25519


@dataclass(frozen=True, slots=True)
class Envelope:
    """What a signature says: whose it claims to be, and what for."""

    key: PublicKey
    namespace: str


def parse_signature(text: str) -> Envelope:
    """What an armoured signature says of itself. Raises NotASignature."""
    found = _ARMOUR.fullmatch(text)
    if found is None:
        raise NotASignature("the file is not an SSH signature")
    try:
        data = base64.b64decode("".join(found[1].split()), validate=True)
    except binascii.Error as failure:
        raise NotASignature("the SSH signature is not base64") from failure
    if not data.startswith(_MAGIC) or data[6:10] != b"\0\0\0\1":
        raise NotASignature("the SSH signature is of a version that is not known")
    fields = _fields(data[10:])
    key, namespace = next(fields), next(fields)
    return Envelope(parse_key(key), namespace.decode("utf-8", "replace"))


def parse_key(blob: bytes) -> PublicKey:
    """The public key in its wire form. Raises NotASignature."""
    return PublicKey(next(_fields(blob)).decode("ascii", "replace"), blob)


def decode_key(text: str) -> PublicKey | None:
    """The public key in the base64 of a `.pub` file; None for what is none."""
    try:
        return parse_key(base64.b64decode(text, validate=True))
    except (binascii.Error, NotASignature):
        return None


def _fields(data: bytes) -> Iterator[bytes]:
    """The strings that follow each other, each after its length. Raises NotASignature."""
    while True:
        size = int.from_bytes(data[:4])
        if len(data) < 4 or len(data) < 4 + size:
            raise NotASignature("the SSH signature, or a key in it, is cut short")
        yield data[4 : 4 + size]
        data = data[4 + size :]
