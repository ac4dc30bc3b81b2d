"""A seal's file: a line of canonical JSON, and after it the OpenSSH signature over that line.

So `head -n 1` and `tail -n +2` take it apart, and `ssh-keygen -Y verify` judges it. Signatures have
a namespace of their own: one that was made for an approval seals nothing, and the other way round.
"""

from dataclasses import dataclass
from typing import Final

from rocky.branches.approvals.policy import Signers, SignersFile
from rocky.branches.approvals.signatures import KeyChoices, find_key, find_principal
from rocky.branches.approvals.ssh import Keygen, NotASignature, SigningKey, parse_signature
from rocky.branches.approvals.statements import printable
from rocky.errors import ApprovalRefused, SealRefused
from rocky.evidence.findings import Finding, FindingCode
from rocky.evidence.seals import KeptSeal, NotASeal, Seal, parse_seal

NAMESPACE: Final = "rocky-seal"
SUFFIX: Final = ".seal"
_SHOWN_HASH: Final = 12


@dataclass(frozen=True, slots=True)
class SealSigner:
    """Who seals: the key, the name it has among the signers, and the list that says so."""

    key: SigningKey
    principal: str
    signers: SignersFile


def choose_signer(
    choices: KeyChoices,
    signers: SignersFile,
    asked: str | None,
    email: str | None,
    keygen: Keygen,
) -> SealSigner:
    """Who seals here. Raises SealRefused when there is no key, or no list has it."""
    try:
        key = find_key(choices, keygen)
        name = find_principal(key, Signers((signers,), signers.origin), asked, email)
    except ApprovalRefused as refused:
        raise SealRefused(str(refused)) from refused
    return SealSigner(key, name, signers)


def sign_seal(seal: Seal, signer: SealSigner, keygen: Keygen) -> str:
    """The text of a seal's file. Raises SealRefused when nobody would accept it."""
    try:
        signature = keygen.sign(signer.key, seal.text.encode(), NAMESPACE)
    except ApprovalRefused as refused:
        raise SealRefused(str(refused)) from refused
    text = f"{seal.text}{signature}"
    judged = judge_file("", text.encode(), signer.signers, keygen)
    if isinstance(judged, Finding):
        raise SealRefused(f"the seal was not kept, because it would not count: {judged.message}")
    return text


def file_name(seal: Seal) -> str:
    """What a seal's file is called: by the entry it seals, so that names sort as entries do."""
    return f"{seal.head.seq:012d}-{seal.head.entry_hash[:_SHOWN_HASH]}{SUFFIX}"


def judge_file(name: str, data: bytes, signers: SignersFile, keygen: Keygen) -> KeptSeal | Finding:
    """The seal in a file, if somebody on the list has signed it; else what is wrong with it.

    As of the moment that it names: a key that was given up later has sealed all the same.
    """
    # Whoever can put a file there has chosen its name, and it goes to a terminal.
    name = printable(name)
    line, end, rest = data.partition(b"\n")
    try:
        text = (line + end).decode("utf-8")
        seal = parse_seal(text)
    except (UnicodeDecodeError, NotASeal) as wrong:
        return Finding(FindingCode.SEAL_MALFORMED, name, printable(str(wrong)))
    signature = rest.decode("ascii", "replace")
    try:
        envelope = parse_signature(signature)
    except NotASignature as wrong:
        return Finding(FindingCode.SEAL_SIGNATURE, name, f"nobody has signed it: {wrong}")
    key, who = envelope.key, printable(seal.signer)
    if envelope.namespace != NAMESPACE or not key.is_ed25519:
        why = f"a signature of a `{key.kind}` key for `{envelope.namespace}` does not seal anything"
        return Finding(FindingCode.SEAL_SIGNATURE, name, printable(why))
    said = keygen.verify(
        text.encode(), signature, signers.text, seal.signer, seal.sealed_at, NAMESPACE
    )
    if said.good:
        return KeptSeal(name, seal)
    if not keygen.check(text.encode(), signature, NAMESPACE).good:
        why = "the signature is not of this text: one of them was changed"
        return Finding(FindingCode.SEAL_SIGNATURE, name, why)
    why = (
        f"it is signed by the key {key.fingerprint}, which may not seal for `{who}` by"
        f" {signers.origin}"
    )
    return Finding(FindingCode.SEAL_UNLISTED_SIGNER, name, why)
