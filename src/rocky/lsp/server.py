"""The server: reads what an editor says, keeps its documents, and leaves all else to the worker.

Reading never waits for a compile. One server serves one project: the folder of the nearest
`rocky.toml`. Whatever goes over the streams is the protocol; logs go to the logging of Python.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any, BinaryIO, Final

from rocky.analysis.compilation import Compilation
from rocky.compiler.session import Session
from rocky.errors import RockyError, describe_failure
from rocky.lsp.documents import Document, changed_text, location_of, path_in
from rocky.lsp.messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_INITIALIZED,
    PARSE_ERROR,
    REQUEST_CANCELLED,
    Message,
    Outgoing,
    ProtocolError,
    UnreadableMessage,
    read_message,
)
from rocky.lsp.reports import METHOD, Reports
from rocky.lsp.requests.table import BY_METHOD, REQUESTS
from rocky.lsp.scheduler import Asked, Scheduler
from rocky.lsp.worker import WARNING, Worker
from rocky.operations.check.consumers import with_consumers_of
from rocky.operations.python_plans import plans_of_session
from rocky.operations.workspace import Workspace, load_workspace
from rocky.version import __version__

logger = logging.getLogger(__name__)

CONFIG: Final = "rocky.toml"
_INCREMENTAL: Final = 2
_WATCHED: Final = "**/*.{sql,rocky,toml,py,csv,json}"
_NOTHING: Final = "no `rocky.toml` in the folder that is open, nor above it"


def serve(workspace: Workspace, incoming: BinaryIO, outgoing: BinaryIO) -> int:
    """Serve one editor until it is gone; 0 when it said so first."""
    return _Server(workspace, Outgoing(outgoing)).serve(incoming)


def project_workspace(workspace: Workspace, root: Path) -> Workspace:
    """The workspace of the project in a folder."""
    config = workspace.config
    return replace(workspace, config=config if config is not None and config.is_file() else root)


def open_session(
    workspace: Workspace,
    root: Path,
    warn: Callable[[str], None],
    *,
    trusted: bool = False,
    meanwhile: Callable[[], None] | None = None,
) -> Session:
    """The session of a project, which says what `rocky compile` says of it, of consumers too.

    Only where the folder is `trusted` is code of the project run, to know its Python models;
    `meanwhile` is called while that is waited for.
    """
    told: set[str] = set()

    def complete(compilation: Compilation) -> Compilation:
        try:
            return with_consumers_of(compilation, ())
        except RockyError as failure:
            # `[publish]` may be half written: all else is still said.
            why = describe_failure(failure)
            if why not in told:
                told.add(why)
                warn(why)
            return compilation

    return Session(
        root,
        lambda: load_workspace(workspace, discovered=True),
        complete=complete,
        plans=plans_of_session("person" if trusted else "reader", meanwhile),
    )


class _Server:
    """What the reading thread knows."""

    def __init__(self, workspace: Workspace, out: Outgoing) -> None:
        self._workspace = workspace
        self._out = out
        self._scheduler = Scheduler()
        self._documents: dict[str, Document] = {}
        self._root: Path | None = None
        self._folders: list[Path] = []
        self._reports: Reports | None = None
        self._client: Mapping[str, Any] = {}
        self._initialized = self._shut_down = self._trusted = False
        self._notified: Mapping[str, Callable[[Any], None]] = {
            "initialized": self._start,
            "textDocument/didOpen": self._open,
            "textDocument/didChange": self._change,
            "textDocument/didSave": self._save,
            "textDocument/didClose": self._close,
            "workspace/didChangeWatchedFiles": self._watch,
            "$/cancelRequest": self._cancel,
        }

    def serve(self, incoming: BinaryIO) -> int:
        try:
            while True:
                try:
                    message = read_message(incoming)
                except UnreadableMessage as failure:
                    self._out.refuse(None, PARSE_ERROR, str(failure))
                    continue
                if message is None or message.get("method") == "exit":
                    return 0 if self._shut_down else 1
                self._hear(message)
        except ProtocolError as failure:
            logger.error("what came is not the language server protocol: %s", failure)  # noqa: TRY400 - it says all
            return 1
        finally:
            self._scheduler.stop()
            if self._reports is not None:
                self._reports.close()

    def _hear(self, message: Message) -> None:
        method, params = message.get("method"), message.get("params") or {}
        if not isinstance(method, str):
            # An answer to what we asked for: nothing depends on it.
            return
        if "id" in message:
            self._request(message["id"], method, params)
            return
        heard = self._notified.get(method) if self._initialized else None
        if heard is None or self._shut_down:
            return
        try:
            heard(params)
        except (KeyError, TypeError, ValueError, AttributeError) as failure:
            logger.warning("`%s` is not as the protocol has it: %r", method, failure)

    def _request(self, request: object, method: str, params: Any) -> None:
        if method == "initialize":
            try:
                self._out.answer(request, self._initialize(params))
            except (KeyError, TypeError, ValueError, AttributeError) as failure:
                self._out.refuse(request, INVALID_PARAMS, f"`initialize`: {failure!r}")
        elif not self._initialized:
            self._out.refuse(request, NOT_INITIALIZED, "`initialize` comes first")
        elif self._shut_down:
            self._out.refuse(request, INVALID_REQUEST, "the server was shut down")
        elif method == "shutdown":
            self._shut_down = True
            self._out.answer(request, None)
        elif method not in BY_METHOD and method != METHOD:
            self._out.refuse(request, METHOD_NOT_FOUND, f"no `{method}`")
        elif self._reports is None:
            self._out.answer(request, None)
        elif method == METHOD:
            self._reports.ask(request, params)
        else:
            self._scheduler.ask(Asked(request, BY_METHOD[method], params))

    # -------------------------------------------------------------- beginning

    def _initialize(self, params: Mapping[str, Any]) -> dict[str, Any]:
        folders = [each["uri"] for each in params.get("workspaceFolders") or ()]
        named = folders or [each for each in (params.get("rootUri"),) if each]
        places = [location_of(str(each)) for each in named]
        if not places and params.get("rootPath"):
            places = [str(params["rootPath"])]
        self._folders = [Path(each) for each in places if each is not None]
        self._client = params.get("capabilities") or {}
        options = params.get("initializationOptions")
        # Who opened the folder says so; nothing in the folder can.
        self._trusted = isinstance(options, Mapping) and options.get("trusted") is True
        self._initialized = True
        sync = {"openClose": True, "change": _INCREMENTAL, "save": {"includeText": False}}
        capabilities = {"textDocumentSync": sync, "positionEncoding": "utf-16"}
        return {
            "capabilities": capabilities
            | dict(each.capability for each in REQUESTS if each.capability),
            "serverInfo": {"name": "rocky", "version": __version__},
        }

    def _start(self, _: Any) -> None:
        if self._can("didChangeWatchedFiles", "dynamicRegistration"):
            options = {"watchers": [{"globPattern": _WATCHED}]}
            watch = {
                "id": "rocky-files",
                "method": "workspace/didChangeWatchedFiles",
                "registerOptions": options,
            }
            self._out.ask("client/registerCapability", {"registrations": [watch]})
        roots = dict.fromkeys(
            each for each in map(_nearest, self._candidates()) if each is not None
        )
        if not roots:
            why = f"Rocky: {_NOTHING}; it is looked for again when a file is opened"
            self._out.notify("window/logMessage", {"type": WARNING, "message": why})
            return
        root, *others = roots
        if others:
            listed = ", ".join(f"`{each}`" for each in others)
            why = f"Rocky: one server serves one project, `{root}`; not looked at: {listed}"
            self._out.notify("window/showMessage", {"type": WARNING, "message": why})
        self._serve_project(root)

    def _candidates(self) -> list[Path]:
        config = self._workspace.config
        if config is None:
            return self._folders
        return [(config if config.is_dir() else config.parent).absolute()]

    def _serve_project(self, root: Path) -> None:
        self._root = root
        self._documents = {
            uri: replace(each, path=self._path(uri)) for uri, each in self._documents.items()
        }
        self._scheduler.documents = dict(self._documents)
        here = project_workspace(self._workspace, root)
        self._reports = Reports(here, self._out, refreshes=self._can("codeLens", "refreshSupport"))

        def meanwhile() -> None:
            worker.answer_waiting()

        session = open_session(here, root, self._warn, trusted=self._trusted, meanwhile=meanwhile)
        worker = Worker(self._scheduler, self._out, root, session, self._reports, self._client)
        Thread(target=worker.run, name="rocky-lsp", daemon=True).start()
        for uri in self._documents:
            self._scheduler.edit(dict(self._documents), uri)

    def _warn(self, why: str) -> None:
        shown = {"type": WARNING, "message": f"Rocky: {why}"}
        self._out.notify("window/showMessage", shown)

    def _can(self, *keys: str) -> bool:
        """Whether the editor says that it can do something with a workspace."""
        found: Any = self._client.get("workspace")
        for key in keys:
            found = found.get(key) if isinstance(found, Mapping) else None
        return bool(found)

    def _path(self, uri: str) -> str | None:
        location = location_of(uri)
        if location is None or self._root is None:
            return None
        return path_in(self._root, location)

    # -------------------------------------------------------------- documents

    def _open(self, params: Any) -> None:
        told = params["textDocument"]
        uri, text = str(told["uri"]), str(told["text"])
        self._keep(Document(uri, told.get("version"), text, self._path(uri)))
        location = location_of(uri)
        if self._root is None and location is not None and self._workspace.config is None:
            root = _nearest(Path(location).parent)
            if root is not None:
                self._serve_project(root)

    def _change(self, params: Any) -> None:
        told = params["textDocument"]
        before = self._documents[str(told["uri"])]
        text = changed_text(before.text, params["contentChanges"])
        self._keep(replace(before, version=told.get("version"), text=text))

    def _close(self, params: Any) -> None:
        uri = str(params["textDocument"]["uri"])
        if self._documents.pop(uri, None) is not None:
            self._scheduler.edit(dict(self._documents), uri)

    def _keep(self, document: Document) -> None:
        self._documents[document.uri] = document
        self._scheduler.edit(dict(self._documents), document.uri)

    def _save(self, params: Any) -> None:
        self._touch([str(params["textDocument"]["uri"])])

    def _watch(self, params: Any) -> None:
        self._touch([str(each["uri"]) for each in params["changes"]])

    def _touch(self, uris: list[str]) -> None:
        locations = [each for each in map(location_of, uris) if each is not None]
        if self._root is None and any(Path(each).name == CONFIG for each in locations):
            self._start_late(locations)
        elif locations:
            self._scheduler.touch(locations)

    def _start_late(self, locations: list[str]) -> None:
        """A `rocky.toml` has come into being."""
        found = (_nearest(Path(each).parent) for each in locations)
        root = next((each for each in found if each is not None), None)
        if root is not None:
            self._serve_project(root)

    def _cancel(self, params: Any) -> None:
        waited = self._reports is not None and self._reports.cancel(params["id"])
        if waited or self._scheduler.cancel(params["id"]):
            self._out.refuse(params["id"], REQUEST_CANCELLED, "cancelled")


def _nearest(folder: Path) -> Path | None:
    """The folder with a `rocky.toml`, this one or the nearest above."""
    return next((each for each in (folder, *folder.parents) if (each / CONFIG).is_file()), None)
