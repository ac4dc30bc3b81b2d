"""The worker: a thread that follows edits with the session, publishes findings and answers.

The edited file is published first, its readers when they have been looked at. What was published
and does not hold any more is published as nothing. A project that cannot be loaded is told once in
the words of the command line, and tried again with every edit.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from rocky.compiler.session import Session, Snapshot, Superseded
from rocky.diagnostics import Diagnostic
from rocky.errors import RockyError, describe_failure
from rocky.ide.python_frames import PlanFrames
from rocky.ide.view import View
from rocky.lsp.context import Context
from rocky.lsp.documents import path_in, uri_of
from rocky.lsp.findings import shown_finding
from rocky.lsp.messages import CONTENT_MODIFIED, INTERNAL_ERROR, REQUEST_FAILED, Outgoing
from rocky.lsp.reports import Reports
from rocky.lsp.scheduler import Asked, Documents, Edits, Scheduler, Stop

logger = logging.getLogger(__name__)

_SHORTEST_SPELL: Final = 0.05
_LONGEST_SPELL: Final = 0.4
"""Seconds for which readers are looked at before what was found is told, at first and later."""

ERROR: Final = 1
WARNING: Final = 2


class Worker:
    """What one server knows of its project; only the worker's thread touches it."""

    def __init__(
        self,
        scheduler: Scheduler,
        out: Outgoing,
        root: Path,
        session: Session,
        reports: Reports,
        client: Mapping[str, Any],
    ) -> None:
        self._scheduler = scheduler
        self._out = out
        self._root = root
        self._session = session
        self._reports = reports
        self._client = client
        self._view: View | None = None
        self._snapshot: Snapshot | None = None
        self._documents: Documents = {}
        self._texts: dict[str, str] = {}
        self._published: dict[str, tuple[Diagnostic, ...]] = {}
        self._told: str | None = None
        self._spell = _SHORTEST_SPELL
        scheduler.is_known = self._is_known

    def run(self) -> None:
        """Work until the client is gone."""
        self._follow(Edits({}, (), ()))
        # The first edit shall not wait for the parser.
        import rocky.compiler.stale_models  # noqa: F401, PLC0415

        self._reports.start(self._names)
        while True:
            snapshot = self._snapshot
            job = self._scheduler.take(settled=snapshot is None or snapshot.settled)
            match job:
                case Stop():
                    return
                case Edits():
                    self._follow(job)
                case Asked():
                    self._answer(job)
                case _:
                    self._settle()

    def _follow(self, edits: Edits) -> None:
        begun = perf_counter()
        self._spell = _SHORTEST_SPELL
        paths = self._lay(edits)
        try:
            if self._snapshot is None:
                self._take(self._session.reload(), paths)
            else:
                if edits.files:
                    files = (path_in(self._root, each) for each in edits.files)
                    self._take(self._session.refresh([each for each in files if each]), paths)
                if paths:
                    self._take(self._edited(paths), paths)
        except RockyError as failure:
            self._lose(describe_failure(failure))
        except Exception as failure:
            # A defect of ours: the editor goes on, and the next edit starts from the files.
            logger.exception("the project could not be compiled")
            self._lose(f"a defect in Rocky: {failure!r}; the server's log has more")
        self._scheduler.took(perf_counter() - begun)

    def _lay(self, edits: Edits) -> list[str]:
        """The paths whose unsaved texts are others now."""
        opened = {
            each.path: each.text for each in edits.documents.values() if each.path is not None
        }
        if not edits.uris:
            return []
        self._documents = edits.documents
        changed = [
            path for path in {**opened, **self._texts} if opened.get(path) != self._texts.get(path)
        ]
        self._texts = opened
        if self._snapshot is None:
            # They are laid without a look at the project, which is not loaded.
            self._session.lay(dict(opened))
        return changed

    def _edited(self, paths: Iterable[str]) -> Snapshot:
        closed = [path for path in paths if path not in self._texts]
        texts = {path: self._texts[path] for path in paths if path in self._texts}
        snapshot = self._session.drop(closed) if closed else None
        if texts or snapshot is None:
            snapshot = self._session.edit(texts, lambda: True)
        return snapshot

    def _settle(self) -> None:
        """Look at readers, those in open files first, and tell of some while others are left."""
        begun = perf_counter()
        spell, self._spell = self._spell, min(2 * self._spell, _LONGEST_SPELL)

        def pause() -> bool:
            return perf_counter() - begun > spell or self._scheduler.is_urgent()

        try:
            snapshot = self._session.settle(pause, list(self._texts))
            self._take(snapshot, ())
            if snapshot.settled:
                self._session.rest()
        except RockyError as failure:
            self._lose(describe_failure(failure))
        except Exception as failure:
            logger.exception("the project could not be compiled")
            self._lose(f"a defect in Rocky: {failure!r}; the server's log has more")

    def _take(self, snapshot: Snapshot, edited: Iterable[str]) -> None:
        self._snapshot, self._told = snapshot, None
        self._publish(snapshot, edited)

    def _lose(self, why: str) -> None:
        """There is no project now; what was said of it does not hold."""
        self._snapshot = self._view = None
        self._session.forget()
        for path in list(self._published):
            uri = self._uri(path)
            self._out.notify("textDocument/publishDiagnostics", {"uri": uri, "diagnostics": []})
        self._published = {}
        if why != self._told:
            self._told = why
            self._out.notify("window/showMessage", {"type": ERROR, "message": f"Rocky: {why}"})

    def _context(self, snapshot: Snapshot) -> Context:
        """What is answered from; the view of a compilation is kept as long as that is the last."""
        if self._view is None or self._view.compilation is not snapshot.compilation:
            self._view = View(snapshot.compilation, self._frames())
        return Context(
            self._root,
            snapshot,
            self._documents,
            self._view,
            lambda texts: self._session.attempt(texts, self._scheduler.is_edited),
            self._reports.last_run,
            self._client,
        )

    def _frames(self) -> dict[str, PlanFrames]:
        """What is known of open Python models: code that is half written has no plan of its own."""
        if self._view is None:
            return {}
        opened = [path for path in self._texts if path.endswith(".py")]
        found = {path: self._view.frames(path) for path in opened}
        return {path: each for path, each in found.items() if each is not None}

    def _names(self) -> list[str]:
        """The names of all models. Other threads may ask: a snapshot is never changed."""
        snapshot = self._snapshot
        if snapshot is None:
            return []
        return [each.name for each in snapshot.project.models.values()]

    # -------------------------------------------------------------- publishing

    def _publish(self, snapshot: Snapshot, edited: Iterable[str]) -> None:
        """Publish what is other than what was published: of edited files always, where any is.

        Of readers, while some are left, only what was just found: labels of others may be wrong.
        """
        context = self._context(snapshot)
        found = _by_shown_file(snapshot, self._root)
        first = [path for path in edited if found.get(path) or self._published.get(path)]
        others = self._just_bound(snapshot, found)
        if snapshot.settled:
            # The same offsets may be on other lines of a text that was edited.
            moved = set(edited)
            others = [
                path
                for path in {**found, **self._published}
                if found.get(path, ()) != self._published.get(path, ())
                or any(label.path in moved for each in found.get(path, ()) for label in each.labels)
            ]
        opened = self._texts.keys()
        for path in dict.fromkeys([*first, *sorted(others, key=lambda each: each not in opened)]):
            self._publish_file(path, found.get(path, ()), context)

    def _just_bound(
        self, snapshot: Snapshot, found: Mapping[str, tuple[Diagnostic, ...]]
    ) -> list[str]:
        """The files of models that were bound for this snapshot, and whose findings are others."""
        models = snapshot.project.models
        paths = sorted(models[key].path for key in self._session.bound if key in models)
        return [each for each in paths if found.get(each, ()) != self._published.get(each, ())]

    def _publish_file(self, path: str, found: tuple[Diagnostic, ...], context: Context) -> None:
        uri = context.uri(path)
        shown = [shown_finding(each, context, path) for each in found]
        params: dict[str, object] = {"uri": uri, "diagnostics": shown}
        opened = context.documents.get(uri)
        if opened is not None:
            if self._scheduler.documents.get(uri) is not opened:
                # Typed since: what is known is of a text that the editor has no more.
                return
            params["version"] = opened.version
        self._out.notify("textDocument/publishDiagnostics", params)
        if found:
            self._published[path] = found
        else:
            self._published.pop(path, None)

    def _uri(self, path: str) -> str:
        documents = self._documents.values()
        opened = next((each.uri for each in documents if each.path == path), None)
        return opened or uri_of(f"{self._root}/{path}")

    # -------------------------------------------------------------- answering

    def answer_waiting(self) -> None:
        """Answer what need not wait for the plan that is being built."""
        while (asked := self._scheduler.take_known()) is not None:
            self._answer(asked)

    def _is_known(self, asked: Asked) -> bool:
        """Whether a request is about code of which an earlier plan is known: that answers it."""
        uri = str((asked.params.get("textDocument") or {}).get("uri"))
        opened = self._scheduler.documents.get(uri)
        if self._view is None or not asked.request.at_once or opened is None:
            return False
        path = opened.path or ""
        try:
            return path.endswith(".py") and self._view.frames(path) is not None
        except Exception:
            # A defect of ours: the request waits as others do, and is told of it.
            logger.exception("the plan of %s cannot be read", path)
            return False

    def _answer(self, asked: Asked) -> None:
        snapshot = self._snapshot
        if snapshot is None:
            self._out.refuse(asked.id, REQUEST_FAILED, "the project is not loaded")
            return
        context = self._context(snapshot)
        if asked.request.at_once:
            # The text may be newer than the last one that was followed.
            context = replace(context, documents=self._scheduler.documents)
        try:
            result = asked.request.answer(context, asked.params)
        except Superseded:
            # Readers may be left; they are looked at when there is time.
            self._snapshot = self._session.snapshot
            self._out.refuse(asked.id, CONTENT_MODIFIED, "a text was edited meanwhile: ask again")
        except RockyError as failure:
            self._out.refuse(asked.id, REQUEST_FAILED, describe_failure(failure))
        except Exception as failure:
            # As above: a defect in one answer is none of the others'.
            logger.exception("a request could not be answered: %s", asked.request.method)
            self._out.refuse(asked.id, INTERNAL_ERROR, f"a defect in Rocky: {failure!r}")
        else:
            self._out.answer(asked.id, result)


def _by_shown_file(snapshot: Snapshot, root: Path) -> Mapping[str, tuple[Diagnostic, ...]]:
    """Findings by the file that they are shown in: what is of no file, in the settings."""
    config = snapshot.project.config_path
    found: dict[str, tuple[Diagnostic, ...]] = {}
    for path, own in snapshot.findings.items():
        is_file = path in snapshot.texts or (bool(path) and (root / path).is_file())
        at = path if is_file else config
        found[at] = (*found.get(at, ()), *own)
    return found
