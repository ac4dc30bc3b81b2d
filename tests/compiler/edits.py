"""Edits as a person makes them, over real files, and the compile that a session is held against."""

import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

from rocky.analysis.compilation import Compilation
from rocky.compiler.passes import compile_project
from rocky.compiler.session import Session
from rocky.project import load_project

_TYPED = (
    "SELECT ", " FROM ", " JOIN orders AS o ON ", "(", ")", ",", "'", '"', "`", "--", "/*", "\n", " ",
    "*", " AS x", "1", ".", "=", "[", "]", "nope", "sum(", "-- rocky: allow(P002)\n", "@var(x)", "@m(",
    "${HOME}", "🦊", "é", "---toml\n", "\n---\n", "CAST(id AS STRING)", " UNION ALL ", "group by id", "|>",
    "nullable = true\n", "\x00", "\t",
)  # fmt: skip


def open_session(root: Path, **options: Any) -> Session:
    """A session over a project that was compiled once, without the user's cache."""
    session = Session(root, lambda: load_project(root, env={}), cache=False, **options)
    session.reload()
    return session


def cold(root: Path, texts: dict[str, str | None], scratch: Path) -> Compilation:
    """What a compile says of a copy of the project in which the texts were saved."""
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(root, scratch)
    for name, text in texts.items():
        path = scratch / name
        if text is None:
            path.unlink(missing_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return compile_project(load_project(scratch, env={}), cache=False, jobs=1, portability=True)


def said(compilation: Compilation) -> dict[str, Any]:
    """All that a compile says, but for the order in which it comes upon findings."""
    return {
        "diagnostics": Counter(compilation.diagnostics),
        "models": {key: compilation.models.record(key)[1:] for key in sorted(compilation.models)},
        "order": compilation.order,
        "upstream": dict(compilation.upstream),
        "downstream": dict(compilation.downstream),
        "sources": sorted(compilation.project.sources),
        "blocked": compilation.project.blocked,
        "masks": compilation.masks,
    }


def differences(expected: dict[str, Any], actual: dict[str, Any]) -> dict[str, Any]:
    """What two compiles do not say alike; empty when they agree."""
    found: dict[str, Any] = {}
    for key, wanted in expected.items():
        if wanted != actual[key]:
            found[key] = wanted, actual[key]
    if "diagnostics" in found:
        here, there = found["diagnostics"]
        found["diagnostics"] = {"only cold": here - there, "only in the session": there - here}
    return found


def mutate(text: str, random: Random) -> str:
    """A text after one thing that somebody at a keyboard may do to it."""
    at = random.randint(0, len(text))
    match random.randrange(6):
        case 0:
            return text[:at] + random.choice(_TYPED) + text[at:]
        case 1:
            return text[:at] + text[at + random.randint(1, 12) :]
        case 2:
            return text[:at] + random.choice("abcdefgx_ 0(),.'\n") + text[at:]
        case 3:
            lines = text.splitlines(keepends=True)
            random.shuffle(lines)
            return "".join(lines[:-1]) if random.random() < 0.5 else "".join(lines)
        case 4:
            words = text.split(" ")
            if len(words) > 1:
                words[random.randrange(len(words))] = random.choice(words)
            return " ".join(words)
        case _:
            return text[:at]


def editable(root: Path) -> list[str]:
    """The files that people edit, by their paths in the project."""
    suffixes = (".sql", ".rocky", ".toml", ".py", ".csv")
    paths: Iterable[Path] = (path for path in root.rglob("*") if path.name.endswith(suffixes))
    return sorted(path.relative_to(root).as_posix() for path in paths if path.is_file())
