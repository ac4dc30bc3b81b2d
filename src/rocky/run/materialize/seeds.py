"""Seeds: the CSV files of a project, each loaded into its table in one commit.

A table remembers the content it was loaded from, so an unchanged seed costs one look at its log and
its folder. Models read a seed's table like any other, pinned and content-addressed.
"""

from collections.abc import Mapping
from typing import Any, Final

from rocky.canonical import ascii_json, text_hash
from rocky.errors import RockyError
from rocky.language.datatypes.text import field_to_json
from rocky.language.names import quote_name
from rocky.project.collisions import target_of_seed
from rocky.project.configuration.config import Config
from rocky.project.models import Target
from rocky.project.project import Project
from rocky.project.seeds import SeedTable
from rocky.run.checksums import missing_file
from rocky.run.engine.protocol import Engine
from rocky.run.materialize.build import Built
from rocky.run.materialize.mask_sql import NO_MASK_SQL, MaskSql
from rocky.spark.interface import Layout
from rocky.store.delta.change import Change
from rocky.store.delta.comments import Comments
from rocky.store.delta.signature import NO_AUTHORITY, CommitAuthority
from rocky.store.delta.snapshot import MASKS, ROWS_HASH, Snapshot
from rocky.store.warehouse import Table

SEED_HASH: Final = "rocky.seedHash"
"""Table property: the hash of the CSV and of how it was read."""

LOADED: Final = "load"
UNCHANGED: Final = "unchanged"
"""What a build of a seed did, its `action`."""

_CANONICAL: Final = Layout(canonical=True)


def seed_target(seed: SeedTable, config: Config) -> Target:
    """The table a seed is loaded into; what it does not say itself is the first pipeline's."""
    return target_of_seed(seed, config)


def refuse_shared_target(seed: SeedTable, project: Project) -> Target:
    """The seed's table. Raises RockyError when a model writes the same one."""
    target = seed_target(seed, project.config)
    for model in project.models.values():
        if model.target.key == target.key:
            raise RockyError(
                f"seed `{seed.name}` and model `{model.name}` would both write"
                f" `{target.full_name}`: set `[target]` in the seed's sidecar"
            )
    for other in project.seeds.values():
        if other is not seed and seed_target(other, project.config).key == target.key:
            raise RockyError(
                f"seeds `{seed.name}` and `{other.name}` would both write"
                f" `{target.full_name}`: set `[target]` in the sidecar of one"
            )
    return target


def seed_hash(seed: SeedTable, masks: MaskSql = NO_MASK_SQL) -> str:
    """A hash of the file and of everything that decides how it is read, and masked."""
    read: dict[str, Any] = {
        "columns": [field_to_json(field) for field in seed.columns],
        "delimiter": seed.delimiter,
        "content": seed.content_hash.hex(),
    }
    if masks.digest:
        read["masks"] = masks.digest
    return text_hash(ascii_json(read))


def is_loaded(seed: SeedTable, table: Table, masks: MaskSql = NO_MASK_SQL) -> bool:
    """Whether the table was loaded from this content and nobody has changed it since."""
    snapshot = table.snapshot()
    return snapshot is not None and _is_current(table, snapshot, seed_hash(seed, masks))


def load_seed(  # noqa: PLR0913 - what a seed is loaded with
    seed: SeedTable,
    table: Table,
    engine: Engine,
    info: Mapping[str, str],
    authority: CommitAuthority = NO_AUTHORITY,
    *,
    full_refresh: bool = False,
    masks: MaskSql = NO_MASK_SQL,
    comments: Comments | None = None,
) -> Built:
    """Bring a seed's table up to date. Raises RowsRefused, and what the store and Spark raise."""
    snapshot = table.snapshot()
    digest = seed_hash(seed, masks)
    view = f"rocky_seed_{digest[:16]}"
    names = masks.apply([field.name for field in seed.columns])
    sql = f"SELECT {names} FROM {quote_name(view)}"
    if not full_refresh and snapshot is not None and _is_current(table, snapshot, digest):
        rows_hash = snapshot.configuration.get(ROWS_HASH)
        return Built(sql, (), 0, rows_hash, UNCHANGED)
    if not seed.columns:
        raise RockyError(f"seed `{seed.name}` cannot be loaded: `{seed.path}` has no columns")
    engine.views.bind_seed(view, seed)
    try:
        written = engine.write(engine.frame(sql), table, _CANONICAL, seed.columns, frozenset())
    finally:
        engine.views.unbind([view])
    change = Change(
        "REPLACE",
        snapshot,
        seed.columns,
        (),
        written.files,
        properties={
            ROWS_HASH: written.rows_hash,
            SEED_HASH: digest,
            **({MASKS: masks.digest} if masks.digest else {}),
        },
        info=info,
        authority=authority,
        comments=comments,
    )
    committed = table.commit(change)
    return Built(sql, (committed,), written.rows, written.rows_hash, LOADED)


def _is_current(table: Table, snapshot: Snapshot, digest: str) -> bool:
    # Other tools change a table and leave its properties as they are, but for the hash of its rows:
    # that is there only while the files are those it was computed of.
    found = snapshot.configuration
    if found.get(SEED_HASH) != digest or ROWS_HASH not in found:
        return False
    return missing_file(table, snapshot) is None
