"""The folder of a site: written beside its place and moved there whole, over one of ours only.

A file `rocky-docs.json` lists what was written. A folder without it is not ours, and neither is one
with other files in it: both are refused, because nobody put them there to be lost.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from importlib.resources import files as packaged_files
from pathlib import Path
from typing import Final

from rocky.errors import RockyError, WouldOverwrite

LIST: Final = "rocky-docs.json"
_FORMAT: Final = "rocky docs"
_READABLE: Final = 0o755
_SHOWN: Final = 3


def write_site(folder: Path, files: Mapping[str, bytes]) -> None:
    """Put the files into the folder, in place of those of an earlier site.

    Raises WouldOverwrite, and OSError; then the folder is as it was.
    """
    # A link stays, and what it leads to is replaced.
    folder = folder.resolve()
    refuse_foreign(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".new", dir=folder.parent))
    try:
        # A draft is for its maker alone; a site is for whoever may read its folder.
        draft.chmod(_READABLE & ~_mask())
        listed = {"format": _FORMAT, "files": sorted(files)}
        for name, data in {**files, LIST: _encode(listed)}.items():
            path = draft / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        _move(draft, folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _encode(listed: Mapping[str, object]) -> bytes:
    return json.dumps(listed, indent=1).encode() + b"\n"


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _move(draft: Path, folder: Path) -> None:
    """Put the draft in the place of the folder; what stood there comes back if that fails."""
    former = draft.with_name(f"{draft.name}.former")
    try:
        folder.rename(former)
    except FileNotFoundError:
        draft.rename(folder)
        return
    try:
        draft.rename(folder)
    except OSError:
        # Unless another site has taken the place in the meantime.
        with suppress(OSError):
            former.rename(folder)
        raise
    finally:
        shutil.rmtree(former, ignore_errors=True)


def refuse_foreign(folder: Path) -> None:
    """Raises WouldOverwrite for what is there and is no site of ours, or has other files in it."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise WouldOverwrite(f"`{folder}` is a file: name a folder with `--out`")
    if not any(folder.iterdir()):
        return
    # Before all of it is looked through: it may be somebody's home.
    listed = _listed(folder)
    if listed is None:
        raise WouldOverwrite(
            f"`{folder}` is not empty and no site of Rocky's: name another folder with `--out`"
        )
    found = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if not _is_plain_folder(path)
    }
    others = sorted(found - listed - {LIST})
    if others:
        shown = ", ".join(f"`{name}`" for name in others[:_SHOWN])
        more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
        raise WouldOverwrite(
            f"`{folder}` has files that Rocky did not write: {shown}{more}; move them away, or name"
            " another folder with `--out`"
        )


def _is_plain_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _listed(folder: Path) -> set[str] | None:
    """The files of an earlier site; None for a folder that is none. Raises RockyError."""
    try:
        text = (folder / LIST).read_bytes()
    except FileNotFoundError:
        return None
    try:
        found = json.loads(text)
        if found["format"] == _FORMAT:
            return {str(each) for each in found["files"]}
    except (ValueError, KeyError, TypeError) as failure:
        raise RockyError(
            f"`{folder / LIST}` cannot be read ({failure}): remove the folder, or name another"
            " with `--out`"
        ) from failure
    return None


def load_assets() -> dict[str, bytes]:
    """The files that every page of a project is made of, by name."""
    folder = packaged_files("rocky.operations.page") / "assets"
    found = {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}
    return dict(sorted(found.items()))
