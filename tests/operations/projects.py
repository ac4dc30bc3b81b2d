"""Small projects on disk, to be opened from Python."""

from collections.abc import Mapping
from pathlib import Path

from rocky.operations.workspace import Workspace
from tests.cli.conftest import CONFIG, ORDERS

GOOD = {
    "models/good.sql": "SELECT order_id, amount FROM raw.orders\n",
    "models/reader.sql": "SELECT order_id FROM good\n",
}


def open_project(root: Path, files: Mapping[str, str], **more) -> Workspace:
    """A workspace over a project with these files; `rocky.toml` and a source come by themselves."""
    for path, text in {"rocky.toml": CONFIG, "sources/raw.toml": ORDERS, **files}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return Workspace(root, **more)
