"""How long an editor waits: from a keystroke to findings, over a generated project.

Figures are CPU time of this process. Those through the server are what a clock on the wall says
between a message to `rocky lsp` and the one that answers it. `--check` is exit code 1 for a missed
goal; the goals are those of 10,000 models. The cost of one bound model is told beside what binds
many: a slow machine changes both alike.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from generate import generate

from rocky.compiler.session import Session
from rocky.project import ModelFile, load_project

LEAF_MS, HUB_MS, START_S, PEAK_MB, SERVER_MS = 20, 120, 1.0, 400, 50
"""The goal of a hub is for an edit that its readers see: a column comes, or its type changes."""
_COLUMN = "    j.net_price,"
_TYPES = ("DOUBLE", "FLOAT", "BIGINT", "INT", "STRING", "SMALLINT")


class Bench:
    """A project that is open, and the goals that were missed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.missed: list[str] = []
        self.open_session().reload()  # It fills the cache.
        begun = time.process_time()
        self.session = self.open_session()
        self.first = self.session.reload()
        self.tell("start, warm", time.process_time() - begun, "s", START_S)

    def open_session(self) -> Session:
        return Session(self.root, lambda: load_project(self.root, env={}, remember=True))

    def tell(self, name: str, value: float, unit: str, goal: float | None = None) -> None:
        met = "" if goal is None else f"<= {goal:g} {unit}  {'ok' if value <= goal else 'MISSED'}"
        if goal is not None and value > goal:
            self.missed.append(name)
        print(f"{name:<52}{value:>9.1f} {unit:<4} {met}".rstrip(), flush=True)

    def type(
        self, model: ModelFile, make: Callable[[int], str], *, alone: bool = False
    ) -> tuple[float, int]:
        """The milliseconds of an edit and how many models it binds; `alone`: without readers."""
        costs = []
        bound = 0
        for number in range(7):
            begun = time.process_time()
            self.session.edit({model.path: make(number)}, lambda: alone)
            costs.append(time.process_time() - begun)
            bound = len(self.session.made)
            self.session.settle()
            self.session.rest()
        self.session.drop([model.path])
        return 1000 * median(costs[1:]), bound

    def measure_leaf(self) -> None:
        readers = self.first.compilation.downstream
        leaf = next(x for x in self.first.project.models.values() if not readers.get(x.name))
        text = leaf.text
        cost, _ = self.type(leaf, lambda n: f"{text}-- {n}\n")
        self.tell("keystroke in a leaf, which compiles", cost, "ms", LEAF_MS)
        cost, _ = self.type(leaf, lambda n: text.replace("FROM", "FRM" + "M" * n, 1))
        self.tell("keystroke in a leaf, which does not parse", cost, "ms", LEAF_MS)

    def measure_hub(self) -> None:
        readers = self.first.compilation.downstream
        files = self.first.project.models.values()
        hubs = sorted(files, key=lambda each: -len(readers.get(each.name, ())))
        hub = next(each for each in hubs[:200] if _COLUMN in each.text)
        text = hub.text

        def retyped(number: int, name: str = "net_price") -> str:
            kind = _TYPES[number % len(_TYPES)]
            return text.replace(f"    j.{name},", f"    CAST(j.{name} AS {kind}) AS {name},")

        print(f"the hub is read by {len(readers[hub.name])} models")
        cost, _ = self.type(hub, lambda n: f"{text}-- {n}\n")
        self.tell("keystroke in the hub that readers do not see", cost, "ms", LEAF_MS)
        cost, bound = self.type(hub, lambda n: text.replace(_COLUMN, f"{_COLUMN} {n} AS n{n},"))
        self.tell(f"a column comes, {bound} models bound", cost, "ms", HUB_MS)
        cost, _ = self.type(hub, retyped, alone=True)
        self.tell("a type changes: until the edited file is told", cost, "ms", LEAF_MS)
        cost, bound = self.type(hub, retyped)
        self.tell(f"a type changes: until all are told, {bound} bound", cost, "ms", HUB_MS)
        cost, bound = self.type(hub, lambda n: retyped(n, "gross_amount"))
        self.tell(f"a type changes with which all compute, {bound} bound", cost, "ms")
        self.tell("  each of them", cost / max(bound, 1), "ms")
        cost, _ = self.type(hub, lambda n: f"{text} (" if n % 2 else text)
        self.tell("the hub breaks and is mended by turns", cost, "ms", HUB_MS)

    def measure_rest(self) -> None:
        begun = time.process_time()
        self.session.reload()
        cost = 1000 * (time.process_time() - begun)
        self.tell("a file that is no model's: all loaded again", cost, "ms")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        self.tell("memory", peak, "MB", PEAK_MB)


class Editor:
    """A server in its own process, and what an editor says to it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._number = 0
        command = [sys.executable, "-m", "rocky.cli", "lsp"]
        self.process = subprocess.Popen(
            command, cwd=root, env=_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        folder = {"rootUri": root.as_uri(), "capabilities": {}}
        self.ask("initialize", folder)
        self.say("initialized", {})

    def close(self) -> None:
        self.process.kill()
        self.process.wait()

    def say(self, method: str, params: dict[str, Any], **more: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        self._number += 1
        self.say(method, params, id=self._number)
        return self.hear(lambda each: each.get("id") == self._number and "method" not in each)

    def hear(self, is_it: Callable[[Any], bool]) -> Any:
        out = self.process.stdout
        assert out is not None
        while True:
            length = int(out.readline().split(b":")[1])
            out.readline()
            message = json.loads(out.read(length))
            if is_it(message):
                return message


def _environment() -> dict[str, str]:
    """That of the server: the same modules as here, from another folder."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(str(Path(p).absolute()) for p in sys.path)}


def measure_server(bench: Bench) -> None:
    """From a keystroke to the message with its findings, and to answers that follow one."""
    readers = bench.first.compilation.downstream
    leaf = next(x for x in bench.first.project.models.values() if not readers.get(x.name))
    editor = Editor(bench.root)
    try:
        begun = time.perf_counter()
        editor.ask("rocky/status", {})
        bench.tell("server: from a start to all that is known", time.perf_counter() - begun, "s")
        uri = (bench.root / leaf.path).as_uri()
        item = {"uri": uri, "languageId": "sql", "version": 0, "text": leaf.text}
        editor.say("textDocument/didOpen", {"textDocument": item})
        editor.ask("rocky/status", {})
        here = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 8}}
        told: list[float] = []
        asked: dict[str, list[float]] = {}
        for number in range(1, 31):
            text = leaf.text.replace("SELECT", f"SELECT nope{number},", 1)
            begun = time.perf_counter()
            document = {"uri": uri, "version": number}
            params = {"textDocument": document, "contentChanges": [{"text": text}]}
            editor.say("textDocument/didChange", params)
            editor.hear(lambda each, n=number: (each.get("params") or {}).get("version") == n)
            told.append(time.perf_counter() - begun)
            for method in ("completion", "hover", "semanticTokens/full", "codeLens"):
                begun = time.perf_counter()
                editor.ask(f"textDocument/{method}", here)
                asked.setdefault(method, []).append(time.perf_counter() - begun)
    finally:
        editor.close()
    bench.tell("server: from a keystroke to its findings", 1000 * median(told), "ms", SERVER_MS)
    for method, costs in asked.items():
        bench.tell(f"server: {method} after a keystroke", 1000 * median(costs), "ms")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--models", type=int, default=10_000)
    parser.add_argument("--check", action="store_true", help="exit 1 when a goal is missed")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="rocky-bench-"))
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    try:
        generate(folder / "project", options.models)
        print(f"{options.models:,} models; CPU time, medians")
        bench = Bench(folder / "project")
        bench.measure_leaf()
        bench.measure_hub()
        bench.measure_rest()
        measure_server(bench)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"missed: {', '.join(bench.missed)}" if bench.missed else "every goal met")
    return 1 if bench.missed and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
