"""Projects to start from: `init` writes the smallest one, `playground` one to try things on.

They are kept as package data in `templates`, where some files have another name than in the project
that is made: a `.gitignore` would also hide files of this repository, and a script would be taken
for a module of this package.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from rocky.diagnostics.suggestion import suggestion
from rocky.errors import UnknownTemplate, WouldOverwrite
from rocky.operations.digest import Digested
from rocky.plan.arguments import Request

SHOP: Final = "shop"
PLAYGROUNDS: Final = (SHOP, "replication", "python")
"""The names that `--template` takes."""
_STARTER: Final = "starter"
_RENAMED: Final = {
    "gitignore.txt": ".gitignore",
    "feed.txt": "feed.py",
    "scored_orders.txt": "scored_orders.py",
}


@dataclass(frozen=True, slots=True)
class InitRequest(Request):
    """Where the project shall be."""

    folder: Path = Path()


@dataclass(frozen=True, slots=True, repr=False)
class InitReport(Digested):
    """The files that were written."""

    folder: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlaygroundRequest(Request):
    """Where the project shall be, and which of PLAYGROUNDS."""

    folder: Path
    template: str = SHOP


@dataclass(frozen=True, slots=True, repr=False)
class PlaygroundReport(Digested):
    """The files that were written."""

    folder: str
    template: str
    files: tuple[str, ...]


def init(request: InitRequest) -> InitReport:
    """Write the smallest project. No file that exists is touched. Raises WouldOverwrite.

    In a folder that already has models or sources only the settings are written, so that an
    existing pile of SQL can be adopted where it lies.
    """
    folder = request.folder
    if (folder / "rocky.toml").exists():
        raise WouldOverwrite(f"`{folder / 'rocky.toml'}` exists: this is a project already")
    contents = dict(_template_files(_STARTER))
    if _has_work(folder):
        contents = {"rocky.toml": contents["rocky.toml"]}
    if (folder / ".gitignore").exists():
        contents.pop(".gitignore", None)
    return InitReport(folder.as_posix(), _write(folder, contents))


def playground(request: PlaygroundRequest) -> PlaygroundReport:
    """Write a playground into a new or empty folder. Raises UnknownTemplate, WouldOverwrite."""
    name, folder = request.template, request.folder
    if name not in PLAYGROUNDS:
        known = ", ".join(f"`{each}`" for each in PLAYGROUNDS)
        hint = suggestion(name, PLAYGROUNDS)
        raise UnknownTemplate(
            f"no template `{name}`; {f'{hint} ' if hint else ''}there are {known}"
        )
    if folder.is_dir() and any(folder.iterdir()):
        raise WouldOverwrite(f"`{folder}` is not empty: name a new folder")
    return PlaygroundReport(folder.as_posix(), name, _write(folder, dict(_template_files(name))))


def _has_work(folder: Path) -> bool:
    """Whether a folder holds models or sources already, or texts of some at its top."""
    if (folder / "models").exists() or (folder / "sources").exists():
        return True
    names = (f"{at}*.{suffix}" for suffix in ("sql", "rocky") for at in ("", "*/"))
    # A state folder is called `.rocky`, which is no model.
    return any(each.is_file() for name in names for each in folder.glob(name))


def _write(folder: Path, contents: dict[str, bytes]) -> tuple[str, ...]:
    for path, data in contents.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        # "x": whatever appears between the look and the write is not overwritten either.
        with target.open("xb") as file:
            file.write(data)
    return tuple(contents)


def _template_files(name: str) -> Iterator[tuple[str, bytes]]:
    yield from _walk(files("rocky.operations") / "templates" / name, "")


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda each: each.name):
        if entry.name == "__pycache__" or entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        else:
            yield prefix + _RENAMED.get(entry.name, entry.name), entry.read_bytes()
