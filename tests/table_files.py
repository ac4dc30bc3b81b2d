"""The data files of tables on disk: a folder holds its guard beside them, which is none."""

from pathlib import Path

from rocky.store.data_file import is_addressed


def data_files(folder: Path) -> list[Path]:
    """The data files in a folder and below it, sorted."""
    return sorted(path for path in folder.rglob("*.parquet") if is_addressed(path.name))
