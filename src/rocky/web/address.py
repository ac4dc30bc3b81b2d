"""Where a server is, for whom, and what it may show."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from rocky.operations.digest import Digest, Digested


@dataclass(frozen=True, slots=True, repr=False)
class ServerAddress(Digested):
    """Where a page is, and whether it may act."""

    url: str
    host: str
    port: int
    allow_actions: bool
    token: str | None = None

    def digest(self) -> Digest:
        # Without the token, which the address has too.
        return Digest(f"{self.host}:{self.port}")


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What a server is and what it may show.

    A `local` one is for one person on this machine, with a token; else it is for whoever a proxy
    lets through, by one of the `hosts`, and shows nothing that may quote rows.
    """

    host: str = "127.0.0.1"
    port: int = 0
    hosts: tuple[str, ...] = ()
    local: bool = True
    allow_actions: bool = False


def is_address(text: str) -> bool:
    """Whether a request may ask for it: the path of a page, or a whole address."""
    try:
        urlsplit(text)
    except ValueError:
        return False
    return True
