"""Stand-ins for catalogues, started as processes and told what is in them."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).with_name("catalogue_stand_in.py")
TOKEN = "s3cret-token"


class StandIn:
    """One process, and what a test asks of it beside its interface."""

    def __init__(self, url: str) -> None:
        self.url = url

    def begin(self, **state: Any) -> None:
        """Forget everything, then know this."""
        self.tell(reset=True, **state)

    def tell(self, **state: Any) -> None:
        self._ask("/_control", state)

    @property
    def state(self) -> dict[str, Any]:
        return self._ask("/_control")

    @property
    def log(self) -> list[dict[str, Any]]:
        return self._ask("/_log")

    @property
    def said(self) -> list[dict[str, Any]]:
        """The requests that changed something, or tried to."""
        return [each for each in self.log if each["method"] != "GET"]

    def grants(self, place: str) -> dict[str, list[str]]:
        """Who has what on something, written `table|shop.marts.orders`."""
        found = self.state["grants"].get(place, {})
        return {principal: sorted(names) for principal, names in found.items() if names}

    def _ask(self, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(self.url + path, data, timeout=10) as answer:
            return json.loads(answer.read())


@contextmanager
def start_catalogue(kind: str) -> Iterator[StandIn]:
    """A stand-in of a kind, until the end of the block."""
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), kind], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        yield StandIn(f"http://127.0.0.1:{port}")
    finally:
        process.terminate()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
