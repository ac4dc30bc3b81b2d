"""Which column of which table is masked, and how: the tags of columns joined with `[mask]`.

A value is masked where it would first be written: what comes clear from a source, or through views
from one, is masked by the table that holds it, and what a table gives that is masked already is
left as it is. So a hash is a hash of the clear value everywhere, and joins on it go on working.
Where tables have twins, tables are clear and each twin masks what its own holds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from rocky.analysis.classification import Classifications, TagFact
from rocky.analysis.classification.flow import tables_in_order
from rocky.analysis.classification.patterns import writer_of
from rocky.analysis.column_masks import (
    NO_MASK_PLAN,
    ColumnMask,
    MaskPlan,
    MaskProblem,
    TableMasks,
)
from rocky.analysis.compilation import Compilation, unpack_body, unpack_schema
from rocky.analysis.masks import check
from rocky.analysis.masks.arrival import CLEAR, MASKED, Arrivals, Origin, States
from rocky.analysis.masks.expressions import HASH_NAMES, Unmaskable, mask_fields
from rocky.analysis.masks.keys import strategy_problems, told_problems
from rocky.language.datatypes.text import decode_type
from rocky.language.datatypes.types import StructField
from rocky.language.ir import LINEAGE_KINDS
from rocky.project.configuration.classifications import EVERY_COLUMN
from rocky.project.configuration.masks import MaskStrategy
from rocky.project.configuration.strategies import is_inline
from rocky.project.pipeline_tables import PipelineTable
from rocky.project.project import mask_level, mask_strategies, twin_key
from rocky.project.sources import SourceTable

_DIRECT: Final = LINEAGE_KINDS.index("direct")


def plan_masks(compilation: Compilation, classifications: Classifications) -> MaskPlan:
    """What is masked in the environment that the project is in."""
    strategies = mask_strategies(compilation.project)
    if not strategies or not classifications:
        return NO_MASK_PLAN
    found = MaskPlanner(compilation, classifications, strategies).run()
    if mask_level(compilation.project) not in ("twin", "view"):
        return found
    # What pipelines write has no twin: it is written masked at every level.
    tables = {
        key if writer_of(compilation.project, key) is not None else twin_key(key): each
        for key, each in found.tables.items()
    }
    return replace(found, tables=tables)


class MaskPlanner:
    """One walk over the tables of a project, each after what it reads."""

    def __init__(
        self,
        compilation: Compilation,
        classifications: Classifications,
        strategies: Mapping[str, MaskStrategy],
    ) -> None:
        self._compilation = compilation
        self._project = compilation.project
        self._facts = classifications
        self._strategies = strategies
        self._key = self._project.config.governance.key_fingerprint
        self._level = mask_level(self._project)
        self._arrivals = Arrivals(self._project, classifications, strategies)
        self._tables: dict[str, TableMasks] = {}
        self._clear: dict[str, tuple[str, ...]] = {}
        self._problems: list[MaskProblem] = []

    def run(self) -> MaskPlan:
        for key, seed in self._project.seeds.items():
            if key not in self._project.models:
                self._mask_seed(key, seed.columns)
        for key in self._in_order():
            if key in self._project.twins or not self._facts.table(key):
                continue
            if key in self._compilation.models:
                self._mask_model(key)
            elif writer_of(self._project, key) is not None:
                self._mask_copy(key, self._project.sources[key])
        problems, tables = tuple(self._problems), self._tables
        if self._level != "catalog":
            return MaskPlan(tables, self._clear, problems, above=self._arrivals.above)
        # What pipelines write is masked at any level.
        copies = {key: each for key, each in tables.items() if writer_of(self._project, key)}
        held = {key: each for key, each in tables.items() if key not in copies}
        return MaskPlan(copies, self._clear, problems, held, self._arrivals.above)

    def _in_order(self) -> Iterable[str]:
        if self._project.writers:
            return tables_in_order(self._project, self._compilation.upstream)
        return map(str.lower, self._compilation.order)

    def _mask_seed(self, key: str, columns: Iterable[StructField]) -> None:
        self._keep(key, self.of_columns(key, self._facts.table(key), columns))

    def of_columns(
        self, key: str, facts: Mapping[str, tuple[TagFact, ...]], columns: Iterable[StructField]
    ) -> dict[str, ColumnMask]:
        """The masks of columns that arrive clear in a table."""
        masks: dict[str, ColumnMask] = {}
        for column in columns:
            found = facts.get(column.name.lower(), ())
            wanted = self._wanted(found)
            mask = self._mask(key, column, found, wanted) if wanted else None
            if mask is not None:
                masks[column.name.lower()] = mask
        return masks

    def _mask_copy(self, key: str, source: SourceTable) -> None:
        """What a pipeline writes: masked where it arrives clear, whoever reads it.

        Of one whose columns are not known yet the run that copies them says what cannot be masked.
        """
        facts, above = self._facts.table(key), getattr(source, "reads", ())
        arriving = {
            name: self._arrivals.arriving(
                key,
                found,
                [Origin(each, name, True, ("",)) for each in above if self._facts.of(each, name)],
            )
            for name, found in facts.items()
        }
        wanted_here = {name: self._wanted(found) for name, found in facts.items()}
        self._arrivals.keep_copy(key, wanted_here, above)
        if not isinstance(source, PipelineTable):
            return
        if self._level != "write" and (shown := [each for each in above if each in self._tables]):
            # By its name a pipeline reads the masked one of the two, which would be masked again.
            message = f"it is made from `{shown[0]}`, of which the pipeline reads the masked table"
            name, found = next(iter(facts.items()))
            self._report("unfit", key, name, found, message, help='use `enforce = "write"`')
            return
        # A copy may have a null wherever its source has a row.
        columns = [StructField(each.name, each.type, nullable=True) for each in source.columns]
        clear = [each for each in columns if CLEAR in arriving.get(each.name.lower(), ())]
        masks = self.of_columns(key, facts, clear)
        self._tables |= {key: masks} if masks else {}
        for column in columns:
            name = column.name.lower()
            if len(arriving.get(name, ())) > 1 and (wanted := self._wanted(facts[name])):
                self._refuse_mixture(key, column, facts[name], wanted)

    def _keep(self, key: str, masks: dict[str, ColumnMask]) -> None:
        if masks:
            self._tables[key] = masks
            arriving = dict.fromkeys(masks, frozenset({CLEAR}))
            self._arrivals.keep(key, arriving, masks if self._level == "write" else {})

    def _mask_model(self, key: str) -> None:
        record = self._compilation.models.record(key)
        body, schema = unpack_body(record), unpack_schema(record)
        facts = self._facts.table(key)
        columns = [
            StructField(name, decode_type(kind), null) for name, kind, null in schema.columns
        ]
        arriving: dict[str, States] = {}
        reads = [each.lower() for each in record.reads]
        shares = {(each.column, each.origin): each.ways for each in body.shares}
        for index, (column, (_, _, _, sources)) in enumerate(
            zip(columns, body.details, strict=True)
        ):
            origins = [
                Origin(
                    *body.origins[source >> 3],
                    direct=source & 7 == _DIRECT,
                    paths=tuple(path for path, _ in shares.get((index, source >> 3), (("", 0),))),
                )
                for source in sources
            ]
            name = column.name.lower()
            found = facts.get(name, ())
            arriving[name] = self._arrivals.arriving(key, found, origins, reads)
            self._arrivals.pass_through(key, column.name, found, origins, reads)
        if is_inline(self._project.models[key].strategy):
            self._pass_on(key, columns, facts, arriving)
            return
        masks: dict[str, ColumnMask] = {}
        unknown = facts.get(EVERY_COLUMN, ()) if not schema.known else ()
        if CLEAR in self._arrivals.arriving(key, unknown, (), reads) and self._wanted(unknown):
            self._report("unfit", key, EVERY_COLUMN, unknown, "its columns are not known")
        for column in columns:
            name = column.name.lower()
            wanted = self._wanted(self._facts.of(key, name))
            if not wanted or CLEAR not in arriving[name]:
                continue
            mask = self._mask(key, column, self._facts.of(key, name), wanted)
            if mask is not None:
                masks[name] = mask
            if MASKED in arriving[name]:
                self._refuse_mixture(key, column, facts[name], wanted)
        self._tables |= {key: masks} if masks else {}
        if self._level != "write":
            # The strategy goes by clear values, and so do the readers.
            self._arrivals.keep(key, arriving)
            if self._level != "catalog":
                self._problems += told_problems(self._project.models[key], key, masks)
            return
        self._arrivals.keep(key, arriving, masks)
        # Also by what is masked before it arrives: different values have become the same there.
        worn = self._arrivals.worn(key)
        self._problems += strategy_problems(self._project.models[key], key, worn)

    def _pass_on(
        self,
        key: str,
        columns: Iterable[StructField],
        facts: Mapping[str, tuple[TagFact, ...]],
        arriving: Mapping[str, States],
    ) -> None:
        """A model without a table masks nothing: its readers see what arrives."""
        self._arrivals.keep(key, arriving)
        names = [each.name for each in columns]
        clear = tuple(
            name
            for name in names
            if CLEAR in arriving[name.lower()] and self._wanted(facts.get(name.lower(), ()))
        )
        if clear:
            self._clear[key] = clear

    def _wanted(self, facts: Iterable[TagFact]) -> dict[str, tuple[str, MaskStrategy]]:
        """By field the tag that decides, and its strategy: the highest of those that have one."""
        found: dict[str, tuple[str, MaskStrategy]] = {}
        order = self._project.config.classifications.order
        for fact in facts:
            strategy = self._strategies.get(fact.tag)
            if strategy is None:
                continue
            tag, known = found.setdefault(fact.field, (fact.tag, strategy))
            if known.name == "none" and not {tag, fact.tag} <= {*order}:
                # Nobody said that `none` is to decide over the other.
                found[fact.field] = fact.tag, strategy
        if "" in found and found[""][1].name != "none":
            found = {"": found[""]}
        return {path: each for path, each in found.items() if each[1].name != "none"}

    def _mask(
        self,
        key: str,
        column: StructField,
        facts: Sequence[TagFact],
        wanted: Mapping[str, tuple[str, MaskStrategy]],
    ) -> ColumnMask | None:
        chosen = {path: strategy for path, (_, strategy) in wanted.items()}
        undecided = check.find_undecided(self._project.config, self._strategies, facts)
        if undecided is not None:
            self._report("unfit", key, column.name, facts, *undecided)
            return None
        for strategy in chosen.values():
            wrong = check.check_own(strategy)
            if wrong is not None:
                self._report("unfit", key, column.name, facts, wrong, strategy)
                return None
        try:
            sql = mask_fields(chosen, column)
        except Unmaskable as refusal:
            strategy = next(iter(chosen.values()))
            self._report("unfit", key, column.name, facts, str(refusal), strategy, refusal.help)
            return None
        found = check.check_expression(sql, column)
        if found:
            strategy = next(iter(chosen.values()))
            self._report("unfit", key, column.name, facts, found[0], strategy)
            return None
        keyed = any(name in sql for name in HASH_NAMES)
        hides = check.hidden_tags(self._strategies, facts)
        if self._level == "catalog":
            unheld = check.refuse_by_catalogue(self._project.config, hides, keyed=keyed)
            if unheld is not None:
                self._report("unfit", key, column.name, facts, unheld[0], help=unheld[1])
                return None
        elif keyed and self._key is None:
            self._report(
                "keyless",
                key,
                column.name,
                facts,
                "there is no key of hashes",
                help="set `hash_key` in `[governance]`",
            )
            return None
        if keyed and self._level == "view" and writer_of(self._project, key) is None:
            self._report(
                "unfit",
                key,
                column.name,
                facts,
                "a view of a catalogue cannot hold the key of hashes",
                help='use `redact`, `sha2` or `partial`, or `enforce = "twin"`',
            )
            return None
        tags = tuple(dict.fromkeys(tag for tag, _ in wanted.values()))
        form = mask_fields(chosen, StructField(column.name, column.type, nullable=True))
        used = self._key if keyed else None
        ways, kind, null = tuple(sorted(chosen.items())), column.type, column.nullable
        return ColumnMask(column.name, tags, ways, sql, used, form, kind, null, hides)

    def _refuse_mixture(
        self,
        key: str,
        column: StructField,
        facts: Iterable[TagFact],
        wanted: Mapping[str, tuple[str, MaskStrategy]],
    ) -> None:
        twice = next((each for _, each in wanted.values() if not each.idempotent), None)
        if twice is None:
            return
        self._report(
            "mixed",
            key,
            column.name,
            facts,
            f"clear and masked values meet here, and `{twice}` of a masked value is another value",
            twice,
            "read both from sources, or both from tables",
        )

    def _report(
        self,
        kind: str,
        key: str,
        column: str,
        facts: Iterable[TagFact],
        message: str,
        strategy: MaskStrategy | None = None,
        help: str = "",  # noqa: A002 - as in diagnostics
    ) -> None:
        tag = next((fact.tag for fact in facts if fact.tag in self._strategies), "")
        shown = f"`{column}` cannot be masked by `{strategy or self._strategies[tag]}`: {message}"
        self._problems.append(MaskProblem(kind, key, column, tag, shown, help))
