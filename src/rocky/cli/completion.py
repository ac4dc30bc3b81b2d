"""Shell completion: what may follow on a command line, told within a moment.

No command is loaded for it: options and what their values are stand in `completions.json`, which is
made from the commands (`tools/generate_completions.py`). Names come from what the last compile
saved, from file names and from the state file, all of them only read. Whatever fails, nothing is
offered and nothing is said: somebody is in the middle of a line.
"""

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import click
from click.shell_completion import CompletionItem, ShellComplete, get_completion_class

from rocky.cli.console import write_line

TABLE: Final = "completions.json"
_RUNS: Final = 30
_PLAIN: Final = re.compile(r"[\w.+:=@%/-]+")
"""Only names that no shell reads as anything else are offered."""
_SELECTOR: Final = re.compile(r"(?P<before>(?:.*,)?(?:\d*\+)?)(?P<name>[^,+]*)", re.DOTALL)
_CODE_FILES: Final = (".sql", ".rocky", ".py")


def complete_shell(main: click.Command, env: Mapping[str, str]) -> int:
    """Answer a shell: the script that sets completion up, or what may follow. The exit code."""
    shell, _, instruction = env["_ROCKY_COMPLETE"].partition("_")
    kind = get_completion_class(shell)
    if kind is None or instruction not in ("source", "complete"):
        return 1
    made = type("Completion", (_Completion, kind), {})(main, {}, "rocky", "_ROCKY_COMPLETE")
    if instruction == "source":
        write_line(made.source().rstrip())
        return 0
    with Path(os.devnull).open("w") as nowhere, redirect_stderr(nowhere):
        try:
            told = made.complete()
        except Exception:  # noqa: BLE001 - a line that is being typed must not be disturbed
            told = ""
    if told:
        write_line(told)
    return 0


class _Completion(ShellComplete):
    """What click asks for, without its commands."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        return list(find_completions(args, incomplete))


def find_completions(words: Sequence[str], incomplete: str) -> Iterator[CompletionItem]:
    """What may follow some words of a command line, after `rocky` itself."""
    line = _Line(_load_table(), words)
    option, equals, begun = incomplete.partition("=")
    if line.open_option is not None:
        yield from _values(line, line.open_option, incomplete)
    elif equals and option.startswith("--") and option in line.options:
        yield from _values(line, line.options[option], begun)
    elif incomplete.startswith("-") and not line.is_rest:
        yield from map(CompletionItem, _matching(line.options, incomplete))
    elif line.commands:
        for name in _matching(line.commands, incomplete):
            yield CompletionItem(name, help=line.commands[name])
    else:
        yield from _values(line, line.argument, incomplete)


def _load_table() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files("rocky.cli").joinpath(TABLE).read_bytes())
    return found


class _Line:
    """The words before the one that is typed: a command, options with their values, arguments."""

    def __init__(self, table: Mapping[str, Any], words: Sequence[str]) -> None:
        self._table = table
        self.command = ""
        self.given: dict[str, str] = {}
        self.is_rest = False
        self.open_option: str | None = None
        self._arguments = 0
        opened = ""
        for word in words:
            if self.open_option is not None:
                self.given[opened], self.open_option = word, None
            elif word == "--":
                self.is_rest = True
            elif word.startswith("-") and not self.is_rest:
                opened, equals, value = word.partition("=")
                if equals:
                    self.given[opened] = value
                elif self.options.get(word):
                    self.open_option = self.options[word]
            elif word in self.commands:
                self.command = f"{self.command} {word}".strip()
            else:
                self._arguments += 1

    @property
    def options(self) -> dict[str, str]:
        """The options of the command, each with what its value is; empty for a flag."""
        found: dict[str, str] = self._table[self.command]["options"]
        return found

    @property
    def commands(self) -> dict[str, str]:
        found: dict[str, str] = self._table[self.command].get("commands", {})
        return {} if self._arguments else found

    @property
    def argument(self) -> str:
        """What the next argument is; empty where there is none."""
        kinds = self._table[self.command]["arguments"]
        if not kinds:
            return ""
        last = str(kinds[-1])
        if self._arguments < len(kinds):
            return str(kinds[self._arguments]).removesuffix("*")
        return last.removesuffix("*") if last.endswith("*") else ""

    @property
    def place(self) -> "_Place":
        config = self.given.get("-c") or self.given.get("--config")
        root = _nearest_root() if config is None else Path(config)
        state = self.given.get("--state-path")
        root = root if root.is_dir() else root.parent
        return _Place(root, None if state is None else Path(state), self.given.get("--branch"))


def _nearest_root() -> Path:
    here = Path.cwd()
    return next((each for each in (here, *here.parents) if (each / "rocky.toml").is_file()), here)


def _matching(names: Iterable[str], incomplete: str) -> list[str]:
    begun = incomplete.lower()
    return [each for each in names if each.lower().startswith(begun) and _PLAIN.fullmatch(each)]


def _values(line: _Line, kind: str, incomplete: str) -> Iterator[CompletionItem]:
    """The values of an option or argument that begin as what was typed."""
    if kind in ("file", "dir"):
        yield CompletionItem(incomplete, type=kind)
    elif kind.startswith("choice:"):
        yield from map(CompletionItem, _matching(kind.split(":")[1].split(","), incomplete))
    elif kind == "selector":
        found = _SELECTOR.fullmatch(incomplete)
        before, name = ("", incomplete) if found is None else (found["before"], found["name"])
        for each in _matching(line.place.models(), name):
            yield CompletionItem(f"{before}{each}")
    elif kind == "column":
        yield from map(CompletionItem, _columns(line.place, incomplete))
    elif kind in _NAMES:
        yield from map(CompletionItem, _matching(_NAMES[kind](line.place), incomplete))


def _columns(place: "_Place", incomplete: str) -> list[str]:
    """Models, and columns once it is clear of which model."""
    columns = {name.lower(): (name, found) for name, found in place.columns().items()}
    chosen = incomplete.rpartition(".")[0].lower()
    models = _matching(place.models(), incomplete)
    if not chosen and len(models) == 1:
        chosen = models[0].lower()
    name, found = columns.get(chosen, ("", ()))
    return [*models, *_matching([f"{name}.{each}" for each in found], incomplete)]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where names are looked for: a project's folder, its state file, a branch."""

    root: Path
    state_file: Path | None = None
    branch: str | None = None

    def columns(self) -> Mapping[str, tuple[str, ...]]:
        """The columns of each model, as the last compile saw them."""
        from rocky.project.name_cache import load_names  # noqa: PLC0415

        return load_names(self.root).columns

    def models(self) -> list[str]:
        """What the last compile saw, and files that are newer."""
        from rocky.project.name_cache import load_names  # noqa: PLC0415

        known = load_names(self.root)
        fresh = (
            path.stem
            for path in (self.root / "models").rglob("*")
            if path.suffix in _CODE_FILES and path.stat().st_mtime_ns > known.saved
        )
        return sorted({*known.columns, *fresh})

    def seeds(self) -> list[str]:
        return sorted(path.stem for path in (self.root / "seeds").rglob("*.csv"))

    def pipelines(self) -> list[str]:
        return self._named_blocks("pipeline")

    def adapters(self) -> list[str]:
        return self._named_blocks("adapter")

    def _named_blocks(self, kind: str) -> list[str]:
        """The names in `[kind.NAME]`; a single block of its kind has none."""
        found = tomllib.loads((self.root / "rocky.toml").read_text()).get(kind, {})
        named = all(isinstance(each, dict) for each in found.values())
        return sorted(found) if named else []

    def plans(self) -> list[str]:
        return sorted(path.stem for path in (self.root / ".rocky" / "plans").glob("*.json"))

    def codes(self) -> list[str]:
        from rocky.diagnostics.codes import Code  # noqa: PLC0415

        return [each.value for each in Code]

    def branches(self) -> list[str]:
        """The branches that are not deleted."""
        from rocky.ledger.branch_records import BranchStatus  # noqa: PLC0415
        from rocky.ledger.branches import load_branches  # noqa: PLC0415

        found = load_branches(self._main_state)
        return sorted(each.name for each in found if each.status is BranchStatus.OPEN)

    def runs(self) -> list[str]:
        """The newest runs, newest first."""
        from rocky.ledger import open_history_reader  # noqa: PLC0415
        from rocky.project.project import branch_state  # noqa: PLC0415

        state = self._main_state
        reader = open_history_reader(state if not self.branch else branch_state(state, self.branch))
        if reader is None:
            return []
        with reader:
            return [*(each.run_id for each in reader.runs(limit=_RUNS)), "latest"]

    def promotions(self) -> list[str]:
        from rocky.ledger.branches import load_promotions  # noqa: PLC0415

        found = load_promotions(self._main_state)
        return [each.run_id for each in reversed(found)] + sorted({each.branch for each in found})

    @property
    def _main_state(self) -> Path:
        from rocky.ledger import STATE_FILE  # noqa: PLC0415

        return self.root / STATE_FILE if self.state_file is None else self.state_file


_NAMES: Final[Mapping[str, Callable[[_Place], list[str]]]] = {
    "adapter": _Place.adapters,
    "branch": _Place.branches,
    "code": _Place.codes,
    "model": _Place.models,
    "pipeline": _Place.pipelines,
    "plan": _Place.plans,
    "promotion": _Place.promotions,
    "run": _Place.runs,
    "seed": _Place.seeds,
}
