"""Reports: the questions that a page asks of a project, answered to an editor beside the typing.

They may take long, so threads of their own answer them, of the files as they were saved. The same
threads look up what ran last, whenever the ledger changes, and the editor is told of any change.
"""

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, Final

from rocky.errors import InvalidRequest, RockyError, describe_failure
from rocky.lsp.messages import INTERNAL_ERROR, INVALID_PARAMS, REQUEST_FAILED, Outgoing
from rocky.operations.report import encode_report
from rocky.operations.workspace import Workspace
from rocky.protocol.changes import Lookout
from rocky.protocol.endpoint import Endpoint, parse_arguments
from rocky.protocol.memory import FILES, LEDGER, Memory
from rocky.protocol.notices import Notices
from rocky.version import __version__

# The server answers before it has loaded what describes runs.
if TYPE_CHECKING:
    from rocky.operations.page.records import PageExecution

logger = logging.getLogger(__name__)

METHOD: Final = "rocky/report"
CHANGED: Final = "rocky/changed"
_THREADS: Final = 2
_PATIENCE: Final = 0.5
_WARNING: Final = 2
_SECOND: Final = 1000

Names = Callable[[], Iterable[str]]
"""The names of all models as they are now."""


class Reports:
    """What answers besides the worker. `refreshes`: the editor takes a word to ask for lenses."""

    def __init__(self, workspace: Workspace, out: Outgoing, *, refreshes: bool) -> None:
        self._out = out
        self._refreshes = refreshes
        self._memory, self._notices = Memory(workspace), Notices()
        self._lookout = Lookout(self._memory, self._notices)
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = Lock()
        self._waiting: set[object] = set()
        self._last: Mapping[str, PageExecution] = {}
        self._stop = Event()
        self._started = False

    def start(self, names: Names) -> None:
        """Look out for changes, and look up what ran. For once the project is compiled."""
        self._started = True
        for number in range(_THREADS):
            Thread(target=self._work, name=f"rocky-report-{number}", daemon=True).start()
        self._lookout.start()
        Thread(target=self._tell, args=(names,), name="rocky-changes", daemon=True).start()

    def close(self) -> None:
        self._stop.set()
        if self._started:
            self._lookout.close()

    def ask(self, request: object, params: Any) -> None:
        """Answer `{name, arguments}` when there is time."""
        with self._lock:
            self._waiting.add(request)
        self._jobs.put(lambda: self._answer(request, params))

    def cancel(self, request: object) -> bool:
        """Whether a request was still waiting; it is not any more."""
        with self._lock:
            was = request in self._waiting
            self._waiting.discard(request)
            return was

    def last_run(self, model: str) -> str | None:
        """What the last run did with a model, in words; nobody waits for it to be looked up."""
        found = self._last.get(model.lower())
        if found is None:
            return None
        parts = [
            f"{found.outcome} {found.started_at:%Y-%m-%d %H:%M} UTC",
            f"{found.duration_ms / _SECOND:.1f} s",
        ]
        if found.rows is not None:
            parts.append(f"{found.rows:,} rows")
        if found.cost_usd is not None:
            parts.append(f"${found.cost_usd:.4f}")
        return ", ".join(parts)

    # -------------------------------------------------------------- threads

    def _work(self) -> None:
        while True:
            self._jobs.get()()

    def _answer(self, request: object, params: Any) -> None:
        if not self.cancel(request):
            return
        try:
            result = self._report(params)
        except InvalidRequest as failure:
            self._out.refuse(request, INVALID_PARAMS, describe_failure(failure))
        except (RockyError, OSError) as failure:
            self._out.refuse(request, REQUEST_FAILED, describe_failure(failure))
        except Exception as failure:
            # A defect of ours in one report is none of the others'.
            logger.exception("a report could not be made")
            self._out.refuse(request, INTERNAL_ERROR, f"a defect in Rocky: {failure!r}")
        else:
            self._out.answer(request, result)

    def _report(self, params: Any) -> dict[str, Any]:
        # They bring every operation: an editor that asks for none starts without them.
        from rocky.protocol.endpoints import ENDPOINTS  # noqa: PLC0415

        known = {each.name: each for each in ENDPOINTS}
        name, given = _question(params)
        endpoint = known.get(name)
        if endpoint is None:
            raise InvalidRequest(f"no report `{name}`; there is {', '.join(known)}")
        arguments = parse_arguments(endpoint.parameters, given)

        def make() -> dict[str, Any]:
            return {**_head(endpoint), **encode_report(endpoint.answer(self._memory, arguments))}

        if not endpoint.is_kept:
            return make()
        return self._memory.kept((name, tuple(sorted(arguments.items()))), make)

    def _tell(self, names: Names) -> None:
        """Tell the editor of changes, and look up what ran after those that may be runs."""
        self._jobs.put(lambda: self._look_back(names))
        last = 0
        while not self._stop.is_set():
            for notice in self._notices.after(last, _PATIENCE):
                last = notice.number
                facts = json.loads(notice.data)
                if notice.event == "change":
                    if {FILES, LEDGER} & set(facts["kinds"]):
                        self._jobs.put(lambda: self._look_back(names))
                    self._out.notify(CHANGED, {"what": facts["kinds"]})
                elif notice.event == "unwatched":
                    why = f"Rocky: the system watches no more folders: {facts['reason']}"
                    self._out.notify("window/logMessage", {"type": _WARNING, "message": why})

    def _look_back(self, names: Names) -> None:
        from rocky.operations.page.runs import load_past  # noqa: PLC0415

        try:
            last = load_past(self._memory.workspace, list(names())).last
        except (RockyError, OSError) as failure:
            # Without a past there is a present all the same: lenses say less.
            logger.warning("what ran cannot be looked up: %s", describe_failure(failure))
            last = {}
        if last != self._last:
            self._last = last
            if self._refreshes:
                self._out.ask("workspace/codeLens/refresh", None)


def _head(endpoint: Endpoint) -> dict[str, Any]:
    return {"version": __version__, "endpoint": endpoint.name}


def _question(params: Any) -> tuple[str, dict[str, list[str]]]:
    """The name of a report and its arguments, each a list of texts. Raises InvalidRequest."""
    arguments = params.get("arguments") or {} if isinstance(params, Mapping) else None
    if not isinstance(arguments, Mapping) or not isinstance(params.get("name"), str):
        raise InvalidRequest("a report is asked for as `{name, arguments: {key: text | [text]}}`")
    given: dict[str, list[str]] = {}
    for key, value in arguments.items():
        texts = value if isinstance(value, list) else [value]
        if not all(isinstance(each, str) for each in texts):
            raise InvalidRequest(f"`{key}` is a text or a list of texts")
        given[key] = texts
    return params["name"], given
