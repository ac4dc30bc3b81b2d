"""Obstacles: why rows, or old versions, cannot be taken out of a table, and what to do about it."""

from collections.abc import Collection, Sequence

from rocky.errors import ExtraMissing
from rocky.language.datatypes.types import StructField
from rocky.maintenance.erasure.contents import can_ask, key_fields
from rocky.maintenance.erasure.subject import Subject
from rocky.maintenance.table_work import find_obstacle
from rocky.maintenance.tables import RecordedTable
from rocky.store.iceberg import check_iceberg, has_iceberg


def find_erasure_obstacle(
    found: RecordedTable,
    columns: Sequence[str],
    subject: Subject,
    asked_as_now: Collection[int],
    others: Sequence[str] = (),
    mask: str | None = None,
) -> str | None:
    """Why the rows of a subject cannot be taken out of a table.

    `asked_as_now` are the versions whose key is masked or clear as the project says now, `others`
    columns mixed in, `mask` what stands in the place of the key.
    """
    fields = key_fields(found.snapshot, columns)
    kinds = {str(each.type) for each in fields}
    if mask is not None:
        return (
            f"its key column is masked by `{mask}`, so nobody{_unless(mask)} can ask it for the"
            " value: erase by another column, or by what stands in the table, naming its model with"
            " `--from`"
        )
    if others:
        listed = ", ".join(f"`{each}`" for each in others)
        return (
            f"its key column takes values of {listed} too; where that is the same key, name its"
            " table with `--from` as well"
        )
    if len(fields) < len(set(map(str.lower, columns))):
        return "it has not been built with its key column yet: run its model, or build it anew"
    if len(kinds) != 1 or not can_ask(fields, subject):
        return f"its key column is `{', '.join(sorted(kinds))}`, and {_advice(fields)}"
    if found.snapshot.version not in asked_as_now:
        return (
            "its newest version was written when its key was masked otherwise than now, so it"
            " cannot be asked: run its model first"
        )
    if found.snapshot.configuration.get("delta.appendOnly") == "true":
        return "it is append-only: `delta.appendOnly` is set"
    return find_manifests(found) or find_obstacle(found)


def _unless(mask: str) -> str:
    return " without `hash_key` of `[governance]`" if mask == "hash" else ""


def _advice(fields: Sequence[StructField]) -> str:
    """How a value of these columns is written, where it can be."""
    kinds = {each.type.kind for each in fields}
    if kinds & {"float", "double"}:
        return "two floats that look the same need not be equal: erase by another column"
    if "timestamp" in kinds:
        return (
            "the value is not such a time: it says its zone, as `TIMESTAMP '2026-01-31T12:00:00Z'`"
        )
    if "timestamp_ntz" in kinds:
        return "the value is not such a time: it has no zone, as `TIMESTAMP '2026-01-31 12:00:00'`"
    return "the value is of another type: a text stands in quotes, a number does not"


def find_clearing_obstacle(found: RecordedTable, masked_as_now: Collection[int]) -> str | None:
    """Why versions that were masked otherwise cannot be taken out of a table."""
    if found.snapshot.version not in masked_as_now:
        return (
            "its newest version was not written with the masks that it has now, or was made from"
            f" one that was not: `rocky run +{found.model}` first"
        )
    return find_manifests(found) or find_obstacle(found)


def find_manifests(found: RecordedTable) -> str | None:
    """Why the metadata of Iceberg is in the way, where a table has any: it is written anew."""
    if has_iceberg(found.table):
        try:
            check_iceberg()
        except ExtraMissing as error:
            return f"it has metadata of Iceberg beside it, which has to be written anew: {error}"
    return None
