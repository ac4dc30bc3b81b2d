"""The process in which plans of Python code are built: a program of its own, run by path.

It reads lines of JSON and answers each target with one line of MessagePack in base64. Targets are
built in forks of it, which have PySpark loaded: those that are plain share one, each other has its
own, so that one cannot see what another left behind. A fork has neither the input nor the output
of this process, and is held by `rocky.frames.guard`.
"""

import base64
import gc
import json
import os
import select
import signal
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NoReturn

from msgspec import DecodeError

if __name__ == "__main__":
    # It is started apart from everything, and finds the package it is part of by its own path.
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from rocky.frames.guard import leave_network
    from rocky.frames.late_libraries import delay_libraries

    # Before libraries start threads: then the system does not allow it any more.
    leave_network()
    delay_libraries()

from rocky.analysis.python_plans import PlanNote, PythonPlan, pack_plan, unpack_plan
from rocky.compiler.garbage import collect_trees
from rocky.frames.built_plan import PlanPlaces, build_plan
from rocky.frames.frame_check import Frames
from rocky.frames.guard import Guard, limit_process
from rocky.frames.late_libraries import end_delay, load_for
from rocky.frames.plan_targets import decode_function
from rocky.language.datatypes.text import decode_type
from rocky.language.datatypes.types import StructField
from rocky.language.tables import tables_by_name
from rocky.project.module_finder import ModuleFinder, is_own_module

_COLLECTED_EACH: Final = 16
"""After so many targets garbage is looked for: most leave little."""
_FEW: Final = 24
"""Below this many targets, a second fork costs more than it saves."""


def main() -> None:
    """Answer for the targets of each line on the input, until it ends."""
    end_delay()
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):
        # What the author prints is nobody's answer.
        os.dup2(nowhere, standard)
    warnings.simplefilter("ignore")
    sys.dont_write_bytecode = True
    gc.collect()
    gc.freeze()
    # Told that it is ready: until here whoever waits waits for PySpark.
    os.write(answers, b"\n")
    private = (requests.fileno(), answers)
    for line in requests:
        asked = json.loads(line)
        for key, data in _built(asked, private):
            _write_all(answers, _line(key, data))


def _built(asked: dict[str, Any], private: tuple[int, ...]) -> Any:
    targets, seconds, jobs = asked["targets"], asked["seconds"], asked["jobs"]
    load_for([*(each["text"] for each in targets), *asked["modules"].values()])
    modules = {key: text.encode("latin-1") for key, text in asked["modules"].items()}
    for each in targets:
        each["code"] = {path: modules[key] for path, key in each["code"].items()}
    plain = [each for each in targets if each["plain"]]
    count = max(1, min(jobs, len(plain) // _FEW))
    shares = [plain[at::count] for at in range(count)]
    shares += [[each] for each in targets if not each["plain"]]
    waiting = [each for each in shares if each]
    running: dict[int, _Fork] = {}
    try:
        while waiting or running:
            while waiting and len(running) < max(1, jobs):
                fork = _Fork(waiting.pop(0), seconds, (*private, *running))
                running[fork.reading] = fork
            ready, _, _ = select.select(list(running), [], [], seconds)
            # Of forks that all are silent for so long, none is worth waiting for.
            for descriptor in ready or list(running):
                fork = running[descriptor]
                yield from fork.read() if ready else fork.give_up()
                if fork.left is not None:
                    del running[descriptor]
                    if fork.left:
                        waiting.insert(0, fork.left)
    finally:
        for fork in running.values():
            fork.end()


class _Fork:
    """A process that builds some targets, one after the other. `left` are those it did not."""

    def __init__(
        self, targets: list[dict[str, Any]], seconds: float, private: tuple[int, ...]
    ) -> None:
        self._targets = targets
        self._seconds = seconds
        self._done = 0
        self._data = b""
        self.left: list[dict[str, Any]] | None = None
        self.reading, writing = os.pipe()
        self._child = os.fork()
        if self._child == 0:
            _build_all(targets, seconds, writing, (*private, self.reading))
        os.close(writing)

    def read(self) -> Any:
        """The plans that are there; at the end of the process, why the next one is missing."""
        part = os.read(self.reading, 1 << 16)
        self._data += part
        *lines, self._data = self._data.split(b"\n")
        for line in lines:
            if self._done < len(self._targets) and self.left is None:
                data = _checked(line)
                if data is None:
                    yield from self._ended("answered with something else")
                    return
                yield self._targets[self._done]["id"], data
                self._done += 1
        if not part:
            yield from self._ended("ended its process")

    def give_up(self) -> Any:
        yield from self._ended(f"took longer than {self._seconds:g} s")

    def end(self) -> None:
        os.kill(self._child, signal.SIGKILL)
        os.close(self.reading)
        os.waitpid(self._child, 0)

    def _ended(self, why: str) -> Any:
        self.end()
        rest = self._targets[self._done :]
        if rest:
            plan = PythonPlan(failure=PlanNote(why), passing=True)
            yield rest[0]["id"], pack_plan(plan)
        self.left = rest[1:]


def _checked(line: bytes) -> bytes | None:
    """What a fork answered, if it is a plan: code that is looked at could write anything there."""
    try:
        data = base64.b64decode(line, validate=True)
        unpack_plan(data)
    except (ValueError, DecodeError):
        return None
    return data


def _line(key: str, data: bytes) -> bytes:
    return json.dumps(key).encode() + b"\t" + base64.b64encode(data) + b"\n"


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _build_all(
    targets: list[dict[str, Any]], seconds: float, writing: int, private: tuple[int, ...]
) -> NoReturn:
    """The life of a fork."""
    try:
        for descriptor in private:
            # Whoever held these could answer for others.
            os.close(descriptor)
        os.dup2(1, 2)
        limit_process(seconds * len(targets))
        guard = Guard()
        guard.hold()
        before = set(sys.modules)
        gc.disable()
        for number, target in enumerate(targets, 1):
            plan = _build(target, guard)
            _write_all(writing, base64.b64encode(pack_plan(plan)) + b"\n")
            # The next one's modules may have the same names.
            for name in [each for each in sys.modules if each not in before]:
                if is_own_module(sys.modules[name], Path(target["root"])):
                    del sys.modules[name]
            if number % _COLLECTED_EACH == 0:
                collect_trees()
    finally:
        os._exit(0)  # no clean-up of the author's: its exit handlers are not ours to run


def _build(target: dict[str, Any], guard: Guard) -> PythonPlan:
    schemas = {
        name: [StructField(each, decode_type(kind), nullable) for each, kind, nullable in fields]
        for name, fields in target["tables"].items()
    }
    functions = [decode_function(each) for each in target["functions"]]
    root, path, code = target["root"], target["file"], target["code"]
    texts = {f"{root}/{each}": data.decode("utf-8", "replace") for each, data in code.items()}
    places = PlanPlaces(root, {**texts, path: target["text"]})
    finder = ModuleFinder(Path(root), target["folders"], code, looks=target["doubtful"])
    if target["doubtful"]:
        # What no text names may lie anywhere, also beside a file that is not the project's.
        sys.path[:0] = target["folders"]
    guard.opened.clear()
    with Frames(tables_by_name(schemas, functions)) as frames, _found_by(finder):

        def make() -> Any:
            # A parameter without a table is the session itself.
            inputs = {
                name: frames.session.table(table) if table else frames.session
                for name, table in target["inputs"].items()
            }
            return _function(path, target["text"], target["function"])(**inputs)

        plan = build_plan(make, frames, places, with_frames=target.get("frames", False))
    # Where it looks for lines to show, it opens files whose code came along.
    others = _others(guard.opened, (path, *texts)) if guard.opened else []
    if others:
        # What else was read may be other the next time.
        shown = places.inside(others[0]) or others[0]
        plan = plan._replace(doubt=f"`{shown}` is read while it is built", passing=True)
    return plan


@contextmanager
def _found_by(finder: ModuleFinder) -> Iterator[None]:
    """Inside, modules of the project are those that the finder has."""
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def _others(opened: Iterable[str], own: Iterable[str]) -> list[str]:
    """The files that were opened and are neither the model's own nor a library's."""
    known = {os.path.realpath(each) for each in own}
    return sorted(
        each for each in {os.path.realpath(each) for each in opened} - known if _is_read(each)
    )


def _is_read(path: str) -> bool:
    """Whether a file that was opened is neither a library's nor the system's."""
    return "-packages" not in path and not path.startswith(_SYSTEM)


_SYSTEM: Final = (
    *(f"{os.path.realpath(each)}/" for each in (sys.base_prefix, sys.prefix)),
    f"{os.path.realpath(Path(__file__).parents[1])}/",
    "/dev/",
    "/etc/localtime",
    "/proc/",
    "/sys/",
    "/usr/",
)


def _function(path: str, text: str, name: str) -> Any:
    """A function of a file, run as a module of its name."""
    module = ModuleType(Path(path).stem)
    module.__file__ = path
    module.__spec__ = ModuleSpec(module.__name__, None, origin=path)
    sys.modules[module.__name__] = module
    exec(compile(text, path, "exec"), module.__dict__)
    return getattr(module, name)


if __name__ == "__main__":
    main()
