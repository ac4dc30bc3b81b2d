"""The corpus of change pairs: compact texts that become two projects and an expected diff.

A file of the corpus begins with the files of a project (`+++ path`). Each case (`## sentence`) says
its verdict, what the change does to those files, and after `expect` the diff in words:

    +++ path              the file, whole, as it is after the change
    ~~~ path | old => new one text in the file replaced; `\\n` is a line end
    --- path              the file is deleted
    >>> path | path       the file is moved

`before:` in front of any of these makes the change to the project before, too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rocky.analysis.changes.change import Change, ProjectDiff, TableDiff
from rocky.analysis.compilation import Compilation
from rocky.compiler.passes import compile_project
from rocky.project import load_project

CORPUS = Path(__file__).parent / "corpus"
Files = dict[str, str]


@dataclass(slots=True)
class Case:
    """One change pair."""

    name: str
    topic: str
    verdict: str
    before: Files
    after: Files
    expected: str = ""


def load_cases() -> list[Case]:
    return [case for path in sorted(CORPUS.glob("*.txt")) for case in read_cases(path)]


def read_cases(path: Path) -> Iterator[Case]:
    """The cases of a file, in order."""
    project, *cases = path.read_text(encoding="utf-8").split("\n## ")
    shared: Files = {}
    _apply(project.splitlines(), shared, shared)
    for text in cases:
        head, _, expected = text.partition("\nexpect\n")
        name, *lines = head.splitlines()
        before, after = dict(shared), dict(shared)
        verdict = next(line for line in lines if line.startswith("verdict: "))
        lines.remove(verdict)
        _apply(lines, before, after)
        yield Case(
            name, path.stem, verdict.removeprefix("verdict: "), before, after, expected.strip("\n")
        )


def _apply(lines: list[str], before: Files, after: Files) -> None:
    path: str | None = None
    sides: list[Files] = []
    for line in lines:
        first = line.startswith("before: ")
        order = line.removeprefix("before: ")
        mark, rest = order[:4], order[4:]
        if mark in ("+++ ", "~~~ ", "--- ", ">>> "):
            path, sides = None, ([before, after] if first and before is not after else [after])
            if mark == "+++ ":
                path = rest
            for files in sides:
                _change(mark, rest, files)
        elif path is not None:
            for files in sides:
                files[path] += line + "\n"


def _change(mark: str, rest: str, files: Files) -> None:
    if mark == "+++ ":
        files[rest] = ""
    elif mark == "--- ":
        del files[rest]
    elif mark == ">>> ":
        old, new = rest.split(" | ")
        files[new] = files.pop(old)
    else:
        path, _, edit = rest.partition(" | ")
        old, _, new = (part.replace("\\n", "\n") for part in edit.partition(" =>"))
        assert old in files[path], f"`{old}` is not in {path}"
        files[path] = files[path].replace(old, new.removeprefix(" "), 1)


def compile_files(root: Path, files: Files) -> Compilation:
    """The project of some files, compiled as any other."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return compile_project(load_project(root, env={}), cache=False)


def show_diff(diff: ProjectDiff) -> str:
    """A diff as the corpus writes it down."""
    lines = [_shown(change, "setting ") for change in diff.settings]
    for table in diff.tables:
        lines.extend(_table(table))
    return "\n".join(lines)


def _table(table: TableDiff) -> Iterator[str]:
    was = f" (was {table.base_name})" if table.base_name else ""
    by = f" by {', '.join(table.affected_by)}" if table.affected_by else ""
    yield f"{table.status} {table.kind} {table.name}{was}{by}"
    for change in table.changes:
        yield f"  {_shown(change)}"
        ways: dict[str, list[str]] = {}
        for each in change.reaches:
            ways.setdefault(f"{each.side} {each.kind}", []).append(f"{each.model}.{each.column}")
        for way, columns in ways.items():
            yield f"    {way}: {', '.join(columns)}"


def _shown(change: Change, prefix: str = "") -> str:
    column = f" {change.column}" if change.column else ""
    values = ""
    if change.before is not None or change.after is not None:
        values = f": {change.before or '-'} -> {change.after or '-'}"
    detail = f" ({change.detail})" if change.detail else ""
    return f"{prefix}{change.impact} {change.rule}{column}{values}{detail}"
