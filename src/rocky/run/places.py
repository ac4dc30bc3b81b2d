"""Where the tables of a project are."""

from collections.abc import Mapping
from pathlib import Path

from rocky.project.adapter import Adapter
from rocky.store.warehouse import Warehouse, open_warehouse


def open_project_warehouse(
    adapter: Adapter, root: Path, environment: Mapping[str, str]
) -> Warehouse:
    """Where an adapter's tables are."""
    return open_warehouse(adapter.warehouse, base=root, options={**environment, **adapter.conf})
