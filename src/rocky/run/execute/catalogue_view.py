"""A view in Spark's catalogue: the query of a `view` model over names that the catalogue knows.

A run reads pinned files through views of its own session, which nobody else sees. What a catalogue
holds has to name tables: the view then shows them as they are whenever it is read, also between two
runs. What has no name there keeps a view out of it: files of a source, a source with options, a
function that is made for a run.
"""

import re
from typing import Final, NamedTuple

from rocky.language.names import quote_name
from rocky.language.quotes import blank, find_comments
from rocky.project import Project
from rocky.project.configuration.strategies import View, is_inline
from rocky.project.sources import SourceTable
from rocky.run.prepare.inputs import Inputs
from rocky.run.prepare.known_inputs import KnownInput
from rocky.store.warehouse import Table

REGISTERED: Final = "registered in Spark's catalogue"
_WORD: Final = re.compile(r"\w+")
_ENDING: Final = " \t\r\n;"


class CatalogueQuery(NamedTuple):
    """The query that a catalogue can hold, or `why` it can hold none.

    `tables` are those that it reads, which have to be in the catalogue first.
    """

    sql: str = ""
    tables: tuple[Table, ...] = ()
    why: str | None = None


class _NotHeld(Exception):
    """Why a query cannot be written over names of a catalogue."""


def compose_view(project: Project, inputs: Inputs, key: str) -> CatalogueQuery:
    """The query of a `view` model as a catalogue can hold it. What it reads must be pinned.

    Each input stands in front of the author's query, under the name that the query calls it by.
    """
    work = _Composition(project, inputs)
    try:
        own = work.query_of(key)
    except _NotHeld as held:
        return CatalogueQuery(why=str(held))
    named = ",\n".join(f"{quote_name(name)} AS (\n{sql}\n)" for name, sql in work.named.items())
    sql = f"WITH {named}\nSELECT * FROM (\n{own}\n)" if named else own
    return CatalogueQuery(sql, tuple(work.tables.values()))


class _Composition:
    """A query under way: `named` are its inputs by what it calls them, each after what it reads."""

    def __init__(self, project: Project, inputs: Inputs) -> None:
        self.named: dict[str, str] = {}
        self.tables: dict[str, Table] = {}
        self._project = project
        self._inputs = inputs

    def query_of(self, key: str) -> str:
        """The query of a model, with all that it reads brought."""
        self._refuse_functions(key)
        known = self._inputs.made_from(key).inputs
        for each in known:
            if each.view not in self.named:
                self.named[each.view] = self._definition(each)
        return _without_ending(self._inputs.sql_of(self._project.models[key], known))

    def _refuse_functions(self, key: str) -> None:
        """A catalogue's view cannot call what only the session of a run has."""
        functions = self._project.functions
        for word in _WORD.findall(self._project.models[key].sql.lower()) if functions else ():
            if word in functions and functions[word].signature.kind != "catalog":
                name = functions[word].name
                raise _NotHeld(f"it calls `{name}`, a function that only sessions of runs have")

    def _definition(self, known: KnownInput) -> str:
        if known.pinned is not None:
            table = known.pinned.table
            self.tables.setdefault(table.name, table)
            return _all_of(*table.prefix.split("/"))
        if known.read.kind == "source":
            return _source_query(self._project.sources[known.read.key].as_read())
        model = self._project.models[known.read.key]
        assert is_inline(model.strategy)
        if not isinstance(model.strategy, View):
            return self.query_of(model.key)
        below = compose_view(self._project, self._inputs, model.key)
        if below.why is not None:
            raise _NotHeld(f"it reads the view `{model.name}`, which is not there: {below.why}")
        target = model.target
        return _all_of(target.catalog, target.schema, target.table)


def _without_ending(sql: str) -> str:
    """A query up to the semicolon that may end it: nothing may follow that inside another."""
    return sql[: len(blank(sql, find_comments(sql)).rstrip(_ENDING))]


def _source_query(source: SourceTable) -> str:
    if source.format != "table" or source.options:
        what = "options" if source.format == "table" else f"`{source.format}`"
        raise _NotHeld(
            f"it reads the source `{source.name}` ({what}), which is no table of a catalogue;"
            " copy it into a table, and read that"
        )
    columns = ", ".join(
        f"CAST({quote_name(each.name)} AS {each.type}) AS {quote_name(each.name)}"
        for each in source.columns
    )
    name = source.path or source.name
    return f"SELECT {columns or '*'} FROM {name}"  # noqa: S608 - a name, as Spark reads it


def _all_of(*name: str) -> str:
    return f"SELECT * FROM {'.'.join(map(quote_name, name))}"  # noqa: S608 - names are quoted
