"""Comments: what a table's log says of the table and of its columns, for whoever reads it.

They are Delta's own: `description` of the `metaData`, `comment` in the metadata of a column. Those
that Rocky wrote are marked, so that a text that the project no longer has goes, and one that
somebody else wrote stays until the project has its own. Labels, which are for programs, go with
them.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from rocky.language.datatypes.types import StructField
from rocky.store.delta.labels import (
    NO_LABELS,
    TABLE_LABELS,
    Labels,
    column_labels,
    table_labels,
    without_labels,
)
from rocky.store.delta.schema import format_schema, same_columns
from rocky.store.delta.snapshot import Snapshot

DESCRIBED: Final = "rocky.described"
"""Table property: the table's description is the project's."""
COMMENT: Final = "comment"
_OURS: Final = "rocky.comment"
"""Column metadata: the comment beside it is the project's."""
_MARK: Final = '"rocky.'
"""What a schema holds in which any column has a comment or a label of ours."""


NO_COMMENTS: Final[Mapping[str, str]] = {}


class Comments(NamedTuple):
    """What is said of a table, and of its columns by lower-case name."""

    table: str | None = None
    columns: Mapping[str, str] = NO_COMMENTS
    labels: Labels = NO_LABELS


def comments_of(snapshot: Snapshot | None) -> Comments:
    """The comments of a table, whoever wrote them."""
    if snapshot is None or not snapshot.metadata:
        return Comments()
    noted = _noted(snapshot)
    columns = {
        name: str(metadata[COMMENT]) for name, metadata in noted.items() if metadata.get(COMMENT)
    }
    labels = {name: column_labels(metadata) for name, metadata in noted.items()}
    return Comments(
        snapshot.metadata.get("description") or None,
        columns,
        Labels(
            table_labels(snapshot.configuration),
            {name: found for name, found in labels.items() if found},
        ),
    )


def differ(wanted: Comments, snapshot: Snapshot) -> bool:
    """Whether a commit with these comments would change those of a table."""
    if _table_comment(wanted, snapshot) != _said(snapshot):
        return True
    if dict(wanted.labels.table) != table_labels(snapshot.configuration):
        return True
    text = snapshot.metadata["schemaString"]
    if not wanted.columns and not wanted.labels.columns and _MARK not in text:
        return False
    return any(
        metadata != _commented(metadata, metadata, wanted, name)
        for name, metadata in _noted(snapshot).items()
    )


def described_metadata(
    metadata: Mapping[str, Any], wanted: Comments | None, latest: Snapshot | None
) -> dict[str, Any]:
    """The `metaData` of a commit with what is said of the table."""
    made = dict(metadata)
    if wanted is None:
        return made
    description, ours = _table_comment(wanted, latest)
    made.pop("description", None)
    configuration = {
        key: value
        for key, value in made["configuration"].items()
        if key != DESCRIBED and key not in TABLE_LABELS
    }
    if description is not None:
        made["description"] = description
    if ours:
        configuration[DESCRIBED] = "true"
    made["configuration"] = {**configuration, **wanted.labels.table}
    return made


def _table_comment(wanted: Comments, latest: Snapshot | None) -> tuple[str | None, bool]:
    """The table's description after a commit, and whether it is the project's."""
    if wanted.table is not None:
        return wanted.table, True
    said, ours = _said(latest)
    return (None, False) if ours else (said, False)


def _said(latest: Snapshot | None) -> tuple[str | None, bool]:
    if latest is None:
        return None, False
    return latest.metadata.get("description"), latest.configuration.get(DESCRIBED) == "true"


def schema_text(
    schema: Sequence[StructField], wanted: Comments | None, latest: Snapshot | None
) -> str:
    """The `schemaString` of columns after a commit; without comments, those of before stay."""
    noted = _noted(latest) if latest is not None and latest.metadata else {}
    same = bool(noted) and latest is not None and same_columns(tuple(schema), latest.schema)
    before = str(latest.metadata["schemaString"]) if same and latest is not None else None
    # Columns that stay keep what others have noted beside them.
    made = json.loads(before if before is not None else format_schema(schema))
    for field in made["fields"]:
        name = field["name"].lower()
        field["metadata"] = _commented(
            field.get("metadata") or {}, noted.get(name, {}), wanted, name
        )
    if before is not None and made == json.loads(before):
        return before
    return json.dumps(made, separators=(",", ":"), ensure_ascii=False)


def _commented(
    metadata: Mapping[str, Any], noted: Mapping[str, Any], wanted: Comments | None, name: str
) -> dict[str, Any]:
    """A column's metadata with its comment and its labels."""
    bare = without_labels(metadata)
    bare = {key: value for key, value in bare.items() if key not in (COMMENT, _OURS)}
    kept = {key: noted[key] for key in (COMMENT, _OURS) if key in noted}
    if wanted is None:
        return {**bare, **kept, **column_labels(noted)}
    labels = wanted.labels.of(name)
    said = wanted.columns.get(name)
    if said is not None:
        return {**bare, COMMENT: said, _OURS: True, **labels}
    return {**bare, **labels} if kept.get(_OURS) else {**bare, **kept, **labels}


def _noted(snapshot: Snapshot) -> dict[str, Mapping[str, Any]]:
    """The metadata of columns, by lower-case name."""
    fields = json.loads(snapshot.metadata["schemaString"])["fields"]
    return {field["name"].lower(): field.get("metadata") or {} for field in fields}
