"""In which state values arrive at a column: clear, masked or both, and by which masks elsewhere.

What is masked where a value was first written is left as it is by every table behind it. So such a
table has no mask of its own, and its rows are as old masks left them until it is made again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from rocky.analysis.classification import Classifications, TagFact
from rocky.analysis.column_masks import NO_TABLE_MASKS, ColumnMask, TableMasks
from rocky.canonical import ascii_json, text_hash
from rocky.project import Project
from rocky.project.configuration.classifications import EVERY_COLUMN
from rocky.project.configuration.masks import MaskStrategy

CLEAR: Final = "clear"
MASKED: Final = "masked"
States = frozenset[str]
_CLEAR: Final = frozenset({CLEAR})
_Passed = frozenset[str]
"""The masks that the values of a column went through in other tables, as texts."""
Wanted = Mapping[str, tuple[str, MaskStrategy]]


class Origin(NamedTuple):
    """A column that one is made from. `paths` are the fields that are read of it, "" for all."""

    table: str
    column: str
    direct: bool
    paths: tuple[str, ...]

    def is_inside(self, outer: str, field: str) -> bool:
        """Whether what becomes a field of the result is all of it in a field of the origin."""
        if not outer:
            return True
        # Of what is computed it is not known where in the result the fields are.
        inner = field if self.direct else ""
        ends = (".".join(each for each in (path, inner) if each) for path in self.paths)
        return all(end == outer or end.startswith(f"{outer}.") for end in ends)


class Arrivals:
    """What is known of the tables that were looked at, for those that read them."""

    def __init__(
        self,
        project: Project,
        classifications: Classifications,
        strategies: Mapping[str, MaskStrategy],
    ) -> None:
        self._project = project
        self._facts = classifications
        self._strategies = strategies
        self._inherits = project.config.classifications.influence == "inherit"
        self._states: dict[str, Mapping[str, States]] = {}
        self._passed: dict[str, dict[str, _Passed]] = {}
        self._own: dict[str, TableMasks] = {}
        self._worn: dict[str, dict[str, ColumnMask]] = {}

    @property
    def above(self) -> dict[str, dict[str, str]]:
        """By table and column what tells the masks of other tables that its values have."""
        found: dict[str, dict[str, str]] = {}
        for key, columns in self._passed.items():
            own = self._own.get(key, NO_TABLE_MASKS)
            said = {
                name: text_hash(ascii_json(sorted(each)))[:16]
                for name, each in columns.items()
                if name not in own
            }
            found |= {key: said} if said else {}
        return found

    def arriving(
        self,
        key: str,
        facts: Sequence[TagFact],
        origins: Sequence[Origin],
        reads: Iterable[str] = (),
    ) -> States:
        """Whether tagged values come clear into a column of a table, or masked, or both.

        `reads` are the tables that it reads, for values that come by a way that has no edges.
        """
        decided = self._deciding_tags(key)
        found: set[str] = set()
        for origin in origins:
            if self._facts.of(origin.table, origin.column):
                found |= self._state(origin.table, origin.column)
        if not found:
            # Declared here, or come by a way that has no edges, as from a table of unknown columns.
            for fact in facts:
                if fact.before is None or fact.tag in decided:
                    found.add(CLEAR)
                    continue
                before = fact.before.column
                found |= self._state(before.table, before.column)
                for table, column in self._without_edges(reads, fact.tag):
                    found |= self._state(table, column)
        for fact in facts:
            if (fact.declared or fact.tag in decided) and not self._is_told_before(fact, origins):
                # What is masked of it was masked for another tag, or is another part of it.
                found.add(CLEAR)
        return frozenset(found)

    def keep(
        self, key: str, arriving: Mapping[str, States], masks: TableMasks = NO_TABLE_MASKS
    ) -> None:
        """What readers of a table see, of which these columns are masked where they are written."""
        masked = frozenset({MASKED})
        self._own[key] = masks
        self._worn.setdefault(key, {}).update(masks)
        self._states[key] = {
            name: masked if name in masks else each for name, each in arriving.items()
        }
        for name, mask in masks.items():
            said = _describe(key, dict(mask.strategies), mask.key)
            self._passed.setdefault(key, {})[name] = frozenset({said})

    def worn(self, key: str) -> TableMasks:
        """The masks of columns that are passed on as they are, by column: its own, or another's."""
        return self._worn.get(key, NO_TABLE_MASKS)

    def keep_copy(self, key: str, wanted: Mapping[str, Wanted], reads: Iterable[str]) -> None:
        """What readers see of what a pipeline writes: always masked."""
        self._states[key] = dict.fromkeys(wanted, frozenset({MASKED}))
        used = self._project.config.governance.key_fingerprint
        passed = self._passed[key] = {}
        for name, chosen in wanted.items():
            found: set[str] = set()
            for each in reads:
                found |= self._passed_by(each, name)
            if chosen:
                strategies = {path: strategy for path, (_, strategy) in chosen.items()}
                keyed = any(each.name == "hash" for each in strategies.values())
                found.add(_describe(key, strategies, used if keyed else None))
            if found:
                passed[name] = frozenset(found)

    def pass_through(
        self,
        key: str,
        column: str,
        facts: Sequence[TagFact],
        origins: Sequence[Origin],
        reads: Iterable[str],
    ) -> None:
        """Note which masks the values of a tagged column have been through before."""
        if not facts:
            return
        name = column.lower()
        worn = [self.worn(each.table.lower()).get(each.column.lower()) for each in origins]
        whole = all(each.direct and each.paths == ("",) for each in origins)
        masks = [each for each in worn if each is not None]
        if masks and whole and len(masks) == len(worn):
            mask = next((each for each in masks if not each.distinct), masks[0])
            self._worn.setdefault(key, {})[name] = replace(mask, column=column)
        found: set[str] = set()
        tagged = [each for each in origins if self._facts.of(each.table, each.column)]
        for origin in tagged:
            found |= self._passed_by(origin.table, origin.column)
        if not tagged:
            for fact in facts:
                for table, other in self._without_edges(reads, fact.tag):
                    found |= self._passed_by(table, other)
        if found:
            self._passed.setdefault(key, {})[name] = frozenset(found)

    def _deciding_tags(self, key: str) -> frozenset[str]:
        """The tags that columns have by what rows are chosen by: they say nothing of the values."""
        if not self._inherits:
            return frozenset()
        return frozenset(each.tag for each in self._facts.influences(key))

    def _without_edges(self, reads: Iterable[str], tag: str) -> Iterator[tuple[str, str]]:
        """The columns with a tag of tables whose columns are not known: any of them may be read."""
        for table in reads:
            source, tagged = self._project.sources.get(table), self._facts.table(table)
            unknown = EVERY_COLUMN in tagged or (source is not None and not source.columns)
            for column, facts in tagged.items() if unknown else ():
                if any(each.tag == tag for each in facts):
                    yield table, column

    def _is_told_before(self, fact: TagFact, origins: Iterable[Origin]) -> bool:
        """Whether all that a column is made from has the tag that is declared at it, or a higher.

        A higher one decides over it, so what it masked is masked.
        """
        if fact.tag not in self._strategies:
            return True
        order = self._project.config.classifications.order
        higher = order[: order.index(fact.tag)] if fact.tag in order else ()
        deciding = {fact.tag, *(tag for tag in higher if tag in self._strategies)}
        return all(
            any(
                before.tag in deciding and origin.is_inside(before.field, fact.field)
                for before in self._facts.of(origin.table, origin.column)
            )
            for origin in origins
        )

    def _state(self, table: str, column: str) -> States:
        known = self._states.get(table.lower())
        if known is None:
            return _CLEAR
        return known.get(column.lower()) or known.get(EVERY_COLUMN) or _CLEAR

    def _passed_by(self, table: str, column: str) -> _Passed:
        known = self._passed.get(table.lower(), {})
        return known.get(column.lower()) or known.get(EVERY_COLUMN) or frozenset()


def _describe(table: str, strategies: Mapping[str, MaskStrategy], key: str | None) -> str:
    """A mask as a text. Of which column says nothing: a copy's are not known before it is there."""
    said = [f"{path}: {each}" for path, each in sorted(strategies.items())]
    return "\n".join((table, *said, key or ""))
