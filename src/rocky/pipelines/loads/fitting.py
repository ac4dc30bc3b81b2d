"""Fitting: the columns that a table has after a load, and how each file's columns become them.

A CSV and JSON have text and no types, so they are read as the types that the table has. Columns
may be added and types may widen; a file without a column of the table fails the load, because a
column that was renamed would be lost without a word. In JSON a key that is absent is a null.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rocky.datatypes.types import NULL, STRING, DataType, StructField
from rocky.datatypes.widening import is_lossless
from rocky.drift.projection import quote_name, type_sql
from rocky.errors import SourceUnreadable
from rocky.ledger.pipeline_records import DriftRecord
from rocky.pipelines.loads.headers import FileGroup
from rocky.project.contracts import Contract

_TYPED: Final = "parquet"
_ADVICE: Final = "mend the file, or load all files anew with `--full-refresh`"


@dataclass(frozen=True, slots=True)
class Given:
    """A group of files and the columns that Spark finds in it."""

    group: FileGroup
    columns: tuple[StructField, ...]

    @property
    def by_key(self) -> Mapping[str, StructField]:
        return {each.name.lower(): each for each in self.columns}


@dataclass(frozen=True, slots=True)
class Fit:
    """How one group is read and selected: `columns` are declared, `select_list` is over them."""

    columns: tuple[StructField, ...]
    select_list: str


@dataclass(frozen=True, slots=True)
class Fitted:
    """How a load fits its table. `fits` go with the groups, `drift` says what changes."""

    fits: tuple[Fit, ...]
    drift: tuple[DriftRecord, ...]


def fit_columns(
    given: Sequence[Given], table: Sequence[StructField], contract: Contract | None
) -> Fitted:
    """Fit files to a table that has these columns. Raises SourceUnreadable where they do not."""
    for each in given:
        _check_complete(each, table)
    before = {each.name.lower(): each for each in table}
    promised = _Promised.of(contract)
    names = {key: each.name for key, each in before.items()}
    for each in given:
        for field in each.columns:
            names.setdefault(field.name.lower(), promised.spell(field.name))
    wanted: list[StructField] = []
    for key, name in names.items():
        kind = _type_of(name, given, before.get(key), promised.types.get(key))
        wanted.append(StructField(name, kind, key not in promised.required))
    drift = tuple(_drift(each, before.get(each.name.lower())) for each in wanted) if before else ()
    return Fitted(
        tuple(_fit(each, wanted) for each in given),
        tuple(each for each in drift if each is not None),
    )


@dataclass(frozen=True, slots=True)
class _Promised:
    """What a contract says of columns, by their keys."""

    names: Mapping[str, str]
    types: Mapping[str, DataType]
    required: frozenset[str]

    @classmethod
    def of(cls, contract: Contract | None) -> "_Promised":
        columns = contract.columns if contract is not None else ()
        return cls(
            {each.name.lower(): each.name for each in columns},
            {each.name.lower(): each.type for each in columns if each.type is not None},
            frozenset(each.name.lower() for each in columns if each.nullable is False),
        )

    def spell(self, name: str) -> str:
        return self.names.get(name.lower(), name)


def _check_complete(given: Given, table: Sequence[StructField]) -> None:
    if given.group.format == "json":
        return
    present = given.by_key
    missing = [each.name for each in table if each.name.lower() not in present]
    if missing:
        file, more = given.group.files[0].shown, len(given.group.files) - 1
        others = f" (and {more} more like it)" if more else ""
        listed = ", ".join(f"`{name}`" for name in missing)
        raise SourceUnreadable(
            f"`{file}`{others} does not have {listed}, which the table has; {_ADVICE}"
        )


def _type_of(
    name: str, given: Sequence[Given], before: StructField | None, promised: DataType | None
) -> DataType:
    """The type that a column has after the load."""
    found = before.type if before is not None else promised
    fixed = found is not None
    for each in given:
        field = each.by_key.get(name.lower())
        if field is None:
            continue
        kind = STRING if field.type is NULL else field.type
        if found is None or (is_lossless(found, kind) and before is not None):
            found = kind
        elif not is_lossless(kind, found):
            found = _reconcile(name, each, (found, kind), fixed=fixed)
    return found or STRING


def _reconcile(
    name: str, given: Given, kinds: tuple[DataType, DataType], *, fixed: bool
) -> DataType:
    """The type of a column of which files differ. Raises SourceUnreadable."""
    found, kind = kinds
    if not fixed and is_lossless(found, kind):
        return kind
    if given.group.format != _TYPED:
        # Text is read as what the column is; what cannot be read so stops the load. Files of a new
        # table that disagree have nothing but text in common.
        return found if fixed else STRING
    raise SourceUnreadable(
        f"column `{name}` is `{kind}` in `{given.group.files[0].shown}`, which is not always a"
        f" `{found}`; {_ADVICE}"
    )


def _fit(given: Given, wanted: Sequence[StructField]) -> Fit:
    """How a group is read: text as the wanted types, anything else as it is and cast."""
    present, typed = given.by_key, given.group.format == _TYPED
    targets = {each.name.lower(): each for each in wanted}
    declared = tuple(
        StructField(
            each.name,
            each.type if typed else targets[each.name.lower()].type,
            targets[each.name.lower()].nullable,
        )
        for each in given.columns
    )
    parts = []
    for field in wanted:
        found = present.get(field.name.lower())
        name, kind = quote_name(field.name), type_sql(field.type)
        if found is None:
            parts.append(f"CAST(NULL AS {kind}) AS {name}")
        elif typed and found.type is not field.type:
            parts.append(f"CAST({quote_name(found.name)} AS {kind}) AS {name}")
        else:
            parts.append(f"{quote_name(found.name)} AS {name}")
    return Fit(declared, ", ".join(parts))


def _drift(field: StructField, before: StructField | None) -> DriftRecord | None:
    if before is None:
        return DriftRecord(field.name, "add", "add_column", None, field.type.text)
    if before.type is not field.type:
        return DriftRecord(field.name, "widen", "widen_column", before.type.text, field.type.text)
    return None
