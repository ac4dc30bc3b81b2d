"""OpenSSH: what a signature says about itself, and `ssh-keygen`, which makes and verifies one.

This is the only place that starts `ssh-keygen`. It alone touches private keys and judges
signatures: the key that is read out of one says who claims to have signed, and proves nothing. It
is asked in one time zone, because a list of signers may say `valid-before` without one and must
mean the same on every machine.
"""

import base64
import binascii
import hashlib
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from rocky.errors import ApprovalRefused, KeygenUnavailable

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
        raise NotASignature("the SSH signature has an unknown version")
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


_TIMEOUT_SECONDS: Final = 30
_LISTED_KEY: Final = re.compile(r"\d+ (SHA256:\S+) .*\(([A-Z0-9-]+)\)")
_LISTED_ED25519: Final = ("ED25519", "ED25519-SK")
_TOO_OLD: Final = ("unknown option", "illegal option", "usage:")


@dataclass(frozen=True, slots=True)
class KeyLocation:
    """Where a key is: a private key's file, or a public key whose other half an agent has.

    `literal` is the text of a public key that is in no file.
    """

    path: Path | None = None
    literal: str | None = None

    def __str__(self) -> str:
        return str(self.path) if self.path is not None else "the key that is named by its text"


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A key to sign with."""

    place: KeyLocation
    fingerprint: str


@dataclass(frozen=True, slots=True)
class KeygenAnswer:
    """What the program answered."""

    good: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Keygen:
    """Asks `ssh-keygen`. Only when `interactive` may it ask for a passphrase or a touch."""

    environment: Mapping[str, str]
    interactive: bool = False

    def describe(self, place: KeyLocation) -> SigningKey:
        """The key at a place. Raises ApprovalRefused for what is no Ed25519 key."""
        with _private_folder() as folder:
            said = self._run(["-l", "-E", "sha256", "-f", _key_file(folder, place)], b"")
        found = _LISTED_KEY.match(said.detail) if said.good else None
        if found is None:
            raise ApprovalRefused(f"`{place}` cannot be read as an SSH key: {said.detail}")
        if found[2] not in _LISTED_ED25519:
            raise ApprovalRefused(
                f"`{place}` is a key of kind {found[2]}, and only Ed25519 keys sign here;"
                " make one with `ssh-keygen -t ed25519`, or name another with `--key`"
            )
        return SigningKey(place, found[1])

    def sign(self, key: SigningKey, statement: bytes, namespace: str = NAMESPACE) -> str:
        """The armoured signature over a statement. Raises ApprovalRefused."""
        with _private_folder() as folder:
            # A file and not standard input, which it would take for a passphrase.
            text = folder / "statement"
            text.write_bytes(statement)
            path = _key_file(folder, key.place)
            line = ["-q", "-Y", "sign", "-n", namespace, "-f", path, str(text)]
            said = self._run(line, b"", may_ask=True)
            made = folder / "statement.sig"
            if not said.good or not made.is_file():
                raise ApprovalRefused(self._why_unsigned(key, said.detail))
            return made.read_text("ascii")

    def check(self, statement: bytes, signature: str, namespace: str = NAMESPACE) -> KeygenAnswer:
        """Whether a signature was made over a statement, by whomever."""
        with _private_folder() as folder:
            line = ["-Y", "check-novalidate", "-n", namespace, "-s", _write_text(folder, signature)]
            return self._run(line, statement)

    def verify(
        self,
        statement: bytes,
        signature: str,
        signers: str,
        principal: str,
        at: datetime,
        namespace: str = NAMESPACE,
    ) -> KeygenAnswer:
        """Whether a signature is one of a principal's, by a list of signers as of a moment."""
        with _private_folder() as folder:
            listed = folder / "allowed_signers"
            listed.write_text(signers, "utf-8")
            moment = at.astimezone(UTC).strftime("%Y%m%d%H%M%S")
            line = ["-Y", "verify", "-O", f"verify-time={moment}", "-n", namespace]
            line += ["-f", str(listed), "-I", principal, "-s", _write_text(folder, signature)]
            said = self._run(line, statement)
            # Files of ours mean nothing to whoever reads this later.
            return KeygenAnswer(said.good, said.detail.replace(f"{listed}:", "line "))

    def _why_unsigned(self, key: SigningKey, detail: str) -> str:
        if "passphrase" in detail and not self.interactive:
            return (
                f"`{key.place}` has a passphrase, and there is no terminal to ask for it on;"
                f" put it into an agent with `ssh-add {key.place}`"
            )
        if "No private key found" in detail or "agent" in detail:
            return (
                f"no agent has the private key of `{key.place}` ({key.fingerprint});"
                " `ssh-add -l` lists those it has, `ssh-add FILE` gives it one"
            )
        return f"`ssh-keygen` did not sign with `{key.place}`: {detail or 'it gave no reason'}"

    def _run(self, arguments: Sequence[str], data: bytes, *, may_ask: bool = False) -> KeygenAnswer:
        asks = may_ask and self.interactive
        environment = {**self.environment, "TZ": "UTC", "LC_ALL": "C"}
        if not asks:
            environment["SSH_ASKPASS_REQUIRE"] = "never"
        try:
            done = subprocess.run(
                ["ssh-keygen", *arguments],
                input=None if asks else data,
                stdout=subprocess.PIPE,
                stderr=None if asks else subprocess.PIPE,
                # Without a terminal of its own it cannot wait for an answer nobody can give.
                start_new_session=not asks,
                timeout=None if asks else _TIMEOUT_SECONDS,
                check=False,
                env=environment,
            )
        except FileNotFoundError as failure:
            raise KeygenUnavailable(
                "`ssh-keygen` is not installed, or not on the PATH: Debian has it in"
                " `openssh-client`"
            ) from failure
        except OSError as failure:
            raise KeygenUnavailable(f"`ssh-keygen` cannot be started: {failure}") from failure
        except subprocess.TimeoutExpired as failure:
            raise KeygenUnavailable(
                f"`ssh-keygen` took longer than {_TIMEOUT_SECONDS} s"
            ) from failure
        detail = _first_line((done.stderr or b"") + b"\n" + done.stdout)
        if done.returncode and detail.lower().startswith(_TOO_OLD):
            raise KeygenUnavailable(
                "`ssh-keygen` is too old to sign and verify: OpenSSH 8.9 or newer is needed"
            )
        return KeygenAnswer(done.returncode == 0, detail)


def _first_line(output: bytes) -> str:
    lines = output.decode("utf-8", "replace").splitlines()
    # What it asks for stands in front of what it says.
    return next((line.removeprefix("Enter passphrase: ") for line in lines if line.strip()), "")


def _key_file(folder: Path, place: KeyLocation) -> str:
    if place.path is not None:
        return str(place.path)
    path = folder / "key.pub"
    path.write_text(f"{place.literal}\n", "utf-8")
    return str(path)


def _write_text(folder: Path, signature: str) -> str:
    path = folder / "signature"
    path.write_text(signature, "utf-8")
    return str(path)


@contextmanager
def _private_folder() -> Iterator[Path]:
    """A folder that nobody else can look into."""
    with tempfile.TemporaryDirectory(prefix="rocky-approval-") as name:
        yield Path(name)
