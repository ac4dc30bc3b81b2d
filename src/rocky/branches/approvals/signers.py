"""Who may sign: files in OpenSSH's `allowed_signers` format, kept with the code.

`ssh-keygen` alone decides who may; what is read here only ever refuses more. It tells whose key one
may be besides, so that nobody approves their own change, or counts twice, under another name.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from rocky.branches.approvals.sshsig import PublicKey, decode_key
from rocky.errors import SignersUnusable

_WORD: Final = re.compile(r'(?:"[^"]*"|[^\s"])+')
_KEY_TYPE: Final = re.compile(r"(sk-)?(ssh|ecdsa)-[a-z0-9@.-]+")
_OPTION: Final = re.compile(r'(?:"[^"]*"|[^,"])+')


@dataclass(frozen=True, slots=True)
class SignerLine:
    """One line: whoever these patterns name may sign with this key."""

    text: str
    patterns: tuple[str, ...]
    key: PublicKey

    def names(self, principal: str) -> bool:
        """Whether it is about somebody. Compared without case: a doubt makes one person of two."""
        matched = False
        for pattern in self.patterns:
            if _matches(pattern.removeprefix("!"), principal):
                if pattern.startswith("!"):
                    return False
                matched = True
        return matched

    @property
    def sole_principal(self) -> str | None:
        """The one name it has, where it has one and no patterns."""
        only = self.patterns[0] if len(self.patterns) == 1 else "*"
        return None if any(each in only for each in "*?!") else only


@dataclass(frozen=True, slots=True)
class SignersFile:
    """A list of signers. `origin` says which, for people."""

    origin: str
    text: str
    lines: tuple[SignerLine, ...]

    def lines_of(self, fingerprint: str) -> Iterator[SignerLine]:
        return (each for each in self.lines if each.key.fingerprint == fingerprint)


@dataclass(frozen=True, slots=True)
class Signers:
    """The lists that count, each of which must allow a signature; none: nobody may sign.

    `path` is where the newest of them is, from the project's folder on.
    """

    files: tuple[SignersFile, ...] = ()
    path: str = ""

    @property
    def origin(self) -> str:
        return " and ".join(each.origin for each in self.files)

    def is_listed(self, fingerprint: str) -> bool:
        """Whether every list has the key, for whomever."""
        return bool(self.files) and all(any(each.lines_of(fingerprint)) for each in self.files)

    def line_of(self, fingerprint: str, principal: str) -> str:
        """The line that a signature was accepted by."""
        for file in self.files:
            for line in file.lines_of(fingerprint):
                if line.names(principal):
                    return line.text
        return ""

    def may_be(self, fingerprint: str, people: Iterable[str]) -> str | None:
        """The one of some people whose key it could be by any list; None when it is nobody's."""
        lines = [line for file in self.files for line in file.lines_of(fingerprint)]
        return next((each for each in people if any(line.names(each) for line in lines)), None)

    def sole_principals(self, fingerprint: str) -> tuple[str, ...]:
        """The names that lines of one name each have for a key."""
        found = {
            line.sole_principal: None for file in self.files for line in file.lines_of(fingerprint)
        }
        return tuple(each for each in found if each is not None)


def parse_signers(data: bytes, origin: str) -> SignersFile:
    """The list in a file's bytes. Raises SignersUnusable: one wrong line makes all of it unsure."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as failure:
        raise SignersUnusable(f"{origin} is not UTF-8, so nobody may sign") from failure
    lines = []
    for number, line in enumerate(text.split("\n"), 1):
        said = line.strip()
        if said and not said.startswith("#"):
            lines.append(_parse_line(said, f"{origin} line {number}"))
    return SignersFile(origin, text, tuple(lines))


def _parse_line(said: str, where: str) -> SignerLine:
    words = _WORD.findall(said)
    options = words.pop(1) if len(words) > 1 and not _KEY_TYPE.fullmatch(words[1]) else ""
    names = [each.split("=")[0].lower() for each in _OPTION.findall(options)]
    if "cert-authority" in names:
        raise SignersUnusable(
            f"{where}: `cert-authority` is not supported, because a certificate does not say which"
            " person it is; list the keys themselves"
        )
    key = decode_key(words[2]) if len(words) > 2 else None
    if key is None or key.kind != words[1]:
        raise SignersUnusable(
            f"{where} is not written `PRINCIPAL [OPTIONS] ssh-ed25519 KEY`, so nobody may sign;"
            " `man ssh-keygen` has the format under ALLOWED SIGNERS"
        )
    patterns = tuple(each for each in words[0].strip('"').split(",") if each)
    return SignerLine(said, patterns, key)


def _matches(pattern: str, name: str) -> bool:
    parts = {"*": ".*", "?": "."}
    wanted = "".join(parts.get(each) or re.escape(each) for each in pattern.casefold())
    return re.fullmatch(wanted, name.casefold(), re.DOTALL) is not None
