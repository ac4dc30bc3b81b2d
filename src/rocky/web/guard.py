"""The guard of a server: which requests are answered at all, decided before anything is looked up.

A page of somebody else's in the same browser can send requests here, and by a name that it has
pointed to this machine (DNS rebinding) even read the answers. So a request must name this server as
its host, come from no other origin, and bring the token, which only the first address has.
"""

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.errors import (
    FirstHeaderLineIsContinuationDefect,
    InvalidHeaderDefect,
    MisplacedEnvelopeHeaderDefect,
    MissingHeaderBodySeparatorDefect,
)
from email.message import Message
from typing import Final, NamedTuple

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Said with every answer."""
_NO_HEADER: Final = (
    FirstHeaderLineIsContinuationDefect,
    InvalidHeaderDefect,
    MisplacedEnvelopeHeaderDefect,
    MissingHeaderBodySeparatorDefect,
)
_OWN: Final = frozenset({"same-origin", "none"})


class Refusal(NamedTuple):
    """Why a request is not answered."""

    status: int
    message: str


@dataclass(frozen=True, slots=True)
class Guard:
    """What requests must bring. Without a `token` anybody who reaches the server is answered.

    `hosts` are the names and ports that the server may be called by, in lower case.
    """

    hosts: frozenset[str]
    token: str | None = field(default=None, repr=False)
    cookie: str = "rocky"
    schemes: tuple[str, ...] = ("http", "https")

    def refuse_foreign(self, headers: Mapping[str, str]) -> Refusal | None:
        """Refuse what was meant for another host, or comes from another origin's page."""
        if headers.get("Host", "").lower() not in self.hosts:
            return Refusal(421, "this server is not the host that was asked for")
        origin = headers.get("Origin")
        if origin is not None and not self._is_own(origin):
            return Refusal(403, "another origin may not ask this server")
        return None

    def refuse_embedded(self, headers: Mapping[str, str]) -> Refusal | None:
        """Refuse what a page of another site has loaded, where the browser says so."""
        if headers.get("Sec-Fetch-Site", "none") not in _OWN:
            return Refusal(403, "another site may not load this")
        return None

    def refuse_stranger(self, headers: Mapping[str, str]) -> Refusal | None:
        """Refuse who does not bring the token."""
        if self.token is None or self.is_token(self._brought(headers)):
            return None
        return Refusal(401, "open the address that `rocky ui` printed: it has the token")

    def refuse_unasked(self, headers: Mapping[str, str]) -> Refusal | None:
        """Refuse to act for what is no request of our own page, or of a program with the token."""
        if headers.get("Content-Type", "").partition(";")[0].strip() != "application/json":
            return Refusal(415, "an action is asked for in JSON")
        origin = headers.get("Origin")
        if origin is None and "Authorization" not in headers:
            return Refusal(403, "an action needs the origin of the page")
        return None

    def is_token(self, given: str | None) -> bool:
        """Whether a text is the token, compared in a time that does not depend on it."""
        if self.token is None or given is None:
            return False
        return hmac.compare_digest(self.token.encode(), given.encode("utf-8", "replace"))

    def cookie_of(self) -> str:
        """What a browser is given to bring the token with every request from now on."""
        return f"{self.cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/"

    def _is_own(self, origin: str) -> bool:
        scheme, _, host = origin.partition("://")
        return scheme in self.schemes and host.lower() in self.hosts

    def _brought(self, headers: Mapping[str, str]) -> str | None:
        scheme, _, given = headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return given.strip()
        # Not by a parser of cookies, which gives up at any other that is not as it likes: those of
        # all servers on this machine come along.
        pairs = (each.strip().partition("=") for each in headers.get("Cookie", "").split(";"))
        return next((value for name, _, value in pairs if name == self.cookie), None)


def is_whole(headers: Message) -> bool:
    """Whether all that was sent as headers was read: what is below a line that is none was not."""
    return not any(isinstance(each, _NO_HEADER) for each in headers.defects)


def new_token() -> str:
    """A token that nobody guesses."""
    return secrets.token_urlsafe(32)


def local_hosts(port: int) -> frozenset[str]:
    """The names by which a server on this machine is called."""
    return frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})
