"""The answers of a server: all that knows the project, loaded while the page is being opened.

What a page begins with is made first. Where the project is as it was at the last start, the index
of that time is lent until the true one is there; if that is another, the page is told.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from threading import Event
from typing import Any, Final

from rocky.errors import NothingSelected
from rocky.operations.execution.saves import table_folders
from rocky.operations.page.site_folder import load_assets
from rocky.operations.report import encode_report, format_report
from rocky.operations.workspace import Workspace
from rocky.protocol.changes import Lookout
from rocky.protocol.endpoint import Arguments, Endpoint, parse_query, without_quotes
from rocky.protocol.first_endpoints import FIRST, names_of
from rocky.protocol.kept_index import mark_of, read_index, write_index
from rocky.protocol.memory import Memory
from rocky.protocol.notices import Notices
from rocky.version import __version__
from rocky.web.address import ServerSettings
from rocky.web.jobs import Jobs
from rocky.web.layouts import Layouts

_COMPACT: Final[dict[str, Any]] = {"separators": (",", ":")}
_PROJECT: Final = FIRST[0]
_INDEX: Final = (_PROJECT.name, ())
REMOTE_EVERY: Final = 30.0
"""So many seconds pass until a remote state is asked again for runs of other machines."""
_PATIENCE: Final = 2.0
"""A compile uses every core: it waits so long for the page to be seen first."""


class Answers:
    """What a server knows of one project."""

    def __init__(self, workspace: Workspace, notices: Notices, settings: ServerSettings) -> None:
        self.memory = Memory(workspace)
        self.jobs = Jobs(workspace, notices, allowed=settings.allow_actions)
        self.layouts = Layouts(workspace, load_assets()["layout.js"], keeps=settings.local)
        self._workspace, self._notices, self._settings = workspace, notices, settings
        self._lookout = Lookout(self.memory, notices, remote_every=REMOTE_EVERY)
        self._seen = Event()
        self._lent: bytes | None = None

    @cached_property
    def endpoints(self) -> Mapping[str, Endpoint]:
        """What can be asked, by name. They load every operation there is."""
        from rocky.protocol.endpoints import ENDPOINTS  # noqa: PLC0415

        known = names_of(local=self._settings.local)
        return {each.name: each for each in ENDPOINTS if each.name in known}

    def open(self) -> None:
        """Look out for changes, and lend what is kept: before anything is asked."""
        self._lookout.start()
        self._lent = read_index(self._workspace)
        if self._lent is not None:
            self.memory.lend(_INDEX, self._lent)

    def warm_up(self) -> None:
        """Make what a page begins with; then load the rest. Raises what opening it raises."""
        if self._lent is not None:
            self._seen.wait(_PATIENCE)
        try:
            self._make_index(self._lent)
        finally:
            self.endpoints  # noqa: B018 - loads them

    def close(self) -> None:
        """Look out no more."""
        self._seen.set()
        self._lookout.close()

    def answer(self, name: str, query: str) -> bytes:
        """The answer to a question. Raises NothingSelected, and what an operation raises."""
        if name == "actions":
            known = names_of(local=self._settings.local)
            report = replace(self.jobs.report(), endpoints=known)
            return format_report(_head(name), report, **_COMPACT).encode()
        if name == "layouts":
            return self.layouts.answer()
        first = next((each for each in FIRST if each.name == name), None)
        endpoint = first or self.endpoints.get(name)
        if endpoint is None:
            raise NothingSelected(f"no `{name}` here; there is {', '.join(self.endpoints)}")
        given = parse_query(endpoint.parameters, query)
        if not endpoint.is_kept:
            return self._made(endpoint, given)
        key = (name, tuple(sorted(given.items())))
        found = self.memory.kept(key, lambda: self._made(endpoint, given))
        if endpoint is _PROJECT:
            self._seen.set()
        return found

    def _make_index(self, lent: bytes | None) -> None:
        compilation = self.memory.compilation()
        tables = table_folders(compilation.project)
        mark = mark_of(self._workspace, tables)
        found = self.memory.kept(_INDEX, lambda: self._made(_PROJECT, {}), lent=False)
        if lent is not None and found != lent:
            self._notices.tell("change", kinds=["files"])
        # What was saved meanwhile may be in it, or not: then the next start makes its own.
        if mark is not None and found != lent and mark == mark_of(self._workspace, tables):
            write_index(self._workspace, tables, mark, found)

    def _made(self, endpoint: Endpoint, given: Arguments) -> bytes:
        report = endpoint.answer(self.memory, given)
        if endpoint.may_quote and not self._settings.local:
            document = _head(endpoint.name) | without_quotes(endpoint, encode_report(report))
            return json.dumps(document, **_COMPACT).encode()
        return format_report(_head(endpoint.name), report, **_COMPACT).encode()


def _head(name: str) -> dict[str, str]:
    return {"version": __version__, "endpoint": name}
