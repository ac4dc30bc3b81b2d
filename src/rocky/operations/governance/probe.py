"""The probe: classified columns read as a reader would, and told what was seen, never a value.

Two ways lead to a table: its files, all rows of the current version, and the catalogue, the first
rows, where tables are registered. `masked` is only said of values that were looked at and show no
more than the mask allows and, of files, where the version says that it was written by that mask.
What was masked in another table before it came here may show anything: records tell whether it was.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from rocky.analysis.column_masks import digest_of
from rocky.analysis.compilation import Compilation
from rocky.analysis.compliance import ClassifiedColumn, Protected
from rocky.analysis.masks.recognition import Sight, joined, look_at, values_in
from rocky.errors import StoreUnreadable
from rocky.language.datatypes.types import StructField
from rocky.language.names import quote_name
from rocky.maintenance.erasure.mask_history import MaskHistory, masks_now
from rocky.operations.workspace import Workspace, state_path
from rocky.plan.adapters import adapter_of, find_adapter
from rocky.project.configuration.strategies import Ephemeral, is_inline
from rocky.project.models import Target
from rocky.project.pipeline_tables import PipelineTable
from rocky.project.project import mask_level, twin_key
from rocky.run.materialize.seeds import seed_target
from rocky.run.prepare.pins import open_project_warehouse
from rocky.store.delta.snapshot import MASKS, Snapshot
from rocky.store.parquet.rows import column_values, load_batches
from rocky.store.warehouse import Warehouse

# Files are read without Spark.
if TYPE_CHECKING:
    from rocky.run.engine.protocol import Engine

Saw = Literal["clear", "masked", "undecided", "empty", "absent", "refused"]
Way = Literal["files", "catalogue"]
_SAMPLE: Final = 1000
_NOT_FOUND: Final = frozenset({"TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND"})
_HELD: Final = ("masked", "not_stored")


@dataclass(frozen=True, slots=True)
class ProbedColumn:
    """What was seen of a classified column in a table, on one way to it.

    `restricted` is the clear table of one that is shown masked. `saw` is `clear`, `masked`,
    `undecided` where the values could be either, `empty` without rows or values, `absent` without a
    table, and `refused` where it could not be read. `rows` is how many were looked at.
    """

    model: str
    column: str
    classification: str
    table: str
    through: Way
    restricted: bool
    saw: Saw
    rows: int = 0
    table_version: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class _Place:
    """A table to read, `by` the adapter of a name.

    `digest` is of the masks that it should say it was written by; `own` are the columns that are
    masked in it, and not before.
    """

    target: Target
    by: str
    restricted: bool = False
    digest: str | None = None
    own: frozenset[str] = frozenset()
    has_files: bool = True


@dataclass(frozen=True, slots=True)
class _Written:
    """What a version says of itself, or what stands for it where there is none to ask.

    `as_planned`: by the masks of now. `from_masked`: made from versions that were; None where no
    record tells.
    """

    as_planned: bool = True
    from_masked: bool | None = True


@dataclass(slots=True)
class _Seen:
    """What was seen so far of one column and field."""

    rows: int = 0
    sights: set[Sight] = field(default_factory=set)

    def look(self, wanted: ClassifiedColumn, said: Protected, kind: Any, value: Any) -> None:
        self.rows += 1
        path = tuple(wanted.fact.field.split(".")) if wanted.fact.field else ()
        for inner, each in values_in(kind, value, path):
            if said.state not in _HELD or said.strategy is None:
                self.sights.add("nothing" if each is None else "shown")
            else:
                self.sights.add(look_at(said.strategy, inner, each))


def probe(
    workspace: Workspace, compilation: Compilation, found: Sequence[ClassifiedColumn], env: str
) -> tuple[ProbedColumn, ...]:
    """What a reader sees of classified columns, in tables as an environment leaves them."""
    with ExitStack() as opened:
        return tuple(_Probe(workspace, compilation, env, opened).run(found))


def is_exposed(seen: ProbedColumn, said: Protected) -> bool:
    """Whether a reader saw clear what is promised to be hidden."""
    return seen.saw == "clear" and not seen.restricted and said.state in _HELD


class _Probe:
    def __init__(
        self, workspace: Workspace, compilation: Compilation, env: str, opened: ExitStack
    ) -> None:
        self._workspace, self._compilation = workspace, compilation
        self._project = compilation.project
        self._env = env
        self._opened = opened
        self._engines: dict[str, Engine] = {}
        self._histories: dict[str, MaskHistory] = {}

    def run(self, found: Iterable[ClassifiedColumn]) -> Iterator[ProbedColumn]:
        tables: dict[str, list[ClassifiedColumn]] = {}
        for each in found:
            tables.setdefault(each.table.lower(), []).append(each)
        for key, columns in tables.items():
            for place in self._places(key):
                if place.has_files:
                    yield from self._files(place, columns)
                if find_adapter(self._project, place.by).register and self._project.branch is None:
                    yield from self._catalogue(place, columns)

    def _places(self, key: str) -> Iterator[_Place]:
        """The tables that a model's or a seed's rows are in, and what each should say."""
        project, masks = self._project, self._compilation.masks
        model, twin = project.models.get(key), twin_key(key)
        adapter = adapter_of(project, model)
        source = project.sources.get(key)
        if model is not None:
            target = model.target
        elif key in project.seeds:
            target = seed_target(project.seeds[key], project.config)
        elif isinstance(source, PipelineTable) and source.name.count(".") == 2:
            target = Target(*source.name.split("."))
        else:
            return
        if twin in project.twins:
            shown, view = masks.of(twin), mask_level(project) == "view"
            place = project.models[twin].target
            digest = digest_of(shown)
            yield _Place(place, adapter, False, digest, frozenset(shown), has_files=not view)
            yield _Place(target, adapter, restricted=True)
        elif model is None or not isinstance(model.strategy, Ephemeral):
            own = masks.of(key)
            stored = model is None or not is_inline(model.strategy)
            # What a catalogue shows masked is clear in files, and masked nowhere before.
            here = frozenset({*own, *masks.catalog.get(key, {})})
            yield _Place(target, adapter, False, digest_of(own), here, has_files=stored)

    def _files(self, place: _Place, columns: Sequence[ClassifiedColumn]) -> Iterator[ProbedColumn]:
        root, adapter = self._project.root, find_adapter(self._project, place.by)
        try:
            warehouse = open_project_warehouse(adapter, root, self._workspace.environment)
            table = warehouse.table(place.target)
            snapshot = table.snapshot()
            if snapshot is None:
                yield from self._same(place, columns, "files", "absent", "it has not been built")
                return
            fields = {each.name.lower(): each for each in snapshot.schema}
            wanted = [each for each in columns if each.column.lower() in fields]
            read = list(dict.fromkeys(fields[each.column.lower()] for each in wanted))
            seen: list[_Seen] = [_Seen() for _ in wanted]
            for batch in load_batches(table, snapshot, read):
                self._look(wanted, read, batch, seen)
            said = self._written(place, warehouse, snapshot)
        except StoreUnreadable as error:
            yield from self._same(place, columns, "files", "refused", str(error))
            return
        for column, each in zip(wanted, seen, strict=True):
            saw, reason = self._judge(place, column, each, said)
            yield self._told(
                place, column, "files", saw, each.rows, reason, version=snapshot.version
            )
        gone = [each for each in columns if each.column.lower() not in fields]
        yield from self._same(place, gone, "files", "absent", "the table has no such column yet")

    def _catalogue(
        self, place: _Place, columns: Sequence[ClassifiedColumn]
    ) -> Iterator[ProbedColumn]:
        # It knows pyspark, which files are read without.
        from rocky.run.engine.failures import STEP_ERRORS  # noqa: PLC0415

        engine = self._engine(place.by)
        name = ".".join(map(quote_name, place.target))
        listed = ", ".join(quote_name(each) for each in _once(columns))
        try:
            frame = engine.frame(f"SELECT {listed} FROM {name}")  # noqa: S608 - names are quoted
            fields = engine.columns(frame)
            rows = engine.table(frame, _SAMPLE)
        except STEP_ERRORS as error:
            # What Spark says may quote a value: its own name for it does not.
            failure = engine.explain(error)
            if failure.condition in _NOT_FOUND:
                yield from self._same(place, columns, "catalogue", "absent", "it has no such name")
            else:
                why = failure.condition or failure.kind.value
                yield from self._same(place, columns, "catalogue", "refused", why)
            return
        seen: list[_Seen] = [_Seen() for _ in columns]
        batch = tuple(column_values(each) for each in rows.columns)
        self._look(columns, fields, batch, seen)
        for column, each in zip(columns, seen, strict=True):
            saw, reason = self._judge(place, column, each, _Written())
            yield self._told(place, column, "catalogue", saw, each.rows, reason)

    def _written(self, place: _Place, warehouse: Warehouse, snapshot: Snapshot) -> _Written:
        as_planned = place.digest is None or snapshot.configuration.get(MASKS, "") == place.digest
        history = self._histories.get(place.by)
        if history is None:
            now, state = masks_now(self._compilation), state_path(self._workspace)
            history = self._histories[place.by] = MaskHistory(now, state, warehouse)
        target = place.target.full_name.lower()
        if history.made(target, snapshot.version) is None:
            return _Written(as_planned, None)
        return _Written(as_planned, snapshot.version in history.masked_as_now(target))

    def _engine(self, name: str) -> "Engine":
        found = self._engines.get(name)
        if found is None:
            from rocky.run.prepare.session import open_announced_engine  # noqa: PLC0415 - as above

            adapter = find_adapter(self._project, name)
            opening = open_announced_engine(
                self._project, adapter, self._workspace.listener, self._workspace.spark
            )
            found = self._engines[name] = self._opened.enter_context(opening)
        return found

    def _look(
        self,
        columns: Sequence[ClassifiedColumn],
        fields: Sequence[StructField],
        batch: Sequence[Sequence[Any]],
        seen: Sequence[_Seen],
    ) -> None:
        at = {field.name.lower(): index for index, field in enumerate(fields)}
        for column, each in zip(columns, seen, strict=True):
            index = at[column.column.lower()]
            said = self._said(column)
            for value in batch[index]:
                each.look(column, said, fields[index].type, value)

    def _said(self, column: ClassifiedColumn) -> Protected:
        return next(each for each in column.envs if each.env == self._env)

    def _judge(
        self, place: _Place, column: ClassifiedColumn, seen: _Seen, written: _Written
    ) -> tuple[Saw, str | None]:
        said, sight = self._said(column), joined(seen.sights)
        own = column.column.lower() in place.own or place.restricted
        if not seen.rows:
            return "empty", "the table has no rows"
        if sight == "shown":
            if said.state in _HELD and not own and place.digest is not None:
                return _judge_made(written)
            return "clear", None
        if sight == "nothing":
            nulled = said.strategy is not None and said.strategy.name == "null" and own
            if not nulled or said.state not in _HELD:
                return "empty", "all of its values are null"
        if sight == "either":
            return "undecided", f"clear values may look like those of `{said.strategy}`"
        if place.restricted:
            return "undecided", "its clear values look masked"
        if not written.as_planned:
            return "undecided", "the version was written with other masks than it has now"
        return "masked", None

    def _same(
        self,
        place: _Place,
        columns: Iterable[ClassifiedColumn],
        through: Way,
        saw: Saw,
        reason: str,
    ) -> Iterator[ProbedColumn]:
        for each in columns:
            yield self._told(place, each, through, saw, 0, reason)

    def _told(
        self,
        place: _Place,
        column: ClassifiedColumn,
        through: Way,
        saw: Saw,
        rows: int,
        reason: str | None,
        *,
        version: int | None = None,
    ) -> ProbedColumn:
        return ProbedColumn(
            model=column.table,
            column=column.name,
            classification=column.fact.tag,
            table=place.target.full_name,
            through=through,
            restricted=place.restricted,
            saw=saw,
            rows=rows,
            table_version=version,
            reason=reason,
        )


def _judge_made(written: _Written) -> tuple[Saw, str | None]:
    """What to say of values that show more than a mask of another table, from where they come."""
    match written.from_masked:
        case True:
            return "undecided", "it is made from values that were masked before"
        case None:
            return "undecided", "no record tells whether it is made from masked values"
        case False:
            return "clear", "it was made before what it is made from was masked as now"


def _once(columns: Iterable[ClassifiedColumn]) -> Mapping[str, None]:
    return dict.fromkeys(each.column for each in columns)
