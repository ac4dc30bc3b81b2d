"""Tagging: a table rewritten from the version that was checked, and only while it is that version.

A plain replacement holds on any version. This one reads the table that it writes: rows that another
writer has committed meanwhile would be gone, so that meeting them is a conflict.
"""

from collections.abc import Mapping

from rocky.errors import ConcurrentChange
from rocky.lazy import load_attribute
from rocky.run.build import Build, Built
from rocky.run.building import Materialize
from rocky.store.change import Change
from rocky.store.snapshot import ROWS_HASH, Snapshot


def materialize_tagged(pinned: Mapping[str, Snapshot]) -> Materialize:
    """How tables are built when some, by full name, are rewritten from a pinned version."""

    def build_table(build: Build) -> Built:
        base = pinned.get(build.model.name)
        if base is not None:
            return _rewrite(build, base)
        built: Built = load_attribute("rocky.run.materialize.table", "materialize")(build)
        return built

    return build_table


def _rewrite(build: Build, base: Snapshot) -> Built:
    found = build.table.snapshot()
    if found is None or found.version != base.version:
        raise ConcurrentChange(
            f"another writer changed table `{build.table.name}` since it was checked; run again"
        )
    # These know pyspark, which planning must not load.
    open_workspace = load_attribute("rocky.run.materialize.workspace", "open_workspace")
    with open_workspace(build) as workspace:
        workspace.bind_source(build.query)
        written = workspace.write(
            f"SELECT * FROM {workspace.source}",  # noqa: S608 - our own view
            workspace.columns,
            build.layout,
            frozenset(),
        )
    committed = build.table.commit(
        Change(
            "OVERWRITE",
            found,
            workspace.columns,
            base.partition_columns,
            written.files,
            frozenset(file.path for file in base.files),
            {ROWS_HASH: written.rows_hash},
            build.commit_info,
        )
    )
    action = "tagged" if committed.added or committed.removed else "same content"
    return Built(build.query or "", (committed,), written.rows, written.rows_hash, action)
