"""Calls of a catalogue's REST interface: JSON in and out, tried again where that may help.

Redirects are not followed: they could carry the token elsewhere. The token is in a header and in
nothing that is shown, logged or raised; what a server answers is shown without it.
"""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from random import Random
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

from rocky.errors import CatalogueUnreachable, GovernanceRefused
from rocky.project.configuration.governed_catalog import GovernedCatalog
from rocky.project.secrets import Secrets
from rocky.version import __version__

_AGAIN: Final = frozenset({429, 502, 503, 504})
_LONGEST_WAIT: Final = 20.0
_MOST_BYTES: Final = 64 * 1024 * 1024
_SHOWN: Final = 300
RANGERS: Final = "ranger"
_ADVICE: Final[Mapping[int, str]] = {
    401: "the token was not accepted; set the variable that `token` names to one that is valid",
    403: "the token may not do this; give its owner the right to manage what is named here",
    429: "too many requests; try again later",
}


class HttpRefusal(GovernanceRefused):
    """An answer that is an error, with its status, and `code` where a catalogue said which."""

    def __init__(self, message: str, status: int, code: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


_OPENER: Final = urllib.request.build_opener(_NoRedirect)


class RestClient:
    """One server. `authorization` is the value of that header."""

    def __init__(
        self,
        settings: GovernedCatalog,
        authorization: str | None,
        secrets: tuple[str | None, ...] = (),
        pause: float = 0.2,
    ) -> None:
        self._url = (settings.url or "").rstrip("/")
        self._timeout = settings.timeout_seconds
        self._retries = settings.retries
        self._authorization = authorization
        self._secrets = Secrets((authorization, settings.token, *secrets))
        self._pause = pause
        self._random = Random()
        parts = urlsplit(self._url)
        self.host = parts.hostname or ""
        if parts.port is not None:
            self.host += f":{parts.port}"

    def __repr__(self) -> str:
        return f"RestClient({self.host})"

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        query: Mapping[str, str | int] | None = None,
    ) -> Any:
        """The JSON of the answer, None for an empty one.

        Raises HttpRefusal for an error that trying again does not mend, CatalogueUnreachable where
        nothing answers.
        """
        asked = f"{method} {path}"
        target = self._url + path + (f"?{urlencode(query)}" if query else "")
        tried = 0
        while True:
            tried += 1
            try:
                return self._ask(method, target, body, asked)
            except HttpRefusal as refused:
                if refused.status not in _AGAIN or tried > self._retries:
                    raise
            except CatalogueUnreachable:
                # Whether a server has done what it did not answer is not known.
                if method == "POST" or tried > self._retries:
                    raise
            wait = min(self._pause * 2 ** (tried - 1), _LONGEST_WAIT)
            time.sleep(wait * self._random.uniform(0.5, 1.0))

    def _ask(self, method: str, target: str, body: Any, asked: str) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Accept": "application/json", "User-Agent": f"rocky/{__version__}"}
        if data is not None:
            headers["Content-Type"] = "application/json"
        if self._authorization is not None:
            headers["Authorization"] = self._authorization
        request = urllib.request.Request(target, data, headers, method=method)
        try:
            with _OPENER.open(request, timeout=self._timeout) as answer:
                text = answer.read(_MOST_BYTES)
        except urllib.error.HTTPError as refused:
            with refused:
                raise self._refusal(asked, refused.code, refused.read(_MOST_BYTES)) from None
        except TimeoutError:
            said = f"`{self.host}` did not answer within {self._timeout} s ({asked})"
            raise CatalogueUnreachable(
                f"{said}; raise `timeout_seconds` in `[governance.catalog]`"
            ) from None
        except ValueError:
            # What it says may quote a header.
            raise CatalogueUnreachable(
                f"no request can be made of `url` and `token` of `[governance.catalog]` ({asked})"
            ) from None
        except (HTTPException, OSError) as failure:
            reason = failure.reason if isinstance(failure, urllib.error.URLError) else failure
            if isinstance(reason, TimeoutError):
                reason = f"no answer within {self._timeout} s"
            said = self._secrets.scrub(str(reason) or type(reason).__name__)
            raise CatalogueUnreachable(
                f"`{self.host}` cannot be reached ({said}); see `url` in `[governance.catalog]`"
            ) from None
        try:
            return json.loads(text) if text.strip() else None
        except ValueError:
            raise CatalogueUnreachable(
                f"`{self.host}` answered `{asked}` with something that is no JSON;"
                " see `url` in `[governance.catalog]`"
            ) from None

    def _refusal(self, asked: str, status: int, body: bytes) -> HttpRefusal:
        said = self._secrets.scrub(message_in(body))
        advice = _ADVICE.get(status)
        if advice is None and status in (301, 302, 303, 307, 308):
            advice = "it is elsewhere; write that address as `url`, since no token follows"
        if status == 404 and not said:
            advice = "no catalogue says that; see `url` in `[governance.catalog]`"
        words = "; ".join(each for each in (said, advice) if each)
        message = f"`{self.host}` refused {asked} with HTTP {status}"
        return HttpRefusal(f"{message}: {words}" if words else message, status, code_in(body))


def code_in(body: bytes) -> str:
    """The `error_code` of an error's body; empty for one that no catalogue has written.

    Ranger has no names of errors: its bodies are known by their `statusCode` and `msgDesc`.
    """
    try:
        document = json.loads(body)
    except ValueError:
        return ""
    if not isinstance(document, dict):
        return ""
    code = document.get("error_code")
    if isinstance(code, str):
        return code
    is_rangers = isinstance(document.get("statusCode"), int) and "msgDesc" in document
    return RANGERS if is_rangers else ""


def message_in(body: bytes) -> str:
    """The message of an error's body, in one line."""
    try:
        document = json.loads(body)
    except ValueError:
        return ""
    if not isinstance(document, dict):
        return ""
    for key in ("message", "msgDesc", "error"):
        if isinstance(document.get(key), str):
            return " ".join(document[key].split())[:_SHOWN]
    return ""


def segment(name: str) -> str:
    """A name as one segment of a path."""
    return quote(name, safe="")
