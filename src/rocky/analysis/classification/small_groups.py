"""Small groups: tags that an aggregate ends over groups which may be of one person.

A group may be small where it is made by a tagged column, by a column that is declared unique or by
one that is called like a key, and nothing says how many rows it has at least.
"""

import re
from collections.abc import Iterator
from typing import Final

from rocky.analysis.classification.facts import Classifications, TagFact
from rocky.analysis.compilation import Body, CompiledModels, EndedIn, unpack_body, unpack_schema
from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.codes import severity_of
from rocky.diagnostics.diagnostic import Span
from rocky.language.ir import LINEAGE_KINDS
from rocky.project import Project
from rocky.project.project import clear_anywhere

_AS_IT_IS: Final = frozenset(map(LINEAGE_KINDS.index, ("direct", "cast")))
_KEY: Final = re.compile(r"(.*_)?(id|key|uuid|guid)")
_Origin = tuple[str, str]


def find_small_groups(
    project: Project, models: CompiledModels, facts: Classifications
) -> Iterator[Diagnostic]:
    """One finding a call that ends a tag over such groups."""
    least = project.config.classifications.small_groups
    if not least:
        return
    keys = _Keys(project, models, facts)
    for key in models:
        lost = _lost(facts, key, keys)
        if lost:
            body = unpack_body(models.record(key))
            for span, fact, why in _calls(body, least, lost, keys):
                yield _small(project, key, fact, why, span)


def _calls(
    body: Body, least: int, lost: dict[_Origin, TagFact], keys: "_Keys"
) -> Iterator[tuple[Span | None, TagFact, str]]:
    """The calls of a query that end a tag over small groups, each once."""
    told: set[int] = set()
    for group in body.groups:
        why = None if group.floor >= least else keys.why(group, body.origins)
        for origin, start, end in group.ended if why is not None else ():
            table, column = body.origins[origin]
            fact = lost.get((table.lower(), column.lower()))
            if fact is not None and why is not None and start not in told:
                told.add(start)
                yield Span(start, end) if start >= 0 else None, fact, why


def _lost(facts: Classifications, key: str, keys: "_Keys") -> dict[_Origin, TagFact]:
    """The tagged columns of which a table has numbers only, with the highest tag of each."""
    found: dict[_Origin, TagFact] = {}
    for column, ended in facts.ended(key).items():
        kept = {each.tag for each in facts.of(key, column)}
        for fact in ended:
            at = fact.column.table.lower(), fact.column.column.lower()
            if fact.tag not in kept and fact.tag not in keys.clear:
                found.setdefault(at, fact)
    return found


def _small(project: Project, key: str, fact: TagFact, why: str, span: Span | None) -> Diagnostic:
    model = project.models[key]
    least = project.config.classifications.small_groups
    where = fact.column
    return Diagnostic(
        Code.SMALL_GROUPS,
        f"the tag `{fact.tag}` of `{where.table}.{where.column}` ends here in groups that may have"
        f" fewer than {least} rows: they are made by {why}",
        model.place_in_file(span) if span is not None else None,
        model.path,
        severity_of(Code.SMALL_GROUPS),
        help=f"add `HAVING count(*) >= {least}`, or group by something that more people share",
        model=model.name,
    )


class _Keys:
    """Which columns make groups of few rows."""

    def __init__(self, project: Project, models: CompiledModels, facts: Classifications) -> None:
        # What anybody may see is given away by no group.
        self.clear = clear_anywhere(project)
        self._project = project
        self._models = models
        self._facts = facts
        self._known: dict[_Origin, str | None] = {}

    def why(self, group: EndedIn, origins: list[_Origin]) -> str | None:
        """Why groups may be small, in words; None where nothing speaks for it."""
        for sources in group.keys:
            for source in sources:
                table, column = origins[source >> 3]
                tags = (each.tag for each in self._facts.of(table, column))
                tag = next((each for each in tags if each not in self.clear), None)
                if tag is not None:
                    return f"`{column}`, which has the tag `{tag}`"
            if len(sources) == 1 and sources[0] & 7 in _AS_IT_IS:
                table, column = origins[sources[0] >> 3]
                reason = self._reason(table.lower(), column.lower())
                if reason is not None:
                    return f"`{column}`, {reason}"
        return None

    def _reason(self, table: str, column: str) -> str | None:
        """Why a column is a key; one that is passed on is what it was."""
        at = table, column
        if at not in self._known:
            self._known[at] = None
            self._known[at] = self._own_reason(table, column) or self._passed_on(table, column)
        return self._known[at]

    def _own_reason(self, table: str, column: str) -> str | None:
        model = self._project.models.get(table)
        if model is not None:
            unique = {each.column for each in model.tests if each.type == "unique" and each.column}
            named = getattr(model.strategy, "unique_key", ())
            unique.update(named if len(named) == 1 else ())
            if column in {each.lower() for each in unique}:
                return f"which is unique in `{model.name}`"
        return "which is called like a key" if _KEY.fullmatch(column) else None

    def _passed_on(self, table: str, column: str) -> str | None:
        if table not in self._models:
            return None
        record = self._models.record(table)
        body = unpack_body(record)
        for (name, _, _), (_, _, _, sources) in zip(
            unpack_schema(record).columns, body.details, strict=True
        ):
            if name.lower() == column and len(sources) == 1 and sources[0] & 7 in _AS_IT_IS:
                above, origin = body.origins[sources[0] >> 3]
                return self._reason(above.lower(), origin.lower())
        return None
