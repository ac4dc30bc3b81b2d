"""The comparison: a table that was built again, held against what the record says of the first.

Bytes are compared by their names, so the first files need not be there any more; they are read only
to show which rows differ.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rocky.analysis.disclosure import Disclosure, Secrets, shown
from rocky.language.datatypes.parts import holds_kind
from rocky.language.datatypes.types import StructField
from rocky.language.names import quote_name
from rocky.ledger.provenance import ProvenanceRecord
from rocky.replay.record import RecordedModel, doubts_of
from rocky.replay.verdicts import Differences, ModelVerdict, Row, Verdict
from rocky.run.engine.failures import STEP_ERRORS, classify_step_failure, hide_words
from rocky.run.engine.protocol import Engine
from rocky.run.prepare.pins import PinnedTable
from rocky.store.delta.snapshot import ROWS_HASH

_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class RebuiltModel:
    """A model built again; `find_output` its table as the recorded build left it, if it is there.

    `differences` are those of Spark, settings and variables then and now; `view` is a prefix for
    views.
    """

    model: RecordedModel
    record: ProvenanceRecord
    table: PinnedTable | None
    find_output: Callable[[], PinnedTable | None]
    differences: tuple[str, ...]
    duration_ms: int
    view: str
    troubles: tuple[str, ...] = ()


def compare_rebuilt(
    rebuilt: RebuiltModel, engine: Engine, disclosure: Disclosure | None = None
) -> ModelVerdict:
    """The verdict on a model that was built again."""
    exact = _as_found(rebuilt)
    if exact.recorded_files == exact.replayed_files:
        return exact
    then, now = exact.recorded_rows_hash, exact.replayed_rows_hash
    same = None if then is None or now is None else then == now
    shown, trouble = (None, None) if same else _differing(rebuilt, engine, disclosure)
    if same is None and shown is not None:
        same = not shown.recorded and not shown.replayed
    if same:
        return replace(exact, verdict=Verdict.ROW_EXACT, reason=_other_bytes(rebuilt.record))
    if same is None:
        why = trouble or "their hash was not recorded and the files of the run are gone"
        reason = f"its files differ, and whether its rows do is not known: {why}"
        return replace(exact, verdict=Verdict.NON_REPLAYABLE, reason=reason)
    return replace(
        exact,
        verdict=Verdict.DIVERGED,
        reason=trouble or _describe_rows(shown),
        causes=likely_causes(rebuilt),
        notes=_origin(rebuilt.model),
        differences=shown,
    )


def _as_found(rebuilt: RebuiltModel) -> ModelVerdict:
    """The verdict if all files are equal."""
    record, table = rebuilt.record, rebuilt.table
    files = [file.address for file in table.snapshot.files] if table is not None else []
    return ModelVerdict(
        rebuilt.model.name,
        record.target,
        Verdict.BIT_EXACT,
        rebuilt.model.built_by,
        notes=(*_origin(rebuilt.model), *rebuilt.differences),
        recorded_files=tuple(sorted(record.output_blake3)),
        replayed_files=tuple(sorted(files)),
        recorded_rows_hash=record.rows_hash,
        replayed_rows_hash=(
            table.snapshot.configuration.get(ROWS_HASH) if table is not None else None
        ),
        duration_ms=rebuilt.duration_ms,
    )


def likely_causes(rebuilt: RebuiltModel) -> tuple[str, ...]:
    """What may have made a model give other rows, the surest first."""
    record = rebuilt.record
    found = [*rebuilt.troubles, *rebuilt.differences, *doubts_of(record)]
    unsure = [each.name for each in record.reads if any(f.blake3_hash is None for f in each.files)]
    found += [f"source `{name}` was known by the list of its files only" for name in unsure]
    if not record.executed_sql:
        found.append("a Python model may depend on more than the tables it reads")
    return tuple(found)


def _origin(model: RecordedModel) -> tuple[str, ...]:
    if model.made is model.execution:
        return ()
    return (f"reused: the record of {model.built_by} was replayed",)


def _other_bytes(record: ProvenanceRecord) -> str:
    if record.layout is not None and not record.layout.canonical:
        return "the record was not canonical: the same rows, in files of other bytes"
    return "the same rows, in files of other bytes"


def _describe_rows(shown: Differences | None) -> str:
    if shown is None:
        return "other rows; which ones is not known: the files of the run are gone"
    return "other rows"


def _differing(
    rebuilt: RebuiltModel, engine: Engine, disclosure: Disclosure | None
) -> tuple[Differences | None, str | None]:
    """The first rows that only one side has, or why they cannot be shown."""
    table, output = rebuilt.table, rebuilt.find_output()
    if output is None or table is None:
        return None, None
    then, now = output.snapshot.schema, table.snapshot.schema
    if [each.name for each in then] != [each.name for each in now]:
        return None, f"its columns are {_listed(now)} now and were {_listed(then)} then"
    views = (f"{rebuilt.view}_recorded", f"{rebuilt.view}_replayed")
    try:
        for view, pinned in zip(views, (output, table), strict=True):
            engine.views.bind_table(view, pinned.table, pinned.snapshot)
        recorded = _only_in(views[0], views[1], now, engine)
        replayed = _only_in(views[1], views[0], now, engine)
    except STEP_ERRORS as error:
        said = hide_words(classify_step_failure(error), disclosure).message
        return None, f"rows cannot be compared: {said}"
    finally:
        engine.views.unbind(views)
    if disclosure is not None:
        names = [each.name for each in now]
        hidden = dict(zip(names, disclosure.in_stored(table.table.name, names), strict=True))
        recorded, replayed = _without_values(recorded, hidden), _without_values(replayed, hidden)
    return Differences(recorded, replayed), None


def _without_values(rows: Sequence[Row], hidden: Mapping[str, Secrets]) -> tuple[Row, ...]:
    return tuple({name: shown(value, hidden[name]) for name, value in row.items()} for row in rows)


def _only_in(
    here: str, there: str, columns: Sequence[StructField], engine: Engine
) -> tuple[Row, ...]:
    selected = ", ".join(map(_comparable, columns))
    order = ", ".join(str(place + 1) for place in range(len(columns)))
    sql = (
        f"SELECT * FROM (SELECT {selected} FROM {here} EXCEPT ALL"  # noqa: S608 - names of ours and quoted ones
        f" SELECT {selected} FROM {there}) ORDER BY {order}"
    )
    names = [each.name for each in columns]
    rows = engine.rows(engine.frame(sql), _SHOWN)
    return tuple(dict(zip(names, row, strict=True)) for row in rows)


def _comparable(column: StructField) -> str:
    """A column as Spark compares it: not a map, and not what has no type of its own."""
    name = quote_name(column.name)
    return (
        f"CAST({name} AS STRING) AS {name}" if holds_kind(column.type, "map", "variant") else name
    )


def _listed(columns: Sequence[StructField]) -> str:
    return ", ".join(f"`{each.name}`" for each in columns)
