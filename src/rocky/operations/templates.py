"""Projects to start from, kept as package data: the playgrounds and the starter.

Some files have another name here than in the project that is made: a `.gitignore` would also hide
files of this repository, and a script would be taken for a module of this package.
"""

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from rocky.diagnostics.suggestion import suggestion
from rocky.errors import RockyError

SHOP: Final = "shop"
PLAYGROUNDS: Final = {SHOP: "playground", "replication": "playground_replication"}
"""The folder of each playground, by the name that `--template` takes."""
STARTER: Final = "starter"
_RENAMED: Final = {"gitignore.txt": ".gitignore", "feed.txt": "feed.py"}


class WouldOverwrite(RockyError):
    """A file or folder that is there already stands where a new project would go."""


class UnknownTemplate(RockyError):
    """No playground is called so."""


def write_playground(name: str, folder: Path) -> list[str]:
    """Write a playground into a new or empty folder; returns the files.

    Raises UnknownTemplate and WouldOverwrite.
    """
    if name not in PLAYGROUNDS:
        known = ", ".join(f"`{each}`" for each in PLAYGROUNDS)
        hint = suggestion(name, PLAYGROUNDS)
        raise UnknownTemplate(
            f"no template `{name}`; {f'{hint} ' if hint else ''}there are {known}"
        )
    if folder.is_dir() and any(folder.iterdir()):
        raise WouldOverwrite(f"`{folder}` is not empty: name a new folder")
    return _write(folder, dict(_template_files(PLAYGROUNDS[name])))


def write_starter(folder: Path) -> list[str]:
    """Write the smallest project, leaving out examples where models or sources exist."""
    if (folder / "rocky.toml").exists():
        raise WouldOverwrite(f"`{folder / 'rocky.toml'}` exists: this is a project already")
    contents = dict(_template_files(STARTER))
    if _has_work(folder):
        contents = {"rocky.toml": contents["rocky.toml"]}
    if (folder / ".gitignore").exists():
        contents.pop(".gitignore", None)
    return _write(folder, contents)


def _has_work(folder: Path) -> bool:
    """Whether a folder holds models or sources already, or SQL anywhere at its top."""
    if (folder / "models").exists() or (folder / "sources").exists():
        return True
    return any(folder.glob("*.sql")) or any(folder.glob("*/*.sql"))


def _write(folder: Path, contents: dict[str, bytes]) -> list[str]:
    for path, data in contents.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        # "x": whatever appears between the look and the write is not overwritten either.
        with target.open("xb") as file:
            file.write(data)
    return list(contents)


def _template_files(name: str) -> Iterator[tuple[str, bytes]]:
    yield from _walk(files("rocky.cli") / name, "")


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda each: each.name):
        if entry.name == "__pycache__" or entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        else:
            yield prefix + _RENAMED.get(entry.name, entry.name), entry.read_bytes()
